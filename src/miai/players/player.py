"""What a player is, how much it may think, and how one is made from its configuration.

A player is told of a game by `new_game` and asked for moves by `select_move`. The history is in the game, so a player
need not be asked at every turn: positions may be skipped, taken back or set up.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from pydantic.dataclasses import dataclass as options

from miai.games.game import Game
from miai.kinds import STRICT, Kinds
from miai.references import Reference


@dataclass(frozen=True)
class Budget:
    """How much a player may think about one move. With both, whichever ends first; with neither, as it is configured.

    Attributes:
        simulations: at least 1. Players that do not simulate have no use for it.
        seconds: more than 0.
    """

    simulations: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.simulations is not None and self.simulations < 1:
            raise ValueError(f"simulations must be at least 1, got {self.simulations!r}")
        if self.seconds is not None and not (self.seconds > 0 and math.isfinite(self.seconds)):
            raise ValueError(f"seconds must be more than 0, got {self.seconds!r}")


OWN_BUDGET = Budget()
"""As the player is configured."""


@dataclass(frozen=True)
class Decision:
    """A move, `PASS` or `RESIGN`, and what the player thinks of it.

    `info` is for people to see. Keys that are used where they apply: `value` (the mover's chance to win, 0 to 1);
    `visits`, `values` and `priors` (by move); `pv` (moves expected to follow, this one first); `simulations`;
    `seconds`.
    """

    move: int
    info: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Player(Protocol):
    """Somebody who plays."""

    name: str
    own_budget: Budget
    """What it thinks when it is left to itself, as far as that can be said."""

    def new_game(self, game: Game) -> None:
        """A game begins, which may already have moves. Raises `MiaiError` if this player cannot play it."""
        ...

    def select_move(self, game: Game, rng: np.random.Generator, budget: Budget = OWN_BUDGET) -> Decision:
        """Choose for the side to move. The game is not over, and is not changed.

        Raises:
            EngineFault: an engine outside broke down, or broke the rules.
        """
        ...

    def close(self) -> None:
        """Let go of whatever the player holds. May be called twice; the player is not used afterwards."""
        ...


@runtime_checkable
class Analyst(Protocol):
    """A player that can say what it thinks while it thinks."""

    def analyse(
        self,
        game: Game,
        rng: np.random.Generator,
        budget: Budget | None,
        on_progress: Callable[[Decision], bool],
    ) -> Decision:
        """Think like `select_move`, reporting as thoughts change, until `on_progress` returns `False`.

        With `None` as the budget there is no other end, except a bound on memory.
        """
        ...


@options(config=STRICT, kw_only=True)
class PlayerKind:
    """Options that every kind of player has."""

    label: str | None = None
    """The player's name in results; by default its kind and the options that differ from the defaults."""

    def files(self) -> dict[str, Reference]:
        """Return the files that the player is made of, by the option that names each; `build` wants paths there."""
        return {}

    def describe_files(self) -> str | None:
        """Name the player by the files that it is made of, if it is; the options are paths by now.

        Raises:
            MiaiError: a file is not what the player needs.
        """
        return None

    def build(self) -> Player:
        raise NotImplementedError


players: Kinds[PlayerKind] = Kinds("miai.players", "player")


def build_player(mapping: Mapping[str, Any], where: str = "player") -> Player:
    """Make the player that a mapping describes: `name` (its kind) and the options of that kind.

    Raises:
        MiaiError: no such kind or option, a value out of range, something that the player needs and that is not there.
    """
    kind = players.build(mapping, where)
    player = kind.build()
    player.name = _name(mapping, kind)
    return player


def name_player(mapping: Mapping[str, Any], where: str = "player") -> str:
    """Return the name of the player that `build_player` would make. Raises `MiaiError` for options that make none."""
    return _name(mapping, players.build(mapping, where))


def _name(mapping: Mapping[str, Any], kind: PlayerKind) -> str:
    return kind.label or describe(str(mapping["name"]), kind)


def describe(name: str, kind: PlayerKind, but: Collection[str] = ("label",)) -> str:
    """Return the kind's name and what differs from its defaults, such as `uct num_simulations=3000 rave=true`.

    Options in `but` are left out.
    """
    words = [name]
    for option in dataclasses.fields(kind):
        default = option.default if option.default_factory is dataclasses.MISSING else option.default_factory()
        value = getattr(kind, option.name)
        if option.name not in but and value != default:
            words.append(f"{option.name}={_plain(value)}")
    return " ".join(words)


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (tuple, list)):
        return "[" + ",".join(_plain(part) for part in value) + "]"
    return str(value)
