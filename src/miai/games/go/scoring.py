"""Area scoring by the Tromp–Taylor rules: every stone on the board is alive.

A player's score is the number of its stones plus the empty points from which only its stones can be reached through
empty points. Nobody removes dead stones: they have to be captured before both players pass.
"""

from __future__ import annotations

import numpy as np

from miai.compiled import kernel
from miai.games.go.board import BLACK, COLOUR, EDGE, EMPTIES, EMPTY, NUM_EMPTY, POINTS, SIZE, STRIDE, WHITE

_ONE, _ZERO = np.uint64(1), np.uint64(0)
_UNSEEN = np.uint8(255)


@kernel
def find_owners(cells: np.ndarray, owner: np.ndarray, region: np.ndarray) -> None:
    """Find whose area each point is.

    Args:
        cells: the board, read only.
        owner: uint8[POINTS], the result: BLACK, WHITE or EMPTY (neutral, or the edge).
        region: uint16[POINTS], scratch.
    """
    for i in range(POINTS):
        colour = np.uint64(cells[COLOUR + np.uint64(i)])
        owner[i] = _UNSEEN if colour == EMPTY else EMPTY if colour == EDGE else colour
    for k in range(cells[NUM_EMPTY]):
        start = np.uint64(cells[EMPTIES + np.uint64(k)])
        if owner[start] != _UNSEEN:
            continue
        owner[start] = EMPTY
        region[0] = start
        length, looked_at, borders = 1, 0, _ZERO
        while looked_at < length:
            v = np.uint64(region[looked_at])
            looked_at += 1
            for n in (v - STRIDE, v - _ONE, v + _ONE, v + STRIDE):
                colour = np.uint64(cells[COLOUR + n])
                if colour == EMPTY:
                    if owner[n] == _UNSEEN:
                        owner[n] = EMPTY
                        region[length] = n
                        length += 1
                elif colour != EDGE:
                    borders |= colour
        if borders in (BLACK, WHITE):
            for j in range(length):
                owner[region[j]] = borders


@kernel
def area_difference(cells: np.ndarray, owner: np.ndarray, region: np.ndarray) -> int:
    """Return Black's area minus White's, in points, without komi; the last two arrays as for `find_owners`."""
    find_owners(cells, owner, region)
    difference = 0
    for i in range(POINTS):
        if owner[i] == BLACK:
            difference += 1
        elif owner[i] == WHITE:
            difference -= 1
    return difference


@kernel
def quick_area_difference(cells: np.ndarray) -> int:
    """Return the same where every empty region is a single point, as on a board that was played out.

    Where a playout stopped at its move limit, a point of a larger region counts only if all its neighbours are stones
    of one colour.
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
