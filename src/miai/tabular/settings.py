"""What a tabular training can be told: types, ranges and defaults, in one place.

The YAML groups in `conf/` say the same names. `TrainSettings.of` builds everything from a plain nested mapping and
refuses, in one
line, what is unknown, of a wrong type, or out of range.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.errors import MiaiError, choose
from miai.kinds import STRICT, validate
from miai.schedules import ALPHA_SCHEDULES, EPSILON_SCHEDULES, Schedule, build_schedule
from miai.tabular.opponents import Opponent, opponents
from miai.tabular.targets import AFTERSTATE, STATE_ACTION, TARGETS

Seat = Literal["first", "second", "both"]
Ties = Literal["first", "random"]


@dataclass(config=STRICT, kw_only=True)
class Algorithm:
    """An algorithm is an entry times a target."""

    name: str
    entry: Literal["state_action", "afterstate"]
    target: Literal["chosen", "best", "expected", "double", "return"]
    n_step: Annotated[int, Field(ge=1)] | Literal["inf"] = 1
    """Turns from an entry to its bootstrap.

    `inf` is the return, without bootstrap. Only the target `chosen` bootstraps later than 1.
    """

    def __post_init__(self) -> None:
        assert set(TARGETS) == {"chosen", "best", "expected", "double", "return"}
        assert {STATE_ACTION, AFTERSTATE} == {"state_action", "afterstate"}
        if self.n_step != 1 and self.target != "chosen":
            raise ValueError(f"n_step above 1 goes with target chosen, not {self.target}")


@dataclass(config=STRICT, kw_only=True)
class _Numbers:
    """The settings that are plain numbers and choices."""

    seed: Annotated[int, Field(ge=0, lt=2**63)]
    seat: Seat
    num_games: Annotated[int, Field(ge=1)]
    num_checkpoints: Annotated[int, Field(ge=1)]
    gamma: Annotated[float, Field(ge=0, le=1)]
    alpha: Annotated[float, Field(ge=0, le=1)]
    initial_value: float
    tie_breaking: Ties
    test_games: Annotated[int, Field(ge=0)]
    init: str | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainSettings:
    """A whole tabular training."""

    game: dict[str, Any]
    algorithm: Algorithm
    opponent: Opponent
    evaluation_opponent: Opponent
    epsilon: Schedule
    alpha_schedule: Schedule
    numbers: _Numbers

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> TrainSettings:
        """Build from the composed configuration of a run of task `train`.

        Raises:
            MiaiError: something is unknown, of a wrong type, out of range, or does not go together.
        """
        numbers = {name: config[name] for name in _number_names() if name in config}
        numbers["test_games"] = config["test"]["games"]
        settings = cls(
            game=dict(config["game"]),
            algorithm=validate(Algorithm, config["algorithm"], "algorithm"),
            opponent=opponents.build(config["opponent"], "opponent"),
            evaluation_opponent=opponents.build(config["evaluation"]["opponent"], "evaluation.opponent"),
            epsilon=build_schedule(config["schedule"], EPSILON_SCHEDULES, "schedule"),
            alpha_schedule=build_schedule(config["alpha_schedule"], ALPHA_SCHEDULES, "alpha_schedule"),
            numbers=validate(_Numbers, numbers, ""),
        )
        if settings.opponent.is_self and settings.numbers.seat != "both":
            raise MiaiError(
                f"opponent: self needs seat=both, not seat={settings.numbers.seat}; both players learn one table."
            )
        if settings.evaluation_opponent.is_self:
            names = (name for name in opponents.names() if name != "self")
            choose("self", names, "evaluation.opponent")
        return settings


def _number_names() -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(_Numbers) if field.name != "test_games")
