"""True liberties, and what a move would lead to: by hand, and against the slow reference."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from miai.compiled import kernel
from miai.games.game import FIRST
from miai.games.go import GoGame
from miai.games.go.board import BLACK, CHAIN, WHITE, flat_to_point
from miai.games.go.liberty_sets import (
    LibertySets,
    collect_liberties,
    count_liberties,
    look_ahead,
    new_liberty_sets,
    words_of,
)

from .reference import Stones, after, liberties, region


@kernel
def count(cells: np.ndarray, sets: LibertySets, chain: np.uint64) -> int:
    """`count_liberties` becomes part of its callers: a caller for the tests."""
    return count_liberties(sets, chain, words_of(cells))


def number_of_liberties(game: GoGame, sets: LibertySets, flat: int) -> int:
    cells = game.state[0]
    return count(cells, sets, np.uint64(cells[int(CHAIN) + int(flat_to_point(flat, game.size))]))


def ahead(game: GoGame, sets: LibertySets, flat: int) -> tuple[int, int, int]:
    colour = BLACK if game.to_play == FIRST else WHITE
    captured, stones, free = look_ahead(*game.state, sets, flat_to_point(flat, game.size), colour)
    return int(captured), int(stones), int(free)


def sets_of(game: GoGame) -> LibertySets:
    sets = new_liberty_sets(game.size)
    sets.of_chain[:] = 2**64 - 1  # What was there before does not matter.
    sets.one[:] = 2**64 - 1
    collect_liberties(game.state[0], sets)
    return sets


def test_by_hand() -> None:
    game = GoGame.from_diagram(
        """
        . X O . .
        X O O . .
        X O X . .
        X X X . .
        . . . . .
        """
    )
    sets = sets_of(game)
    names = {name: number_of_liberties(game, sets, game.parse_move(name)) for name in ("B5", "A4", "C5", "C2")}
    # A2's chain is A4 A3 A2 B2 C2 C3: A5, A1 B1 C1, D2 D3.
    assert names == {"B5": 1, "A4": 6, "C5": 2, "C2": 6}
    assert ahead(game, sets, game.parse_move("A5")) == (0, 8, 5)
    assert ahead(game, sets, game.parse_move("D4")) == (0, 1, 3)
    game.play(game.parse_move("D5"))
    game.play(game.parse_move("E1"))
    sets = sets_of(game)
    # D4, with D5, takes C5 C4 B4 B3, and touches C5 and C4; D3, E4 and E5 are free besides.
    assert ahead(game, sets, game.parse_move("D4")) == (4, 2, 5)


@settings(max_examples=80)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 19), fill=st.floats(0.05, 2.5))
def test_random_positions(seed: int, size: int, fill: float) -> None:
    dice = random.Random(seed)
    game = GoGame(size, superko="none")
    for _ in range(int(fill * min(size, 9) * min(size, 9))):
        moves = game.legal_moves()
        near = [move for move in moves if 0 <= move < 9 * size and move % size < 9]
        game.play(dice.choice(near or moves))
        if game.is_over:
            return
    stones: Stones = {(r, c): int(game.board[r, c]) for r, c in zip(*map(list, np.nonzero(game.board)), strict=True)}
    sets = sets_of(game)
    for point in stones:
        flat = point[0] * size + point[1]
        assert number_of_liberties(game, sets, flat) == len(liberties(stones, point, size))
    for flat in game.legal_moves()[:-1]:
        point = divmod(flat, size)
        new, taken = after(stones, point, game.to_play, size)
        chain = region(new, point, size)[0]
        assert ahead(game, sets, flat) == (taken, len(chain), len(liberties(new, point, size)))
