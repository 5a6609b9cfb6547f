"""Keys of positions: Zobrist hashing (Zobrist 1970), 64 bits.

- `stones_key`: the stones alone. Positional superko compares these.
- situational key: stones and the side to move, `stones_key ^ side_key`.
- `position_key`: stones, side to move and the ko point: equal exactly if the same moves are possible by the board's own
  rules (two positions with the same stones but another ko point are different positions).

The random numbers are fixed, so keys are the same in every process and may be stored.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from miai.compiled import kernel
from miai.games.go.board import (
    BLACK,
    BOTH,
    CHAIN,
    COLOUR,
    KO,
    NEXT,
    NO_POINT,
    POINTS,
    SIZE,
    STRIDE,
    WHITE,
    in_atari,
    is_legal,
)
from miai.games.go.compiled import inlined

_GENERATOR = np.random.Generator(np.random.PCG64(0x4D494149))
STONE_KEYS = _GENERATOR.integers(1, 2**64, (3, POINTS), np.uint64, endpoint=False)
"""uint64[3, POINTS]: row BLACK and row WHITE; row 0 is not used."""
KO_KEYS = _GENERATOR.integers(1, 2**64, POINTS, np.uint64, endpoint=False)
WHITE_TO_PLAY = np.uint64(_GENERATOR.integers(1, 2**64, None, np.uint64, endpoint=False))

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@inlined
def side_key(to_play: np.uint64) -> np.uint64:
    """Return the key of the side to move (BLACK or WHITE)."""
    return WHITE_TO_PLAY if to_play == WHITE else _ZERO


@kernel
def stones_key(cells: np.ndarray) -> np.uint64:
    """Return the key of the stones on the board."""
    key = _ZERO
    for i in range(POINTS):
        v = np.uint64(i)
        colour = np.uint64(cells[COLOUR + v])
        if colour in (BLACK, WHITE):
            key ^= STONE_KEYS[colour, v]
    return key


@kernel
def position_key(cells: np.ndarray, to_play: np.uint64) -> np.uint64:
    """Return the key of stones, side to move (BLACK or WHITE) and ko point."""
    key = stones_key(cells) ^ side_key(to_play)
    ko = np.uint64(cells[KO])
    return key if ko == NO_POINT else key ^ KO_KEYS[ko]


@inlined
def _chain_key(cells: np.ndarray, chain: np.uint64) -> np.uint64:
    key = _ZERO
    colour = np.uint64(cells[COLOUR + chain])
    stone = chain
    while True:
        key ^= STONE_KEYS[colour, stone]
        stone = np.uint64(cells[NEXT + stone])
        if stone == chain:
            return key


@inlined
def stones_key_after(
    cells: np.ndarray, liberties: np.ndarray, v: np.uint64, colour: np.uint64, key: np.uint64
) -> np.uint64:
    """Return what `stones_key` will be after a legal move at v, given what it is now."""
    key ^= STONE_KEYS[colour, v]
    neighbours = (v - STRIDE, v - _ONE, v + _ONE, v + STRIDE)
    captures = False
    survives = False
    for i in range(4):
        n = neighbours[i]
        found = np.uint64(cells[COLOUR + n])
        chain = np.uint64(cells[CHAIN + n])
        if found == BOTH - colour:
            if in_atari(liberties[chain]):
                captures = True
                if not _met_before(cells, neighbours, i, chain):
                    key ^= _chain_key(cells, chain)
        elif found == colour:
            survives = survives or not in_atari(liberties[chain])
        elif found == _ZERO:
            survives = True
    if captures or survives:
        return key
    # Suicide: the mover's own chains, and the new stone, leave.
    key ^= STONE_KEYS[colour, v]
    for i in range(4):
        n = neighbours[i]
        if cells[COLOUR + n] == colour:
            chain = np.uint64(cells[CHAIN + n])
            if not _met_before(cells, neighbours, i, chain):
                key ^= _chain_key(cells, chain)
    return key


@inlined
def _met_before(cells: np.ndarray, neighbours: tuple[np.uint64, ...], i: int, chain: np.uint64) -> bool:
    met = False
    for j in range(i):
        met = met or cells[CHAIN + neighbours[j]] == chain
    return met


@kernel
def key_of_move(cells: np.ndarray, liberties: np.ndarray, v: np.uint64, colour: np.uint64) -> np.uint64:
    """Return what `stones_key` will be after a legal move at v."""
    return stones_key_after(cells, liberties, v, colour, stones_key(cells))


@njit(cache=True, nogil=True)
def legal_points(
    cells: np.ndarray, liberties: np.ndarray, colour: np.uint64, suicide: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the points that `colour` may play but for superko, and the stones' keys after each move.

    Returns:
        flat indices in ascending order, int64[n], and keys, uint64[n].
    """
    size = np.int64(cells[SIZE])
    flats = np.empty(size * size, np.int64)
    keys = np.empty(size * size, np.uint64)
    now = stones_key(cells)
    count = 0
    for row in range(size):
        for column in range(size):
            v = np.uint64((row + 1) * 21 + column + 1)
            if is_legal(cells, liberties, v, colour, suicide):
                flats[count] = row * size + column
                keys[count] = stones_key_after(cells, liberties, v, colour, now)
                count += 1
    return flats[:count], keys[:count]
