"""Worker processes on this machine.

They are our own pool's (`runner/pool.py`) and not loky's or `concurrent.futures`': with those, one worker that is
killed takes all the others with it, and nobody can say which call was at fault.
"""

from __future__ import annotations

from typing import ClassVar

from pydantic.dataclasses import dataclass

from miai.kinds import STRICT
from miai.runner.pool import NO_SETUP, Setup, WorkerPool, available_cores
from miai.tracking.location import Location


@dataclass(config=STRICT, kw_only=True)
class Local:
    """It has no options; `workers` says how many processes there are."""

    in_process: ClassVar[bool] = False
    elsewhere: ClassVar[bool] = False
    cores: ClassVar[int] = 1

    def check(self, location: Location) -> None:
        """It works everywhere."""

    def open(self, workers: int | None, location: Location, setup: Setup = NO_SETUP) -> WorkerPool:
        return WorkerPool(workers or available_cores(), setup)


KIND = Local
