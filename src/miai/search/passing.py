"""When a search passes. With every stone on the board alive, a pass is right only when nothing is left to be taken."""

from __future__ import annotations

from miai.games.game import PASS
from miai.games.go import GoGame
from miai.search.playouts import MOVES_PER_POINT

SURE = 0.99
"""A pass is preferred only if it wins at least so often …"""
MARGIN = 0.005
"""… and no more than this worse than the best move …"""
ENOUGH_VISITS = 16
"""… after so many visits. With fewer, nothing that the search says of a pass counts."""


def must_pass(game: GoGame) -> bool:
    """Tell whether to pass without a search.

    Either the opponent has just passed and the score, every stone alive, wins for the mover; or the game has
    reached its limit of `MOVES_PER_POINT` · N² moves, so that both pass.
    """
    if len(game.moves) >= MOVES_PER_POINT * game.size**2 - 2:
        return True
    return bool(game.moves) and game.moves[-1] == PASS and game.score() * game.to_play > 0


def prefers_pass(game: GoGame, visits: dict[int, int], values: dict[int, float], move: int) -> bool:
    """Tell whether to pass rather than to make a move that the search likes as well.

    The score, every stone alive, has to win for the mover as the board stands, so that the opponent's pass would end
    the game won; and the search has to find that nothing the opponent may do instead changes that.
    """
    if move == PASS or game.score() * game.to_play <= 0 or visits.get(PASS, 0) < ENOUGH_VISITS:
        return False
    return values[PASS] >= SURE and values[PASS] >= values.get(move, 0.0) - MARGIN


def certain_value(game: GoGame) -> float:
    """Return what a pass that ends the game is worth to the mover: 1 if it wins by area, ½ a draw, 0 a loss."""
    score = game.score() * game.to_play
    return 1.0 if score > 0 else 0.5 if score == 0 else 0.0
