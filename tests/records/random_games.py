"""Random legal games, as records: what the tests of data sets are made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from miai.games.game import FIRST, PASS
from miai.games.go import GoGame
from miai.records import GameRecord, Result, record_game


def random_record(
    seed: int, size: int = 5, moves: int = 30, result: str = "", source: str = "", handicap: Sequence[int] = ()
) -> GameRecord:
    """Play up to so many random legal moves; one in twenty is a pass. The game may end by two of them."""
    rng = np.random.Generator(np.random.PCG64(seed))
    game = GoGame(size, 5.5, handicap=handicap)
    while len(game.moves) < moves and not game.is_over:
        points = [move for move in game.legal_moves() if move != PASS]
        game.play(int(rng.choice(points)) if points and rng.random() < 0.95 else PASS)
    outcome = result or ("B+R" if game.to_play != FIRST else "W+R")
    return record_game(game, result=Result.parse(outcome), source=source or f"random/{seed}.sgf")
