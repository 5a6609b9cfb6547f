"""The perfect opponent: any move that keeps the minimax value, each as likely."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from pydantic.dataclasses import dataclass

from miai.games.graph import GameGraph
from miai.kinds import STRICT
from miai.tabular.opponents.kind import Opponent
from miai.tabular.policies import minimax_policy


@dataclass(config=STRICT, kw_only=True)
class Minimax(Opponent):
    """Perfect play; it minds the result, not how soon it comes."""

    def policy(self, graph: GameGraph, tables: Mapping[str, Path]) -> np.ndarray:
        return minimax_policy(graph)


KIND = Minimax
