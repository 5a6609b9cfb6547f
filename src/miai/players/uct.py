"""UCT: UCB at every node of a growing tree; the most visited move is played."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.kinds import STRICT
from miai.players.searching import SearchKind


@dataclass(config=STRICT, kw_only=True)
class Uct(SearchKind):
    """UCT, with what makes it strong as switches."""

    c_uct: Annotated[float, Field(ge=0)] | None = None
    """C in µ_i + C·√(ln p / p_i): how much uncertainty attracts; none is 0.3, or 0 with RAVE."""
    fpu: float | None = None
    """Value of a move never tried; none tries each once first."""
    rave: bool = False
    """Mix in how a move did whenever it was played later (Go only)."""
    rave_equivalence: Annotated[float, Field(gt=0)] = 1000.0
    """Visits at which a move's own mean begins to outweigh that."""
    priors: bool = False
    """Begin each move with virtual playouts from patterns, captures and distance (Go only)."""
    expand_after: Annotated[int, Field(ge=1)] = 1
    """Visits after which a leaf gets children."""
    reuse_tree: bool = True
    """Keep what was learnt about the moves that were then played."""
    max_edges: Annotated[int, Field(ge=1000, lt=2**32)] = 4_000_000
    """Bound on each thread's tree."""

    def options(self) -> dict[str, Any]:
        own = ("c_uct", "fpu", "rave", "rave_equivalence", "priors", "expand_after", "reuse_tree", "max_edges")
        return {**self.shared_options(), "algorithm": "uct", **{name: getattr(self, name) for name in own}}


KIND = Uct
