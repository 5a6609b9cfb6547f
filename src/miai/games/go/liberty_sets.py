"""True liberties: which empty points each chain touches, as sets of bits, so that joining chains is `or`.

The board's pseudo-liberties (`games.go.board`) say whether a chain is in atari, which is all that a playout asks.
Networks want to know how many liberties there are, and how many there would be. Start reading at `collect_liberties`.

A set is `WORDS` words of 64 bits; bit f of it is the point of flat index f. Only the words that the board needs are
looked at (`words_of`), so 9×9 costs a third of 19×19.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from miai.compiled import Index, kernel
from miai.games.go.board import (
    CHAIN,
    COLOUR,
    E_SLOT,
    EDGE,
    EMPTY,
    LENGTH,
    N_SLOT,
    NEXT,
    POINTS,
    S_SLOT,
    SHAPE,
    SIZE,
    STRIDE,
    W_SLOT,
    empty_neighbours,
    in_atari,
)
from miai.games.go.compiled import inlined
from miai.games.go.coordinates import MAX_SIZE, check_size

BITS = 64
WORDS = -(-MAX_SIZE * MAX_SIZE // BITS)

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_WORD_SHIFT, _BIT_MASK = np.uint64(6), np.uint64(BITS - 1)
_ODD_BITS, _ODD_PAIRS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_ODD_NIBBLES, _EACH_BYTE = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
_S1, _S2, _S4, _S56 = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)


class LibertySets(NamedTuple):
    """The liberties of every chain of one board."""

    of_chain: np.ndarray
    """uint64[POINTS, WORDS]: the set of the chain whose name is v; of other points it says nothing."""
    flats: np.ndarray
    """uint16[POINTS]: the flat index of a point."""
    one: np.ndarray
    """uint64[WORDS]: scratch, the set of a chain that a move would make."""


@lru_cache
def flat_indices(size: int) -> np.ndarray:
    """Return uint16[POINTS], shared and read-only: the flat index of each point of the board, 0 elsewhere."""
    flats = np.zeros(POINTS, np.uint16)
    flats.reshape(21, 21)[1 : size + 1, 1 : size + 1] = np.arange(size * size).reshape(size, size)
    flats.flags.writeable = False
    return flats


def new_liberty_sets(size: int) -> LibertySets:
    """Return room for the sets of a board of that size. Raises `ValueError` if it is no board size."""
    flats = flat_indices(check_size(size))
    return LibertySets(np.zeros((POINTS, WORDS), np.uint64), flats, np.zeros(WORDS, np.uint64))


@inlined
def words_of(cells: np.ndarray) -> Index:
    """Return how many words of a set the board uses."""
    size = np.int64(cells[SIZE])
    return (size * size + BITS - 1) // BITS


@inlined
def _insert(words: np.ndarray, flat: np.uint64) -> None:
    words[flat >> _WORD_SHIFT] |= _ONE << (flat & _BIT_MASK)


@inlined
def _count_bits(word: np.uint64) -> np.uint64:
    """Count the ones of a word; the compiler knows this form, and makes one instruction of it where there is one."""
    word -= (word >> _S1) & _ODD_BITS
    word = (word & _ODD_PAIRS) + ((word >> _S2) & _ODD_PAIRS)
    word = (word + (word >> _S4)) & _ODD_NIBBLES
    return (word * _EACH_BYTE) >> _S56


@kernel
def collect_liberties(cells: np.ndarray, sets: LibertySets) -> None:
    """Find the liberties of every chain; `sets` is modified in place."""
    size = np.int64(cells[SIZE])
    words = words_of(cells)
    for row in range(1, size + 1):
        for column in range(1, size + 1):
            v = np.uint64(row * 21 + column)
            if cells[CHAIN + v] == v:
                for w in range(words):
                    sets.of_chain[v, w] = _ZERO
    for row in range(1, size + 1):
        for column in range(1, size + 1):
            v = np.uint64(row * 21 + column)
            if cells[COLOUR + v] != EMPTY:
                empty = empty_neighbours(np.uint64(cells[SHAPE + v]))
                if empty != _ZERO:
                    _insert_neighbours(sets.of_chain[cells[CHAIN + v]], v, empty, sets.flats)


@inlined
def _insert_neighbours(words: np.ndarray, v: np.uint64, which: np.uint64, flats: np.ndarray) -> None:
    """Insert those of the four neighbours of v whose bits `1 << slot` are in `which`."""
    if which >> N_SLOT & _ONE:
        _insert(words, np.uint64(flats[v - STRIDE]))
    if which >> W_SLOT & _ONE:
        _insert(words, np.uint64(flats[v - _ONE]))
    if which >> E_SLOT & _ONE:
        _insert(words, np.uint64(flats[v + _ONE]))
    if which >> S_SLOT & _ONE:
        _insert(words, np.uint64(flats[v + STRIDE]))


@inlined
def count_liberties(sets: LibertySets, chain: np.uint64, words: Index) -> np.uint64:
    """Return how many liberties the chain of that name has."""
    total = _ZERO
    for w in range(words):
        total += _count_bits(sets.of_chain[chain, w])
    return total


@kernel
def look_ahead(
    cells: np.ndarray, liberties: np.ndarray, sets: LibertySets, v: np.uint64, colour: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Tell what a legal move would lead to, without playing it.

    Args:
        sets: of `collect_liberties`; its scratch is modified in place.

    Returns:
        opponent's stones that it captures; stones of the chain that it makes; liberties of that chain.
    """
    words = words_of(cells)
    one = sets.one
    for w in range(words):
        one[w] = _ZERO
    empty = empty_neighbours(np.uint64(cells[SHAPE + v]))
    if empty != _ZERO:
        _insert_neighbours(one, v, empty, sets.flats)
    neighbours = (v - STRIDE, v - _ONE, v + _ONE, v + STRIDE)
    chains = (
        cells[CHAIN + (v - STRIDE)],
        cells[CHAIN + (v - _ONE)],
        cells[CHAIN + (v + _ONE)],
        cells[CHAIN + (v + STRIDE)],
    )
    captured, stones = _ZERO, _ONE
    for k in range(4):
        found = np.uint64(cells[COLOUR + neighbours[k]])
        chain = np.uint64(chains[k])
        if found in (EMPTY, EDGE):
            continue
        seen = False
        for j in range(k):
            seen |= chains[j] == chain
        if seen:
            continue
        if found == colour:
            stones += np.uint64(cells[LENGTH + chain])
            for w in range(words):
                one[w] |= sets.of_chain[chain, w]
        elif in_atari(liberties[chain]):
            captured += np.uint64(cells[LENGTH + chain])
            _insert_freed(cells, sets, v, colour, chains, chain)
    flat = np.uint64(sets.flats[v])
    one[flat >> _WORD_SHIFT] &= ~(_ONE << (flat & _BIT_MASK))
    count = _ZERO
    for w in range(words):
        count += _count_bits(one[w])
    return captured, stones, count


@kernel
def _insert_freed(
    cells: np.ndarray,
    sets: LibertySets,
    v: np.uint64,
    colour: np.uint64,
    chains: tuple[np.uint16, ...],
    taken: np.uint64,
) -> None:
    """Insert the points of a captured chain that touch the mover's new chain: v and its neighbours of `colour`."""
    stone = taken
    while True:
        for n in (stone - STRIDE, stone - _ONE, stone + _ONE, stone + STRIDE):
            touches = n == v
            if cells[COLOUR + n] == colour:
                for k in range(4):
                    touches |= cells[CHAIN + n] == chains[k]
            if touches:
                _insert(sets.one, np.uint64(sets.flats[stone]))
        stone = np.uint64(cells[NEXT + stone])
        if stone == taken:
            return
