"""Worker processes: each call is done or accounted for, whatever happens to the worker."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from miai.errors import MiaiError
from miai.runner import pool
from miai.runner.pool import Died, Done, Message, Raised, WorkerPool


def double(x: int) -> int:
    return 2 * x


def talk(x: int) -> str:
    pool.say(("half", x))
    return "over"


def fail(kind: str) -> Any:
    if kind == "miai":
        raise MiaiError("one line")
    if kind == "lambda":
        return lambda: None
    raise ValueError("two\nlines")


def threads() -> dict[str, str | None]:
    return {name: os.environ.get(name) for name in pool.ONE_THREAD}


def kill_worker(times: int, folder: str) -> str:
    """Die, as by `kill -9`, the first `times` times."""
    done = len(list(Path(folder).iterdir()))
    if done < times:
        (Path(folder) / str(done)).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "survived"


def sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def all_events(workers: WorkerPool) -> list[pool.Event]:
    events: list[pool.Event] = []
    while workers.unfinished:
        events += workers.events(timeout=5.0)
    return events


def test_calls_are_spread_and_answered() -> None:
    with WorkerPool(2) as workers:
        for x in range(20):
            workers.submit(x, double, x)
        events = all_events(workers)
    assert sorted((event.key, event.value) for event in events if isinstance(event, Done)) == [
        (x, 2 * x) for x in range(20)
    ]


def test_what_a_call_says_comes_before_its_answer() -> None:
    with WorkerPool(1) as workers:
        workers.submit("a", talk, 5)
        assert all_events(workers) == [Message("a", ("half", 5)), Done("a", "over")]
    pool.say("outside a worker, to nobody")


def test_what_a_call_raises_is_told_in_one_line_and_the_next_call_is_clean() -> None:
    with WorkerPool(1) as workers:
        for key in ("miai", "value", "lambda"):
            workers.submit(key, fail, key)
        workers.submit("next", double, 1)
        events = {event.key: event for event in all_events(workers)}
    miai, value, unpicklable = events["miai"], events["value"], events["lambda"]
    assert isinstance(miai, Raised)
    assert (miai.reason, miai.expected) == ("one line", True)
    assert isinstance(value, Raised)
    assert (value.reason, value.expected) == ("ValueError: two lines", False)
    assert "in fail" in value.details
    assert isinstance(unpicklable, Raised)
    assert "pickle" in unpicklable.reason
    assert events["next"] == Done("next", 2)


def test_workers_have_one_thread_each_and_the_parent_keeps_its_own() -> None:
    before = threads()
    with WorkerPool(1) as workers:
        workers.submit("t", threads)
        (event,) = all_events(workers)
    assert isinstance(event, Done)
    assert set(event.value.values()) == {"1"}
    assert threads() == before


def test_a_killed_worker_is_replaced_and_only_its_call_done_again(tmp_path: Path) -> None:
    with WorkerPool(2) as workers:
        workers.submit("dies twice", kill_worker, 2, str(tmp_path))
        for x in range(5):
            workers.submit(x, sleep, 0.05)
        events = all_events(workers)
    deaths = [event for event in events if isinstance(event, Died)]
    assert deaths == [Died("dies twice", "killed by SIGKILL", False)] * 2
    done = {event.key: event.value for event in events if isinstance(event, Done)}
    assert done == {"dies twice": "survived", **dict.fromkeys(range(5), 0.05)}


def test_a_worker_that_is_lost_at_its_start_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when the fork server is killed at that moment."""
    failures = [EOFError("unexpected EOF"), ConnectionResetError()]
    make = pool._Worker

    def make_or_fail(*arguments: Any) -> Any:
        if failures:
            raise failures.pop()
        return make(*arguments)

    monkeypatch.setattr(pool, "_Worker", make_or_fail)
    with WorkerPool(1) as workers:
        workers.submit("x", double, 4)
        assert all_events(workers) == [Done("x", 8)]


def test_workers_that_are_always_lost_at_their_start_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_always(*_: Any) -> Any:
        raise EOFError("unexpected EOF")

    monkeypatch.setattr(pool, "_Worker", fail_always)
    with WorkerPool(1) as workers:
        workers.submit("x", double, 4)
        with pytest.raises(MiaiError, match=r"worker processes cannot be started: .* lost at its start \(EOFError\)"):
            all_events(workers)


def test_a_call_whose_worker_dies_three_times_is_given_up(tmp_path: Path) -> None:
    with WorkerPool(1) as workers:
        workers.submit("poison", kill_worker, 99, str(tmp_path))
        workers.submit("next", double, 1)
        events = all_events(workers)
    assert [event for event in events if event.key == "poison"] == [
        Died("poison", "killed by SIGKILL", False),
        Died("poison", "killed by SIGKILL", False),
        Died("poison", "killed by SIGKILL", True),
    ]
    assert Done("next", 2) in events


def test_a_delayed_call_waits_while_others_go_first() -> None:
    with WorkerPool(1) as workers:
        workers.submit("late", double, 1, after=time.monotonic() + 0.3)
        workers.submit("soon", double, 2)
        assert [event.key for event in all_events(workers)] == ["soon", "late"]


def test_leaving_the_pool_stops_what_is_under_way() -> None:
    with WorkerPool(1) as workers:
        workers.submit("long", sleep, 60.0)
        list(workers.events(timeout=0.5))
        processes = [worker.process for worker in workers._workers]
        assert workers.unfinished == 1
    assert [process.is_alive() for process in processes] == [False]


def test_calls_that_have_not_begun_can_be_cancelled() -> None:
    with WorkerPool(1) as workers:
        for x in range(3):
            workers.submit(x, sleep, 0.05)
        list(workers.events(timeout=0.0))
        assert workers.cancel_waiting() == [1, 2]
        assert all_events(workers) == [Done(0, 0.05)]


def test_a_pool_has_at_least_one_worker() -> None:
    with pytest.raises(ValueError, match="at least 1, got 0"):
        WorkerPool(0)
