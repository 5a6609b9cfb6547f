"""How long the commands take when the store holds 10,000 runs: a sweep that finds nothing to do, and a report of 120.

The 10,000 are copies of one real run, written straight into the database under the fingerprints of a large grid: making
them takes an hour, and inventing them seconds.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.commands import CommandError, Project
from benchmarks.measuring import Measure, Missing

GRID = "large_grid"
STUDY = f"""# Question: How long does it take to see that everything is there?
question: How long does it take to see that everything is there?
overrides: {{num_games: 500, num_checkpoints: 1}}
grid:
  algorithm: [mc, sarsa, q_learning, afterstate]
  alpha: {[round(0.001 * number, 3) for number in range(1, 51)]}
  gamma: [0.8, 0.85, 0.9, 0.95, 1.0]
seeds: 10
"""
JOBS = 10_000
DRAWN = "td_comparison"
GAMES = 2_000
"""Of each of the 120 runs that are drawn. A report reads 100 checkpoints, however many games are between them."""

COPIED = ("runs", "tags", "params", "latest_metrics")
"""Tables of MLflow's that hold a run as it is when it is looked for."""


def measure_all() -> Iterator[Measure | Missing]:
    looked, drawn = (
        f"resume check of a grid of {JOBS:,} jobs that are all there",
        "report of 120 runs among 10,000 others",
    )
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder))
        try:
            project.run("sweep", DRAWN, f"num_games={GAMES}")
            (project.folder / "experiments").mkdir()
            (project.folder / "experiments" / f"{GRID}.yaml").write_text(STUDY, encoding="utf-8")
            project.run("train", "num_games=500", "num_checkpoints=1", f"study={GRID}", "stage=main", "seed=999")
            with in_project(project.folder):
                invent(project.folder / "mlruns" / "mlflow.db")
            report = project.run("report", DRAWN, f"num_games={GAMES}")
            sweep = project.run("sweep", GRID)
        except CommandError as error:
            yield Missing(looked, str(error))
            yield Missing(drawn, str(error))
            return
    yield Measure(looked, "s", sweep.seconds, None, 60, at_least=False, note=f"of it, {sweep.busy:.1f} s of CPU")
    yield Measure(drawn, "s", report.seconds, None, 10, at_least=False, note=f"of it, {report.busy:.1f} s of CPU")


@contextmanager
def in_project(folder: Path) -> Iterator[None]:
    """Let this process take a folder for the project's."""
    before = os.environ.get("MIAI_HOME")
    os.environ["MIAI_HOME"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["MIAI_HOME"]
        else:
            os.environ["MIAI_HOME"] = before


def invent(database: Path) -> None:
    """Copy the one run of the grid's experiment, for each job of the grid."""
    from miai.runner.resume import Inputs, prepare
    from miai.runner.studies import load_study_file
    from miai.runner.sweep_study import stage_jobs
    from miai.tracking import Store, locate
    from miai.tracking.params import flatten

    study = load_study_file(GRID)
    jobs = stage_jobs(study, study.stages[0], [])
    assert len(jobs) == JOBS
    inputs = Inputs(Store(locate()))
    with closing(sqlite3.connect(database)) as connection, connection:
        tables = {name: _Rows(connection, name) for name in COPIED}
        [model] = connection.execute(
            "SELECT run_uuid FROM runs JOIN experiments USING (experiment_id) WHERE experiments.name = ?", (GRID,)
        ).fetchone()
        originals = {name: table.of(model) for name, table in tables.items()}
        for job in jobs:
            run_id = uuid.uuid4().hex
            changed = {
                "miai.fingerprint": prepare(job, inputs).fingerprint,
                "miai.key": run_id,
                "mlflow.runName": job.name,
                **flatten(job.task.settle(job.config))[0],
            }
            for name, table in tables.items():
                for row in originals[name]:
                    new = {**row, "run_uuid": run_id}
                    if name in ("tags", "params"):
                        new["value"] = changed.get(row["key"], row["value"])
                    elif name == "runs":
                        new["name"] = job.name
                    table.add(new)
        for table in tables.values():
            table.write()


class _Rows:
    """Rows on their way into one table."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection = connection
        self._name = name
        self.columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
        self._rows: list[Sequence[Any]] = []

    def of(self, run_id: str) -> list[dict[str, Any]]:
        found = self._connection.execute(f"SELECT * FROM {self._name} WHERE run_uuid = ?", (run_id,))
        return [dict(zip(self.columns, row, strict=True)) for row in found]

    def add(self, row: dict[str, Any]) -> None:
        self._rows.append([row[column] for column in self.columns])

    def write(self) -> None:
        places = ", ".join("?" * len(self.columns))
        self._connection.executemany(f"INSERT INTO {self._name} VALUES ({places})", self._rows)
