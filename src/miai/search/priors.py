"""Heuristic knowledge about moves, as virtual playouts that an edge begins with.

Gelly and Silver, "Combining online and offline knowledge in UCT" (ICML 2007), section 6: a new move counts as having
been played out so many times already, with a result that knowledge expects of it. The knowledge here: a move that
takes or saves stones is good, one that puts its own stones into atari is bad, shapes of the pattern playouts
are good, moves near the last one are better than those far off, and the first line, away from all stones, is bad.
"""

from __future__ import annotations

import numpy as np

from miai.games.go.board import (
    BOTH,
    CHAIN,
    COLOUR,
    LAST,
    LENGTH,
    PASS_POINT,
    SHAPE,
    SIZE,
    STRIDE,
    in_atari,
)
from miai.games.go.compiled import inlined
from miai.search.patterns import liberties_after

_ZERO, _ONE, _TWO = np.uint64(0), np.uint64(1), np.uint64(2)

# Virtual playouts that each piece of knowledge counts for.
EVEN = 6.0
"""Won half: keeps one unlucky playout from burying a move."""
CAPTURE = 12.0
"""Won, and as much again for each further stone up to `MOST_STONES`."""
SAVE = 10.0
MOST_STONES = 3.0
SELF_ATARI = 12.0
"""Lost."""
PATTERN = 8.0
NEAR = (14.0, 10.0, 6.0, 3.0)
"""Won, by distance to the last move: touching, diagonal, and two steps further."""
EDGE = 10.0
"""Lost: the first line with no stone around."""
SECOND_LINE = 4.0
PASS = 10.0
"""Lost: a pass."""


@inlined
def distance(v: np.uint64, w: np.uint64) -> np.int64:
    """Return dx + dy + max(dx, dy): 2 for neighbours, 3 for diagonals, 4 for the jump of one point (Coulom 2007)."""
    down = abs(np.int64(v // STRIDE) - np.int64(w // STRIDE))
    across = abs(np.int64(v % STRIDE) - np.int64(w % STRIDE))
    return down + across + max(down, across)


@inlined
def _stones_at_stake(cells: np.ndarray, liberties: np.ndarray, v: np.uint64, colour: np.uint64) -> tuple[float, float]:
    """Return the stones of chains in atari beside v: (the opponent's, the mover's)."""
    taken, own = 0.0, 0.0
    for n in (v - STRIDE, v - _ONE, v + _ONE, v + STRIDE):
        found = np.uint64(cells[COLOUR + n])
        if found == colour or found == BOTH - colour:
            chain = np.uint64(cells[CHAIN + n])
            if in_atari(liberties[chain]):
                if found == colour:
                    own += cells[LENGTH + chain]
                else:
                    taken += cells[LENGTH + chain]
    return taken, own


@inlined
def prior(
    cells: np.ndarray, liberties: np.ndarray, v: np.uint64, colour: np.uint64, patterns: np.ndarray
) -> tuple[float, float]:
    """Return what knowledge says of a sensible move of `colour`: (virtual playouts, those of them won by the mover)."""
    visits, wins = EVEN, 0.5 * EVEN
    taken, own = _stones_at_stake(cells, liberties, v, colour)
    exposed = in_atari(liberties_after(cells, liberties, v, colour)) and taken == 0.0
    if taken > 0.0:
        weight = CAPTURE * min(taken, MOST_STONES)
        visits += weight
        wins += weight
    if own > 0.0 and not exposed:
        weight = SAVE * min(own, MOST_STONES)
        visits += weight
        wins += weight
    if exposed:
        visits += SELF_ATARI
    elif patterns[cells[SHAPE + v]]:
        visits += PATTERN
        wins += PATTERN
    last = np.uint64(cells[LAST])
    if last != PASS_POINT:
        step = distance(v, last)
        if step <= 5:
            weight = NEAR[step - 2]
            visits += weight
            wins += weight
    size = np.int64(cells[SIZE])
    row, column = np.int64(v // STRIDE), np.int64(v % STRIDE)
    line = min(min(row, size + 1 - row), min(column, size + 1 - column))
    if line <= 2 and (cells[SHAPE + v] & 0x5555) == ((cells[SHAPE + v] >> 1) & 0x5555):
        # No stones among the eight neighbours: only empty (00) and edge (11).
        visits += EDGE if line == 1 else SECOND_LINE
    return visits, wins
