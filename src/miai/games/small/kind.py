"""What a file of this folder offers: the options of a game, and its rules."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any

from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.games.game import Rules
from miai.games.graph import GameGraph
from miai.kinds import STRICT, Kinds


@dataclass(config=STRICT, kw_only=True)
class SmallGame:
    """Options that every small game has."""

    max_states: Annotated[int, Field(ge=1)] = 10_000_000
    """The enumeration gives up beyond this many positions."""

    def rules(self) -> Rules[Any]:
        raise NotImplementedError


games: Kinds[SmallGame] = Kinds("miai.games.small", "game")


def game_graph(mapping: Mapping[str, Any]) -> GameGraph:
    """Return the graph of the game that `mapping` describes (`name` and its options), enumerated once a process.

    Raises:
        MiaiError: an unknown game, options out of range, or a game that is too large.
    """
    return _graph(games.build(mapping))


@lru_cache(maxsize=4)
def _graph(kind: SmallGame) -> GameGraph:
    return GameGraph.of(kind.rules(), max_states=kind.max_states)
