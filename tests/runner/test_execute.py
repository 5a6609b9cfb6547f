"""One run: what its task sees, and how it ends."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

from miai.errors import MiaiError
from miai.runner import Job, Outcome, RunContext, Task, run_one
from miai.runner.task import Config
from miai.tracking import FAILED, FINISHED, KILLED, Store, locate, read_history
from miai.tracking.location import Location
from runner.conftest import leftovers
from runner.sample_tasks import COUNT, SQUARES, name_of


def test_a_run_ends_finished_with_everything_that_its_task_gave(
    location: Location, store: Store, experiment: str
) -> None:
    seen: list[tuple[int, int]] = []
    job = Job(COUNT, {"seed": 5, "steps": 3}, experiment, stage="first", tags={"colour": "blue"})
    outcome = run_one(job, location, on_progress=lambda done, total: seen.append((done, total)))
    assert (outcome.status, outcome.name, outcome.final, outcome.kept) == ("finished", "count-5", {"value": 3.0}, False)
    assert outcome.exit_code == 0
    assert seen[-1] == (3, 3)
    run = store.run(outcome.run_id)
    assert (run.status, run.fingerprint) == (FINISHED, outcome.fingerprint)
    assert run.params == {"seed": "5", "steps": "3"}
    assert (run.tags["miai.study"], run.tags["miai.stage"], run.tags["miai.task"]) == (experiment, "first", "count")
    assert run.tags["colour"] == "blue"
    assert store.artifacts(run) == ["config.yaml", "history.parquet", "run.log", "table.npz"]
    with np.load(store.artifact(run, "table.npz"), allow_pickle=False) as table:
        np.testing.assert_array_equal(table["values"], [5, 6, 7])
    assert read_history(store.artifact(run, "history.parquet"))["count/value"].to_pylist() == [0.0, 1.0, 2.0]
    assert "run count" not in Path(outcome.log).read_text()
    assert outcome.run_id in Path(outcome.log).read_text()
    assert leftovers(location) == []


def test_a_single_run_always_runs(location: Location, experiment: str) -> None:
    first, second = (run_one(Job(COUNT, {"seed": 0}, experiment), location) for _ in range(2))
    assert first.fingerprint == second.fingerprint
    assert first.run_id != second.run_id


@pytest.mark.parametrize(
    ("trouble", "reason", "logged"),
    [
        ("error", "RuntimeError: sparks and smoke", "in _make_trouble"),
        ("user", "alpha: 2.0 is too large; allowed: 0 to 1.", "too large"),
        ("nan", "ValueError: metric 'eval/rms_error' is nan: only finite numbers are logged", "Traceback"),
        ("exit", "SystemExit: 3", "in _make_trouble"),
    ],
)
def test_a_failure_is_one_line_with_the_traceback_in_the_log_and_the_next_run_is_clean(
    location: Location, store: Store, experiment: str, trouble: str, reason: str, logged: str
) -> None:
    outcome = run_one(Job(COUNT, {"trouble": trouble}, experiment), location)
    assert (outcome.status, outcome.reason, outcome.exit_code) == ("failed", reason, 1)
    run = store.run(outcome.run_id)
    assert (run.status, run.tags["miai.error"]) == (FAILED, reason)
    assert logged in store.artifact(run, "run.log").read_text()
    assert run_one(Job(COUNT, {}, experiment), location).status == "finished"
    assert leftovers(location) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_sigterm_and_ctrl_c_end_the_run_as_killed_with_what_it_had(
    location: Location, store: Store, experiment: str, number: signal.Signals
) -> None:
    before = signal.getsignal(number)
    timers = []

    def begin(_done: int, _total: int) -> None:
        """Send the signal when the run is under way: before, it would end the tests themselves."""
        if not timers:
            timers.append(threading.Timer(0.2, os.kill, (os.getpid(), number)))
            timers[0].start()

    outcome = run_one(Job(COUNT, {"steps": 1000, "seconds": 100}, experiment), location, on_progress=begin)
    timers[0].join()
    assert (outcome.status, outcome.reason) == ("killed", f"stopped by {number.name}")
    assert outcome.exit_code == 128 + number
    run = store.run(outcome.run_id)
    assert run.status == KILLED
    assert read_history(store.artifact(run, "history.parquet")).num_rows == run.metrics["count/value"] + 1
    assert signal.getsignal(number) == before
    assert run_one(Job(COUNT, {}, experiment), location).status == "finished"


def test_inputs_are_files_or_artifacts_of_runs_and_count_by_content(
    location: Location, experiment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run_one(Job(COUNT, {"seed": 1}, experiment), location)
    by_run = run_one(Job(COUNT, {"seed": 2, "init": first.run_id[:10]}, experiment), location)
    table = tmp_path / "mine.npz"
    table.write_bytes((Path(first.log).parent / "table.npz").read_bytes())
    by_path = run_one(Job(COUNT, {"seed": 2, "init": str(table)}, experiment), location)
    monkeypatch.chdir(tmp_path)
    by_relative_path = run_one(Job(COUNT, {"seed": 2, "init": "mine.npz"}, experiment), location)
    assert by_run.fingerprint == by_path.fingerprint == by_relative_path.fingerprint
    assert by_run.fingerprint != run_one(Job(COUNT, {"seed": 2}, experiment), location).fingerprint
    with pytest.raises(MiaiError, match=r"^init: no such file: 'gone\.npz'"):
        run_one(Job(COUNT, {"init": "gone.npz"}, experiment), location)
    with pytest.raises(MiaiError, match=r"^init: run: the store .* has no run"):
        run_one(Job(COUNT, {"init": "0123456789"}, experiment), location)


def test_units_are_spread_over_processes_and_done_once(location: Location, experiment: str, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    config = {"units": [{"x": x, "marks": str(marks)} for x in range(6)]}
    failed = run_one(Job(SQUARES, {**config, "fail_after": True}, experiment), location, workers=2)
    assert (failed.status, failed.reason) == ("failed", "RuntimeError: after the units")
    done, processes = zip(*(line.split() for line in marks.read_text().splitlines()), strict=True)
    assert sorted(done) == ["0", "1", "2", "3", "4", "5"]
    assert str(os.getpid()) not in processes
    again = run_one(Job(SQUARES, config, experiment), location, workers=2)
    assert again.status == "finished"
    assert again.final == {f"square/{x}": float(x * x) for x in range(6)}
    assert len(marks.read_text().splitlines()) == 6
    assert leftovers(location) == []
    run_one(Job(SQUARES, config, experiment), location, workers=1)
    assert marks.read_text().splitlines()[6:] == [f"{x} {os.getpid()}" for x in range(6)]


def test_a_unit_whose_worker_is_killed_is_done_again(location: Location, experiment: str, tmp_path: Path) -> None:
    units = [{"x": x, "die_once": str(tmp_path / "died") if x == 2 else None} for x in range(4)]
    outcome = run_one(Job(SQUARES, {"units": units}, experiment), location, workers=2)
    assert outcome.final == {f"square/{x}": float(x * x) for x in range(4)}
    assert "unit 2: its worker was killed by SIGKILL" in Path(outcome.log).read_text()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_unit_that_fails_is_named(location: Location, experiment: str, workers: int) -> None:
    units = [{"x": 1}, {"x": 2, "fail": True}]
    outcome = run_one(Job(SQUARES, {"units": units}, experiment), location, workers=workers)
    assert (outcome.status, outcome.reason) == ("failed", "unit 2: ValueError: a bad unit")
    run_one(Job(SQUARES, {"units": units}, experiment), location, continue_killed=False)


def test_a_forced_run_starts_from_nothing(location: Location, experiment: str, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    config = {"units": [{"x": x, "marks": str(marks)} for x in range(2)]}
    run_one(Job(SQUARES, {**config, "fail_after": True}, experiment), location, workers=1)
    run_one(Job(SQUARES, config, experiment), location, workers=1, continue_killed=False)
    assert len(marks.read_text().splitlines()) == 4


def _same_run_inside(config: Config, context: RunContext) -> None:
    """While it runs, make the same run once more, as another terminal might."""
    if config["paths"]:
        root = Path(str(config["paths"]))
        inner = Job(INNER, {**config, "paths": ""}, str(config["experiment"]))
        NESTED.append(run_one(inner, locate(root=root)))
    context.final({"one": 1.0})


NESTED: list[Outcome] = []
INNER = Task("inner", sources=("errors.py",), run=_same_run_inside, name_of=name_of)


def test_two_single_runs_of_one_fingerprint_at_once_do_not_meet(location: Location, experiment: str) -> None:
    NESTED.clear()
    config = {"experiment": experiment, "paths": str(location.mlruns.parent)}
    outer = run_one(Job(INNER, config, experiment), location)
    assert outer.status == NESTED[0].status == "finished"
    assert outer.fingerprint == NESTED[0].fingerprint
    assert outer.run_id != NESTED[0].run_id


def test_without_a_store_the_run_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    lines: list[str] = []
    outcome = run_one(Job(COUNT, {}, "away"), locate("http://127.0.0.1:9", root=tmp_path), tell=lines.append)
    assert (outcome.status, outcome.kept) == ("finished", True)
    assert len(lines) == 1
    assert outcome.run_id in Path(outcome.log).read_text()
