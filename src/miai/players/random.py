"""Plays any legal move, all alike. The floor of every ladder."""

from __future__ import annotations

import numpy as np
from pydantic.dataclasses import dataclass

from miai.games.game import PASS, Game
from miai.kinds import STRICT
from miai.players.player import OWN_BUDGET, Budget, Decision, PlayerKind


class RandomPlayer:
    """Draws uniformly from the legal moves; where passing is a move, only when there is no other."""

    name = "random"
    own_budget = OWN_BUDGET

    def new_game(self, game: Game) -> None:
        pass

    def select_move(self, game: Game, rng: np.random.Generator, budget: Budget = OWN_BUDGET) -> Decision:
        moves = [move for move in game.legal_moves() if move != PASS]
        return Decision(int(rng.choice(moves)) if moves else PASS)

    def close(self) -> None:
        pass


@dataclass(config=STRICT, kw_only=True)
class Random(PlayerKind):
    """A uniformly random player."""

    def build(self) -> RandomPlayer:
        return RandomPlayer()


KIND = Random
