from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from miai.games.go import GoGame
from miai.games.go.board import BLACK, BOTH, NUM_EMPTY, PASS_POINT, POINTS, play
from miai.games.go.scoring import area_difference, quick_area_difference
from miai.rng import stream
from miai.search.playouts import uniform_move


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 13))
def test_the_quick_score_of_a_played_out_board_is_the_score(seed: int, size: int) -> None:
    cells, liberties = (part.copy() for part in GoGame(size).state)
    rng = stream(seed, "test")
    colour, passes = BLACK, 0
    scratch = np.empty(POINTS, np.uint8), np.empty(POINTS, np.uint16)
    for _ in range(20 * size * size):
        v = np.uint64(uniform_move(cells, liberties, colour, rng))
        play(cells, liberties, v, colour)
        passes = passes + 1 if v == PASS_POINT else 0
        colour = BOTH - colour
        if passes == 2:
            assert quick_area_difference(cells) == area_difference(cells, *scratch)
            break
    assert 0 <= cells[int(NUM_EMPTY)] <= size * size
