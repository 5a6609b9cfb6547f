"""One run, from its claim to its end: the same steps in a worker of a sweep and for a single `miai train`."""

from __future__ import annotations

import contextlib
import functools
import logging
import shutil
import time
import traceback
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from miai.errors import MiaiError
from miai.runner import pool, stopping
from miai.runner.checkpoint import Checkpoints
from miai.runner.context import RunContext
from miai.runner.launchers import Launcher, Workers, named
from miai.runner.resume import CHECKPOINTS, Claim, Inputs, Ready, check_writable, clean_up, prepare, work_folder
from miai.runner.task import Job
from miai.tracking import FAILED, FINISHED, KILLED, RunLog, Store, StoreUnreachableError, origin
from miai.tracking.failures import first_line
from miai.tracking.location import Location
from miai.tracking.record import FINGERPRINT_TAG, STUDY_TAG

LOG_FILE = "run.log"
STAGE_TAG = "miai.stage"
TASK_TAG = "miai.task"

Status = Literal["finished", "there", "failed", "killed", "cancelled", "busy"]
"""there: the store had it already; cancelled: never begun; busy: another process is making it (never final)."""


@dataclass(frozen=True)
class Outcome:
    """How one job ended.

    Attributes:
        reason: of a failure, in one line.
        log: where the run's log is, for a run that has one.
        seconds: all of it; `task_seconds`: the task's own part, the rest being tracking.
        final: the final metrics, by name without `final/`.
        conclusion: what the task says to people at its end.
        kept: the run is on this machine's disk, not in the store.
        stopped_by: the signal that stopped a single run (see `run_one`).
    """

    status: Status
    name: str
    fingerprint: str = ""
    run_id: str = ""
    reason: str = ""
    log: str = ""
    seconds: float = 0.0
    task_seconds: float = 0.0
    final: dict[str, float] = field(default_factory=dict)
    kept: bool = False
    conclusion: str = ""
    stopped_by: int | None = None

    @property
    def exit_code(self) -> int:
        """128 + the signal that stopped it (130 for Ctrl-C), 1 if it failed, else 0."""
        if self.stopped_by is not None:
            return 128 + self.stopped_by
        return 0 if self.status in ("finished", "there") else 1


def run_one(
    job: Job,
    location: Location,
    *,
    launcher: Launcher | str = "local",
    continue_killed: bool = True,
    workers: int | None = None,
    tell: Callable[[str], None] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Outcome:
    """Make one run in this process, whether or not the store has one like it.

    Args:
        launcher: where the task's units of work are done, if it hands out any.
        continue_killed: go on from the checkpoint of a killed run of the same fingerprint, if there is one.
        workers: units done at once; by default as many as the launcher has room for.
        tell: is given each line that the user has to see.
        on_progress: is given (done, total) now and then.

    Raises:
        MiaiError: an input is not there, or the launcher cannot be used here.
    """
    launcher = named(launcher)
    launcher.check(location)
    store = Store(location, tell)
    check_writable(location)
    clean_up(location)
    try:
        store.close_dead_runs()
    except StoreUnreachableError as error:
        store.tell_kept(str(error))
    ready = prepare(job, Inputs(store))
    with stopping.listening():
        outcome = execute(
            ready,
            store,
            regardless=True,
            continue_killed=continue_killed,
            launcher=launcher,
            workers=workers,
            on_progress=on_progress,
        )
        stopped_by = stopping.requested()
        stopping.forget()
    return replace(outcome, stopped_by=stopped_by)


def execute(
    ready: Ready,
    store: Store,
    *,
    regardless: bool,
    continue_killed: bool,
    launcher: Launcher | None = None,
    workers: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    on_start: Callable[[str], None] | None = None,
) -> Outcome:
    """Make one run. Whatever the task raises ends in the outcome.

    Args:
        regardless: run even if another process is making the same run, or has just finished it.
        continue_killed: go on from what a killed run of the same fingerprint left.
        launcher: where the task's units of work are done; `None`: in this process.
        workers: processes or threads for the task; with a launcher, all that there is room for by default; else 1.
        on_start: is given the run's id as soon as the store has it.
    """
    job, location = ready.job, store.location
    claim = Claim(location, job.experiment, ready.fingerprint)
    try:
        if not claim.take() and not regardless:
            return Outcome("busy", job.name, ready.fingerprint)
        unknown: tuple[str, ...] = ()
        if not regardless:
            run_id = claim.finished_since(ready.seen)
            if run_id is None:
                run_id, unknown = _ended_unseen(claim, store)
            if run_id is not None:
                Checkpoints(location.mlruns / CHECKPOINTS / ready.fingerprint).remove()
                return Outcome("there", job.name, ready.fingerprint, run_id)
        own = ready.fingerprint if claim.held else f"{ready.fingerprint}-{uuid.uuid4().hex[:8]}"
        checkpoints = Checkpoints(location.mlruns / CHECKPOINTS / own)
        if not continue_killed:
            checkpoints.remove()
        own_threads = workers or (pool.available_cores() if launcher is not None and not launcher.in_process else 1)
        spread = _spread(launcher, workers, location)
        outcome = _execute(ready, store, claim, unknown, checkpoints, own_threads, spread, on_progress, on_start)
        if outcome.status == "finished":
            checkpoints.remove()
            if claim.held:
                claim.mark(outcome.run_id, finished=True)
        elif not claim.held:
            checkpoints.remove()  # Nobody would find it.
        return outcome
    finally:
        claim.release()


def _ended_unseen(claim: Claim, store: Store) -> tuple[str | None, tuple[str, ...]]:
    """Look for a run that is finished, though whoever made it was killed before they could say so.

    Returns:
        its id, or `None`; and the ids of which the store, being away, cannot say whether they are finished. The run
        is made again then, and kept; its upload asks again.
    """
    unknown = []
    for run_id in claim.were_ending():
        try:
            if store.run(run_id).status == FINISHED:
                return run_id, ()
        except StoreUnreachableError:
            unknown.append(run_id)
        except MiaiError:  # The store has no such run: it was never created there, or somebody deleted it.
            pass
    return None, tuple(unknown)


def _spread(
    launcher: Launcher | None, workers: int | None, location: Location
) -> Callable[[pool.Setup], Workers] | None:
    """What opens workers for units of work; `None` if there are to be none."""
    if launcher is None or launcher.in_process or (not launcher.elsewhere and (workers or pool.available_cores()) == 1):
        return None
    return functools.partial(launcher.open, workers, location)


def _execute(
    ready: Ready,
    store: Store,
    claim: Claim,
    unknown: tuple[str, ...],
    checkpoints: Checkpoints,
    workers: int,
    spread: Callable[[pool.Setup], Workers] | None,
    on_progress: Callable[[int, int], None] | None,
    on_start: Callable[[str], None] | None,
) -> Outcome:
    began = time.perf_counter()
    job = ready.job
    work = work_folder(store.location, uuid.uuid4().hex[:12])
    try:
        with _logging_to(work / LOG_FILE) as logger:
            tags = {
                STUDY_TAG: job.experiment,
                STAGE_TAG: job.stage,
                TASK_TAG: job.task.name,
                FINGERPRINT_TAG: ready.fingerprint,
                **job.tags,
            }
            run_log = store.start(
                job.experiment,
                job.name,
                job.config,
                {key: value for key, value in tags.items() if value},
                work,
                job.task.settle(job.config),
                unless=unknown,
            )
            context = RunContext(
                run_log,
                checkpoints,
                seed=int(job.config.get("seed") or 0),
                work=work,
                inputs=ready.inputs,
                fingerprint=ready.fingerprint,
                workers=workers,
                on_progress=on_progress,
                spread=spread,
            )
            if on_start is not None:
                on_start(run_log.run_id)
            logger.info("run %s (%s) began: fingerprint %s", run_log.run_id, job.name, ready.fingerprint)
            task_began = time.perf_counter()
            status, reason = _attempt(job, context, logger)
            task_seconds = time.perf_counter() - task_began
            logger.info("run %s ended: %s after %.2f s", run_log.run_id, status, task_seconds)
        if status == FINISHED and claim.held:
            claim.mark(run_log.run_id, finished=False, earlier=unknown)
        run_log.finish(status, reason or None, {LOG_FILE: work / LOG_FILE})
        return Outcome(
            _STATUS[status],
            job.name,
            ready.fingerprint,
            run_log.run_id,
            reason,
            run_log.where(LOG_FILE),
            time.perf_counter() - began,
            task_seconds,
            {name.removeprefix("final/"): value for name, value in run_log.finals.items()},
            run_log.kept is not None,
            context.conclusion,
        )
    finally:
        shutil.rmtree(work, ignore_errors=True)


_STATUS: dict[str, Status] = {FINISHED: "finished", FAILED: "failed", KILLED: "killed"}


def _attempt(job: Job, context: RunContext, logger: logging.Logger) -> tuple[str, str]:
    """Run the task; return the run's status and, for a failure, the reason in one line."""
    try:
        with stopping.interruptible():
            job.task.run(job.config, context)
    except stopping.Stopped as stopped:
        logger.warning("%s", stopped)
        return KILLED, str(stopped)
    except KeyboardInterrupt:
        logger.warning("stopped by Ctrl-C")
        return KILLED, "stopped by Ctrl-C"
    except MiaiError as error:
        logger.error("%s\n%s", error, traceback.format_exc())
        return FAILED, str(error)
    except (Exception, SystemExit) as error:
        logger.error("%s", traceback.format_exc())
        return FAILED, first_line(error)
    return FINISHED, ""


@contextlib.contextmanager
def _logging_to(path: Path) -> Iterator[logging.Logger]:
    """Send what Miai's loggers say, and Python's warnings, to the run's log."""
    handler = _LogFile(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    loggers = [logging.getLogger("miai"), logging.getLogger("py.warnings")]
    before = [(logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
    logging.captureWarnings(True)
    try:
        yield loggers[0]
    finally:
        logging.captureWarnings(False)
        for logger, (level, propagate) in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = propagate
        with contextlib.suppress(OSError):
            handler.close()


class _LogFile(logging.FileHandler):
    """A file whose disk may be full: the run fails of that by itself, and Python's page for each line tells no more."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # The name is Python's.
        """Let the line be lost."""


# ---- in a worker of a sweep ----

_worker_store: Store | None = None


def prepare_worker(location: Location) -> None:
    """Open the store before the first run comes."""
    global _worker_store
    _worker_store = Store(location, tell=lambda line: pool.say(("notice", line)))
    with contextlib.suppress(MiaiError):  # The sweep itself says so; runs that are under way are kept.
        _ = _worker_store.client
    origin.code_tags()


def execute_in_worker(ready: Ready, regardless: bool, continue_killed: bool, cores: int = 1) -> Outcome:
    """Make one run of a sweep; what it says goes to the parent: its id in the store, and its progress."""
    assert _worker_store is not None
    return execute(
        ready,
        _worker_store,
        regardless=regardless,
        continue_killed=continue_killed,
        workers=cores,
        on_progress=lambda done, total: pool.say(("progress", done, total)),
        on_start=lambda run_id: pool.say(("began", run_id)),
    )


__all__ = ["Outcome", "RunLog", "Status", "execute", "run_one"]
