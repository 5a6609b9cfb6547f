"""Many processes that write runs to one store: nothing may be lost, and more processes should be worth it.

    python -m benchmarks.tracking_load store=sqlite|postgresql|server runs=2000 processes=8

A run is what a short training tracks: its configuration, 25 parameters, 20 rows of 8 metrics, final values, a table and
a log. One process writes runs before and after, so that the serial rate and that of all processes are taken side by
side. Then the database is read by itself, and each run compared with what was sent.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy

from benchmarks.measuring import Measure, Missing
from benchmarks.services import PostgreSQL, ServiceError, TrackingServer
from miai.tracking import FINISHED, Store, locate
from miai.tracking.database import database_address

STUDY = "load"
ROWS = 20
METRICS = [f"eval/metric_{number}" for number in range(8)]
PARAMS = 25
TABLE_BYTES = 40_000
SERIAL_SHARE = 20
"""One run in so many is written by one process alone, before and again after the others."""

GOALS = {"sqlite": 0.6, "postgresql": 0.8, "server": 0.8}
"""Of the rate of all processes together, in shares of the cores times the rate of one process."""


@dataclass(frozen=True)
class Load:
    """What was measured.

    Attributes:
        serial: runs a second of one process alone, before and after.
        parallel: runs a second of all processes together.
        cores: that this process may use.
        kept: why runs did not reach the store, if any did not.
        wrong: what the database does not hold as it was sent.
    """

    serial: tuple[float, float]
    parallel: float
    cores: int
    kept: tuple[str, ...]
    wrong: tuple[str, ...]

    @property
    def ratio(self) -> float:
        """The rate of all processes, in shares of what the cores would give if each were as fast as one alone."""
        return self.parallel / (self.cores * sum(self.serial) / 2)


def measure(kind: str, runs: int, processes: int) -> Load:
    """Write `runs` runs from `processes` processes to a store of this kind, which is started for this.

    Raises:
        ServiceError: a service is not installed.
    """
    alone = max(1, runs // SERIAL_SHARE)
    with tempfile.TemporaryDirectory(prefix="miai-load-") as folder, _store(kind, Path(folder)) as (address, database):
        root = Path(folder)
        Store(locate(address, root=root)).prepare(STUDY)
        before = _write(address, root, range(alone), 1)
        all_together = _write(address, root, range(alone, alone + runs), processes)
        after = _write(address, root, range(alone + runs, 2 * alone + runs), 1)
        kept = (*before.kept, *all_together.kept, *after.kept)
        wrong = _compare(database, 2 * alone + runs)
    return Load((before.rate, after.rate), all_together.rate, len(os.sched_getaffinity(0)), kept, wrong)


@contextlib.contextmanager
def _store(kind: str, folder: Path) -> Iterator[tuple[str, str]]:
    """Start a store; its address, and that of the database in it."""
    if kind == "sqlite":
        location = locate(root=folder)
        yield location.uri, location.uri
        return
    with PostgreSQL() as cluster:
        database = cluster.create("load")
        if kind == "postgresql":
            yield database, database
            return
        cores = len(os.sched_getaffinity(0))
        with TrackingServer(database, folder / "server", workers=cores) as server:
            yield server.address, database


# ---- writing ----


@dataclass(frozen=True)
class _Written:
    rate: float
    kept: tuple[str, ...]


def _write(address: str, root: Path, numbers: range, processes: int) -> _Written:
    """Write the runs of these numbers; the clock runs while every process is ready and at work."""
    context = multiprocessing.get_context("spawn")
    ready, results = context.Barrier(processes + 1), context.SimpleQueue()
    workers = [
        context.Process(target=_work, args=(address, root, numbers[index::processes], ready, results))
        for index in range(processes)
    ]
    for worker in workers:
        worker.start()
    ready.wait()
    began = time.perf_counter()
    kept: list[str] = []
    for _ in workers:
        kept += results.get()
    seconds = time.perf_counter() - began
    for worker in workers:
        worker.join()
    return _Written(len(numbers) / seconds, tuple(kept))


def _work(address: str, root: Path, numbers: range, ready: Any, results: Any) -> None:
    store = Store(locate(address, root=root), tell=lambda _line: None)
    store.prepare(STUDY)
    _import_what_a_run_needs(root)
    ready.wait()
    results.put([reason for number in numbers if (reason := _write_run(store, root, number)) is not None])


def _import_what_a_run_needs(root: Path) -> None:
    from miai.tracking.history import write_history

    path = root / f"warm-{os.getpid()}.parquet"
    write_history(path, [(0, {"a": 1.0})])
    path.unlink()


def _write_run(store: Store, root: Path, number: int) -> str | None:
    """Write one run. Returns why it is being kept, or `None`."""
    work = root / f"work-{number}"
    work.mkdir()
    config = {"seed": number, "options": {f"option_{index}": index / 3 for index in range(PARAMS - 1)}}
    run = store.start(STUDY, f"run-{number}", config, {"miai.fingerprint": f"{number:064x}"}, work)
    for row in range(ROWS):
        run.log(row, {name: _value(number, row, index) for index, name in enumerate(METRICS)})
    run.final({name: _value(number, ROWS, index) for index, name in enumerate(METRICS)})
    table, log = work / "table.npz", work / "run.log"
    table.write_bytes(bytes(TABLE_BYTES))
    log.write_text("a line\n" * 50, encoding="utf-8")
    run.artifact(table)
    run.finish(FINISHED, files={"run.log": log})
    shutil.rmtree(work)
    return run.kept


def _value(number: int, row: int, index: int) -> float:
    """A metric's value: whole numbers, so that sums of them are exact."""
    return float(number * 1000 + row * 10 + index)


# ---- reading ----


def _compare(database: str, runs: int) -> tuple[str, ...]:
    """What the database holds otherwise than it was sent: runs, parameters, metrics and their values."""
    engine = sqlalchemy.create_engine(database_address(locate(database)))
    wrong = []
    with engine.connect() as connection:

        def ask(statement: str) -> dict[str, tuple]:
            return {row[0]: tuple(row[1:]) for row in connection.execute(sqlalchemy.text(statement))}

        found = ask("SELECT run_uuid, name, status FROM runs")
        params = ask("SELECT run_uuid, count(*) FROM params GROUP BY run_uuid")
        metrics = ask("SELECT run_uuid, count(*), sum(value), sum(step) FROM metrics GROUP BY run_uuid")
    engine.dispose()
    names = sorted(name for name, _ in found.values())
    if names != sorted(f"run-{number}" for number in range(runs)):
        wrong.append(f"{len(names)} runs with {len(set(names))} names, where {runs} were sent")
    for run_id, (name, status) in found.items():
        number = int(name.removeprefix("run-"))
        total = sum(_value(number, row, index) for row in range(ROWS + 1) for index in range(len(METRICS)))
        sent = ((ROWS + 1) * len(METRICS), total, len(METRICS) * sum(range(ROWS)))
        if status != FINISHED or params.get(run_id) != (25,) or metrics.get(run_id) != sent:
            wrong.append(
                f"{name}: {status}, {params.get(run_id)} parameters, {metrics.get(run_id)} where {sent} were sent"
            )
    return tuple(wrong)


# ---- asking for it ----


def measure_all(runs: int = 2000, processes: int = 8) -> Iterator[Measure | Missing]:
    for kind, goal in GOALS.items():
        name = f"{processes} processes, {runs:,} runs on {kind}; the peer is one process × cores"
        try:
            load = measure(kind, runs, processes)
        except ServiceError as error:
            yield Missing(name, str(error))
            continue
        if load.kept or load.wrong:
            yield Missing(name, f"runs were lost: {[*load.kept, *load.wrong][:3]}")
            continue
        peer = load.cores * sum(load.serial) / 2
        yield Measure(name, "runs/s", load.parallel, peer, goal, note=f"one process: {load.serial}")


def main(arguments: list[str]) -> int:
    """Take one measure; prints it. Returns 1 if anything was lost."""
    settings = {"store": "sqlite", "runs": "2000", "processes": "8"}
    for argument in arguments:
        key, _, value = argument.partition("=")
        if key not in settings or not value or (key == "store" and value not in GOALS):
            print(f"{argument}: write store={'|'.join(GOALS)} runs=2000 processes=8", file=sys.stderr)
            return 2
        settings[key] = value
    load = measure(settings["store"], int(settings["runs"]), int(settings["processes"]))
    print(
        f"{settings['store']}: {settings['runs']} runs from {settings['processes']} processes at "
        f"{load.parallel:.1f} a second; one process {load.serial[0]:.1f} before, {load.serial[1]:.1f} after; "
        f"{load.ratio:.2f} × {load.cores} cores × one process (goal {GOALS[settings['store']]})"
    )
    for line in (*load.kept, *load.wrong):
        print(f"lost: {line}")
    return 1 if load.kept or load.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
