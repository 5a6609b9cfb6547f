"""The opponent that plays any legal move, each as likely."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from pydantic.dataclasses import dataclass

from miai.games.graph import GameGraph
from miai.kinds import STRICT
from miai.tabular.opponents.kind import Opponent
from miai.tabular.policies import uniform_policy


@dataclass(config=STRICT, kw_only=True)
class Random(Opponent):
    """Uniformly random."""

    def policy(self, graph: GameGraph, tables: Mapping[str, Path]) -> np.ndarray:
        return uniform_policy(graph)


KIND = Random
