"""Workers of a Ray cluster: each is an actor with one worker process of our own beside it.

The actor passes on what its process says, as a stream. So Ray decides where workers are and notices when a machine is
gone, and everything else is as on one machine. Start reading at `RayWorkers`.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import sys
import tempfile
import threading
import time
import types
from collections.abc import Iterator
from dataclasses import dataclass as plain_dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.errors import MiaiError
from miai.kinds import STRICT
from miai.runner import stopping
from miai.runner.launchers.extras import need
from miai.runner.launchers.station import Home, Station, refuse_shared_file
from miai.runner.pool import (
    MAX_DEATHS,
    NO_SETUP,
    Call,
    CallQueue,
    Died,
    Event,
    Message,
    Raised,
    Setup,
    WorkerPool,
    available_cores,
)
from miai.tracking.failures import first_line
from miai.tracking.location import Location

SLICE = 0.1
"""Seconds between two looks at whether the user wants to stop; inside Ray, what a signal raises passes for a fault."""

PATIENCE = 20.0
"""Seconds without any worker after which the user is told that Ray has no room."""

OBJECT_STORE = 100_000_000
"""Bytes for what calls and answers hold, in a Ray that is started here; they are small."""

OWN_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",  # It reports nothing,
    "RAY_worker_niceness": "0",
    "RAY_AUTH_MODE": "token",  # serves nobody who does not have our token,
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # and listens on loopback alone, as it does on those systems by itself.
}
"""Environment of a Ray that is started here. Ray reads it once, when it is imported. The user's own values win."""

TOKEN = "RAY_AUTH_TOKEN"  # noqa: S105 - the name of a variable


@dataclass(config=STRICT, kw_only=True)
class Ray:
    """Options of the launcher; conf/launcher/ray.yaml says what they mean."""

    address: Annotated[str, Field(min_length=1)] | None = None
    cores: Annotated[int, Field(ge=1)] = 1
    gpus: Annotated[float, Field(ge=0)] = 0.0

    in_process: ClassVar[bool] = False
    elsewhere: ClassVar[bool] = True

    def check(self, location: Location) -> None:
        """See that Ray is installed, and that machines can share the store.

        Raises:
            MiaiError: no.
        """
        need("ray", "ray")
        if self.address is None:
            return
        if "://" in self.address:
            raise MiaiError(
                f"launcher.address: {self.address!r} is for Ray's client; start Miai on a machine of the cluster, and "
                "give auto, or HOST:PORT of its head."
            )
        refuse_shared_file(location)

    def open(self, workers: int | None, location: Location, setup: Setup = NO_SETUP) -> RayWorkers:
        return RayWorkers(self, workers, location, setup)


KIND = Ray


class RayActor:
    """What runs in a process of Ray's; its methods are called from several threads."""

    def __init__(self, station: Station) -> None:
        self._station = station
        self._pool: WorkerPool | None = None

    def open(self) -> str:
        """Return "", or why there can be no worker here."""
        # Worker processes import the main module of their parent, which is Ray's own.
        sys.modules["__main__"] = types.ModuleType("__main__")
        try:
            self._pool = self._station.open()
        except MiaiError as error:
            return str(error)
        self._pool.warm_up(1)
        return ""

    def do(self, call: Call) -> Iterator[Event]:
        """Do one call, and yield what happens."""
        assert self._pool is not None
        self._pool.submit_call(Call(call.key, call.packed))
        while True:
            for event in self._pool.events(timeout=1.0):
                yield event
                if not isinstance(event, Message):
                    return  # At once: the next call may be under way already, and its events are not ours.

    def terminate(self) -> None:
        """Ask the call under way to stop."""
        if self._pool is not None:
            self._pool.terminate_running()


@plain_dataclass(eq=False)
class _Worker:
    """An actor.

    Attributes:
        awaits: what Ray has for us next: whether it is open, or the stream of its call.
    """

    actor: Any
    awaits: Any
    open: bool = False
    call: Call | None = None


class RayWorkers(CallQueue):
    """See `Workers`. Ray is started, or joined, when there is something to do."""

    retry_wait = 0.5
    stop_grace = 1.0

    def __init__(self, options: Ray, workers: int | None, location: Location, setup: Setup) -> None:
        super().__init__()
        self._options = options
        self._size = workers
        self._location = location
        self._setup = setup
        self._workers: list[_Worker] = []
        self._idle_deaths = 0
        self._cluster: Cluster | None = None
        self._home: Home | None = None
        self._told_at: float | None = None

    def __enter__(self) -> RayWorkers:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(grace=0.0)

    @property
    def unfinished(self) -> int:
        return len(self._waiting) + sum(worker.call is not None for worker in self._workers)

    def terminate_running(self) -> None:
        for worker in self._workers:
            if worker.call is not None:
                self._do_not_repeat(worker.call)
                with stopping.shielded():
                    worker.actor.terminate.remote()

    def events(self, timeout: float) -> Iterator[Event]:
        if not self.unfinished:
            return
        with stopping.shielded():
            self._dispatch()
        deadline = time.monotonic() + timeout
        ready = self._ready(0.0)
        while not ready and time.monotonic() < deadline:
            with stopping.interruptible():
                pass
            ready = self._ready(min(SLICE, max(0.0, deadline - time.monotonic())))
            with stopping.shielded():
                self._dispatch()
        for worker in ready:
            yield from self._take(worker)
        yield from self._tell_of_no_room()
        with stopping.shielded():
            self._dispatch()

    def stop(self, grace: float) -> None:
        with stopping.shielded():
            self._stop(grace)

    # ---- inside ----

    def _stop(self, grace: float) -> None:
        self._waiting.clear()
        if grace > 0:
            self.terminate_running()
            deadline = time.monotonic() + grace
            while any(worker.call for worker in self._workers) and time.monotonic() < deadline:
                for worker in self._ready(SLICE):
                    for _ in self._take(worker):
                        pass
                self._waiting.clear()
        for worker in self._workers:
            self._kill(worker)
        self._workers.clear()
        if self._cluster is not None:
            self._cluster.leave()
            self._cluster = None
        if self._home is not None:
            self._home.leave()
            self._home = None

    def _dispatch(self) -> None:
        """Start actors as far as there are calls for them, and hand calls to those that are open and free."""
        if self._cluster is None:
            self._cluster = Cluster(self._options, self._size)
            self._size = self._cluster.size
            self._home = Home.here(self._location)
        assert self._size is not None
        while len(self._workers) < min(self._size, self.unfinished):
            self._start_worker()
        for worker in self._workers:
            if worker.open and worker.call is None:
                worker.call = self._next_due()
                if worker.call is None:
                    return
                worker.awaits = worker.actor.do.options(num_returns="streaming").remote(worker.call)

    def _start_worker(self) -> None:
        import ray

        assert self._home is not None
        options = self._options
        actor = (
            ray.remote(RayActor)
            .options(num_cpus=options.cores, num_gpus=options.gpus, max_restarts=0, max_concurrency=4)
            .remote(Station(self._home, 1, options.cores, self._setup))
        )
        self._workers.append(_Worker(actor, actor.open.remote()))
        if self._told_at is None:
            self._told_at = time.monotonic() + PATIENCE

    def _ready(self, timeout: float) -> list[_Worker]:
        """The workers that have something for us, waiting `timeout` seconds at most for one."""
        import ray

        awaited = {worker.awaits: worker for worker in self._workers if worker.awaits is not None}
        if not awaited:
            time.sleep(timeout)
            return []
        with stopping.shielded():
            some, _ = ray.wait(list(awaited), num_returns=1, timeout=timeout)
            if some and len(awaited) > 1:
                some, _ = ray.wait(list(awaited), num_returns=len(awaited), timeout=0.0)
        return [awaited[each] for each in some]

    def _take(self, worker: _Worker) -> Iterator[Event]:
        from ray.exceptions import RayError, RayTaskError

        call = worker.call
        try:
            event = self._receive(worker)
        except RayTaskError as error:
            worker.awaits = worker.call = None
            if call is None:
                raise MiaiError(f"launcher: Ray cannot start workers: {first_line(error.cause or error)}") from error
            yield Raised(call.key, first_line(error.cause or error), str(error), expected=False)
            return
        except (RayError, StopIteration) as error:
            yield from self._bury(worker, f"lost with its Ray actor ({type(error).__name__})")
            return
        if event is None:
            return
        if isinstance(event, Message):
            yield event
            return
        assert call is not None
        worker.awaits = worker.call = None
        self._idle_deaths = 0
        yield self._count_death(call, event.reason) if isinstance(event, Died) else event

    def _receive(self, worker: _Worker) -> Event | None:
        """Take what Ray has for us: an event of the worker's call, or that it is open now."""
        import ray

        with stopping.shielded():
            if worker.open:
                return ray.get(next(worker.awaits))
            complaint = ray.get(worker.awaits)
        if complaint:
            raise MiaiError(complaint)
        worker.open, worker.awaits = True, None
        return None

    def _bury(self, worker: _Worker, reason: str) -> Iterator[Event]:
        self._workers.remove(worker)
        self._kill(worker)
        if worker.call is not None:
            yield self._count_death(worker.call, reason)
            return
        self._idle_deaths += 1
        if self._idle_deaths > MAX_DEATHS * (self._size or 1):
            raise MiaiError(f"launcher: Ray cannot start workers: the last one was {reason}.")

    def _kill(self, worker: _Worker) -> None:
        import ray

        with contextlib.suppress(Exception):  # It is gone already, or Ray is.
            ray.kill(worker.actor, no_restart=True)

    def _tell_of_no_room(self) -> Iterator[Event]:
        if self._told_at is None or time.monotonic() < self._told_at:
            return
        self._told_at = float("inf")
        if not any(worker.open for worker in self._workers):
            what = f"{self._options.cores} core(s) and {self._options.gpus:g} GPU(s)"
            yield Message(None, ("waiting", f"Ray has no room yet for a worker with {what}; it goes on when it has."))


class Cluster:
    """The connection to Ray: one that was there, one that we make, or to a Ray that we start.

    Attributes:
        size: for how many workers there is room.
    """

    def __init__(self, options: Ray, workers: int | None) -> None:
        self._folder: str | None = None
        if options.address is None and "ray" not in sys.modules:
            for name, value in {**OWN_SETTINGS, TOKEN: secrets.token_hex(32)}.items():
                os.environ.setdefault(name, value)
        import ray

        self._ours = not ray.is_initialized()
        if self._ours:
            handlers = {number: signal.getsignal(number) for number in stopping.SIGNALS}
            try:
                self._join(options) if options.address else self._start(options, workers)
            except (Exception, SystemExit) as error:
                self.leave()
                where = f"launcher.address: no Ray answers at {options.address}" if options.address else "launcher: Ray"
                raise MiaiError(f"{where}: {first_line(error)}") from error
            finally:
                if threading.current_thread() is threading.main_thread():  # Ray puts its own in their place.
                    for number, handler in handlers.items():
                        signal.signal(number, handler)
        room = ray.cluster_resources()
        places = int(room.get("CPU", 1.0) // options.cores)
        if options.gpus:
            places = min(places, int(room.get("GPU", 0.0) // options.gpus))
        self.size = workers or max(1, places)

    def _join(self, options: Ray) -> None:
        import ray

        ray.init(address=options.address, log_to_driver=False, logging_level="ERROR")

    def _start(self, options: Ray, workers: int | None) -> None:
        import ray

        self._folder = tempfile.mkdtemp(prefix="miai-ray-")
        ray.init(
            address="local",
            num_cpus=(workers or available_cores()) * options.cores,
            object_store_memory=OBJECT_STORE,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
            _temp_dir=self._folder,
        )

    def leave(self) -> None:
        """Let go of the connection; a Ray that was started here ends."""
        import ray

        if self._ours:
            ray.shutdown()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
