"""UCB: playouts go to the moves that may still be the best; the most sampled move is played."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.kinds import STRICT
from miai.players.searching import DEPTH_ONE_EDGES, SearchKind


@dataclass(config=STRICT, kw_only=True)
class Ucb(SearchKind):
    """UCB over the moves of the position."""

    c_uct: Annotated[float, Field(ge=0)] | None = None
    """C in µ_i + C·√(ln p / p_i): how much uncertainty attracts; none is 0.3."""
    fpu: float | None = None
    """Value of a move never tried; none tries each once first."""

    def options(self) -> dict[str, Any]:
        return {
            **self.shared_options(),
            "algorithm": "ucb",
            "c_uct": self.c_uct,
            "fpu": self.fpu,
            "max_edges": DEPTH_ONE_EDGES,
            "reuse_tree": False,
        }


KIND = Ucb
