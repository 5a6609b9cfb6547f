"""No workers: one run after another, and one unit of work after another, in this process. For looking into things."""

from __future__ import annotations

from typing import ClassVar

from pydantic.dataclasses import dataclass

from miai.kinds import STRICT
from miai.runner.launchers.launcher import Workers
from miai.runner.pool import NO_SETUP, Setup
from miai.tracking.location import Location


@dataclass(config=STRICT, kw_only=True)
class Serial:
    """It has no options."""

    in_process: ClassVar[bool] = True
    elsewhere: ClassVar[bool] = False
    cores: ClassVar[int] = 1

    def check(self, location: Location) -> None:
        """It works everywhere."""

    def open(self, workers: int | None, location: Location, setup: Setup = NO_SETUP) -> Workers:
        raise ValueError("the launcher serial has no workers: it does its calls in this process")


KIND = Serial
