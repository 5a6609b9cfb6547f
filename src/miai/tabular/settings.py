"""What a tabular training can be told: types, ranges and defaults, in one place.

The YAML groups in `conf/` say the same names. `TrainSettings.of` builds everything from a plain nested mapping and
refuses, in one line, what is unknown, of a wrong type, or out of range.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic.dataclasses import dataclass

from miai.errors import MiaiError, choose
from miai.kinds import STRICT, validate
from miai.schedules import ALPHA_SCHEDULES, EPSILON_SCHEDULES, Schedule, build_schedule
from miai.tabular.opponents import Opponent, opponents

Seat = Literal["first", "second", "both"]
Ties = Literal["first", "random"]


def _turns(value: Any) -> Any:
    """Check a number of turns. Infinity may be the word, as YAML reads it, or the float that Hydra makes of it."""
    if value == "inf" or value == float("inf"):
        return "inf"
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("a whole number from 1, or inf")
    return value


@dataclass(config=STRICT, kw_only=True)
class Algorithm:
    """An algorithm is an entry times a target."""

    name: str
    entry: Literal["state_action", "afterstate"]
    target: Literal["chosen", "best", "expected", "double", "return"]
    n_step: Annotated[int | Literal["inf"], BeforeValidator(_turns)] = 1
    """Turns from an entry to its bootstrap.

    `inf` is the return, without bootstrap. Only the target `chosen` bootstraps later than 1.
    """

    def __post_init__(self) -> None:
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
    test_games: Annotated[int, Field(ge=0, alias="test.games")]
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
        numbers["test.games"] = config["test"]["games"]
        checked_numbers = validate(_Numbers, numbers, "")  # First: schedules refer to alpha.
        settings = cls(
            game=dict(config["game"]),
            algorithm=validate(Algorithm, config["algorithm"], "algorithm"),
            opponent=opponents.build(config["opponent"], "opponent"),
            evaluation_opponent=opponents.build(config["evaluation"]["opponent"], "evaluation.opponent"),
            epsilon=build_schedule(config["schedule"], EPSILON_SCHEDULES, "schedule"),
            alpha_schedule=build_schedule(config["alpha_schedule"], ALPHA_SCHEDULES, "alpha_schedule"),
            numbers=checked_numbers,
        )
        if settings.opponent.is_self and settings.numbers.seat != "both":
            raise MiaiError(
                f"opponent: self needs seat=both, not seat={settings.numbers.seat}; both players learn one table."
            )
        if settings.evaluation_opponent.is_self:
            names = (name for name in opponents.names() if name != "self")
            choose("self", names, "evaluation.opponent")
        return settings

    def tables(self) -> dict[str, str]:
        """Return references of the saved tables that the training needs (a run, or the path of a file), by role."""
        found = {} if self.numbers.init is None else {"init": self.numbers.init}
        for place, opponent in (("opponent", self.opponent), ("evaluation.opponent", self.evaluation_opponent)):
            found |= {f"{place}.{role}": reference for role, reference in opponent.tables().items()}
        return found


def _number_names() -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(_Numbers) if field.name != "test_games")
