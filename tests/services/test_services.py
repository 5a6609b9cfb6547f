"""Runs on a shared store, for real: PostgreSQL, and an MLflow server with PostgreSQL behind it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest
from benchmarks.services import PASSWORD, TrackingServer

from miai.tracking import FINISHED, Store, locate, read_history

SCRIPT = Path(sys.executable).with_name("miai")
ROOT = Path(__file__).parents[2]
STUDY = ("td_comparison", "num_games=300", "num_checkpoints=3", "test.games=10", "algorithm=sarsa,mc", "seed=range(2)")
"""A sweep of four short runs."""

SECRETS = (PASSWORD, quote(PASSWORD, safe=""), TrackingServer.ADMINISTRATOR[1], quote(TrackingServer.ADMINISTRATOR[1]))


@dataclass
class Project:
    """A project's folder, and commands that run in it as users do. Nothing that they say or write holds a secret."""

    home: Path
    environment: dict[str, str]

    def __call__(self, *arguments: str, code: int = 0, **environment: str) -> str:
        done = subprocess.run(
            [SCRIPT, *arguments],
            cwd=self.home,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        said = done.stdout + done.stderr
        assert done.returncode == code, said
        assert not [secret for secret in SECRETS if secret in said], said
        return said

    def files_with_secrets(self) -> list[Path]:
        files = (path for path in self.home.rglob("*") if path.is_file())
        return [path for path in files if any(secret.encode() in path.read_bytes() for secret in SECRETS)]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    home = tmp_path / "a project, früher"
    home.mkdir()
    own = {name: value for name, value in os.environ.items() if not name.startswith(("MLFLOW_", "PG"))}
    return Project(home, {**own, "MIAI_HOME": str(home), "COLUMNS": "200", "NO_COLOR": "1"})


@pytest.fixture(params=["postgresql", "server"])
def address(request: pytest.FixtureRequest) -> str:
    """Of a shared store, as the user names it."""
    if request.param == "postgresql":
        make: Callable[[], str] = request.getfixturevalue("fresh")
        return make()
    server: TrackingServer = request.getfixturevalue("server")
    return server.address


def test_a_study_lives_on_a_shared_store(project: Project, address: str) -> None:
    here = f"tracking.uri={address}"
    assert "4 finished" in project("sweep", *STUDY, here)
    assert "4 already there" in project("sweep", *STUDY, here)

    store = Store(locate(address, root=project.home))
    runs = store.runs("td_comparison")
    assert len(runs) == 4
    assert {run.status for run in runs} == {FINISHED}
    for run in runs:
        assert {"config.yaml", "history.parquet", "run.log", "table.npz"} <= set(store.artifacts(run))
        history = read_history(store.artifact(run, "history.parquet")).to_pydict()
        assert history["step"] == [100, 200, 300]
        logged = store.client.get_metric_history(run.run_id, "eval/win")
        assert [metric.value for metric in sorted(logged, key=lambda m: m.step)] == history["eval/win"]

    project("report", *STUDY, here)
    assert (project.home / "reports" / "td_comparison" / "report.html").is_file()
    assert "the same, byte for byte" in project("reproduce", runs[0].run_id[:12], here)
    assert "0 runs uploaded" in project("sync", here)
    assert project.files_with_secrets() == []
