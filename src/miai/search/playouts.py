"""Playouts: a Go game played to its end by a simple policy, as the leaf evaluation of a search.

A playout ends when both players pass in turn, or after `MOVES_PER_POINT` · N² moves (pitfall: without superko a playout
could cycle for ever). A player passes only if it has no sensible move: legal, and not in a one-point eye of its own.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from miai.compiled import kernel
from miai.games.go.board import BOTH, EMPTIES, KO, NUM_EMPTY, PASS_POINT, SIZE, WHERE, copy_board, is_sensible, play
from miai.games.go.compiled import inlined
from miai.games.go.scoring import quick_area_difference
from miai.rng import next_uint64

MOVES_PER_POINT = 3

_ONE = np.uint64(1)
_HALF_WORD = np.uint64(32)


@inlined
def below_point(rng: np.ndarray, n: np.uint64) -> np.uint64:
    """Draw a uint64 from 0 to n − 1, for 0 < n < 2³²; `rng` is modified in place."""
    return ((next_uint64(rng) >> _HALF_WORD) * n) >> _HALF_WORD


@inlined
def uniform_move(cells: np.ndarray, liberties: np.ndarray, colour: np.uint64, rng: np.ndarray) -> np.uint64:
    """Draw a sensible move, each with the same probability, or `PASS_POINT` if there is none.

    Points that turn out not to be sensible are swapped behind the part of the list of empty points that is still drawn
    from, so that the draw stays exactly uniform. `cells` (only the order of its list) and `rng` are modified in place.
    """
    left = np.uint64(cells[NUM_EMPTY])
    ko = cells[KO]
    while left != PASS_POINT:
        drawn = below_point(rng, left)
        v = np.uint64(cells[EMPTIES + drawn])
        if v != ko and is_sensible(cells, liberties, v, colour):
            return v
        left -= _ONE
        other = np.uint64(cells[EMPTIES + left])
        cells[EMPTIES + drawn] = other
        cells[WHERE + other] = drawn
        cells[EMPTIES + left] = v
        cells[WHERE + v] = left
    return PASS_POINT


@kernel
def uniform_playout(cells: np.ndarray, liberties: np.ndarray, colour: np.uint64, rng: np.ndarray) -> int:
    """Play on from `colour`'s turn to the end; return the number of moves. All arrays are modified in place."""
    size = np.int64(cells[SIZE])
    limit = MOVES_PER_POINT * size * size
    passes = 0
    moves = 0
    while passes < 2 and moves < limit:
        v = uniform_move(cells, liberties, colour, rng)
        play(cells, liberties, v, colour)
        passes = passes + 1 if v == PASS_POINT else 0
        colour = BOTH - colour
        moves += 1
    return moves


@njit(cache=True, nogil=True)
def uniform_playouts(
    cells: np.ndarray, liberties: np.ndarray, colour: np.uint64, rng: np.ndarray, count: int
) -> tuple[int, int]:
    """Play `count` playouts from one position; return (their moves, sum of Black's area minus White's)."""
    from_here = cells.copy()
    from_here_liberties = liberties.copy()
    moves = 0
    total = 0
    for _ in range(count):
        copy_board(cells, liberties, from_here, from_here_liberties)
        moves += uniform_playout(from_here, from_here_liberties, colour, rng)
        total += quick_area_difference(from_here)
    return moves, total
