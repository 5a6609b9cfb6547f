"""Self-play: the learner meets its own table, which both sides fill."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from pydantic.dataclasses import dataclass

from miai.errors import MiaiError
from miai.games.graph import GameGraph
from miai.kinds import STRICT
from miai.tabular.opponents.kind import Opponent


@dataclass(config=STRICT, kw_only=True)
class Self(Opponent):
    """Both players move ε-greedily by the one table, and both learn from every game. Needs `seat=both`."""

    @property
    def is_self(self) -> bool:
        return True

    def policy(self, graph: GameGraph, tables: Mapping[str, Path]) -> np.ndarray:
        raise MiaiError(
            "opponent: self is only for training; to measure against a table, use opponent=table opponent.run=RUN_ID."
        )


KIND = Self
