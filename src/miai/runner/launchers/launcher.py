"""What a launcher is, and what the workers are that it opens. Nothing here decides what a run's results are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Protocol

from miai.kinds import Kinds
from miai.runner.pool import NO_SETUP, Event, Key, Setup
from miai.tracking.location import Location


class Workers(Protocol):
    """Processes that do calls, each one call at a time. `pool.WorkerPool` is the model of all of them.

    A context manager; leaving it stops what is under way. What happens to a call is told by `events`:

    | event | when |
    |---|---|
    | `Message` | the call said something (`pool.say`) |
    | `Done`, `Raised` | it ended |
    | `Died` | its worker is gone. The call is done again by itself, unless `given_up`: at its third death, or after `terminate_running` |

    Attributes:
        retry_wait: seconds after which a call that could not do its work is worth another try.
        stop_grace: seconds within which calls that were asked to stop have answered, as a rule.
    """  # noqa: E501

    retry_wait: float
    stop_grace: float

    def __enter__(self) -> Workers: ...

    def __exit__(self, *_: object) -> None: ...

    def submit(self, key: Key, function: Callable[..., Any], *args: Any, after: float = 0.0) -> None:
        """Queue a call of a module-level function. It is not begun before `after` (of `time.monotonic`)."""
        ...

    @property
    def unfinished(self) -> int:
        """How many calls wait or are under way."""
        ...

    def events(self, timeout: float) -> Iterator[Event]:
        """Hand out calls, and yield what has happened, waiting `timeout` seconds at most for something to.

        Raises:
            MiaiError: there can be no workers; why, in one line.
        """
        ...

    def cancel_waiting(self) -> list[Key]:
        """Drop the calls that have not begun, and return their keys."""
        ...

    def terminate_running(self) -> None:
        """Ask the calls under way to stop; they are not done again."""
        ...

    def stop(self, grace: float) -> None:
        """Stop all workers: those at work are asked, and killed after `grace` seconds."""
        ...


class Launcher(Protocol):
    """A way of making runs; a pydantic dataclass whose fields are its options.

    Attributes:
        in_process: there are no workers, runs are made one after another in this process.
        elsewhere: workers may be on other machines. A single run that hands out no units of work is sent there too.
        cores: of each worker; a task may use them as threads.
    """

    in_process: ClassVar[bool]
    elsewhere: ClassVar[bool]
    cores: int

    def check(self, location: Location) -> None:
        """See whether it can be used here, with this store, before anything is begun.

        Raises:
            MiaiError: it cannot; what is missing.
        """
        ...

    def open(self, workers: int | None, location: Location, setup: Setup = NO_SETUP) -> Workers:
        """Return workers. They are started when there is something for them to do.

        Args:
            workers: how many calls at once; `None`: all that there is room for.
            location: what the workers have to be able to reach.
            setup: what each of them is to have.
        """
        ...


launchers: Kinds[Launcher] = Kinds("miai.runner.launchers", "launcher")


def named(launcher: Launcher | str) -> Launcher:
    """Return the launcher of this name with its default options; a launcher as it is.

    Raises:
        MiaiError: there is none of this name.
    """
    return launchers.build({"name": launcher}) if isinstance(launcher, str) else launcher
