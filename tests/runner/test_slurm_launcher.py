"""The launcher for Slurm without a Slurm: jobs are processes here. tests/contract/test_launchers.py has a real one."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from miai.errors import MiaiError
from miai.runner.execute import Outcome
from miai.runner.launchers import slurm, slurm_job
from miai.runner.launchers.slurm import Slurm, SlurmWorkers
from miai.runner.launchers.station import Home, Station
from miai.runner.pool import Call, Died, Done, Event, Message, Raised, Setup, say
from miai.tracking import locate
from miai.tracking.location import Location


def double(x: int) -> dict[str, int]:
    say(("progress", 1, 2))
    return {"double": 2 * x}


def sleep(seconds: float) -> dict[str, float]:
    time.sleep(seconds)
    return {"slept": seconds}


def kill_job_once(marker: str) -> dict[str, str]:
    """Kill the whole job: the parent of this process, with everything that belongs to it."""
    if not Path(marker).exists():
        Path(marker).touch()
        os.killpg(os.getpgid(0), signal.SIGKILL)
    return {"survived": marker}


class Queue:
    """Stands in for Slurm and for submitit's executor."""

    def __init__(self) -> None:
        self.jobs: dict[str, Any] = {}
        self.packed: list[int] = []
        self.most_at_once = 0
        self.refusal: Exception | None = None

    def submit(self, work: Callable[..., None], station: Station, calls: list[Call], folder: Path) -> Any:
        if self.refusal is not None:
            raise self.refusal
        process = multiprocessing.get_context("spawn").Process(target=_as_a_job, args=(work, station, calls, folder))
        process.start()
        job_id = str(len(self.jobs) + 1)
        self.jobs[job_id] = process
        self.packed.append(len(calls))
        self.most_at_once = max(self.most_at_once, sum(job.is_alive() for job in self.jobs.values()))
        return SimpleNamespace(job_id=job_id)

    def states(self, job_ids: list[str]) -> dict[str, str]:
        def state(process: Any) -> str:
            return "RUNNING" if process.is_alive() else ("COMPLETED" if process.exitcode == 0 else "NODE_FAIL")

        return {job_id: state(self.jobs[job_id]) for job_id in job_ids}

    def cancel(self, job_ids: list[str]) -> None:
        for job_id in job_ids:
            if self.jobs[job_id].is_alive():
                self.jobs[job_id].terminate()


def _as_a_job(work: Callable[..., None], *args: Any) -> None:
    os.setpgid(0, 0)
    work(*args)


@pytest.fixture
def location(tmp_path: Path) -> Location:
    (tmp_path / "mlruns").mkdir()
    return locate("http://127.0.0.1:9", root=tmp_path)


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[Queue]:
    queue = Queue()
    monkeypatch.setattr(SlurmWorkers, "_executor", lambda _: queue)
    monkeypatch.setattr(slurm, "states_of", queue.states)
    monkeypatch.setattr(slurm, "cancel", queue.cancel)
    monkeypatch.setattr(slurm, "STATE_SECONDS", 0.2)
    monkeypatch.setattr(slurm, "LINGER_SECONDS", 0.2)
    yield queue
    for process in queue.jobs.values():
        if process.is_alive():
            process.kill()
        process.join()


def all_events(workers: SlurmWorkers) -> list[Event]:
    events: list[Event] = []
    deadline = time.monotonic() + 120
    while workers.unfinished:
        assert time.monotonic() < deadline
        events += workers.events(timeout=1.0)
    return events


def test_calls_are_packed_into_few_jobs_and_answered(queue: Queue, location: Location) -> None:
    with Slurm(jobs_at_once=2, runs_per_job=2).open(None, location) as workers:
        for x in range(5):
            workers.submit(x, double, x)
        events = all_events(workers)
    assert {event.key: event.value for event in events if isinstance(event, Done)} == {
        x: {"double": 2 * x} for x in range(5)
    }
    assert {tuple(event.content) for event in events if isinstance(event, Message)} == {("progress", 1, 2)}
    assert queue.packed == [2, 2, 1]
    assert list((location.mlruns / "slurm").iterdir()) == []
    assert list((location.mlruns / "work").iterdir()) == []


def test_a_lost_job_costs_what_was_under_way_and_the_rest_is_sent_again(
    queue: Queue, location: Location, tmp_path: Path
) -> None:
    with Slurm(jobs_at_once=1, runs_per_job=3).open(None, location) as workers:
        workers.submit("first", double, 1)
        workers.submit("victim", kill_job_once, str(tmp_path / "marker"))
        workers.submit("last", double, 3)
        events = all_events(workers)
        [folder] = (location.mlruns / "slurm").iterdir()
    deaths = [event for event in events if isinstance(event, Died)]
    assert [(event.key, event.given_up) for event in deaths] == [("victim", False)]
    assert deaths[0].reason == f"lost with Slurm job 1 (NODE_FAIL; log: {folder}/1_0_log.err)"
    assert [event.key for event in events if isinstance(event, Done)] == ["first", "victim", "last"]
    assert queue.packed == [3, 2]
    assert folder.is_dir(), "what a lost job wrote stays, to be looked into"
    assert folder.stat().st_mode & 0o077 == 0


def test_stopping_cancels_the_jobs(queue: Queue, location: Location) -> None:
    with Slurm(jobs_at_once=2, runs_per_job=1).open(None, location) as workers:
        for x in range(3):
            workers.submit(x, sleep, 600.0)
        list(workers.events(timeout=0.5))
        assert workers.cancel_waiting() == [2]
        workers.terminate_running()
        events = all_events(workers)
    # Once each, in whichever order Slurm ends them.
    assert sorted((event.key, event.given_up) for event in events if isinstance(event, Died)) == [(0, True), (1, True)]
    for process in queue.jobs.values():
        process.join(30)
        assert not process.is_alive()


def test_what_slurm_refuses_is_one_line_and_what_it_does_not_hear_is_said_again(
    queue: Queue, location: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm, "RETRY_SECONDS", 0.0)
    queue.refusal = RuntimeError("sbatch: error: Unable to contact slurm controller (connect failure)")
    with Slurm().open(None, location) as workers:
        workers.submit("a", double, 1)
        assert list(workers.events(timeout=0.1)) == []
        assert workers.unfinished == 1
        queue.refusal = RuntimeError("output\nsbatch: error: invalid partition specified: nosuch\n")
        with pytest.raises(MiaiError, match=r"^launcher: Slurm refuses the job: sbatch: error: invalid partition"):
            list(workers.events(timeout=0.1))


def test_a_job_that_slurm_starts_anew_leaves_out_what_is_done(location: Location, tmp_path: Path) -> None:
    home = Home.here(location)
    station = Station(home, 1, 1, Setup())
    calls = [Call.of(x, double, (x,)) for x in range(3)]
    whole = json.dumps(slurm_job.line_of(Done(1, {"double": 2})))
    half = json.dumps(slurm_job.line_of(Done(2, {"double": 4})))[:-5]
    (tmp_path / "said.0000.jsonl").write_text(f"{whole}\n{half}", encoding="utf-8")
    before, path = Path.cwd(), dict(os.environ)
    slurm_job.work(station, calls, tmp_path)
    home.leave()
    assert (Path.cwd(), set(os.environ) - set(path)) == (before, {"MIAI_HOME"} - set(path))
    os.environ.clear()
    os.environ.update(path)
    lines = [json.loads(line) for line in (tmp_path / "said.0001.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["key"] for line in lines if line["kind"] == "done"] == [0, 2]


@pytest.mark.parametrize(
    "event",
    [
        Message(3, ["progress", 1, 2]),
        Done("a/b", {"square": 4, "third": 0.1}),
        Done(0, Outcome("finished", "run", "f" * 64, "id", final={"win": 0.5}, seconds=0.25)),
        Raised(1, "ValueError: α", "Traceback\n…", False),
        Died(2, "killed by SIGKILL", True),
    ],
)
def test_events_survive_being_written_down(event: Event) -> None:
    assert slurm_job.event_of(json.loads(json.dumps(slurm_job.line_of(event)))) == event
