"""The knowledge of pattern playouts: 3×3 patterns, answers to atari, captures.

Sources: Gelly, Wang, Munos and Teytaud, "Modification of UCT with Patterns in Monte-Carlo Go" (INRIA RR-6062, 2006),
section 3.2: a playout's move is looked for near the last move: first an answer to atari, then a pattern.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np

from miai.games.go.board import (
    BOTH,
    CHAIN,
    COLOUR,
    E_SLOT,
    N_SLOT,
    S_SLOT,
    SHAPE,
    STRIDE,
    W_SLOT,
    empty_neighbours,
    in_atari,
    own_neighbours,
    unit,
)
from miai.games.go.compiled import inlined

_ONE = np.uint64(1)
_ZERO = np.uint64(0)

# X and O are stones of the two colours, either way round; `.` is empty, `#` the edge; `x` is anything but X, `o`
# anything but O, `?` anything. The move is the point in the middle. Each pattern counts in all eight symmetries.
PATTERNS = {
    "hane: enclosing": ("XOX", "...", "???"),
    "hane: not cutting": ("XO.", "...", "?.?"),
    "hane: turning": ("XO?", "X..", "x.?"),
    "hane: shoulder": (".O.", "X..", "..."),
    "cut: open": ("XO?", "O.o", "?o?"),
    "cut: peeped": ("XO?", "O.X", "???"),
    "cut: push through": ("?X?", "O.O", "ooo"),
    "cut: knight's move": ("OX?", "o.O", "???"),
    "edge: chase": ("X.?", "O.?", "###"),
    "edge: block a cut": ("OX?", "X.O", "###"),
    "edge: block a connection": ("?X?", "x.O", "###"),
    "edge: descend": ("?XO", "x.x", "###"),
    "edge: cut": ("?OX", "X.O", "###"),
}

_MEANINGS = {"X": "X", "O": "O", ".": ".", "#": "#", "x": "O.#", "o": "X.#", "?": "XO.#"}
_SLOTS = ((0, 1, 0), (1, 0, 2), (1, 2, 4), (2, 1, 6), (0, 0, 8), (0, 2, 10), (2, 0, 12), (2, 2, 14))
"""Row, column and shift in SHAPE of each neighbour (see `games.go.board`)."""


@lru_cache(maxsize=1)
def pattern_table() -> np.ndarray:
    """Return which shapes match a pattern: 0 or 1, uint8[65536], by the SHAPE of the point in the middle. Read only."""
    table = np.zeros(1 << 16, np.uint8)
    for rows in PATTERNS.values():
        drawn = np.array([list(row) for row in rows])
        views = {
            tuple(turned.ravel()) for turn in range(4) for turned in (np.rot90(drawn, turn), np.rot90(drawn, turn).T)
        }
        for view in views:
            choices = [_MEANINGS[view[3 * row + column]] for row, column, _ in _SLOTS]
            for content in product(*choices):
                for colours in ({"X": 1, "O": 2, ".": 0, "#": 3}, {"X": 2, "O": 1, ".": 0, "#": 3}):
                    table[sum(colours[mark] << slot[2] for mark, slot in zip(content, _SLOTS, strict=True))] = 1
    table.flags.writeable = False
    return table


@inlined
def liberties_after(cells: np.ndarray, liberties: np.ndarray, v: np.uint64, colour: np.uint64) -> np.uint64:
    """Return the packed pseudo-liberties that the chain of a stone of `colour` at the empty point v would have.

    Exact where the move captures nothing: joining chains is adding their pseudo-liberties, less those at v.
    """
    north, west, east, south = v - STRIDE, v - _ONE, v + _ONE, v + STRIDE
    shape = np.uint64(cells[SHAPE + v])
    empty, own = empty_neighbours(shape), own_neighbours(shape, colour)
    # Numbers 0 and 1 in place of branches: nothing could predict them.
    at_n, at_w = (own >> N_SLOT) & _ONE, (own >> W_SLOT) & _ONE
    at_e, at_s = (own >> E_SLOT) & _ONE, (own >> S_SLOT) & _ONE
    p, q = cells[CHAIN + north], cells[CHAIN + west]
    r, s = cells[CHAIN + east], cells[CHAIN + south]
    total = unit(north) * ((empty >> N_SLOT) & _ONE) + unit(west) * ((empty >> W_SLOT) & _ONE)
    total += unit(east) * ((empty >> E_SLOT) & _ONE) + unit(south) * ((empty >> S_SLOT) & _ONE)
    # Each chain once: a neighbour counts if no neighbour before it is of the same chain.
    total += liberties[p] * at_n
    total += liberties[q] * (at_w & np.uint64(q != p))
    total += liberties[r] * (at_e & np.uint64((r != p) & (r != q)))
    total += liberties[s] * (at_s & np.uint64((s != p) & (s != q) & (s != r)))
    total -= unit(v) * (at_n + at_w + at_e + at_s)
    return total


@inlined
def captures(cells: np.ndarray, liberties: np.ndarray, v: np.uint64, colour: np.uint64) -> bool:
    """Tell whether a stone of `colour` at the empty point v would capture something."""
    other = BOTH - colour
    return (
        (cells[COLOUR + (v - STRIDE)] == other and in_atari(liberties[cells[CHAIN + (v - STRIDE)]]))
        or (cells[COLOUR + (v - _ONE)] == other and in_atari(liberties[cells[CHAIN + (v - _ONE)]]))
        or (cells[COLOUR + (v + _ONE)] == other and in_atari(liberties[cells[CHAIN + (v + _ONE)]]))
        or (cells[COLOUR + (v + STRIDE)] == other and in_atari(liberties[cells[CHAIN + (v + STRIDE)]]))
    )


@inlined
def is_self_atari(cells: np.ndarray, liberties: np.ndarray, v: np.uint64, colour: np.uint64) -> bool:
    """Tell whether a stone of `colour` at the empty point v would stand in atari (or be suicide), capturing nothing."""
    empty = empty_neighbours(cells[SHAPE + v])
    if empty & (empty - _ONE) != _ZERO:
        return False  # Two empty neighbours are two liberties.
    return in_atari(liberties_after(cells, liberties, v, colour)) and not captures(cells, liberties, v, colour)
