"""What a file of this folder offers: the options of an opponent, and its policy on a game graph."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from pydantic.dataclasses import dataclass

from miai.games.graph import GameGraph
from miai.kinds import STRICT, Kinds


@dataclass(config=STRICT, kw_only=True)
class Opponent:
    """Base of all opponents."""

    @property
    def is_self(self) -> bool:
        """Whether the opponent is the learner itself, whose policy changes while it learns."""
        return False

    def tables(self) -> dict[str, str]:
        """Return references (a run, or the path of a file) of the saved tables that the policy needs, by their role."""
        return {}

    def policy(self, graph: GameGraph, tables: Mapping[str, Path]) -> np.ndarray:
        """Return the probability of every move, float64[E], summing to 1 in each state.

        Args:
            graph: the game.
            tables: files of the saved tables, by the roles that `tables()` named.

        Raises:
            MiaiError: the opponent cannot play this game, or a table does not belong to it.
        """
        raise NotImplementedError


opponents: Kinds[Opponent] = Kinds("miai.tabular.opponents", "opponent")
