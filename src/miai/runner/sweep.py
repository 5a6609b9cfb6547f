"""Many runs: what is missing is made by the workers of a launcher, and every failure is shown at the end."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from miai.runner import pool, stopping
from miai.runner.execute import Outcome, Status, execute, execute_in_worker, prepare_worker
from miai.runner.launchers import Launcher, Workers, named
from miai.runner.progress import SweepDisplay
from miai.runner.resume import Plan, Ready, check_writable, clean_up, plan
from miai.runner.task import Job
from miai.tracking import Store, StoreRefusedError, StoreUnreachableError
from miai.tracking.location import Location

if TYPE_CHECKING:
    from rich.console import Console

BUSY_WAIT = 0.5
"""Seconds until this process looks again at a run that another sweep is making."""


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
    launcher: Launcher | str = "local",
    workers: int | None = None,
    resume: bool = True,
    continue_killed: bool | None = None,
    fail_fast: bool = False,
    console: Console | None = None,
    title: str = "runs",
    preload: Sequence[str] = (),
) -> SweepResult:
    """Make the runs that are missing.

    A failing run never stops the others, unless `fail_fast`. A worker that is killed is replaced and its run made
    again. Ctrl-C and SIGTERM end the sweep at once; what is done stays.

    Args:
        launcher: where the runs are made; a name is that launcher with its default options.
        workers: runs made at once; by default as many as the launcher has room for.
        resume: leave out what the store has already.
        continue_killed: go on from the checkpoints that killed runs left; by default as `resume`.
        fail_fast: stop at the first failure.
        console: rich's; `None` shows nothing.
        title: what the progress bar calls it.
        preload: modules that workers will need, imported in the background from now on.

    Raises:
        MiaiError: no such launcher, or it cannot be used here; workers cannot be started.
    """
    launcher = named(launcher)
    launcher.check(location)
    display = SweepDisplay(console, title)
    continue_killed = resume if continue_killed is None else continue_killed
    sweep = _Sweep(jobs, location, launcher, workers, resume, continue_killed, fail_fast, display, time.perf_counter())
    with stopping.listening():
        try:
            if launcher.in_process:
                sweep.run_serially()
            else:
                sweep.run_in_workers(preload)
        except (stopping.Stopped, KeyboardInterrupt) as stop:
            sweep.stopped_by = stop.signum if isinstance(stop, stopping.Stopped) else int(signal.SIGINT)
            stopping.forget()
    return sweep.result()


def send_one(job: Job, location: Location, launcher: Launcher, console: Console | None) -> Outcome:
    """Let a worker of the launcher make one run, whether or not the store has one like it.

    Raises:
        MiaiError: the launcher cannot be used here.
    """
    how = {"launcher": launcher, "resume": False, "continue_killed": True, "console": console, "title": job.name}
    result = run_jobs([job], location, preload=job.task.preload, **how)  # type: ignore[arg-type]
    return replace(result.outcomes[0], stopped_by=result.stopped_by)


@dataclass
class _Sweep:
    jobs: Sequence[Job]
    location: Location
    launcher: Launcher
    workers: int | None
    resume: bool
    continue_killed: bool
    fail_fast: bool
    display: SweepDisplay
    began: float
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    partly: dict[int, float] = field(default_factory=dict)
    run_ids: dict[int, str] = field(default_factory=dict)
    stopped_by: int | None = None
    plan: Plan = field(default_factory=Plan)
    store: Store = field(init=False)

    def __post_init__(self) -> None:
        self.store = Store(self.location, tell=self.display.notice)

    # ---- before ----

    def look(self) -> None:
        """See what is there, close what died, and say so."""
        check_writable(self.location)
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
        self._one_after_another()

    def _one_after_another(self) -> None:
        with self.display:
            waiting = list(self.plan.todo)
            while waiting and not self._enough():
                index = waiting.pop(0)
                outcome = execute(
                    self.plan.todo[index],
                    self.store,
                    regardless=not self.resume,
                    continue_killed=self.continue_killed,
                    launcher=self.launcher,
                    workers=self.workers,
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

    # ---- over workers ----

    def run_in_workers(self, preload: Sequence[str]) -> None:
        modules = [*preload, *sorted({job.task.run.__module__ for job in self.jobs})]
        setup = pool.Setup(modules, prepare_worker, (self.location,))
        with self.launcher.open(self.workers, self.location, setup) as workers:
            with stopping.interruptible():
                self.look()
            if self._stays_here():
                self._one_after_another()
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

    def _stays_here(self) -> bool:
        """A single run is made in this process, which spreads its units of work; elsewhere, if it has any."""
        [index, *others] = self.plan.todo or [-1]
        if others or index < 0:
            return False
        return not self.launcher.elsewhere or self.jobs[index].task.spreads

    def _submit(self, workers: Workers, index: int, ready: Ready, wait: float = 0.0) -> None:
        after = time.monotonic() + wait if wait else 0.0
        how = (not self.resume, self.continue_killed, self.launcher.cores)
        workers.submit(index, execute_in_worker, ready, *how, after=after)

    def _loop(self, workers: Workers, deaths: dict[int, int]) -> None:
        stopping_all = False
        while workers.unfinished:
            if self._enough() and not stopping_all:
                stopping_all = True
                workers.cancel_waiting()
                workers.terminate_running()
            for event in workers.events(timeout=0.2):
                self._handle(workers, event, deaths, stopping_all)
            self.display.update(self.outcomes.values(), sum(self.partly.values()))

    def _handle(self, workers: Workers, event: pool.Event, deaths: dict[int, int], stopping_all: bool) -> None:
        index = event.key
        if isinstance(event, pool.Message):
            kind, *content = event.content
            if kind == "notice":
                self.store.tell_once(content[0])
            elif kind == "waiting":
                self.display.notice(content[0])
            elif kind == "began":
                self.run_ids[index] = content[0]
            else:
                self._progress(index, *content)
            return
        self.partly.pop(index, None)
        run_id = self.run_ids.pop(index, None)
        if isinstance(event, pool.Died):
            self._close_dead_runs([run_id] if run_id else [])
            if event.given_up:
                reason = (
                    f"stopped: its worker was {event.reason}"
                    if stopping_all
                    else f"its worker died {pool.MAX_DEATHS} times, the last time {event.reason}"
                )
                self._note(index, Outcome("killed" if stopping_all else "failed", self._name(index), reason=reason))
            else:
                self.display.notice(f"{self._name(index)}: its worker was {event.reason}; the run is made again.")
        elif isinstance(event, pool.Raised):
            self._note(index, Outcome("failed", self._name(index), reason=event.reason))
        elif event.value.status == "busy":
            self._submit(workers, index, self.plan.todo[index], workers.retry_wait)
        elif event.value.status == "killed" and not stopping_all:
            # Somebody sent SIGTERM to the worker alone: like any other death of a worker.
            deaths[index] = deaths.get(index, 0) + 1
            if deaths[index] < pool.MAX_DEATHS:
                self._submit(workers, index, self.plan.todo[index])
            else:
                self._note(index, event.value)
        else:
            self._note(index, event.value)

    def _stop(self, workers: Workers) -> None:
        """End the runs under way as KILLED, within moments."""
        workers.cancel_waiting()
        workers.terminate_running()
        deadline = time.monotonic() + workers.stop_grace
        stopping.forget()
        killed = False
        with contextlib.suppress(stopping.Stopped):
            while workers.unfinished and time.monotonic() < deadline:
                for event in workers.events(timeout=0.05):
                    if isinstance(event, pool.Done):
                        self.run_ids.pop(event.key, None)
                        if event.value.status != "busy":
                            self._note(event.key, event.value)
                    killed = killed or isinstance(event, pool.Died)
        killed = killed or workers.unfinished > 0
        workers.stop(grace=0.0)
        if killed:
            self._close_dead_runs(list(self.run_ids.values()))

    def _close_dead_runs(self, run_ids: Sequence[str]) -> None:
        """Clear up after workers that were killed: those of this machine are looked for, the runs of others named."""
        clean_up(self.location)
        if not self.store.is_down():
            with contextlib.suppress(StoreUnreachableError, StoreRefusedError):
                self.store.close_dead_runs()
                if self.launcher.elsewhere and run_ids:
                    self.store.close_runs(run_ids)

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
