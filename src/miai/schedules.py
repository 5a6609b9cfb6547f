"""Schedules of ε and α: one value a game, in [0, 1], tabulated before the games so that kernels only read.

`values(n)[i]` is the value during game i, counted from 0. Ends are exact: the first value is `start` and the last
that the schedule promises is `end`, to the bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Protocol

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.errors import MiaiError, choose
from miai.kinds import STRICT, validate

Probability = Annotated[float, Field(ge=0, le=1)]


class Schedule(Protocol):
    def values(self, num_games: int) -> np.ndarray:
        """Return float64[num_games]."""
        ...


@dataclass(config=STRICT, kw_only=True)
class Constant:
    """The same value in every game."""

    value: Probability

    def values(self, num_games: int) -> np.ndarray:
        return np.full(num_games, self.value)


@dataclass(config=STRICT, kw_only=True)
class Exponential:
    """end + (start − end) · e^(−game / decay).

    Close to `end` after some multiples of `decay` games, never quite there.
    """

    start: Probability
    end: Probability
    decay: Annotated[float, Field(gt=0)]

    def values(self, num_games: int) -> np.ndarray:
        values = self.end + (self.start - self.end) * np.exp(-np.arange(num_games) / self.decay)
        return _pin(values, self.start, self.end)


@dataclass(config=STRICT, kw_only=True)
class Linear:
    """From `start` in game 0 straight to `end` in game `games`, then flat.

    `games` None: `end` in the run's last game.
    """

    start: Probability
    end: Probability
    games: Annotated[int, Field(ge=1)] | None = None

    def values(self, num_games: int) -> np.ndarray:
        length = max(num_games - 1, 1) if self.games is None else self.games
        fraction = np.minimum(np.arange(num_games) / length, 1.0)
        values = _pin(self.start + (self.end - self.start) * fraction, self.start, self.end)
        values[fraction == 1.0] = self.end
        return values


@dataclass(config=STRICT, kw_only=True)
class InverseVisits:
    """α = 1 / N, N the number of updates of the entry with this one: every value is the mean of its targets."""

    def values(self, num_games: int) -> np.ndarray:
        return np.ones(num_games)


def _pin(values: np.ndarray, start: float, end: float) -> np.ndarray:
    """Make the first value exact and keep rounding from leaving the interval between the ends."""
    values = np.clip(values, min(start, end), max(start, end))
    values[:1] = start
    return values


EPSILON_SCHEDULES: Mapping[str, type[Any]] = {"constant": Constant, "exponential": Exponential, "linear": Linear}
ALPHA_SCHEDULES: Mapping[str, type[Any]] = {**EPSILON_SCHEDULES, "inverse_visits": InverseVisits}


def build_schedule(mapping: Mapping[str, Any], kinds: Mapping[str, type[Any]], where: str) -> Any:
    """Build the schedule that `mapping["name"]` names from its other keys.

    Raises:
        MiaiError: no such schedule, or a value outside [0, 1].
    """
    options = dict(mapping)
    name = options.pop("name", None)
    if not isinstance(name, str):
        raise MiaiError(f"{where}.name: a value is needed; allowed: {', '.join(sorted(kinds))}.")
    return validate(kinds[choose(name, kinds, where)], options, where)
