"""A mixture of opponents, drawn anew at each move.

Because it is drawn at each move and not once a game, the mixture is itself a policy (the weighted mean of its parts),
and
everything that is exact for one opponent is exact for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field, field_validator
from pydantic.dataclasses import dataclass

from miai.games.graph import GameGraph
from miai.kinds import STRICT
from miai.tabular.opponents.kind import Opponent, opponents


@dataclass(config=STRICT, kw_only=True)
class Mixture(Opponent):
    """Weights over other opponents. They need not sum to 1; a weight of 0 leaves its part out."""

    weights: dict[str, Annotated[float, Field(ge=0)]]
    parts: dict[str, dict[str, Any]]
    """Options of each part, with its `name`, under the key that `weights` uses."""

    @field_validator("weights")
    @classmethod
    def _some_weight(cls, weights: dict[str, float]) -> dict[str, float]:
        if sum(weights.values()) <= 0:
            raise ValueError("at least one weight is above 0")
        return weights

    def __post_init__(self) -> None:
        unknown = sorted(set(self.weights) - set(self.parts))
        if unknown:
            raise ValueError(f"weights name parts that exist ({', '.join(sorted(self.parts))}), not {unknown[0]}")
        for part in self._parts().values():
            if part.is_self:
                raise ValueError("self cannot be a part of a mixture")

    def _parts(self) -> dict[str, Opponent]:
        """Return the parts whose weight is above 0."""
        return {
            key: opponents.build(self.parts[key], f"opponent.parts.{key}")
            for key, w in sorted(self.weights.items())
            if w > 0
        }

    def tables(self) -> dict[str, str]:
        return {f"{key}.{role}": ref for key, part in self._parts().items() for role, ref in part.tables().items()}

    def policy(self, graph: GameGraph, tables: Mapping[str, Path]) -> np.ndarray:
        total = sum(self.weights.values())
        policy = np.zeros(graph.num_edges)
        for key, part in self._parts().items():
            own = {role: tables[f"{key}.{role}"] for role in part.tables()}
            policy += self.weights[key] / total * part.policy(graph, own)
        return policy


KIND = Mixture
