"""Projects that chaos is made in: a folder for `MIAI_HOME`, the commands that are run there, and what has to hold
afterwards."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from miai.tabular.table import ValueTable
from miai.tracking import FINISHED, RUNNING, Store, locate
from miai.tracking.location import Location

MIAI = Path(sys.executable).with_name("miai")
STUDY = "chaos"
TABLE = "table.npz"
PATIENCE = 900.0
"""Seconds until a command counts as hanging."""


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def all(self) -> str:
        return f"exit code {self.code}\n{self.out}\n{self.err}"


@dataclass
class Project:
    """A project.

    Attributes:
        uri: what `tracking.uri` is set to; `None` is the project's own SQLite store.
        environment: added to that of this process; `None` takes a variable out.
    """

    root: Path
    uri: str | None = None
    environment: Mapping[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)

    def command(self, *arguments: str) -> list[str]:
        store = [f"tracking.uri={self.uri}"] if self.uri else []
        return [str(MIAI), *arguments, *store]

    def variables(self) -> dict[str, str]:
        changed = {**os.environ, "MIAI_HOME": str(self.root), "COLUMNS": "500", **self.environment}
        return {name: value for name, value in changed.items() if value is not None}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command in a process group of its own, as a terminal does."""
        return subprocess.Popen(
            self.command(*arguments),
            env=self.variables(),
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str) -> Said:
        """Run a command to its end. A traceback, whatever else it did, is a fault."""
        program = self.start(*arguments)
        try:
            out, err = program.communicate(timeout=PATIENCE)
        finally:
            kill_all(program)
        said = Said(program.returncode, out, err)
        assert "Traceback" not in said.all, said.all
        return said

    @property
    def location(self) -> Location:
        return locate(self.uri, root=self.root)

    def store(self) -> Store:
        return Store(self.location)

    def num_finished(self) -> int:
        """How many runs are finished, by their claims: without asking the store."""
        return sum(_says_finished(path) for path in (self.location.mlruns / "claims").glob("*"))

    def tables(self) -> dict[str, str]:
        """Hash of each finished run's table by its seed; each is read and checked.

        Raises:
            AssertionError: a run is there twice, one is RUNNING, or a table is not valid.
        """
        store = self.store()
        runs = store.runs(STUDY)
        statuses = Counter(run.status for run in runs)
        assert not statuses[RUNNING], f"{statuses[RUNNING]} runs are RUNNING"
        found: dict[str, str] = {}
        for run in runs:
            if run.status == FINISHED:
                seed = run.params["seed"]
                assert seed not in found, f"seed {seed} is there twice"
                path = store.artifact(run, TABLE)
                ValueTable.load(path)
                found[seed] = hashlib.sha256(path.read_bytes()).hexdigest()
        return found

    def leftovers(self) -> list[str]:
        """Files that no finished run leaves."""
        mlruns = self.location.mlruns
        kept = [path for path in (mlruns / "unsynced").glob("*") if path.is_dir()]
        found = [*(mlruns / "work").glob("*"), *(mlruns / "checkpoints").glob("*"), *mlruns.rglob("*.part"), *kept]
        return [str(path.relative_to(mlruns)) for path in found]


def sweep(runs: int, games: int = 20_000) -> list[str]:
    """A command that makes so many short runs of one study, by their seeds; a million games take some 0.05 s."""
    short = (f"num_games={games}", "num_checkpoints=20", "test.games=20", "workers=2")
    return ["train", "-m", f"study={STUDY}", f"seed=range({runs})", *short]


def seeds(runs: int) -> set[str]:
    return {str(seed) for seed in range(runs)}


def check_one_line(said: Said, *words: str) -> None:
    """A command was refused: its last words are one line, which says these."""
    assert said.code in (1, 2), said.all
    [line] = said.err.splitlines() or said.out.splitlines()[-1:]
    assert line.startswith("miai "), said.all
    assert all(word in line for word in words), said.all


def kill_all(program: subprocess.Popen[str]) -> None:
    """`kill -9` of a program and of everything that it has started."""
    for victim in (lambda: os.killpg(program.pid, signal.SIGKILL), program.kill):
        try:
            victim()
        except (ProcessLookupError, PermissionError):
            continue
    program.communicate()


def _says_finished(claim: Path) -> bool:
    try:
        return bool(json.loads(claim.read_text())["finished"])
    except (OSError, ValueError, LookupError, TypeError):
        return False
