"""Players that search: what `flat_mc`, `ucb` and `uct` have in common, and the player that `apv_mcts` is too."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.games.game import Game
from miai.kinds import STRICT
from miai.players.player import OWN_BUDGET, Budget, Decision, PlayerKind, describe
from miai.references import Reference

if TYPE_CHECKING:
    from miai.search import Searcher, SearchResult
    from miai.search.puct_searcher import PuctSearcher
    from miai.search.rollouts import RolloutPolicy

ENDLESS = 2**31
"""Simulations of a search that is to end by being stopped: hours of them."""
DEPTH_ONE_EDGES = 1_000
"""Room for the moves of one position, which is all that a search of depth one keeps."""


class SearchPlayer:
    """Plays what a searcher finds, and can say what it thinks meanwhile."""

    def __init__(self, name: str, searcher: Searcher | PuctSearcher) -> None:
        self.name = name
        self.own_budget = Budget(searcher.config.num_simulations, searcher.config.seconds)
        self._searcher = searcher

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
    info = {field.name: getattr(result, field.name) for field in dataclasses.fields(result) if field.name != "move"}
    return Decision(result.move, info)


def _load_policy(path: str) -> RolloutPolicy:
    from miai.networks.rollout_weights import load_rollout

    return load_rollout(path).policy()


@dataclass(config=STRICT, kw_only=True)
class SearchKind(PlayerKind):
    """Options of every search; `miai.search.SearchConfig` says what they mean and which go together."""

    num_simulations: Annotated[int, Field(ge=1)] | None = 1000
    """Simulations a move."""
    seconds: Annotated[float, Field(gt=0)] | None = None
    """Seconds a move; with `num_simulations` too, whichever ends first."""
    playout: Literal["uniform", "pattern", "learned"] = "uniform"
    """How games are played to their end: at random; by patterns, captures and escapes; by a fitted policy (Go only)."""
    rollout: str | None = None
    """That policy: a run of the task `rollout_policy`, or the path of a `rollout.safetensors`."""
    threads: Annotated[int, Field(ge=1, le=256)] = 1
    """Trees that grow side by side."""
    resign_threshold: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Resign when the best move wins less often than that; 0 is never (Go only)."""

    def __post_init__(self) -> None:
        if self.playout == "learned" and self.rollout is None:
            raise ValueError("playout: learned needs rollout, a run of rollout_policy or the path of its file")
        if self.playout != "learned" and self.rollout is not None:
            raise ValueError(f"rollout: only with playout=learned, not playout={self.playout}")

    def files(self) -> dict[str, Reference]:
        if self.rollout is None:
            return {}
        from miai.networks.rollout_weights import ROLLOUT_FILE

        return {"rollout": Reference(self.rollout, ROLLOUT_FILE)}

    def describe_files(self) -> str | None:
        """Name the search by its other options; the file is looked into, as it has to be a policy."""
        if self.rollout is None:
            return None
        _load_policy(self.rollout)
        return describe(self.algorithm, self, but=("label", "rollout"))

    @property
    def algorithm(self) -> str:
        """The search's kind."""
        return str(self.options()["algorithm"])

    def options(self) -> dict[str, Any]:
        """Return the options of `SearchConfig`, but for the policy of the playouts."""
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
        from miai.search import SearchConfig, Searcher  # its kernels take a moment to load

        policy = None if self.rollout is None else _load_policy(self.rollout)
        config = SearchConfig(**self.options(), rollout=policy)
        return SearchPlayer(config.algorithm, Searcher(config))
