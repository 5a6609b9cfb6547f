"""Area scoring by the Tromp–Taylor rules: every stone on the board is alive.

A player's score is the number of its stones plus the empty points from which only its stones can be reached through
empty points. Nobody removes dead stones: they have to be captured before both players pass.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from miai.compiled import kernel
from miai.games.go.board import BLACK, COLOUR, EDGE, EMPTIES, EMPTY, NUM_EMPTY, POINTS, SIZE, STRIDE, WHITE

_ONE = np.uint64(1)


@njit(cache=True, nogil=True)
def owners(cells: np.ndarray) -> np.ndarray:
    """Return whose area each point of the frame is: uint8[POINTS], BLACK, WHITE or EMPTY (neutral, or edge)."""
    owner = np.zeros(POINTS, np.uint8)
    reached = np.zeros(POINTS, np.uint8)
    region = np.empty(POINTS, np.uint16)
    for i in range(POINTS):
        colour = cells[COLOUR + np.uint64(i)]
        if colour in (BLACK, WHITE):
            owner[i] = colour
    for k in range(cells[NUM_EMPTY]):
        start = cells[EMPTIES + np.uint64(k)]
        if reached[start]:
            continue
        reached[start] = 1
        region[0] = start
        length, looked_at, borders = 1, 0, _ONE - _ONE
        while looked_at < length:
            v = np.uint64(region[looked_at])
            looked_at += 1
            for n in (v - STRIDE, v - _ONE, v + _ONE, v + STRIDE):
                colour = np.uint64(cells[COLOUR + n])
                if colour == EMPTY:
                    if not reached[n]:
                        reached[n] = 1
                        region[length] = n
                        length += 1
                elif colour != EDGE:
                    borders |= colour
        if borders in (BLACK, WHITE):
            for j in range(length):
                owner[region[j]] = borders
    return owner


@njit(cache=True, nogil=True)
def area_difference(cells: np.ndarray) -> int:
    """Return Black's area minus White's, in points, without komi."""
    owner = owners(cells)
    difference = 0
    for i in range(POINTS):
        if owner[i] == BLACK:
            difference += 1
        elif owner[i] == WHITE:
            difference -= 1
    return difference


@kernel
def quick_area_difference(cells: np.ndarray) -> int:
    """Return what `area_difference` does, where every empty region is a single point; the score of a played-out board.

    Where a playout stopped at its move limit, larger regions are counted as neutral points unless all four neighbours
    of a point are one colour.
    """
    size = np.int64(cells[SIZE])
    difference = 0
    for row in range(1, size + 1):
        for column in range(1, size + 1):
            v = np.uint64(row * 21 + column)
            colour = np.uint64(cells[COLOUR + v])
            if colour == EMPTY:
                around = (
                    cells[COLOUR + (v - STRIDE)]
                    & cells[COLOUR + (v - _ONE)]
                    & cells[COLOUR + (v + _ONE)]
                    & cells[COLOUR + (v + STRIDE)]
                )
                colour = np.uint64(around)
            if colour == BLACK:
                difference += 1
            elif colour == WHITE:
                difference -= 1
    return difference
