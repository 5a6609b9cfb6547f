from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from miai.tracking import Store, locate
from miai.tracking.location import Location


@pytest.fixture(scope="session")
def shared_location(tmp_path_factory: pytest.TempPathFactory) -> Location:
    """One store for the tests of this package: they keep apart by the names of their experiments."""
    location = locate(root=tmp_path_factory.mktemp("project"))
    assert Store(location).experiments() == []
    return location


@pytest.fixture
def location(shared_location: Location) -> Location:
    return shared_location


@pytest.fixture(autouse=True)
def _no_checkpoints_of_others(shared_location: Location) -> Iterator[None]:
    """A run that failed keeps its checkpoint for the next attempt; the next test is none."""
    yield
    shutil.rmtree(shared_location.mlruns / "checkpoints", ignore_errors=True)


@pytest.fixture
def experiment(request: pytest.FixtureRequest) -> str:
    """An experiment of the test's own."""
    return str(request.node.name)


@pytest.fixture
def store(location: Location) -> Store:
    return Store(location)


def leftovers(location: Location) -> list[Path]:
    """Files that no finished run leaves: work, half-written files, checkpoints."""
    mlruns = location.mlruns
    return [
        *(mlruns / "work").glob("*"),
        *mlruns.rglob("*.part"),
        *(mlruns / "checkpoints").glob("*"),
        *(mlruns / "unsynced").glob("*"),
    ]
