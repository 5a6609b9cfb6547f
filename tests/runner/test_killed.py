"""Sweeps that are killed, stopped, or run twice at once: real programs, real signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from miai.tracking import FINISHED, KILLED, RUNNING, Store
from miai.tracking.location import Location
from runner.conftest import leftovers

PROGRAM = Path(__file__).with_name("sweep_program.py")
PATIENCE = 60.0


@pytest.fixture
def sweep(location: Location, experiment: str) -> Iterator[Callable[..., subprocess.Popen]]:
    """Start a sweep as a program in a process group of its own, as a terminal does."""
    started: list[subprocess.Popen] = []

    def start(seeds: int, **settings: Any) -> subprocess.Popen:
        text = json.dumps({"experiment": experiment, "seeds": seeds, **settings})
        program = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(location.mlruns.parent), text],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        started.append(program)
        return program

    yield start
    for program in started:
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGKILL)
        program.communicate()


def ends(program: subprocess.Popen) -> dict[str, Any]:
    output, _ = program.communicate(timeout=PATIENCE)
    assert "Traceback" not in output, output
    return json.loads(output.splitlines()[-1])


def wait_for(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)


def count(store: Store, experiment: str) -> Counter:
    return Counter(run.status for run in store.runs(experiment))


def descendants(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


LONG = {"steps": 1000, "seconds": 100.0}


def test_kill_9_of_everything_loses_only_what_was_under_way_and_leaves_no_run_running_after_the_next_start(
    sweep, location: Location, store: Store, experiment: str
) -> None:
    program = sweep(6, config={"steps": 10, "seconds": 0.8})
    wait_for(lambda: count(store, experiment)[FINISHED] >= 2 and count(store, experiment)[RUNNING], "finished runs")
    os.killpg(program.pid, signal.SIGKILL)
    program.wait()
    done, running = count(store, experiment)[FINISHED], count(store, experiment)[RUNNING]
    assert 2 <= done < 6
    assert running >= 1
    result = ends(sweep(6, config={"steps": 10, "seconds": 0.0}))
    assert result["statuses"] == {"there": done, "finished": 6 - done}
    assert count(store, experiment) == {FINISHED: 6, KILLED: running}
    assert leftovers(location) == []


def test_workers_end_their_runs_when_only_the_parent_is_killed(
    sweep, location: Location, store: Store, experiment: str
) -> None:
    program = sweep(2, config=LONG)
    wait_for(lambda: count(store, experiment)[RUNNING] == 2, "two runs under way")
    family = descendants(program.pid)
    os.kill(program.pid, signal.SIGKILL)
    wait_for(lambda: not any(process.is_running() for process in family), "the end of the workers")
    assert count(store, experiment) == {KILLED: 2}
    assert leftovers(location) == []


def test_kill_9_of_one_worker_costs_one_run(sweep, store: Store, experiment: str) -> None:
    program = sweep(4, config={"steps": 10, "seconds": 1.0})
    wait_for(lambda: count(store, experiment)[RUNNING] == 2, "two runs under way")
    running = next(run for run in store.runs(experiment) if run.status == RUNNING)
    os.kill(int(running.tags["miai.pid"]), signal.SIGKILL)
    assert ends(program)["statuses"] == {"finished": 4}
    assert count(store, experiment) == {FINISHED: 4, KILLED: 1}
    assert store.run(running.run_id).status == KILLED


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_and_sigterm_end_a_sweep_at_once_with_what_is_done_kept(
    sweep, location: Location, store: Store, experiment: str, number: signal.Signals, code: int
) -> None:
    program = sweep(5, config={"steps": 10, "seconds": 1.0})
    wait_for(lambda: count(store, experiment)[FINISHED] >= 2, "two finished runs")
    family = descendants(program.pid)
    if number == signal.SIGINT:
        os.killpg(program.pid, number)  # A terminal sends Ctrl-C to the parent and to all workers.
    else:
        os.kill(program.pid, number)
    result = ends(program)
    assert program.returncode == result["exit_code"] == code
    found = count(store, experiment)
    assert found[FINISHED] == result["statuses"]["finished"] >= 2
    assert found[RUNNING] == 0
    assert found[KILLED] >= 1
    wait_for(lambda: not any(process.is_running() for process in family), "the end of the workers")
    assert leftovers(location) == []


def test_two_sweeps_at_once_share_the_runs(sweep, location: Location, store: Store, experiment: str) -> None:
    programs = [sweep(8, config={"steps": 3, "seconds": 0.3}) for _ in range(2)]
    results = [ends(program) for program in programs]
    for result in results:
        assert result["exit_code"] == 0
        assert result["statuses"].get("there", 0) + result["statuses"].get("finished", 0) == 8
    assert sum(result["statuses"].get("finished", 0) for result in results) == 8
    assert count(store, experiment) == {FINISHED: 8}
    assert len({run.fingerprint for run in store.runs(experiment)}) == 8
    assert leftovers(location) == []
