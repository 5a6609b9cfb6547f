from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from miai.cli.main import main
from miai.tracking import RunRecord, Store, locate


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def refusal(self) -> str:
        """The one line of a command that was refused."""
        assert self.code == 2, (self.code, self.out, self.err)
        assert self.out == ""
        assert self.err.endswith("\n")
        assert self.err.count("\n") == 1
        return self.err.removesuffix("\n")


Miai = Callable[..., Said]


@pytest.fixture(scope="session")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One project for the tests of this package, with one store: creating it takes seconds."""
    home = tmp_path_factory.mktemp("home")
    assert Store(locate(root=home)).experiments() == []
    return home


@pytest.fixture
def home(shared_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MIAI_HOME", str(shared_home))
    return shared_home


@pytest.fixture
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with nothing in it."""
    home = tmp_path / "project"
    home.mkdir()
    monkeypatch.setenv("MIAI_HOME", str(home))
    return home


@pytest.fixture
def miai(capsys: pytest.CaptureFixture[str]) -> Miai:
    """Run a command in this process."""

    def run(*arguments: str) -> Said:
        capsys.readouterr()
        code = main(list(arguments))
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return run


@pytest.fixture
def store(home: Path) -> Store:
    return Store(locate(root=home))


@pytest.fixture
def train(miai: Miai, store: Store) -> Callable[..., RunRecord]:
    """Make a small run, and return it."""

    def run(*overrides: str) -> RunRecord:
        said = miai("train", "num_games=2000", "num_checkpoints=2", "test.games=20", *overrides)
        assert said.code == 0, said
        return store.run(said.out.split()[-1])

    return run
