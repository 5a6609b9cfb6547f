"""Many runs: what is missing is run, over processes or one after another, and every failure is shown at the end."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from miai.errors import choose
from miai.runner import pool, stopping
from miai.runner.context import available_cores
from miai.runner.execute import Outcome, Status, execute, execute_in_worker, prepare_worker
from miai.runner.progress import SweepDisplay
from miai.runner.resume import Plan, Ready, clean_up, plan
from miai.runner.task import Job
from miai.tracking import Store, StoreUnreachableError
from miai.tracking.location import Location

if TYPE_CHECKING:
    from rich.console import Console

Launcher = Literal["processes", "serial"]
LAUNCHERS = ("processes", "serial")
STOP_GRACE = 0.6
"""Seconds that the runs under way have, on Ctrl-C, to end as KILLED."""

BUSY_WAIT = 0.5
"""Seconds until a run that another sweep is making is looked at again."""


@dataclass
class SweepResult:
    """How a sweep ended.

    Attributes:
        outcomes: one a job, in the order of the jobs.
        stopped_by: the signal that stopped it, or `None`.
    """

    outcomes: list[Outcome]
    stopped_by: int | None = None
    seconds: float = 0.0

    def count(self, status: Status) -> int:
        return sum(outcome.status == status for outcome in self.outcomes)

    @property
    def failures(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.status == "failed"]

    @property
    def complete(self) -> bool:
        """Whether the store (or the disk, for it) has every run now."""
        return all(outcome.status in ("finished", "there") for outcome in self.outcomes)

    @property
    def exit_code(self) -> int:
        """128 + the signal that stopped it (130 for Ctrl-C), 1 if a run is missing, else 0."""
        if self.stopped_by is not None:
            return 128 + self.stopped_by
        return 0 if self.complete else 1


def run_jobs(
    jobs: Sequence[Job],
    location: Location,
    *,
    launcher: Launcher = "processes",
    workers: int | None = None,
    resume: bool = True,
    fail_fast: bool = False,
    console: Console | None = None,
    title: str = "runs",
    preload: Sequence[str] = (),
) -> SweepResult:
    """Make the runs that are missing.

    A failing run never stops the others, unless `fail_fast`. A worker that is killed is replaced and its run made
    again. Ctrl-C and SIGTERM end the sweep at once; what is done stays.

    Args:
        launcher: `processes`, or `serial`: one after another in this process.
        workers: processes; all cores by default.
        resume: leave out what the store has already.
        fail_fast: stop at the first failure.
        console: rich's; `None` shows nothing.
        title: what the progress bar calls it.
        preload: modules that workers will need, imported in the background from now on.

    Raises:
        MiaiError: no such launcher; workers cannot be started.
    """
    choose(launcher, LAUNCHERS, "launcher")
    sweep = _Sweep(jobs, location, resume, fail_fast, SweepDisplay(console, title), time.perf_counter())
    with stopping.listening():
        try:
            if launcher == "serial":
                sweep.run_serially()
            else:
                sweep.run_in_processes(workers or available_cores(), preload)
        except (stopping.Stopped, KeyboardInterrupt) as stop:
            sweep.stopped_by = stop.signum if isinstance(stop, stopping.Stopped) else int(signal.SIGINT)
            stopping.forget()
    return sweep.result()


@dataclass
class _Sweep:
    jobs: Sequence[Job]
    location: Location
    resume: bool
    fail_fast: bool
    display: SweepDisplay
    began: float
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    partly: dict[int, float] = field(default_factory=dict)
    stopped_by: int | None = None
    plan: Plan = field(default_factory=Plan)
    store: Store = field(init=False)

    def __post_init__(self) -> None:
        self.store = Store(self.location, tell=self.display.notice)

    # ---- before ----

    def look(self) -> None:
        """See what is there, close what died, and say so."""
        clean_up(self.location)
        try:
            dead = self.store.close_dead_runs()
            for experiment in sorted({job.experiment for job in self.jobs}):
                self.store.prepare(experiment)
            if dead:
                self.display.notice(f"{len(dead)} run(s) of processes that died were closed as KILLED.")
        except StoreUnreachableError as error:
            self.store.tell_kept(str(error))
        self.plan = plan(self.jobs, self.store, self.resume)
        for index, (fingerprint, run_id) in self.plan.there.items():
            self.outcomes[index] = Outcome("there", self.jobs[index].name, fingerprint, run_id)
        for index, reason in self.plan.impossible.items():
            self.outcomes[index] = Outcome("failed", self._name(index), reason=reason)
        self.display.begin(len(self.jobs), len(self.plan.there), len(self.plan.same_as))

    def _name(self, index: int) -> str:
        return self.jobs[index].name

    # ---- one after another ----

    def run_serially(self) -> None:
        with stopping.interruptible():
            self.look()
        self._one_after_another(workers=1)

    def _one_after_another(self, workers: int) -> None:
        with self.display:
            waiting = list(self.plan.todo)
            while waiting and not self._enough():
                index = waiting.pop(0)
                outcome = execute(
                    self.plan.todo[index],
                    self.store,
                    regardless=not self.resume,
                    continue_killed=self.resume,
                    workers=workers,
                    on_progress=lambda done, total, index=index: self._progress(index, done, total),  # type: ignore[misc]
                )
                if outcome.status == "busy":
                    waiting.append(index)
                    with stopping.interruptible():
                        time.sleep(BUSY_WAIT if len(waiting) == 1 else 0.01)
                    continue
                self._note(index, outcome)
                with stopping.interruptible():
                    pass  # A stop that came while the run's end was being written.

    # ---- over processes ----

    def run_in_processes(self, size: int, preload: Sequence[str]) -> None:
        modules = [*preload, *sorted({job.task.run.__module__ for job in self.jobs})]
        with pool.WorkerPool(size, modules, prepare_worker, (self.location,)) as workers:
            with stopping.interruptible():
                self.look()
            if len(self.plan.todo) == 1:  # A single run stays here, and spreads its own units over all cores.
                self._one_after_another(size)
                return
            deaths: dict[int, int] = {}
            for index, ready in self.plan.todo.items():
                self._submit(workers, index, ready)
            with self.display:
                try:
                    self._loop(workers, deaths)
                except stopping.Stopped:
                    self._stop(workers)
                    raise

    def _submit(self, workers: pool.WorkerPool, index: int, ready: Ready, wait: float = 0.0) -> None:
        after = time.monotonic() + wait if wait else 0.0
        workers.submit(index, execute_in_worker, ready, not self.resume, self.resume, after=after)

    def _loop(self, workers: pool.WorkerPool, deaths: dict[int, int]) -> None:
        stopping_all = False
        while workers.unfinished:
            if self._enough() and not stopping_all:
                stopping_all = True
                workers.cancel_waiting()
                workers.terminate_running()
            for event in workers.events(timeout=0.2):
                self._handle(workers, event, deaths, stopping_all)
            self.display.update(self.outcomes.values(), sum(self.partly.values()))

    def _handle(self, workers: pool.WorkerPool, event: pool.Event, deaths: dict[int, int], stopping_all: bool) -> None:
        index = event.key
        if isinstance(event, pool.Message):
            kind, *content = event.content
            if kind == "notice":
                self.store.tell_once(content[0])
            else:
                self._progress(index, *content)
            return
        self.partly.pop(index, None)
        if isinstance(event, pool.Died):
            self._close_dead_runs()
            if event.given_up:
                reason = (
                    f"stopped: its worker was {event.reason}"
                    if stopping_all
                    else f"its worker died {pool.MAX_DEATHS} times, the last time {event.reason}"
                )
                self._note(index, Outcome("killed" if stopping_all else "failed", self._name(index), reason=reason))
        elif isinstance(event, pool.Raised):
            self._note(index, Outcome("failed", self._name(index), reason=event.reason))
        elif event.value.status == "busy":
            self._submit(workers, index, self.plan.todo[index], BUSY_WAIT)
        elif event.value.status == "killed" and not stopping_all:
            # Somebody sent SIGTERM to the worker alone: like any other death of a worker.
            deaths[index] = deaths.get(index, 0) + 1
            if deaths[index] < pool.MAX_DEATHS:
                self._submit(workers, index, self.plan.todo[index])
            else:
                self._note(index, event.value)
        else:
            self._note(index, event.value)

    def _stop(self, workers: pool.WorkerPool) -> None:
        """End the runs under way as KILLED, within moments."""
        workers.cancel_waiting()
        workers.terminate_running()
        deadline = time.monotonic() + STOP_GRACE
        stopping.forget()
        killed = False
        with contextlib.suppress(stopping.Stopped):
            while workers.unfinished and time.monotonic() < deadline:
                for event in workers.events(timeout=0.05):
                    if isinstance(event, pool.Done) and event.value.status != "busy":
                        self._note(event.key, event.value)
                    killed = killed or isinstance(event, pool.Died)
        killed = killed or workers.unfinished > 0
        workers.stop(grace=0.0)
        if killed:
            self._close_dead_runs()

    def _close_dead_runs(self) -> None:
        """Clear up after a worker that was killed."""
        clean_up(self.location)
        if not self.store.is_down():
            with contextlib.suppress(StoreUnreachableError):
                self.store.close_dead_runs()

    # ---- both ----

    def _enough(self) -> bool:
        return self.fail_fast and any(outcome.status == "failed" for outcome in self.outcomes.values())

    def _progress(self, index: int, done: int, total: int) -> None:
        self.partly[index] = done / total if total else 0.0
        self.display.update(self.outcomes.values(), sum(self.partly.values()))

    def _note(self, index: int, outcome: Outcome) -> None:
        self.partly.pop(index, None)
        self.outcomes[index] = outcome
        self.display.update(self.outcomes.values(), sum(self.partly.values()))

    def result(self) -> SweepResult:
        for index, same in self.plan.same_as.items():
            if same in self.outcomes:
                first = self.outcomes[same]
                status: Status = "there" if first.status in ("finished", "there") else first.status
                self.outcomes[index] = Outcome(status, self._name(index), first.fingerprint, first.run_id, first.reason)
        outcomes = list(self._in_order())
        result = SweepResult(outcomes, self.stopped_by, time.perf_counter() - self.began)
        self.display.close(result)
        return result

    def _in_order(self) -> Iterator[Outcome]:
        for index in range(len(self.jobs)):
            yield self.outcomes.get(index) or Outcome("cancelled", self._name(index))
