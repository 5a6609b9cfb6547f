"""Flat Monte Carlo: the same number of playouts for every move, then the best mean."""

from __future__ import annotations

from typing import Any

from pydantic.dataclasses import dataclass

from miai.kinds import STRICT
from miai.players.searching import DEPTH_ONE_EDGES, SearchKind


@dataclass(config=STRICT, kw_only=True)
class FlatMonteCarlo(SearchKind):
    """Flat Monte Carlo search."""

    def options(self) -> dict[str, Any]:
        return {**self.shared_options(), "algorithm": "flat_mc", "max_edges": DEPTH_ONE_EDGES, "reuse_tree": False}


KIND = FlatMonteCarlo
