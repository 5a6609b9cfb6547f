from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from miai.tracking import RunLog, Store, locate

Start = Callable[..., RunLog]


@pytest.fixture(scope="session")
def fresh_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store's database, created once: MLflow's migrations take a second."""
    root = tmp_path_factory.mktemp("fresh")
    store = Store(locate(root=root))
    assert store.experiments() == []
    shutil.rmtree(root / "mlruns" / "artifacts", ignore_errors=True)
    copy = root / "copy.db"
    shutil.copy(root / "mlruns" / "mlflow.db", copy)
    return copy


@pytest.fixture
def said() -> list[str]:
    """The lines that the store told the user."""
    return []


@pytest.fixture
def store(tmp_path: Path, fresh_database: Path, said: list[str]) -> Store:
    """A store of the test's own."""
    location = locate(root=tmp_path)
    location.mlruns.mkdir()
    shutil.copy(fresh_database, location.mlruns / "mlflow.db")
    return Store(location, tell=said.append)


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Start a run in a store, in a work folder of its own."""

    def start_run(store: Store, name: str = "sarsa-0", config: dict | None = None, **tags: str) -> RunLog:
        work = tmp_path / "work" / f"{len(list(tmp_path.glob('work/*')))}"
        work.mkdir(parents=True)
        return store.start("study", name, {"seed": 0} if config is None else config, tags, work)

    return start_run
