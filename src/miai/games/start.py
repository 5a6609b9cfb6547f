"""A game in progress from the options that name it: `{"name": "go", "size": 9}`, `{"name": "tictactoe"}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator
from pydantic.dataclasses import dataclass

from miai.errors import MiaiError, choose
from miai.games.game import Game, RulesGame
from miai.games.small import games as small_games
from miai.kinds import STRICT, validate

GO = "go"


@dataclass(config=STRICT, kw_only=True)
class GoOptions:
    """Options of Go; see `miai.games.go.GoGame` for what they mean."""

    size: Annotated[int, Field(ge=2, le=19)] = 9
    komi: float = 7.5
    superko: Literal["positional", "situational", "none"] = "positional"
    suicide: bool = False
    handicap: Annotated[int, Field(ge=0)] = 0

    @field_validator("komi")
    @classmethod
    def _half_or_whole(cls, komi: float) -> float:
        if not (abs(komi) <= 400 and float(2 * komi).is_integer()):
            raise ValueError("komi must be a whole or half number from -400 to 400")
        return komi


def game_names() -> tuple[str, ...]:
    return tuple(sorted((GO, *small_games.names())))


def start_game(mapping: Mapping[str, Any], where: str = "game") -> Game:
    """Return a new game of the kind that `mapping["name"]` names, with the other keys as its options.

    Raises:
        MiaiError: no such game or option, or a value out of its range.
    """
    options = dict(mapping)
    name = options.pop("name", None)
    if not isinstance(name, str):
        raise MiaiError(f"{where}.name: a value is needed; allowed: {', '.join(game_names())}.")
    choose(name, game_names(), where)
    if name != GO:
        return RulesGame(small_games.build(mapping, where).rules())
    from miai.games.go import GoGame  # its kernels take a moment to load

    go = validate(GoOptions, options, where)
    try:
        return GoGame(go.size, go.komi, go.superko, go.suicide, go.handicap)
    except ValueError as error:
        raise MiaiError(f"{where}: {error}.") from None
