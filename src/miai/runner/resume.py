"""What is still to be done: runs that the store has already are left out, and two sweeps never do the same one.

A *claim* is a lock that the operating system lets go when its process dies, however it dies. Who holds it makes the
run. The lock's file remembers the last run of this fingerprint, from just before its end is written to the store: a
sweep that asked the store earlier learns of it there, and so does the one that goes on after whoever made it was killed
between two steps, and the one that cannot ask because the store is away. No clock is asked: it may be set back.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from miai import project
from miai.errors import MiaiError
from miai.references import Reference
from miai.runner.fingerprint import fingerprint, hash_content
from miai.runner.task import Job
from miai.tracking import Store, origin
from miai.tracking.location import Location

CLAIMS = "claims"
CHECKPOINTS = "checkpoints"
WORK = "work"
CLAIM_DAYS = 7
CLAIM_BYTES = 512
"""Length of what a claim's file says; a run's id has 32 characters."""

REMEMBERED = 8
"""Runs whose end is not known that a claim's file has room for, beside the last."""

CHECKPOINT_DAYS = 90


@dataclass(frozen=True)
class Ready:
    """A job whose inputs are at hand.

    Attributes:
        inputs: files by role.
        seen: what the claim's file said before the store was asked what is finished (see `Claim.finished_since`).
    """

    job: Job
    fingerprint: str
    inputs: dict[str, Path]
    seen: str = ""


@dataclass
class Plan:
    """What a sweep will do, by index of its jobs.

    Attributes:
        there: fingerprint and run id of those that need not be run.
        same_as: those that are the same as an earlier job of this sweep, with its index.
        impossible: those that cannot be run, with the reason.
    """

    todo: dict[int, Ready] = field(default_factory=dict)
    there: dict[int, tuple[str, str]] = field(default_factory=dict)
    same_as: dict[int, int] = field(default_factory=dict)
    impossible: dict[int, str] = field(default_factory=dict)


def plan(jobs: Sequence[Job], store: Store, resume: bool) -> Plan:
    """Decide what is to be run.

    Args:
        resume: leave out the runs that are finished already.
    """
    result = Plan()
    inputs = Inputs(store)
    prepared: dict[int, Ready] = {}
    for index, job in enumerate(jobs):
        try:
            prepared[index] = prepare(job, inputs)
        except MiaiError as error:
            result.impossible[index] = str(error)
    finished: dict[str, dict[str, str]] = {}
    asked = True
    if resume:
        # Before the store is asked: what ends in between then differs from what was seen.
        prepared = {index: _with_claim(ready, store.location) for index, ready in prepared.items()}
        asked = not store.is_down()
        finished = {experiment: store.finished(experiment) for experiment in {job.experiment for job in jobs}}
        asked = asked and not store.is_down()
    first: dict[tuple[str, str], int] = {}
    for index, ready in prepared.items():
        job = ready.job
        place = (job.experiment, ready.fingerprint)
        run_id = finished.get(job.experiment, {}).get(ready.fingerprint)
        if run_id is None and not asked:  # The store is away; but this machine knows what it finished there.
            run_id = finished_by(ready.seen)
        if run_id is not None:
            result.there[index] = (ready.fingerprint, run_id)
            _remove_checkpoints(store.location, *place)
        elif place in first:
            result.same_as[index] = first[place]
        else:
            first[place] = index
            result.todo[index] = ready
    return result


def _with_claim(ready: Ready, location: Location) -> Ready:
    return replace(ready, seen=Claim(location, ready.job.experiment, ready.fingerprint).read())


def _remove_checkpoints(location: Location, experiment: str, fingerprint: str) -> None:
    """Remove what a run left that was killed between its end in the store and the end of its process."""
    folder = location.mlruns / CHECKPOINTS / fingerprint
    if folder.is_dir():
        claim = Claim(location, experiment, fingerprint)
        if claim.take():  # Else the run is being made once more at this moment, and these are its own.
            shutil.rmtree(folder, ignore_errors=True)
            claim.release()


def prepare(job: Job, inputs: Inputs) -> Ready:
    """Find a job's inputs and take its fingerprint.

    Raises:
        MiaiError: an input is not there.
    """
    references = dict(job.task.inputs(job.config))
    files = {role: inputs.find(role, reference) for role, reference in references.items()}
    hashes = {role: inputs.hash(path) for role, path in files.items()}
    names = {role: reference.name for role, reference in references.items()}
    return Ready(job, fingerprint(job.task, job.config, hashes, names), files)


class Inputs:
    """Files that runs take as inputs. Each reference is looked up, and each file read, once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._files: dict[Reference, Path] = {}
        self._hashes: dict[Path, str] = {}

    def find(self, role: str, reference: Reference) -> Path:
        """The file (or folder) that a reference means: a path (from the current folder or the root), or an artifact.

        Raises:
            MiaiError: there is no such file, no such run, or the run has no such artifact.
        """
        if reference not in self._files:
            self._files[reference] = self._look_up(role, reference)
        return self._files[reference]

    def _look_up(self, role: str, reference: Reference) -> Path:
        name, artifact, may_be_folder = reference
        for base in (Path.cwd(), project.root()):
            path = base / Path(name).expanduser()
            if path.is_file() or (may_be_folder and path.is_dir()):
                return path.resolve()
        if Path(name).suffix or name[0] in "/.~":
            what = "file or folder" if may_be_folder else "file"
            raise MiaiError(f"{role}: no such {what}: {name!r} (from {Path.cwd()} or {project.root()}).")
        try:
            return self._store.artifact(name, artifact)
        except MiaiError as error:
            raise MiaiError(f"{role}: {error}") from error

    def hash(self, path: Path) -> str:
        """The hash of the content of a file or folder.

        Raises:
            MiaiError: it cannot be read.
        """
        if path not in self._hashes:
            try:
                self._hashes[path] = hash_content(path)
            except OSError as error:
                raise MiaiError(f"{error.filename or path}: it cannot be read ({error.strerror or error}).") from None
        return self._hashes[path]


def finished_by(said: str) -> str | None:
    """The id of the run of which a claim's file says that it is finished, or `None`."""
    run_id, finished, _ = _words(said)
    return run_id if finished else None


def _words(said: str) -> tuple[str | None, bool, tuple[str, ...]]:
    """What a claim's file says: the last run, whether it is finished, and earlier ones whose end is not known."""
    try:
        data = json.loads(said)
        earlier = data.get("earlier", [])
        if not isinstance(earlier, list):
            return None, False, ()
        return str(data["run_id"]), bool(data["finished"]), tuple(map(str, earlier))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None, False, ()


class Claim:
    """The right to make the run of one fingerprint in one experiment of one store."""

    def __init__(self, location: Location, experiment: str, fingerprint: str) -> None:
        name = hashlib.sha256(f"{location.uri}\n{experiment}\n{fingerprint}".encode()).hexdigest()[:32]
        self._path = location.mlruns / CLAIMS / name
        self._file: int | None = None

    def take(self) -> bool:
        """Try to get it; do not wait. False: another process is making this run."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(file).st_ino == self._path.stat().st_ino:
                    self._file = file
                    return True
            except BlockingIOError:
                os.close(file)
                return False
            except FileNotFoundError:
                pass
            os.close(file)  # An old claim was being cleared away: it was locked on a file that is no longer there.

    @property
    def held(self) -> bool:
        return self._file is not None

    def read(self) -> str:
        """What the claim's file says of the last run, whoever holds the claim; "" if it says nothing."""
        try:
            return self._path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def finished_since(self, seen: str) -> str | None:
        """The id of a run of this fingerprint that was finished after `read` had given `seen`, or `None`."""
        assert self._file is not None
        said = self.read()
        return finished_by(said) if said != seen else None

    def were_ending(self) -> tuple[str, ...]:
        """Ids of the runs whose end was being written when their processes died, the last first.

        Each may be finished, or not.
        """
        assert self._file is not None
        run_id, finished, earlier = _words(self.read())
        return () if finished or run_id is None else (run_id, *earlier)

    def mark(self, run_id: str, *, finished: bool, earlier: Sequence[str] = ()) -> None:
        """Remember that a run is about to be finished, or is.

        Args:
            earlier: what `were_ending` said, of which it is still not known whether they are finished.
        """
        assert self._file is not None
        # In one piece and always of one length: whoever is killed here leaves the old words or the new ones.
        text = json.dumps({"run_id": run_id, "finished": finished, "earlier": list(earlier[:REMEMBERED])})
        os.pwrite(self._file, text.encode().ljust(CLAIM_BYTES), 0)

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def work_folder(location: Location, key: str) -> Path:
    """Make a run's own folder; its name says whose it is."""
    folder = location.mlruns / WORK / f"{origin.host()}.{os.getpid()}.{key}"
    folder.mkdir(parents=True)
    return folder


def check_writable(location: Location) -> None:
    """Raise a `MiaiError` if nothing can be written where runs are made: said once, and not by every run of a sweep."""
    location.mlruns.mkdir(parents=True, exist_ok=True)
    if not os.access(location.mlruns, os.W_OK | os.X_OK):
        raise MiaiError(
            f"{location.mlruns}: it cannot be written to, so no run can be made. MIAI_HOME names another place."
        )


def clean_up(location: Location) -> None:
    """Remove work folders of dead processes of this host, and claims and checkpoints that nothing has used for long."""
    for folder in (location.mlruns / WORK).glob("*.*.*"):
        owner, pid, _ = folder.name.rsplit(".", 2)
        if owner == origin.host() and pid.isdigit() and not origin.is_alive(int(pid), None):
            shutil.rmtree(folder, ignore_errors=True)
    now = time.time()
    for claim in (location.mlruns / CLAIMS).glob("*"):
        with contextlib.suppress(OSError):
            if now - claim.stat().st_mtime > CLAIM_DAYS * 86_400:
                file = os.open(claim, os.O_RDWR)
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    claim.unlink()
                finally:
                    os.close(file)
    for folder in (location.mlruns / CHECKPOINTS).glob("*"):
        with contextlib.suppress(OSError):
            if now - folder.stat().st_mtime > CHECKPOINT_DAYS * 86_400:
                shutil.rmtree(folder, ignore_errors=True)
