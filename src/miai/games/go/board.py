"""The compiled Go board: where stones are, which chains they form, and what a move does to them.

Start reading at `new_board`, then `play`. Everything else in this file serves `play`.

**Frame.** A board of any size lies in the upper left of one frame of 21 × 21 points. The frame's width, `STRIDE`, is a
compile-time constant, so that neighbours are `v ± 1` and `v ± STRIDE` and one compiled module serves every size.
Points around the board are `EDGE`, which spares every test for the border.

**State.** A board is two arrays, modified in place by `play`:

- `cells`, uint16[CELLS]: seven sections of one number a point, then a header (the table below);
- `liberties`, uint64[POINTS]: for the chain whose name is v, its **pseudo-liberties**, packed into one number (`unit`).

| section of `cells` | at point v |
|---|---|
| `COLOUR` | EMPTY, BLACK, WHITE or EDGE |
| `CHAIN` | name of the chain of the stone at v: one of its points; v itself where there is no stone |
| `NEXT` | next stone of the same chain, a circular list; v itself where there is no stone |
| `LENGTH` | number of stones of the chain v is the name of |
| `SHAPE` | the eight neighbours' colours, two bits each: N W E S in the low byte, NW NE SW SE in the high byte |
| `EMPTIES` | (at positions 0 … cells[NUM_EMPTY] − 1) the empty points, in no order |
| `WHERE` | position of the empty point v in `EMPTIES` |

Pseudo-liberties count an empty point once for every stone of the chain beside it. With their sum and the sum of
their squares, a chain is in atari exactly if count · squares = sum² (all its pseudo-liberties are then one
point, by the Cauchy–Schwarz inequality), and that point is sum / count. Adding and removing is one addition.

All indices are uint64: Numba then emits no test for negative indices. Mixing int64 and uint64 would give
float64 in Numba, so constants that meet an index are uint64 too.
"""

from __future__ import annotations

import numpy as np

from miai.compiled import Index, kernel
from miai.games.game import PASS
from miai.games.go.compiled import inlined

STRIDE = np.uint64(21)
POINTS = 441

EMPTY, BLACK, WHITE, EDGE = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
BOTH = np.uint64(3)
"""`BOTH - colour` is the other colour."""

PASS_POINT = np.uint64(0)
NO_POINT = np.uint64(0)
"""Point 0 is a corner of the frame and never on the board: it says "pass" among moves and "none" elsewhere."""

COLOUR = np.uint64(0)
CHAIN = np.uint64(POINTS)
NEXT = np.uint64(2 * POINTS)
LENGTH = np.uint64(3 * POINTS)
SHAPE = np.uint64(4 * POINTS)
EMPTIES = np.uint64(5 * POINTS)
WHERE = np.uint64(6 * POINTS)
SECTIONS = 7
HEADER = SECTIONS * POINTS
NUM_EMPTY = np.uint64(HEADER)
KO = np.uint64(HEADER + 1)
"""The point that the side to move may not take because of simple ko, or `NO_POINT`."""
SIZE = np.uint64(HEADER + 2)
LAST = np.uint64(HEADER + 3)
"""The last move's point, or `PASS_POINT` (also before the first move)."""
BEFORE_LAST = np.uint64(HEADER + 4)
CELLS = HEADER + 5

# Slots of SHAPE: by how many bits a neighbour's colour is shifted.
N_SLOT, W_SLOT, E_SLOT, S_SLOT = np.uint64(0), np.uint64(2), np.uint64(4), np.uint64(6)
NW_SLOT, NE_SLOT, SW_SLOT, SE_SLOT = np.uint64(8), np.uint64(10), np.uint64(12), np.uint64(14)

_ZERO, _ONE, _TWO = np.uint64(0), np.uint64(1), np.uint64(2)
_EIGHT = np.uint64(8)
_ORTHOGONAL = np.uint64(0xFF)
_LOW_BITS = np.uint64(0x55)
_SUM_SHIFT, _COUNT_SHIFT = np.uint64(30), np.uint64(50)
_SUM_ONE, _COUNT_ONE = np.uint64(1 << 30), np.uint64(1 << 50)
_SUM_MASK, _SQUARES_MASK = np.uint64((1 << 20) - 1), np.uint64((1 << 30) - 1)


def new_board(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return an empty board: (cells uint16[CELLS], liberties uint64[POINTS]). `size` is trusted."""
    cells = np.zeros(CELLS, np.uint16)
    liberties = np.zeros(POINTS, np.uint64)
    clear(cells, liberties, size)
    return cells, liberties


def flat_to_point(flat: int, size: int) -> np.uint64:
    """Return the compiled board's point of a flat index, or `PASS_POINT` of a pass."""
    if flat == PASS:
        return PASS_POINT
    row, column = divmod(flat, size)
    return np.uint64((row + 1) * 21 + column + 1)


@inlined
def point_of(flat: Index, size: Index) -> np.uint64:
    """Do what `flat_to_point` does, inside a kernel."""
    return PASS_POINT if flat == PASS else np.uint64((flat // size + 1) * 21 + flat % size + 1)


def point_to_flat(point: int, size: int) -> int:
    """Return the flat index of the compiled board's point, or `PASS` of `PASS_POINT`."""
    if point == PASS_POINT:
        return PASS
    row, column = divmod(int(point), 21)
    return (row - 1) * size + column - 1


@kernel
def clear(cells: np.ndarray, liberties: np.ndarray, size: int) -> None:
    """Make the board empty; both arrays are modified in place."""
    for i in range(POINTS):
        v = np.uint64(i)
        cells[COLOUR + v] = EDGE
        cells[CHAIN + v] = v
        cells[NEXT + v] = v
        cells[LENGTH + v] = _ZERO
        cells[SHAPE + v] = _ZERO
        liberties[v] = _ZERO
    count = _ZERO
    for row in range(size):
        for column in range(size):
            v = np.uint64((row + 1) * 21 + column + 1)
            cells[COLOUR + v] = EMPTY
            cells[EMPTIES + count] = v
            cells[WHERE + v] = count
            count += _ONE
    for i in range(count):
        v = np.uint64(cells[EMPTIES + np.uint64(i)])
        cells[SHAPE + v] = _look_around(cells, v)
    cells[NUM_EMPTY] = count
    cells[KO] = NO_POINT
    cells[SIZE] = size
    cells[LAST] = PASS_POINT
    cells[BEFORE_LAST] = PASS_POINT


@inlined
def _look_around(cells: np.ndarray, v: np.uint64) -> np.uint64:
    return (
        (np.uint64(cells[v - STRIDE]) << N_SLOT)
        | (np.uint64(cells[v - _ONE]) << W_SLOT)
        | (np.uint64(cells[v + _ONE]) << E_SLOT)
        | (np.uint64(cells[v + STRIDE]) << S_SLOT)
        | (np.uint64(cells[v - STRIDE - _ONE]) << NW_SLOT)
        | (np.uint64(cells[v - STRIDE + _ONE]) << NE_SLOT)
        | (np.uint64(cells[v + STRIDE - _ONE]) << SW_SLOT)
        | (np.uint64(cells[v + STRIDE + _ONE]) << SE_SLOT)
    )


@kernel
def copy_board(cells: np.ndarray, liberties: np.ndarray, to_cells: np.ndarray, to_liberties: np.ndarray) -> None:
    """Copy the part of a board that its size uses; the last two arrays are modified in place."""
    used = (np.uint64(cells[SIZE]) + _TWO) * STRIDE
    for section in range(SECTIONS):
        start = np.uint64(section * POINTS)
        for v in range(used):
            to_cells[start + v] = cells[start + v]
    for i in range(HEADER, CELLS):
        to_cells[np.uint64(i)] = cells[np.uint64(i)]
    for v in range(used):
        to_liberties[v] = liberties[v]


# --- Pseudo-liberties -------------------------------------------------------------------------------------------------


@inlined
def unit(v: np.uint64) -> np.uint64:
    """Return the point v as one pseudo-liberty: 1 · 2⁵⁰ + v · 2³⁰ + v²."""
    return v * (v + _SUM_ONE) + _COUNT_ONE


@inlined
def count_of(packed: np.uint64) -> np.uint64:
    """Return the number of packed pseudo-liberties."""
    return packed >> _COUNT_SHIFT


@inlined
def in_atari(packed: np.uint64) -> bool:
    """Tell whether the packed pseudo-liberties are those of a chain with exactly one liberty."""
    total = (packed >> _SUM_SHIFT) & _SUM_MASK
    return (packed >> _COUNT_SHIFT) * (packed & _SQUARES_MASK) == total * total


@inlined
def last_liberty(packed: np.uint64) -> np.uint64:
    """Return the only liberty of a chain in atari."""
    return ((packed >> _SUM_SHIFT) & _SUM_MASK) // (packed >> _COUNT_SHIFT)


# --- What may be played -----------------------------------------------------------------------------------------------


@inlined
def empty_neighbours(shape: np.uint64) -> np.uint64:
    """Return which of the four neighbours are empty: bit 1 << slot for each."""
    return ~(shape | (shape >> _ONE)) & _LOW_BITS


@inlined
def own_neighbours(shape: np.uint64, colour: np.uint64) -> np.uint64:
    """Return which of the four neighbours are stones of `colour`: bit 1 << slot for each."""
    return (shape >> (colour - _ONE)) & ~(shape >> (_TWO - colour)) & _LOW_BITS


@inlined
def has_empty_neighbour(shape: np.uint64) -> bool:
    return empty_neighbours(shape) != _ZERO


@inlined
def is_surrounded_by(shape: np.uint64, colour: np.uint64) -> bool:
    """Tell whether all four neighbours are stones of `colour` or the edge."""
    return ((shape >> (colour - _ONE)) & _LOW_BITS) == _LOW_BITS


@inlined
def is_eye(shape: np.uint64, colour: np.uint64) -> bool:
    """Tell whether a point of that shape is a one-point eye of `colour` that a playout must not fill.

    All four neighbours are `colour` or edge, and the opponent holds at most one diagonal (none at the edge). The
    usual rule of playouts; it errs on a few rare shapes, which costs strength but never legality.
    """
    if not is_surrounded_by(shape, colour):
        return False
    diagonals = shape >> _EIGHT
    edge = diagonals & (diagonals >> _ONE) & _LOW_BITS
    enemy = ((diagonals >> (_TWO - colour)) & _LOW_BITS) ^ edge
    if edge != _ZERO:
        return enemy == _ZERO
    return (enemy & (enemy - _ONE)) == _ZERO


@inlined
def is_alive_after(cells: np.ndarray, liberties: np.ndarray, v: np.uint64, colour: np.uint64) -> bool:
    """Tell whether a stone of `colour` on the empty point v, which has no empty neighbour, would have a liberty.

    It has one if it captures (an enemy neighbour is in atari) or joins a chain with another liberty.
    """
    return (
        _saves(cells, liberties, v - STRIDE, colour)
        | _saves(cells, liberties, v - _ONE, colour)
        | _saves(cells, liberties, v + _ONE, colour)
        | _saves(cells, liberties, v + STRIDE, colour)
    )


@inlined
def _saves(cells: np.ndarray, liberties: np.ndarray, n: np.uint64, colour: np.uint64) -> bool:
    found = cells[COLOUR + n]
    return (found != EDGE) & (in_atari(liberties[cells[CHAIN + n]]) != (found == colour))


@inlined
def is_legal(cells: np.ndarray, liberties: np.ndarray, v: np.uint64, colour: np.uint64, suicide: bool) -> bool:
    """Tell whether `colour` may play on the point v: it is empty, not the ko point, and no suicide unless allowed."""
    if cells[COLOUR + v] != EMPTY or v == cells[KO]:
        return False
    return suicide or has_empty_neighbour(cells[SHAPE + v]) or is_alive_after(cells, liberties, v, colour)


@inlined
def is_sensible(cells: np.ndarray, liberties: np.ndarray, v: np.uint64, colour: np.uint64) -> bool:
    """Tell whether a playout may play the empty point v, not the ko point: legal, and not in an eye of its own."""
    shape = np.uint64(cells[SHAPE + v])
    if has_empty_neighbour(shape):
        return True
    return not is_eye(shape, colour) and is_alive_after(cells, liberties, v, colour)


# --- Playing ----------------------------------------------------------------------------------------------------------


@inlined
def play(cells: np.ndarray, liberties: np.ndarray, v: np.uint64, colour: np.uint64) -> int:
    """Play a legal move, or `PASS_POINT`; both arrays are modified in place.

    The opponent's chains without a liberty leave first, then the mover's own (suicide, where the caller allows it).

    Returns:
        The number of opponent's stones captured.
    """
    cells[BEFORE_LAST] = cells[LAST]
    cells[LAST] = v
    cells[KO] = NO_POINT
    if v == PASS_POINT:
        return 0
    other = BOTH - colour
    shape = np.uint64(cells[SHAPE + v])
    north, west, east, south = v - STRIDE, v - _ONE, v + _ONE, v + STRIDE

    position, last = cells[WHERE + v], cells[NUM_EMPTY] - 1
    moved = cells[EMPTIES + np.uint64(last)]
    cells[EMPTIES + np.uint64(position)] = moved
    cells[WHERE + np.uint64(moved)] = position
    cells[NUM_EMPTY] = last
    cells[COLOUR + v] = colour
    cells[LENGTH + v] = _ONE
    _add_to_shapes(cells, v, colour)

    # For empty and edge neighbours these lines change a number that nobody reads: cheaper than a branch.
    gone = unit(v)
    liberties[cells[CHAIN + north]] -= gone
    liberties[cells[CHAIN + west]] -= gone
    liberties[cells[CHAIN + east]] -= gone
    liberties[cells[CHAIN + south]] -= gone

    # Multiplying by 0 or 1 is cheaper than four branches that nothing can predict.
    empty = empty_neighbours(shape)
    own = unit(north) * ((empty >> N_SLOT) & _ONE)
    own += unit(west) * ((empty >> W_SLOT) & _ONE)
    own += unit(east) * ((empty >> E_SLOT) & _ONE)
    own += unit(south) * ((empty >> S_SLOT) & _ONE)
    liberties[v] = own

    captured = _meet(cells, liberties, north, v, other)
    captured += _meet(cells, liberties, west, v, other)
    captured += _meet(cells, liberties, east, v, other)
    captured += _meet(cells, liberties, south, v, other)

    if own == _ZERO:
        if captured == 1 and is_surrounded_by(shape, other):
            cells[KO] = cells[EMPTIES + np.uint64(cells[NUM_EMPTY] - 1)]
        elif captured == 0 and liberties[cells[CHAIN + v]] == _ZERO:
            _remove(cells, liberties, np.uint64(cells[CHAIN + v]))
    return captured


@inlined
def _meet(cells: np.ndarray, liberties: np.ndarray, n: np.uint64, v: np.uint64, other: np.uint64) -> int:
    """Join the new stone v with its own chain at the neighbour n, or capture the enemy's; return stones captured."""
    found = cells[COLOUR + n]
    if found == other:
        chain = np.uint64(cells[CHAIN + n])
        if liberties[chain] == _ZERO:
            return _remove(cells, liberties, chain)
    elif found == BOTH - other:
        chain, mine = np.uint64(cells[CHAIN + n]), np.uint64(cells[CHAIN + v])
        if chain != mine:
            if cells[LENGTH + chain] >= cells[LENGTH + mine]:
                _join(cells, liberties, chain, mine)
            else:
                _join(cells, liberties, mine, chain)
    return 0


@inlined
def _join(cells: np.ndarray, liberties: np.ndarray, keep: np.uint64, lose: np.uint64) -> None:
    liberties[keep] += liberties[lose]
    cells[LENGTH + keep] += cells[LENGTH + lose]
    stone = lose
    while True:
        cells[CHAIN + stone] = keep
        stone = np.uint64(cells[NEXT + stone])
        if stone == lose:
            break
    # Swapping two links of two circular lists makes one list of them.
    after = cells[NEXT + keep]
    cells[NEXT + keep] = cells[NEXT + lose]
    cells[NEXT + lose] = after


@kernel
def _remove(cells: np.ndarray, liberties: np.ndarray, chain: np.uint64) -> int:
    """Take a chain off the board; return its number of stones."""
    colour = np.uint64(cells[COLOUR + chain])
    empties = np.uint64(cells[NUM_EMPTY])
    count = 0
    stone = chain
    while True:
        cells[COLOUR + stone] = EMPTY
        cells[EMPTIES + empties] = stone
        cells[WHERE + stone] = empties
        empties += _ONE
        _add_to_shapes(cells, stone, _ZERO - colour)
        back = unit(stone)
        liberties[cells[CHAIN + (stone - STRIDE)]] += back
        liberties[cells[CHAIN + (stone - _ONE)]] += back
        liberties[cells[CHAIN + (stone + _ONE)]] += back
        liberties[cells[CHAIN + (stone + STRIDE)]] += back
        count += 1
        following = np.uint64(cells[NEXT + stone])
        cells[CHAIN + stone] = stone
        cells[NEXT + stone] = stone
        stone = following
        if stone == chain:
            break
    cells[NUM_EMPTY] = empties
    return count


@inlined
def _add_to_shapes(cells: np.ndarray, v: np.uint64, colour: np.uint64) -> None:
    """Tell the eight neighbours that v is now `colour` (or, with the number's negative, empty again)."""
    cells[SHAPE + (v - STRIDE)] += colour << S_SLOT
    cells[SHAPE + (v - _ONE)] += colour << E_SLOT
    cells[SHAPE + (v + _ONE)] += colour << W_SLOT
    cells[SHAPE + (v + STRIDE)] += colour << N_SLOT
    cells[SHAPE + (v - STRIDE - _ONE)] += colour << SE_SLOT
    cells[SHAPE + (v - STRIDE + _ONE)] += colour << SW_SLOT
    cells[SHAPE + (v + STRIDE - _ONE)] += colour << NE_SLOT
    cells[SHAPE + (v + STRIDE + _ONE)] += colour << NW_SLOT
