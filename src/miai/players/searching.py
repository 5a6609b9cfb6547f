"""Players that search: what `flat_mc`, `ucb` and `uct` have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.games.game import Game
from miai.kinds import STRICT
from miai.players.player import OWN_BUDGET, Budget, Decision, PlayerKind

if TYPE_CHECKING:
    from miai.search import SearchConfig, SearchResult

ENDLESS = 2**31
"""Simulations of a search that is to end by being stopped: hours of them."""
DEPTH_ONE_EDGES = 1_000
"""Room for the moves of one position, which is all that a search of depth one keeps."""


class SearchPlayer:
    """Plays what a `Searcher` finds, and can say what it thinks meanwhile."""

    def __init__(self, config: SearchConfig) -> None:
        from miai.search import Searcher  # its kernels take a moment to load

        self.name = config.algorithm
        self.own_budget = Budget(config.num_simulations, config.seconds)
        self._searcher = Searcher(config)

    def new_game(self, game: Game) -> None:
        self._searcher.new_game(game)

    def select_move(self, game: Game, rng: np.random.Generator, budget: Budget = OWN_BUDGET) -> Decision:
        return self.analyse(game, rng, budget, None)

    def analyse(
        self,
        game: Game,
        rng: np.random.Generator,
        budget: Budget | None,
        on_progress: Callable[[Decision], bool] | None,
    ) -> Decision:
        """Search, as `Analyst` says."""
        result = self._searcher.search(
            game,
            rng,
            num_simulations=ENDLESS if budget is None else budget.simulations,
            seconds=None if budget is None else budget.seconds,
            on_progress=None if on_progress is None else lambda so_far: on_progress(_decision(so_far)),
        )
        return _decision(result)

    def close(self) -> None:
        self._searcher.close()


def _decision(result: SearchResult) -> Decision:
    info = {
        "value": result.value,
        "visits": result.visits,
        "values": result.values,
        "pv": result.pv,
        "simulations": result.simulations,
        "seconds": result.seconds,
    }
    return Decision(result.move, info)


@dataclass(config=STRICT, kw_only=True)
class SearchKind(PlayerKind):
    """Options of every search; `miai.search.SearchConfig` says what they mean and which go together."""

    num_simulations: Annotated[int, Field(ge=1)] | None = 1000
    """Simulations a move."""
    seconds: Annotated[float, Field(gt=0)] | None = None
    """Seconds a move; with `num_simulations` too, whichever ends first."""
    playout: Literal["uniform", "pattern"] = "uniform"
    """How games are played to their end: at random, or by patterns, captures and escapes (Go only)."""
    threads: Annotated[int, Field(ge=1, le=256)] = 1
    """Trees that grow side by side."""
    resign_threshold: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Resign when the best move wins less often than that; 0 is never (Go only)."""

    def options(self) -> dict[str, Any]:
        """Return the options of `SearchConfig`."""
        raise NotImplementedError

    def shared_options(self) -> dict[str, Any]:
        return {
            "num_simulations": self.num_simulations,
            "seconds": self.seconds,
            "playout": self.playout,
            "threads": self.threads,
            "resign_threshold": self.resign_threshold,
        }

    def build(self) -> SearchPlayer:
        from miai.search import SearchConfig

        return SearchPlayer(SearchConfig(**self.options()))
