"""Perfect play on a game that is small enough to be enumerated: of the moves that keep the game's value, any."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic.dataclasses import dataclass

from miai.errors import MiaiError
from miai.games.game import Game, RulesGame
from miai.kinds import STRICT
from miai.players.player import OWN_BUDGET, Budget, Decision, PlayerKind

if TYPE_CHECKING:
    from miai.games.graph import GameGraph


class PolicyPlayer:
    """Plays by a policy on the game's graph: the probability of every move, float64[E]."""

    own_budget = OWN_BUDGET

    def __init__(self, name: str) -> None:
        self.name = name
        self._graph: GameGraph | None = None

    def new_game(self, game: Game) -> None:
        """Enumerate the game, unless it is the last one's. Raises `MiaiError` for a game that is too large, or Go."""
        if not isinstance(game, RulesGame):
            raise MiaiError(f"player {self.name}: plays small games, given by their rules, not {game.name}.")
        if self._graph is None or self._graph.rules != game.rules:
            from miai.games.graph import GameGraph

            self._graph = GameGraph.of(game.rules)

    def policy(self, graph: GameGraph, player: int) -> np.ndarray:
        """Return the policy for the seat of `player`, +1 or −1."""
        raise NotImplementedError

    def select_move(self, game: Game, rng: np.random.Generator, budget: Budget = OWN_BUDGET) -> Decision:
        """Draw from the policy."""
        assert isinstance(game, RulesGame)
        graph = self._graph
        assert graph is not None
        state = graph.find(game.rules.board(game.position))
        edges = slice(*graph.arrays.edge_start[state : state + 2].tolist())
        policy = self.policy(graph, game.to_play)[edges]
        return Decision(int(rng.choice(graph.edge_action[edges], p=policy)))

    def close(self) -> None:
        """Nothing is held but memory."""


class PerfectPlayer(PolicyPlayer):
    """Plays minimax."""

    def __init__(self) -> None:
        super().__init__("perfect")
        self._minimax: tuple[GameGraph, np.ndarray] | None = None

    def policy(self, graph: GameGraph, player: int) -> np.ndarray:
        if self._minimax is None or self._minimax[0] is not graph:
            from miai.tabular.policies import minimax_policy

            self._minimax = graph, minimax_policy(graph)
        return self._minimax[1]


@dataclass(config=STRICT, kw_only=True)
class Perfect(PlayerKind):
    """A player that cannot be beaten, in small games."""

    def build(self) -> PerfectPlayer:
        return PerfectPlayer()


KIND = Perfect
