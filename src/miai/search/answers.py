"""Answers to the last move: what a pattern playout looks for before it draws any move at all.

In this order: atari (take or save stones), a chain of two liberties that can be caught, 3×3 patterns. Each
function draws one of the moves that it finds, all with the same chance, or returns `NO_POINT`. The board is only read.
"""

from __future__ import annotations

import numpy as np

from miai.compiled import kernel
from miai.games.go.board import (
    BEFORE_LAST,
    BOTH,
    CHAIN,
    COLOUR,
    E_SLOT,
    EMPTY,
    KO,
    LAST,
    LENGTH,
    N_SLOT,
    NEXT,
    NO_POINT,
    PASS_POINT,
    SHAPE,
    STRIDE,
    W_SLOT,
    count_of,
    empty_neighbours,
    in_atari,
    is_sensible,
    last_liberty,
)
from miai.games.go.compiled import inlined
from miai.search.drawing import draw_better
from miai.search.patterns import is_self_atari, liberties_after

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_N_BIT, _W_BIT, _E_BIT = _ONE << N_SLOT, _ONE << W_SLOT, _ONE << E_SLOT
_POINT_BITS = np.uint64(16)
_POINT_MASK = np.uint64(0xFFFF)

MOST_PSEUDO_LIBERTIES_OF_TWO = 8
"""Two points have at most four neighbours each, so a chain with more pseudo-liberties has three liberties or more."""


@inlined
def local_move(
    cells: np.ndarray, liberties: np.ndarray, colour: np.uint64, rng: np.ndarray, patterns: np.ndarray
) -> np.uint64:
    """Draw an answer to the last move, or return `NO_POINT` if nothing is urgent there; `rng` is modified in place."""
    last = np.uint64(cells[LAST])
    if last == PASS_POINT or cells[COLOUR + last] == EMPTY:
        return NO_POINT
    v = answer_atari(cells, liberties, colour, rng)
    if v == NO_POINT:
        v = answer_two_liberties(cells, liberties, colour, rng)
    if v == NO_POINT:
        v = answer_by_pattern(cells, liberties, colour, rng, patterns)
    return v


# --- Atari ------------------------------------------------------------------------------------------------------------


@inlined
def answer_atari(cells: np.ndarray, liberties: np.ndarray, colour: np.uint64, rng: np.ndarray) -> np.uint64:
    """Take the chain of the last move or beside one's own move before it, or save a chain beside the last move."""
    ko = cells[KO]
    best = NO_POINT
    found = _ZERO
    last = np.uint64(cells[LAST])
    packed = liberties[cells[CHAIN + last]]
    if in_atari(packed):
        v = np.uint64(last_liberty(packed))
        if v != ko:
            found += _ONE
            best = v
    before = np.uint64(cells[BEFORE_LAST])
    if before != PASS_POINT and cells[COLOUR + before] == colour:
        for n in (before - STRIDE, before - _ONE, before + _ONE, before + STRIDE):
            if cells[COLOUR + n] == BOTH - colour:
                packed = liberties[cells[CHAIN + n]]
                if in_atari(packed):
                    v = np.uint64(last_liberty(packed))
                    if v != ko:
                        found += _ONE
                        best = draw_better(best, v, found, rng)
    for n in (last - STRIDE, last - _ONE, last + _ONE, last + STRIDE):
        if cells[COLOUR + n] != colour:
            continue
        chain = np.uint64(cells[CHAIN + n])
        packed = liberties[chain]
        if not in_atari(packed):
            continue
        v = np.uint64(last_liberty(packed))
        if v != ko and not in_atari(liberties_after(cells, liberties, v, colour)):
            found += _ONE
            best = draw_better(best, v, found, rng)
        v = _capture_beside(cells, liberties, chain, colour)
        if v != NO_POINT and v != ko:
            found += _ONE
            best = draw_better(best, v, found, rng)
    return best


@kernel
def _capture_beside(cells: np.ndarray, liberties: np.ndarray, chain: np.uint64, colour: np.uint64) -> np.uint64:
    """Return the move that captures an enemy chain beside `chain`, or `NO_POINT`."""
    other = BOTH - colour
    stone = chain
    while True:
        for n in (stone - STRIDE, stone - _ONE, stone + _ONE, stone + STRIDE):
            if cells[COLOUR + n] == other:
                packed = liberties[cells[CHAIN + n]]
                if in_atari(packed):
                    return np.uint64(last_liberty(packed))
        stone = np.uint64(cells[NEXT + stone])
        if stone == chain:
            return NO_POINT


# --- Chains of two liberties ------------------------------------------------------------------------------------------


@inlined
def answer_two_liberties(cells: np.ndarray, liberties: np.ndarray, colour: np.uint64, rng: np.ndarray) -> np.uint64:
    """Catch the chain of the last move if it cannot get out.

    Helping one's own chains out in the same way was tried too, and made playouts weaker.
    """
    best = NO_POINT
    found = _ZERO
    last = np.uint64(cells[LAST])
    other = BOTH - colour
    chain = np.uint64(cells[CHAIN + last])
    pair = two_liberties(cells, liberties, chain)
    if pair != _ZERO:
        a, b = pair & _POINT_MASK, pair >> _POINT_BITS
        for _ in range(2):
            # With a taken, the chain can only go to b.
            if room(cells, liberties, b, a, chain, other) <= 1 and _is_good(cells, liberties, a, colour):
                found += _ONE
                best = draw_better(best, a, found, rng)
            a, b = b, a
    return best


@inlined
def _is_good(cells: np.ndarray, liberties: np.ndarray, v: np.uint64, colour: np.uint64) -> bool:
    return (
        v != cells[KO] and is_sensible(cells, liberties, v, colour) and not is_self_atari(cells, liberties, v, colour)
    )


@inlined
def two_liberties(cells: np.ndarray, liberties: np.ndarray, chain: np.uint64) -> np.uint64:
    """Return the two liberties of a chain that has exactly two, as a + b · 2¹⁶; 0 if it has another number."""
    if cells[LENGTH + chain] == _ONE:
        empty = empty_neighbours(cells[SHAPE + chain])
        but_one = empty & (empty - _ONE)
        if but_one == _ZERO or but_one & (but_one - _ONE) != _ZERO:
            return _ZERO
        return _slot_point(chain, empty ^ but_one) | (_slot_point(chain, but_one) << _POINT_BITS)
    if count_of(liberties[chain]) > MOST_PSEUDO_LIBERTIES_OF_TWO:
        return _ZERO
    return _two_liberties_of_many(cells, chain)


@inlined
def _slot_point(v: np.uint64, bit: np.uint64) -> np.uint64:
    """Return the neighbour of v that a bit of `empty_neighbours` stands for."""
    if bit == _N_BIT:
        return v - STRIDE
    if bit == _W_BIT:
        return v - _ONE
    return v + _ONE if bit == _E_BIT else v + STRIDE


@kernel
def _two_liberties_of_many(cells: np.ndarray, chain: np.uint64) -> np.uint64:
    a, b = _ZERO, _ZERO
    stone = chain
    while True:
        if empty_neighbours(cells[SHAPE + stone]) != _ZERO:
            for n in (stone - STRIDE, stone - _ONE, stone + _ONE, stone + STRIDE):
                if cells[COLOUR + n] == EMPTY and n != a and n != b:
                    if a == _ZERO:
                        a = n
                    elif b == _ZERO:
                        b = n
                    else:
                        return _ZERO
        stone = np.uint64(cells[NEXT + stone])
        if stone == chain:
            return _ZERO if b == _ZERO else a | (b << _POINT_BITS)


@inlined
def room(
    cells: np.ndarray, liberties: np.ndarray, v: np.uint64, but: np.uint64, chain: np.uint64, colour: np.uint64
) -> int:
    """Return the liberties that `chain` would gain at v: its empty neighbours but one, and two for a chain it joins."""
    gained = 0
    for n in (v - STRIDE, v - _ONE, v + _ONE, v + STRIDE):
        found = np.uint64(cells[COLOUR + n])
        if found == EMPTY:
            gained += 1 if n != but else 0
        elif found == colour and cells[CHAIN + n] != chain:
            gained += 0 if in_atari(liberties[cells[CHAIN + n]]) else 2
    return gained


# --- Patterns ---------------------------------------------------------------------------------------------------------


@inlined
def answer_by_pattern(
    cells: np.ndarray, liberties: np.ndarray, colour: np.uint64, rng: np.ndarray, patterns: np.ndarray
) -> np.uint64:
    """Match a pattern at one of the eight points around the last move."""
    best = NO_POINT
    found = _ZERO
    last = np.uint64(cells[LAST])
    for v in (
        last - STRIDE - _ONE,
        last - STRIDE,
        last - STRIDE + _ONE,
        last - _ONE,
        last + _ONE,
        last + STRIDE - _ONE,
        last + STRIDE,
        last + STRIDE + _ONE,
    ):
        matches = cells[COLOUR + v] == EMPTY and patterns[cells[SHAPE + v]]
        if matches and _is_good(cells, liberties, v, colour):
            found += _ONE
            best = draw_better(best, v, found, rng)
    return best
