"""Worker processes that may die: each does one call at a time, a dead one is replaced, and its call is done again.

`concurrent.futures` does not fit: when one of its workers is killed, all the others are stopped too, and nobody can
say which call was at fault. Here each worker has a pipe of its own, so a death costs the one call that was under way.

Workers come from a fork server that has imported the heavy modules, so a new one is there in an instant. Start
reading at `WorkerPool`.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import connection, forkserver, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from queue import SimpleQueue
from typing import Any

from miai.errors import MiaiError
from miai.runner import stopping
from miai.tracking.failures import first_line

ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
"""A pool fills the cores with processes; more threads inside them would only get in each other's way."""

PRELOADED = (
    "numpy",
    "yaml",
    "pyarrow.parquet",
    "mlflow.tracking",
    "mlflow.store.tracking.sqlalchemy_store",
    "miai.runner.execute",
    "__main__",
)
LEAVE = b""
"""Sent in place of a call: there are no more."""

MAX_DEATHS = 3
"""A call whose worker died this often is given up."""

ORPHAN_GRACE = 5.0
"""Seconds that a worker whose parent is gone has to end its run."""

Key = Any


@dataclass(frozen=True)
class Message:
    """Something that a call said while it runs (see `say`)."""

    key: Key
    content: Any


@dataclass(frozen=True)
class Done:
    """A call returned."""

    key: Key
    value: Any


@dataclass(frozen=True)
class Raised:
    """A call raised.

    Attributes:
        reason: one line. It needs no more if `expected`: the error was a `MiaiError`.
        details: the traceback.
    """

    key: Key
    reason: str
    details: str
    expected: bool


@dataclass(frozen=True)
class Died:
    """The worker of a call died.

    Attributes:
        reason: how.
        given_up: whether that was the last try; otherwise the call is done again.
    """

    key: Key
    reason: str
    given_up: bool


Event = Message | Done | Raised | Died


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def start_early(preload: Sequence[str] = (), threads: int = 1) -> None:
    """Start the fork server in the background, unless it runs: it imports `preload` while the caller goes on.

    Args:
        threads: that a worker may use.
    """
    from miai.tracking.location import use_mlflow_defaults

    use_mlflow_defaults()
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, str(threads)))
    try:
        forkserver.set_forkserver_preload([*PRELOADED, *preload])
        resource_tracker.ensure_running()
        # What is started with Ctrl-C blocked does not get it: the server would die of it, loudly, amid its imports.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@dataclass
class Call:
    """A call that waits or is under way.

    Attributes:
        packed: function and arguments as bytes. Only the worker that does the call makes anything of them.
        deaths: how many workers have died of it.
        after: when it may begin, at the earliest.
    """

    key: Key
    packed: bytes
    after: float = 0.0
    deaths: int = 0

    @classmethod
    def of(cls, key: Key, function: Callable[..., Any], args: tuple, after: float = 0.0) -> Call:
        return cls(key, bytes(ForkingPickler.dumps((function, args))), after)


@dataclass(frozen=True)
class Setup:
    """What a worker is to have before its first call.

    Attributes:
        preload: modules that it will need.
        prepare: called once in each new worker process, with `prepare_args`.
    """

    preload: Sequence[str] = ()
    prepare: Callable[..., None] | None = None
    prepare_args: tuple[Any, ...] = ()


NO_SETUP = Setup()


class CallQueue:
    """Calls that wait for a worker, and what becomes of one whose worker dies: the same for all kinds of workers.

    Args:
        max_deaths: a call whose worker died this often is given up.
    """

    def __init__(self, max_deaths: int = MAX_DEATHS) -> None:
        self._max_deaths = max_deaths
        self._waiting: deque[Call] = deque()

    def submit(self, key: Key, function: Callable[..., Any], *args: Any, after: float = 0.0) -> None:
        """Queue a call; the events about it bear `key`. It is not begun before `after` (of `time.monotonic`)."""
        self._waiting.append(Call.of(key, function, args, after))

    def cancel_waiting(self) -> list[Key]:
        """Drop the calls that have not begun, and return their keys."""
        keys = [call.key for call in self._waiting]
        self._waiting.clear()
        return keys

    def _next_due(self) -> Call | None:
        """Take the first call that may begin now; `None` if there is none."""
        now = time.monotonic()
        for index, call in enumerate(self._waiting):
            if call.after <= now:
                del self._waiting[index]
                return call
        return None

    def _count_death(self, call: Call, reason: str) -> Died:
        """A call has lost its worker: queue it once more, unless that was the last try."""
        call.deaths += 1
        given_up = call.deaths >= self._max_deaths
        if not given_up:
            self._waiting.append(call)
        return Died(call.key, reason, given_up)

    def _do_not_repeat(self, call: Call) -> None:
        """Give a call up at the next death of its worker."""
        call.deaths = self._max_deaths


class WorkerPool(CallQueue):
    """A pool of worker processes for module-level functions.

    Args:
        workers: how many processes.
        setup: its modules are imported by the fork server, if this pool is the first; new workers prepare themselves
            while the first calls wait.
        max_deaths: a call whose worker died this often is given up.
        threads: that each worker may use, if this pool is the first.

    Use it as a context manager; leaving it stops the workers.
    """

    retry_wait = 0.5
    stop_grace = 0.6

    def __init__(
        self,
        workers: int,
        setup: Setup = NO_SETUP,
        *,
        max_deaths: int = MAX_DEATHS,
        threads: int = 1,
    ) -> None:
        super().__init__(max_deaths)
        if workers < 1:
            raise ValueError(f"workers: at least 1, got {workers}")
        self._size = workers
        self._prepare = (setup.prepare, setup.prepare_args)
        self._workers: list[_Worker] = []
        self._idle_deaths = 0
        start_early(setup.preload, threads)

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(grace=0.0 if any(worker.call for worker in self._workers) else 0.5)

    def warm_up(self, calls: int) -> None:
        """Start the workers that `calls` calls will need, before there are any."""
        while len(self._workers) < min(self._size, calls) and self._start_worker():
            pass

    def submit_call(self, call: Call) -> None:
        """Queue a call that was made elsewhere."""
        self._waiting.append(call)

    @property
    def unfinished(self) -> int:
        return len(self._waiting) + sum(worker.call is not None for worker in self._workers)

    def terminate_running(self) -> None:
        """Ask the calls under way to stop (SIGTERM)."""
        for worker in self._workers:
            if worker.call is not None:
                self._do_not_repeat(worker.call)
                worker.terminate()

    def events(self, timeout: float) -> Iterator[Event]:
        """Hand out calls, and yield what has happened, waiting `timeout` seconds at most for something to."""
        self._dispatch()
        if not self._workers:
            if self._waiting:  # None could be started just now: not at once again.
                time.sleep(min(timeout, 0.1))
            return
        by_pipe = {worker.pipe: worker for worker in self._workers}
        with stopping.interruptible():  # Only here: an answer that has been taken from a pipe must not get lost.
            ready = connection.wait(list(by_pipe), self._patience(timeout))
        for pipe in ready:
            worker = by_pipe[pipe]  # type: ignore[index]
            try:
                kind, *content = worker.pipe.recv()
            except (EOFError, OSError):
                yield from self._bury(worker)
                continue
            call = worker.call
            if call is None:
                continue
            if kind == "said":
                yield Message(call.key, *content)
                continue
            worker.call = None
            self._idle_deaths = 0
            yield Done(call.key, *content) if kind == "done" else Raised(call.key, *content)
        self._dispatch()

    def stop(self, grace: float) -> None:
        """Stop all workers: those at work are asked (SIGTERM) and killed after `grace` seconds."""
        self._waiting.clear()
        for worker in self._workers:
            worker.dismiss()
        deadline = time.monotonic() + grace
        for worker in self._workers:
            worker.process.join(max(0.0, deadline - time.monotonic()))
        for worker in self._workers:
            if worker.process.exitcode is None:
                worker.process.kill()
        for worker in self._workers:
            worker.process.join(1.0)
            worker.pipe.close()
        self._workers.clear()

    # ---- inside ----

    def _patience(self, timeout: float) -> float:
        """Wait less if a delayed call falls due and a worker is free."""
        busy = sum(worker.call is not None for worker in self._workers)
        if self._waiting and busy < self._size:
            timeout = min(timeout, max(0.0, min(call.after for call in self._waiting) - time.monotonic()))
        return timeout

    def _dispatch(self) -> None:
        free = [worker for worker in self._workers if worker.call is None]
        while self._waiting:
            call = self._next_due()
            if call is None:
                return
            worker = free.pop() if free else self._start_worker()
            if worker is None:
                self._waiting.appendleft(call)
                return
            worker.call = call
            with contextlib.suppress(OSError):  # It has just died: its end of the pipe will say so.
                worker.pipe.send_bytes(call.packed)

    def _start_worker(self) -> _Worker | None:
        """Start one more worker; `None` if all are there, or if it (or the fork server) was killed at its start."""
        if len(self._workers) >= self._size:
            return None
        try:
            worker = _Worker(self._prepare)
        except (EOFError, OSError) as error:
            self._count_idle_death(f"lost at its start ({type(error).__name__})")
            return None
        self._workers.append(worker)
        return worker

    def _bury(self, worker: _Worker) -> Iterator[Event]:
        self._workers.remove(worker)
        worker.pipe.close()
        worker.process.join(1.0)
        call, reason = worker.call, _death(worker.process.exitcode)
        if call is None:
            self._count_idle_death(reason)
            return
        yield self._count_death(call, reason)

    def _count_idle_death(self, reason: str) -> None:
        self._idle_deaths += 1
        if self._idle_deaths > MAX_DEATHS * self._size:
            raise MiaiError(f"worker processes cannot be started: the last one was {reason}.")


class _Worker:
    def __init__(self, prepare: tuple[Callable[..., None] | None, tuple]) -> None:
        context = multiprocessing.get_context("forkserver")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, *prepare), daemon=True)
        self.process.start()
        theirs.close()
        self.call: Call | None = None

    def terminate(self) -> None:
        with contextlib.suppress(ProcessLookupError, AttributeError):
            self.process.terminate()

    def dismiss(self) -> None:
        """An idle worker leaves when it is told to; one at work has to be interrupted."""
        if self.call is not None:
            self.terminate()
        with contextlib.suppress(OSError):
            self.pipe.send_bytes(LEAVE)


def _death(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        with contextlib.suppress(ValueError):
            return f"killed by {signal.Signals(-exitcode).name}"
    return f"gone (exit code {exitcode})"


# ---- in the worker ----

_say: Callable[[Any], None] | None = None


def say(content: Any) -> None:
    """Send a message to the parent of this worker; elsewhere it goes nowhere."""
    if _say is not None:
        _say(content)


def in_worker() -> bool:
    return _say is not None


def _serve(pipe: Connection, prepare: Callable[..., None] | None, prepare_args: tuple) -> None:
    """The life of a worker."""
    global _say
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which decides.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    inbox: SimpleQueue[Any] = SimpleQueue()
    sending = threading.Lock()

    def send(*message: Any) -> None:
        with stopping.shielded(), sending, contextlib.suppress(OSError):
            pipe.send(message)

    _say = lambda content: send("said", content)  # noqa: E731
    threading.Thread(target=_listen, args=(pipe, inbox), daemon=True).start()
    with stopping.listening((signal.SIGTERM,)):
        if prepare is not None:
            prepare(*prepare_args)
        gc.collect()
        gc.freeze()  # What was imported stays; the collector need not look at it again for every run.
        while True:
            try:
                with stopping.interruptible():
                    call = inbox.get()
            except stopping.Stopped:
                return
            if call is None:
                return
            try:
                function, args = ForkingPickler.loads(call)
                send("done", function(*args))
            except stopping.Stopped:
                return
            except BaseException as error:
                send("raised", first_line(error), traceback.format_exc(), isinstance(error, MiaiError))


def _listen(pipe: Connection, inbox: SimpleQueue[Any]) -> None:
    """Pass calls on, as they came: what cannot be unpickled is the call's error, not this thread's.

    When the parent is gone, even if by SIGKILL, the pipe ends: stop what is under way.
    """
    while True:
        try:
            message = pipe.recv_bytes()
        except (EOFError, OSError):
            break
        inbox.put(message or None)
        if not message:
            return
    inbox.put(None)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(ORPHAN_GRACE)
    os._exit(1)
