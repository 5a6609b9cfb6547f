"""Workers in jobs of Slurm's queue, which submitit submits.

Several calls are packed into a job. What the job does with them is in `slurm_job.py`; what they say, it writes into a
file that is read here. Start reading at `SlurmWorkers`.
"""

from __future__ import annotations

import contextlib
import json
import math
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass as plain_dataclass
from dataclasses import field as plain_field
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.errors import MiaiError
from miai.kinds import STRICT
from miai.runner import stopping
from miai.runner.launchers.extras import need
from miai.runner.launchers.slurm_job import FILES, REFUSED, UNBEGUN, event_of, work
from miai.runner.launchers.station import Home, Station, refuse_shared_file
from miai.runner.pool import MAX_DEATHS, NO_SETUP, Call, CallQueue, Died, Event, Key, Message, Setup
from miai.tracking.failures import first_line
from miai.tracking.location import Location

FOLDER = "slurm"
LOOK_SECONDS = 0.25
"""Between two looks at what jobs have written."""

STATE_SECONDS = 5.0
"""Between two questions to Slurm about the jobs; results come without them."""

LINGER_SECONDS = 3.0
"""For which a job that has ended is still read: on a network's file system, its last lines may come late."""

END_SECONDS = 60
"""Before a job's time is over, its runs are asked to end: SIGTERM."""

RETRY_SECONDS = 10.0
PATIENCE = 120.0
"""Seconds after which a Slurm that does not answer is asked again to take a job, and after which it no longer is."""

KEPT_DAYS = 7

ENDED = frozenset(
    (
        "BOOT_FAIL",
        "CANCELLED",
        "COMPLETED",
        "DEADLINE",
        "FAILED",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "PREEMPTED",
        "REVOKED",
        "TIMEOUT",
    )
)
"""States of a job that will not go on. One that is no longer in the queue has ended too."""

UNANSWERED = ("unable to contact", "timed out", "temporarily", "connection refused")
"""What sbatch says when it is worth another try."""


@dataclass(config=STRICT, kw_only=True)
class Slurm:
    """Options of the launcher; conf/launcher/slurm.yaml says what they mean."""

    partition: Annotated[str, Field(min_length=1)] | None = None
    jobs_at_once: Annotated[int, Field(ge=1)] = 4
    runs_per_job: Annotated[int, Field(ge=1)] = 8
    workers_per_job: Annotated[int, Field(ge=1)] = 1
    cores: Annotated[int, Field(ge=1)] = 1
    gpus: Annotated[int, Field(ge=0)] = 0
    memory: Annotated[str, Field(pattern=r"^\d+[KMGT]?B?$")] | None = None
    minutes: Annotated[int, Field(ge=2)] = 60
    setup: list[str] = Field(default_factory=list)
    sbatch: dict[str, str | int | bool] = Field(default_factory=dict)
    folder: Annotated[str, Field(min_length=1)] | None = None

    in_process: ClassVar[bool] = False
    elsewhere: ClassVar[bool] = True

    def check(self, location: Location) -> None:
        """See that submitit and Slurm are there, and that machines can share the store.

        Raises:
            MiaiError: no.
        """
        need("submitit", "slurm")
        for program in ("sbatch", "srun", "squeue", "scancel"):
            if shutil.which(program) is None:
                raise MiaiError(f"launcher=slurm: there is no {program} here; start Miai where Slurm takes jobs from.")
        refuse_shared_file(location)

    def open(self, workers: int | None, location: Location, setup: Setup = NO_SETUP) -> SlurmWorkers:
        return SlurmWorkers(self, workers, location, setup)


KIND = Slurm


@plain_dataclass(eq=False)
class _Job:
    """A job in Slurm's queue.

    Attributes:
        calls: those of which the end is not known, by key, in the order in which they are begun.
        read: how many bytes of each file have been read.
        state: what Slurm said last.
        ended: when (of `time.monotonic`) it was seen to have ended.
    """

    job_id: str
    folder: Path
    calls: dict[Key, Call]
    read: dict[Path, int] = plain_field(default_factory=dict)
    state: str = "PENDING"
    ended: float | None = None


class SlurmWorkers(CallQueue):
    """See `Workers`. Jobs are submitted when there is something to do."""

    retry_wait = 30.0
    stop_grace = 8.0

    def __init__(self, options: Slurm, workers: int | None, location: Location, setup: Setup) -> None:
        super().__init__()
        self._options = options
        self._workers_per_job = min(options.workers_per_job, workers or options.workers_per_job)
        self._jobs_at_once = min(options.jobs_at_once, math.ceil((workers or 10**9) / self._workers_per_job))
        self._location = location
        self._setup = setup
        self._jobs: list[_Job] = []
        self._submitted = 0
        self._asked = 0.0
        self._unanswered_since: float | None = None
        self._not_before = 0.0
        self._trouble = False
        self._stopping = False
        self._home: Home | None = None
        self._folder: Path | None = None

    def __enter__(self) -> SlurmWorkers:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(grace=0.0)

    @property
    def unfinished(self) -> int:
        return len(self._waiting) + sum(len(job.calls) for job in self._jobs)

    def terminate_running(self) -> None:
        self._stopping = True
        for job in self._jobs:
            for call in job.calls.values():
                self._do_not_repeat(call)
        cancel([job.job_id for job in self._jobs if job.calls and job.ended is None])
        self._asked = 0.0

    def events(self, timeout: float) -> Iterator[Event]:
        if not self.unfinished:
            return
        self._dispatch()
        deadline = time.monotonic() + timeout
        while not (found := list(self._look())) and time.monotonic() < deadline:
            with stopping.interruptible():
                time.sleep(min(LOOK_SECONDS, max(0.0, deadline - time.monotonic())))
            self._dispatch()
        yield from found
        self._dispatch()

    def stop(self, grace: float) -> None:
        self._waiting.clear()
        unsettled = [job for job in self._jobs if job.calls]
        if unsettled:
            self.terminate_running()
            deadline = time.monotonic() + grace
            while any(job.calls for job in self._jobs) and time.monotonic() < deadline:
                list(self._look())
                time.sleep(LOOK_SECONDS)
        self._jobs.clear()
        if self._folder is not None and not (self._trouble or unsettled):
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = None
        if self._home is not None:
            self._home.leave()
            self._home = None

    # ---- to Slurm ----

    def _dispatch(self) -> None:
        """Submit jobs as far as there are calls for them."""
        while self._waiting and not self._stopping and time.monotonic() >= self._not_before:
            free = self._jobs_at_once - sum(bool(job.calls) for job in self._jobs)
            if free <= 0:
                return
            share = max(self._workers_per_job, math.ceil(len(self._waiting) / free))
            calls: dict[Key, Call] = {}
            while len(calls) < min(share, self._options.runs_per_job):
                call = self._next_due()
                if call is None:
                    break
                calls[call.key] = call
            if not calls or not self._submit(calls):
                return

    def _submit(self, calls: dict[Key, Call]) -> bool:
        """Submit one job; False if Slurm does not answer just now."""
        if self._folder is None:
            self._folder = self._make_folder()
            self._home = Home.here(self._location)
        assert self._home is not None
        folder = self._folder / str(self._submitted)
        folder.mkdir()
        station = Station(self._home, self._workers_per_job, self._options.cores, self._setup)
        try:
            job_id = (
                self._executor()
                .submit(work, station, [Call(call.key, call.packed) for call in calls.values()], folder)
                .job_id
            )
        except Exception as error:
            folder.rmdir()
            self._waiting.extendleft(reversed(calls.values()))
            said = str(getattr(error, "stderr", None) or error)
            now = time.monotonic()
            self._unanswered_since = self._unanswered_since or now
            if any(text in said.lower() for text in UNANSWERED) and now - self._unanswered_since < PATIENCE:
                self._not_before = now + RETRY_SECONDS
                return False
            last = next((line for line in reversed(said.splitlines()) if line.strip()), first_line(error))
            raise MiaiError(f"launcher: Slurm refuses the job: {last.strip()}") from error
        self._unanswered_since = None
        self._submitted += 1
        self._jobs.append(_Job(job_id, folder, calls))
        return True

    def _executor(self) -> Any:
        from submitit import SlurmExecutor

        options, cores = self._options, self._workers_per_job * self._options.cores
        assert self._folder is not None
        executor = SlurmExecutor(self._folder)
        further: dict[str, Any] = {"signal": f"TERM@{END_SECONDS}", **options.sbatch}
        if options.memory is not None:
            further["mem"] = options.memory
        wanted = {"partition": options.partition, "gpus_per_node": options.gpus or None, "setup": options.setup or None}
        executor.update_parameters(
            job_name="miai",
            time=options.minutes,
            nodes=1,
            ntasks_per_node=1,
            cpus_per_task=cores,
            srun_args=[f"--cpus-per-task={cores}"],  # A step does not take it over from its job.
            additional_parameters=further,
            **{name: value for name, value in wanted.items() if value is not None},
        )
        return executor

    def _make_folder(self) -> Path:
        """Make a folder of our own for jobs' files, which others cannot read; remove those that are old."""
        place = Path(self._options.folder or self._location.mlruns / FOLDER).expanduser().resolve()
        place.mkdir(parents=True, exist_ok=True)
        for old in place.glob("sweep-*"):
            with contextlib.suppress(OSError):
                if time.time() - old.stat().st_mtime > KEPT_DAYS * 86_400:
                    shutil.rmtree(old, ignore_errors=True)
        return Path(tempfile.mkdtemp(prefix=time.strftime("sweep-%Y%m%d-%H%M%S-"), dir=place))

    # ---- from the jobs ----

    def _look(self) -> Iterator[Event]:
        self._ask_for_states()
        for job in list(self._jobs):
            for line in self._new_lines(job):
                yield from self._understand(job, line)
            if job.calls and job.ended is not None and time.monotonic() - job.ended >= self._linger:
                yield from self._bury(job)
            if not job.calls:
                self._jobs.remove(job)

    @property
    def _linger(self) -> float:
        return 0.0 if self._stopping else LINGER_SECONDS

    def _new_lines(self, job: _Job) -> Iterator[dict[str, Any]]:
        for file in sorted(job.folder.glob(FILES)):
            with (
                contextlib.suppress(OSError),
                file.open("rb") as opened,
            ):  # Opened anew, a network's file is up to date.
                opened.seek(job.read.get(file, 0))
                text = opened.read()
                whole = text[: text.rfind(b"\n") + 1]  # Of the last line, more may be to come.
                job.read[file] = job.read.get(file, 0) + len(whole)
                for line in whole.splitlines():
                    yield json.loads(line)

    def _understand(self, job: _Job, said: dict[str, Any]) -> Iterator[Event]:
        kind, key = said["kind"], said.get("key")
        if kind == REFUSED:
            raise MiaiError(said["reason"])
        if kind == UNBEGUN:
            for unbegun in said["keys"]:
                if (call := job.calls.pop(unbegun, None)) is not None and not self._stopping:
                    self._waiting.append(call)
            return
        if key not in job.calls:
            return  # Said again by a job that was started anew.
        event = event_of(said)
        if isinstance(event, Message):
            yield event
            return
        call = job.calls.pop(key)
        yield self._count_death(call, event.reason) if isinstance(event, Died) else event

    def _ask_for_states(self) -> None:
        now = time.monotonic()
        pause = LOOK_SECONDS if self._stopping else STATE_SECONDS
        asked = [job for job in self._jobs if job.calls and job.ended is None]
        if now - self._asked < pause or not asked:
            return
        self._asked = now
        states = states_of([job.job_id for job in asked])
        for job in asked if states is not None else ():
            assert states is not None
            job.state = states.get(job.job_id, "no longer in the queue")
            if job.job_id not in states or job.state in ENDED:
                job.ended = now

    def _bury(self, job: _Job) -> Iterator[Event]:
        """A job has ended, and not all of its calls. Those that it can have been at have lost a worker."""
        self._trouble = self._trouble or not self._stopping
        reason = f"lost with Slurm job {job.job_id} ({job.state}; log: {job.folder.parent}/{job.job_id}_0_log.err)"
        for number, call in enumerate(list(job.calls.values())):
            if number < self._workers_per_job or call.deaths >= MAX_DEATHS:
                yield self._count_death(call, reason)
            else:
                self._waiting.append(call)
        job.calls.clear()


def states_of(job_ids: Sequence[str]) -> dict[str, str] | None:
    """What Slurm's queue says of these jobs, by id, without those that it has forgotten; `None` if it says nothing."""
    command = ["squeue", "--noheader", "--states=all", "--format=%i|%T", f"--jobs={','.join(job_ids)}"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if said.returncode != 0:
        return {} if "Invalid job id" in said.stderr else None
    return dict(line.strip().split("|", 1) for line in said.stdout.splitlines() if "|" in line)


def cancel(job_ids: Sequence[str]) -> None:
    """Take jobs out of the queue; what runs is asked to end (SIGTERM), and killed if it does not."""
    if job_ids:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(["scancel", *job_ids], capture_output=True, check=False, timeout=30)
