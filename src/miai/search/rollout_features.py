"""Features of a move for the linear softmax rollout policy.

Silver et al. 2016, "Mastering the game of Go with deep neural networks and tree search", Methods ("Rollout policy") and
Extended Data Table 4; Coulom 2007, "Computing Elo ratings of move patterns in the game of Go", for the tactical ones.
A move's score is the sum of the weights of its features, the policy the softmax of the scores over the sensible moves
(`games.go.board.is_sensible`). All features are from the mover's side; none depends on the side or turn of the board.

| section | features | which one a move has |
|---|---|---|
| `place` | 15 | by its distance to the two nearest edges, (1, 1) to (5, 5) and further |
| `capture` | 3 | it takes 1, 2, or 3 and more stones |
| `save` | 3 | it is beside chains of its own in atari, of 1, 2, or 3 and more stones |
| `self_atari` | 4 | it puts a chain of 1, 2, or 3 and more stones into atari, or leaves one there; never favoured |
| `last` | 5 | where it is in the 5 × 5 square around the last move |
| `before` | 5 | where it is in that around the move before |
| `answer` | 4 | what it does about the last move: see `find_answers`; one feature may count several times |
| `pattern` | 7,455 | the 3 × 3 colours around it, and which of the four neighbours are in atari; up to symmetry |
| `response` | 2,490 | beside the last move, or diagonally: these colours, and where the last move is; up to symmetry |
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np

from miai.compiled import Index
from miai.games.go.board import (
    BEFORE_LAST,
    BLACK,
    BOTH,
    CHAIN,
    COLOUR,
    LAST,
    LENGTH,
    PASS_POINT,
    SHAPE,
    SIZE,
    STRIDE,
    WHITE,
    in_atari,
    last_liberty,
    own_neighbours,
)
from miai.games.go.compiled import inlined
from miai.games.go.symmetry import NUM_SYMMETRIES, transform
from miai.search.answers import two_liberties
from miai.search.patterns import is_self_atari

_ZERO, _ONE, _TWO = np.uint64(0), np.uint64(1), np.uint64(2)

# --- Where each section begins in a vector of weights -----------------------------------------------------------------

LINES = 5
PLACES = LINES * (LINES + 1) // 2
SIZES = 3
"""Chains of 1, 2, and 3 or more stones."""
FAILED_ESCAPE = SIZES
RINGS = 5

SECTIONS = {
    "place": PLACES,
    "capture": SIZES,
    "save": SIZES,
    "self_atari": SIZES + 1,
    "last": RINGS,
    "before": RINGS,
    "answer": 4,
    "pattern": 7455,
    "response": 2490,
}
"""Sections and their sizes, in the order of the vector."""

PLACE = 0
CAPTURE = PLACE + PLACES
SAVE = CAPTURE + SIZES
SELF_ATARI = SAVE + SIZES
LAST_RING = SELF_ATARI + SIZES + 1
BEFORE_RING = LAST_RING + RINGS
ANSWER = BEFORE_RING + RINGS
PATTERN = ANSWER + SECTIONS["answer"]
RESPONSE = PATTERN + SECTIONS["pattern"]
NUM_WEIGHTS = RESPONSE + SECTIONS["response"]
NUM_SMALL = PATTERN
"""Weights before the two large sections."""

# Kinds of answers.
TAKE_LAST, GIVE_ATARI, ESCAPE, EXTEND = 0, 1, 2, 3

NO_FEATURE = -1

MAX_ANSWERS = 10
"""Two at the last move's chain, two at each of four chains beside it."""
MAX_FEATURES = 8 + MAX_ANSWERS
"""Features of one move at most: one a section, and its answers."""

MIN_SELF_ATARI, MAX_SELF_ATARI = -4.0, 0.0
"""Bounds of the weights of `self_atari`: playouts test for it by rejection, which takes a factor between these."""

# --- Patterns ---------------------------------------------------------------------------------------------------------

NUM_SHAPES = 1 << 16
NUM_PATTERN_INDICES = 1 << 20
"""A pattern's index: the SHAPE of the point (see `games.go.board`) with own = 1, opponent = 2; above it a bit for each
of the neighbours N, W, E, S that is in atari."""
NUM_RESPONSE_INDICES = 8 * NUM_SHAPES
"""A response's index: such a SHAPE; above it the slot of the last move (N W E S NW NE SW SE: 0 to 7)."""

_SLOTS = ((0, 1), (1, 0), (1, 2), (2, 1), (0, 0), (0, 2), (2, 0), (2, 2))
"""Row and column of each slot of SHAPE."""
_OWN, _OPPONENT, _EDGE = 1, 2, 3


def _turned_slots(k: int) -> list[int]:
    """Return where each slot goes under symmetry k."""
    grid = np.full((3, 3), -1)
    for slot, place in enumerate(_SLOTS):
        grid[place] = slot
    turned = transform(grid, k)
    return [next(new for new, place in enumerate(_SLOTS) if turned[place] == old) for old in range(8)]


def _on_a_board(shapes: np.ndarray) -> np.ndarray:
    """Return which shapes have their edges where a board of at least 2 × 2 may have them."""
    found = np.zeros(len(shapes), bool)
    is_edge = [(shapes >> (2 * slot)) & 3 == _EDGE for slot in range(8)]
    for row, column in product((None, 0, 2), (None, 0, 2)):
        fits = np.ones(len(shapes), bool)
        for slot, place in enumerate(_SLOTS):
            fits &= is_edge[slot] == (place[0] == row or place[1] == column)
        found |= fits
    return found


def _numbered(canonical: np.ndarray, valid: np.ndarray, expected: int) -> np.ndarray:
    """Number the classes of valid indices in ascending order of their smallest member; the others get number 0."""
    representatives, numbers = np.unique(canonical[valid], return_inverse=True)
    if len(representatives) != expected:
        raise ValueError(f"there are {len(representatives)} classes, and {expected} are provided for")
    classes = np.zeros(len(canonical), np.uint16)
    classes[valid] = numbers
    classes.flags.writeable = False
    return classes


@lru_cache(maxsize=1)
def pattern_classes() -> np.ndarray:
    """Return the class of each pattern's index, uint16[NUM_PATTERN_INDICES], from 0. Read only."""
    indices = np.arange(NUM_PATTERN_INDICES, dtype=np.int32)
    canonical = indices.copy()
    for k in range(1, NUM_SYMMETRIES):
        turned = np.zeros_like(indices)
        for slot, to in enumerate(_turned_slots(k)):
            turned |= ((indices >> (2 * slot)) & 3) << (2 * to)
            if slot < 4:
                turned |= ((indices >> (16 + slot)) & 1) << (16 + to)
        np.minimum(canonical, turned, out=canonical)
    valid = _on_a_board(indices)
    for slot in range(4):
        content = (indices >> (2 * slot)) & 3
        valid &= ((indices >> (16 + slot)) & 1 == 0) | (content == _OWN) | (content == _OPPONENT)
    return _numbered(canonical, valid, SECTIONS["pattern"])


@lru_cache(maxsize=1)
def response_classes() -> np.ndarray:
    """Return the class of each response's index, uint16[NUM_RESPONSE_INDICES], from 0. Read only."""
    indices = np.arange(NUM_RESPONSE_INDICES, dtype=np.int32)
    canonical = indices.copy()
    for k in range(1, NUM_SYMMETRIES):
        to = _turned_slots(k)
        turned = np.array(to, np.int32)[indices >> 16] << 16
        for slot in range(8):
            turned |= ((indices >> (2 * slot)) & 3) << (2 * to[slot])
        np.minimum(canonical, turned, out=canonical)
    valid = _on_a_board(indices & (NUM_SHAPES - 1)) & ((indices >> (2 * (indices >> 16))) & 3 == _OPPONENT)
    return _numbered(canonical, valid, SECTIONS["response"])


@lru_cache(maxsize=1)
def sensible_patterns() -> np.ndarray:
    """Return which pattern indices are of sensible moves (`games.go.board.is_sensible`), bool[…]. Read only."""
    indices = np.arange(NUM_PATTERN_INDICES, dtype=np.int32)
    contents = [(indices >> (2 * slot)) & 3 for slot in range(8)]
    alive = np.zeros(len(indices), bool)
    surrounded = np.ones(len(indices), bool)
    for slot in range(4):
        atari = (indices >> (16 + slot)) & 1 == 1
        content = contents[slot]
        alive |= (content == 0) | ((content == _OWN) & ~atari) | ((content == _OPPONENT) & atari)
        surrounded &= (content == _OWN) | (content == _EDGE)
    enemies = sum((contents[slot] == _OPPONENT).astype(np.int8) for slot in range(4, 8))
    at_edge = np.logical_or.reduce([contents[slot] == _EDGE for slot in range(4, 8)])
    eye = surrounded & (enemies <= np.where(at_edge, 0, 1))
    sensible = alive & ~eye
    sensible.flags.writeable = False
    return sensible


@inlined
def mover_shape(shape: np.uint64, colour: np.uint64) -> np.uint64:
    """Return a SHAPE with the mover's stones as 1 and the opponent's as 2."""
    if colour == WHITE:
        return ((shape & np.uint64(0x5555)) << _ONE) | ((shape >> _ONE) & np.uint64(0x5555))
    return shape


@inlined
def atari_bits(cells: np.ndarray, liberties: np.ndarray, v: np.uint64) -> np.uint64:
    """Return which of the neighbours N, W, E, S are stones in atari, as bits 0 to 3."""
    shape = np.uint64(cells[SHAPE + v])
    bits = _ZERO
    if (shape ^ (shape >> _ONE)) & np.uint64(0x55) != _ZERO:
        bits |= _is_in_atari(cells, liberties, v - STRIDE, shape)
        bits |= _is_in_atari(cells, liberties, v - _ONE, shape >> np.uint64(2)) << _ONE
        bits |= _is_in_atari(cells, liberties, v + _ONE, shape >> np.uint64(4)) << _TWO
        bits |= _is_in_atari(cells, liberties, v + STRIDE, shape >> np.uint64(6)) << np.uint64(3)
    return bits


@inlined
def _is_in_atari(cells: np.ndarray, liberties: np.ndarray, n: np.uint64, content: np.uint64) -> np.uint64:
    # No branch: the number that is read where there is no stone is masked.
    return np.uint64(in_atari(liberties[cells[CHAIN + n]])) & (content ^ (content >> _ONE)) & _ONE


# --- Small features ---------------------------------------------------------------------------------------------------


@inlined
def place_of(v: np.uint64, size: Index) -> Index:
    """Return the feature of `place` of a point."""
    row, column = np.int64(v // STRIDE), np.int64(v % STRIDE)
    a = min(min(row, size + 1 - row), LINES)
    b = min(min(column, size + 1 - column), LINES)
    low: Index = min(a, b)
    high: Index = max(a, b)
    return PLACE + (high - 1) * high // 2 + low - 1


@inlined
def _size_class(stones: Index) -> Index:
    return min(stones, SIZES) - 1


@inlined
def stones_at_stake(cells: np.ndarray, v: np.uint64, bits: np.uint64) -> tuple[Index, Index]:
    """Return the stones of chains in atari beside v, Black's and White's. `bits` are `atari_bits`."""
    p, q, r, s = _chain(cells, v - STRIDE), _chain(cells, v - _ONE), _chain(cells, v + _ONE), _chain(cells, v + STRIDE)
    black: Index = 0
    white: Index = 0
    # Each chain once, as in `patterns.liberties_after`.
    for chain, slot, is_new in (
        (p, 0, True),
        (q, 1, q != p),
        (r, 2, (r != p) & (r != q)),
        (s, 3, (s != p) & (s != q) & (s != r)),
    ):
        if (bits >> np.uint64(slot)) & _ONE != _ZERO and is_new:
            if cells[COLOUR + chain] == BLACK:
                black += np.int64(cells[LENGTH + chain])
            else:
                white += np.int64(cells[LENGTH + chain])
    return black, white


@inlined
def capture_of(stones: Index) -> Index:
    """Return the feature of `capture` of a move that takes so many stones, or `NO_FEATURE`."""
    return CAPTURE + _size_class(stones) if stones > 0 else NO_FEATURE


@inlined
def save_of(stones: Index) -> Index:
    """Return the feature of `save` of a move beside so many stones of its own in atari, or `NO_FEATURE`."""
    return SAVE + _size_class(stones) if stones > 0 else NO_FEATURE


@inlined
def _chain(cells: np.ndarray, n: np.uint64) -> np.uint64:
    return np.uint64(cells[CHAIN + n])


@inlined
def self_atari(cells: np.ndarray, liberties: np.ndarray, v: np.uint64, colour: np.uint64) -> int:
    """Return the feature of `self_atari` of a sensible move, or `NO_FEATURE`."""
    if not is_self_atari(cells, liberties, v, colour):
        return NO_FEATURE
    if own_neighbours(np.uint64(cells[SHAPE + v]), colour) == _ZERO:
        return SELF_ATARI
    p, q, r, s = _chain(cells, v - STRIDE), _chain(cells, v - _ONE), _chain(cells, v + _ONE), _chain(cells, v + STRIDE)
    stones: Index = 1
    for chain, is_new in (
        (p, True),
        (q, q != p),
        (r, (r != p) & (r != q)),
        (s, (s != p) & (s != q) & (s != r)),
    ):
        if cells[COLOUR + chain] == colour and is_new:
            if in_atari(liberties[chain]):
                return SELF_ATARI + FAILED_ESCAPE
            stones += np.int64(cells[LENGTH + chain])
    return SELF_ATARI + _size_class(stones)


# --- The last moves ---------------------------------------------------------------------------------------------------

NEAR = 24
"""Points of the 5 × 5 square without its middle; the first eight touch it."""
_NO_SLOT = 8


def _near_points() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return of each point of the square: its offset (uint64), its ring, and the slot in which it sees the middle."""
    places = [place for place in product(range(-2, 3), repeat=2) if place != (0, 0)]
    places.sort(key=lambda place: max(abs(place[0]), abs(place[1])))
    rings = {(0, 1): 0, (1, 1): 1, (0, 2): 2, (1, 2): 3, (2, 2): 4}
    offsets, classes, slots = [], [], []
    for row, column in places:
        offsets.append((21 * row + column) % (1 << 64))
        low, high = sorted((abs(row), abs(column)))
        classes.append(rings[low, high])
        slots.append(_SLOTS.index((1 - row, 1 - column)) if high == 1 else _NO_SLOT)
    return np.array(offsets, np.uint64), np.array(classes, np.int64), np.array(slots, np.uint64)


NEAR_OFFSET, NEAR_RING, NEAR_SLOT = _near_points()
"""Added to a point of the board, an offset leads to a point of the frame, off the board or not, or past the frame's
ends: to be compared with `POINTS`, past both of which numbers without a sign are."""


@inlined
def ring_of(v: np.uint64, middle: np.uint64) -> Index:
    """Return where v is in the 5 × 5 square around `middle`: 0 to 4, or `NO_FEATURE` outside or in the middle."""
    down = abs(np.int64(v // STRIDE) - np.int64(middle // STRIDE))
    across = abs(np.int64(v % STRIDE) - np.int64(middle % STRIDE))
    low, high = min(down, across), max(down, across)
    if high == 0 or high > 2:
        return NO_FEATURE
    return low if high == 1 else 2 + low


@inlined
def slot_of(v: np.uint64, n: np.uint64) -> np.uint64:
    """Return the slot of SHAPE in which v sees its neighbour n."""
    for i in range(8):
        if v == n + NEAR_OFFSET[i]:
            return NEAR_SLOT[i]
    return np.uint64(_NO_SLOT)


@inlined
def is_answerable(cells: np.ndarray, colour: np.uint64) -> bool:
    """Tell whether the last move is a stone of the opponent, so that there are answers and responses to it."""
    last = np.uint64(cells[LAST])
    return last != PASS_POINT and cells[COLOUR + last] == BOTH - colour


@inlined
def find_answers(
    cells: np.ndarray, liberties: np.ndarray, colour: np.uint64, points: np.ndarray, kinds: np.ndarray
) -> int:
    """Write the answers to the last move, which `is_answerable`, to `points` and `kinds`; return their number.

    `TAKE_LAST` takes the chain of the last move, `GIVE_ATARI` is one of its two liberties; `ESCAPE` is the liberty of
    an own chain in atari beside the last move, `EXTEND` one of the two of such a chain. Both arrays are modified in
    place.
    """
    last = np.uint64(cells[LAST])
    chain = np.uint64(cells[CHAIN + last])
    count = _add_liberties(cells, liberties, chain, TAKE_LAST, GIVE_ATARI, points, kinds, 0)
    shape = np.uint64(cells[SHAPE + last])
    if own_neighbours(shape, colour) == _ZERO:
        return count
    p, q = _chain(cells, last - STRIDE), _chain(cells, last - _ONE)
    r, s = _chain(cells, last + _ONE), _chain(cells, last + STRIDE)
    for chain, is_new in (
        (p, True),
        (q, q != p),
        (r, (r != p) & (r != q)),
        (s, (s != p) & (s != q) & (s != r)),
    ):
        if cells[COLOUR + chain] == colour and is_new:
            count = _add_liberties(cells, liberties, chain, ESCAPE, EXTEND, points, kinds, count)
    return count


@inlined
def _add_liberties(
    cells: np.ndarray,
    liberties: np.ndarray,
    chain: np.uint64,
    of_one: int,
    of_two: int,
    points: np.ndarray,
    kinds: np.ndarray,
    count: int,
) -> int:
    packed = liberties[chain]
    if in_atari(packed):
        points[np.uint64(count)] = last_liberty(packed)
        kinds[np.uint64(count)] = of_one
        return count + 1
    pair = two_liberties(cells, liberties, chain)
    if pair != _ZERO:
        points[np.uint64(count)] = pair & np.uint64(0xFFFF)
        points[np.uint64(count + 1)] = pair >> np.uint64(16)
        kinds[np.uint64(count)] = of_two
        kinds[np.uint64(count + 1)] = of_two
        return count + 2
    return count


# --- All features of a move -------------------------------------------------------------------------------------------


@inlined
def list_features(
    cells: np.ndarray,
    liberties: np.ndarray,
    v: np.uint64,
    colour: np.uint64,
    patterns: np.ndarray,
    responses: np.ndarray,
    points: np.ndarray,
    kinds: np.ndarray,
    num_answers: int,
    features: np.ndarray,
) -> int:
    """Write the places of a sensible move's features in the vector of weights to `features`; return their number.

    Args:
        patterns, responses: `pattern_classes`, `response_classes`.
        points, kinds, num_answers: from `find_answers`.
        features: int64[MAX_FEATURES], modified in place.
    """
    shape = mover_shape(np.uint64(cells[SHAPE + v]), colour)
    bits = atari_bits(cells, liberties, v)
    features[0] = PLACE + place_of(v, np.int64(cells[SIZE]))
    features[1] = PATTERN + np.int64(patterns[shape | (bits << np.uint64(16))])
    count = 2
    if bits != _ZERO:
        black, white = stones_at_stake(cells, v, bits)
        count = _append(features, count, capture_of(white if colour == BLACK else black))
        count = _append(features, count, save_of(black if colour == BLACK else white))
    count = _append(features, count, self_atari(cells, liberties, v, colour))
    last = np.uint64(cells[LAST])
    if last != PASS_POINT:
        ring = ring_of(v, last)
        if ring != NO_FEATURE:
            count = _append(features, count, LAST_RING + ring)
            if ring < 2 and is_answerable(cells, colour):
                slot = slot_of(v, last)
                count = _append(features, count, RESPONSE + np.int64(responses[shape | (slot << np.uint64(16))]))
    before = np.uint64(cells[BEFORE_LAST])
    if before != PASS_POINT:
        ring = ring_of(v, before)
        if ring != NO_FEATURE:
            count = _append(features, count, BEFORE_RING + ring)
    for i in range(num_answers):
        if points[i] == v:
            count = _append(features, count, ANSWER + np.int64(kinds[i]))
    return count


@inlined
def _append(features: np.ndarray, count: int, feature: int) -> int:
    if feature == NO_FEATURE:
        return count
    features[np.uint64(count)] = feature
    return count + 1
