"""Playouts: a Go game played to its end by a simple policy, as the leaf evaluation of a search.

A playout ends when both players pass in turn, or after `MOVES_PER_POINT` · N² moves: without superko it could cycle for
ever. A player passes only if it has no sensible move: legal, and not in a one-point eye of its own.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from miai.compiled import kernel
from miai.games.go.board import (
    BOTH,
    EMPTIES,
    KO,
    NO_POINT,
    NUM_EMPTY,
    PASS_POINT,
    SHAPE,
    SIZE,
    WHERE,
    copy_board,
    is_sensible,
    own_neighbours,
    play,
)
from miai.games.go.compiled import inlined
from miai.games.go.coordinates import MAX_SIZE
from miai.games.go.scoring import quick_area_difference
from miai.search.answers import local_move
from miai.search.drawing import below_point
from miai.search.patterns import is_self_atari

UNIFORM, PATTERN, LEARNED = 0, 1, 2
"""Kinds of playouts; `rollouts` has the third."""
MOVES_PER_POINT = 3

_ZERO, _ONE = np.uint64(0), np.uint64(1)


@inlined
def _exchange(cells: np.ndarray, i: np.uint64, j: np.uint64) -> None:
    """Exchange places i and j of the list of empty points; `cells` is modified in place."""
    v, w = np.uint64(cells[EMPTIES + i]), np.uint64(cells[EMPTIES + j])
    cells[EMPTIES + i] = w
    cells[WHERE + w] = i
    cells[EMPTIES + j] = v
    cells[WHERE + v] = j


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
        _exchange(cells, drawn, left)
    return PASS_POINT


@inlined
def careful_move(cells: np.ndarray, liberties: np.ndarray, colour: np.uint64, rng: np.ndarray) -> np.uint64:
    """Draw like `uniform_move`, but put two or more stones of one's own into atari only if nothing else is sensible."""
    left = np.uint64(cells[NUM_EMPTY])
    ko = cells[KO]
    reserve = PASS_POINT
    while left != PASS_POINT:
        drawn = below_point(rng, left)
        v = np.uint64(cells[EMPTIES + drawn])
        if v != ko and is_sensible(cells, liberties, v, colour):
            if not _exposes_chain(cells, liberties, v, colour):
                return v
            reserve = v
        left -= _ONE
        _exchange(cells, drawn, left)
    return reserve


@inlined
def _exposes_chain(cells: np.ndarray, liberties: np.ndarray, v: np.uint64, colour: np.uint64) -> bool:
    """Tell whether a move joins stones of one's own and leaves them in atari, taking nothing."""
    return own_neighbours(cells[SHAPE + v], colour) != _ZERO and is_self_atari(cells, liberties, v, colour)


@kernel
def uniform_playout(
    cells: np.ndarray, liberties: np.ndarray, colour: np.uint64, rng: np.ndarray, trace: np.ndarray, start: int
) -> int:
    """Play on from `colour`'s turn to the end; return the number of moves. All arrays are modified in place.

    The moves are written to `trace`, from place `start`.
    """
    size = np.int64(cells[SIZE])
    limit = MOVES_PER_POINT * size * size
    passes = 0
    moves = 0
    while passes < 2 and moves < limit:
        v = uniform_move(cells, liberties, colour, rng)
        play(cells, liberties, v, colour)
        trace[start + moves] = v
        passes = passes + 1 if v == PASS_POINT else 0
        colour = BOTH - colour
        moves += 1
    return moves


@kernel
def pattern_playout(
    cells: np.ndarray,
    liberties: np.ndarray,
    colour: np.uint64,
    rng: np.ndarray,
    trace: np.ndarray,
    start: int,
    patterns: np.ndarray,
) -> int:
    """Play on like `uniform_playout`, but by `local_move` where there is one."""
    size = np.int64(cells[SIZE])
    limit = MOVES_PER_POINT * size * size
    passes = 0
    moves = 0
    while passes < 2 and moves < limit:
        v = local_move(cells, liberties, colour, rng, patterns)
        if v == NO_POINT:
            v = careful_move(cells, liberties, colour, rng)
        play(cells, liberties, v, colour)
        trace[start + moves] = v
        passes = passes + 1 if v == PASS_POINT else 0
        colour = BOTH - colour
        moves += 1
    return moves


@njit(cache=True, nogil=True)
def run_playouts(
    cells: np.ndarray,
    liberties: np.ndarray,
    colour: np.uint64,
    rng: np.ndarray,
    count: int,
    policy: int,
    patterns: np.ndarray,
) -> tuple[int, int]:
    """Play `count` playouts from one position; return (their moves, sum of Black's area minus White's)."""
    board = cells.copy()
    board_liberties = liberties.copy()
    trace = np.zeros(MOVES_PER_POINT * MAX_SIZE**2, np.uint16)
    moves = 0
    total = 0
    for _ in range(count):
        copy_board(cells, liberties, board, board_liberties)
        if policy == UNIFORM:
            moves += uniform_playout(board, board_liberties, colour, rng, trace, 0)
        else:
            moves += pattern_playout(board, board_liberties, colour, rng, trace, 0, patterns)
        total += quick_area_difference(board)
    return moves, total
