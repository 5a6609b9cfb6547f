"""Services that the tests of this folder share. They are started when the first test asks, and stopped at the end."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn
from urllib.parse import quote

import pytest
from benchmarks.services import PASSWORD, PostgreSQL, TrackingServer, missing_for_postgresql

HERE = Path(__file__).parent
SCRIPT = Path(sys.executable).with_name("miai")
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.services)


@pytest.fixture(scope="session", autouse=True)
def _stopped_whatever_happens() -> Iterator[None]:
    """Let SIGTERM end the tests as Ctrl-C does, so that services are stopped."""

    def leave(_signum: int, _frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, leave)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    if reason := missing_for_postgresql():
        pytest.skip(reason)
    with PostgreSQL(durable=False) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def fresh(postgresql: PostgreSQL) -> Callable[[], str]:
    """Make a database with MLflow's tables in it: a copy of one that is made once. Its address."""
    from miai.tracking import Store, locate

    numbers = itertools.count()
    template = postgresql.create("template")
    Store(locate(template, root=postgresql.folder)).experiments()

    def make() -> str:
        name = f"store_{next(numbers)}"
        postgresql.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'template'")
        postgresql.execute(f"CREATE DATABASE {name} TEMPLATE template")
        return postgresql.address(name)

    return make


@pytest.fixture(scope="session")
def server(fresh: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[TrackingServer]:
    """An MLflow server with PostgreSQL behind it, open to whoever reaches loopback."""
    with TrackingServer(fresh(), tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="session")
def guarded(fresh: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[TrackingServer]:
    """An MLflow server that asks for a name and a password."""
    pytest.importorskip("flask_wtf", reason="MLflow's authentication needs Flask-WTF")
    with TrackingServer(fresh(), tmp_path_factory.mktemp("guarded"), guarded=True) as running:
        yield running


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
