"""Playouts by the linear softmax policy of `rollout_features`, kept up to date from move to move.

Start reading at `rollout_playout`. The probability of a move is its weight, the exponential of its score, over the sum
of all weights. A weight is a product, and its factors are dealt with where they are cheap:

- **kept**, for every point and both colours: pattern, place, captures and saves. A move changes them only around
  itself, around the stones that it takes, and at the last liberties of chains whose atari comes, goes or stays
  (`rollout_play`);
- **put on for one draw**: what depends on the last two moves, and the ko (`_put_on`), taken off after it;
- **by rejection**: self-atari, which would need chains of two liberties to be followed. Its factor f is at most 1; a
  move that has it is drawn without it, kept with probability f, and drawn anew otherwise. That is exact.

Weights are whole numbers, so that the sums of rows, which let a draw cost O(size), never drift: a move of score 0
weighs `ONE_WEIGHT`, every sensible move from 1 to `MAX_WEIGHT`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from miai.compiled import Index, Number, kernel
from miai.games.go.board import (
    BEFORE_LAST,
    BOTH,
    CHAIN,
    COLOUR,
    EMPTIES,
    EMPTY,
    KO,
    LAST,
    NEXT,
    NO_POINT,
    NUM_EMPTY,
    PASS_POINT,
    POINTS,
    SHAPE,
    SIZE,
    STRIDE,
    WHITE,
    copy_board,
    in_atari,
    last_liberty,
    play,
)
from miai.games.go.compiled import inlined
from miai.games.go.coordinates import MAX_SIZE
from miai.games.go.scoring import quick_area_difference
from miai.rng import uniform
from miai.search.playouts import MOVES_PER_POINT
from miai.search.rollout_features import (
    ANSWER,
    BEFORE_RING,
    LAST_RING,
    MAX_ANSWERS,
    MAX_SELF_ATARI,
    MIN_SELF_ATARI,
    NEAR_OFFSET,
    NEAR_RING,
    NEAR_SLOT,
    NO_FEATURE,
    NUM_SMALL,
    NUM_WEIGHTS,
    PATTERN,
    RESPONSE,
    SECTIONS,
    SELF_ATARI,
    atari_bits,
    capture_of,
    find_answers,
    is_answerable,
    mover_shape,
    pattern_classes,
    place_of,
    response_classes,
    save_of,
    self_atari,
    sensible_patterns,
    stones_at_stake,
)

ONE_WEIGHT = 1 << 20
MAX_WEIGHT = 1 << 40
MAX_SCORE = 30.0
"""A file's weights are between this and its negative."""

ROWS = 21
MARGIN = 64
"""A 5 × 5 square around a point of the board may reach over the frame; what it finds there weighs nothing."""
ROW_MARGIN = 2
WEIGHTS_OF_ONE = POINTS + 2 * MARGIN
ROWS_OF_ONE = ROWS + 2 * ROW_MARGIN
"""Numbers of one colour in `RolloutState.weights` and `RolloutState.rows`."""
SQUARE = 25
MAX_DIRTY = POINTS + 8 + 5
"""Points that a move may change: those around stones that it takes, the eight around it, and five last liberties."""
MAX_CHANGES = MAX_ANSWERS + 1
"""Weights that are changed for one draw beside those of the two squares: the answers, and the ko."""

_ZERO, _ONE, _TWO = np.uint64(0), np.uint64(1), np.uint64(2)
_ATARI_SHIFT, _SLOT_SHIFT = np.uint64(16), np.uint64(16)
_CORNER = _TWO * STRIDE + _TWO
"""From the middle of a 5 × 5 square back to its first point."""


class RolloutPolicy(NamedTuple):
    """The factors of a fitted policy. Shared and read only."""

    patterns: np.ndarray
    """float32[NUM_PATTERN_INDICES]: by the pattern's index; 0 where the move is not sensible."""
    responses: np.ndarray
    """float32[NUM_RESPONSE_INDICES]: by the response's index."""
    small: np.ndarray
    """float32[NUM_SMALL]: of all other features, by their places in the vector of weights."""
    squares: np.ndarray
    """float64[2 · SQUARE]: of `last`, then of `before`, by the place in the square, row by row; 1 in the middle."""


def check_weights(weights: np.ndarray) -> None:
    """Check a vector of weights, [NUM_WEIGHTS] floats in the order of `rollout_features.SECTIONS`.

    Raises:
        ValueError: the vector is of another length, a weight is not within ±`MAX_SCORE`, or one of `self_atari` is not
            within its bounds.
    """
    if weights.shape != (NUM_WEIGHTS,):
        raise ValueError(f"a policy has {NUM_WEIGHTS} weights, not {list(weights.shape)}")
    if not (np.abs(weights) <= MAX_SCORE).all():
        raise ValueError(f"weights must be from {-MAX_SCORE:g} to {MAX_SCORE:g}")
    exposed = weights[SELF_ATARI : SELF_ATARI + SECTIONS["self_atari"]]
    if not ((exposed >= MIN_SELF_ATARI) & (exposed <= MAX_SELF_ATARI)).all():
        raise ValueError(f"weights of self_atari must be from {MIN_SELF_ATARI:g} to {MAX_SELF_ATARI:g}, not {exposed}")


def new_policy(weights: np.ndarray) -> RolloutPolicy:
    """Return the policy of a vector of weights. Raises `ValueError` as `check_weights` does."""
    weights = np.asarray(weights, np.float64)
    check_weights(weights)
    factors = np.exp(weights).astype(np.float32)
    patterns = factors[PATTERN:RESPONSE][pattern_classes()]
    patterns[~sensible_patterns()] = 0.0
    small = factors[:NUM_SMALL].copy()
    policy = RolloutPolicy(patterns, factors[RESPONSE:][response_classes()], small, _squares(small))
    for array in policy:
        array.flags.writeable = False
    return policy


def _squares(small: np.ndarray) -> np.ndarray:
    squares = np.ones((2, SQUARE))
    for offset, ring in zip(NEAR_OFFSET.astype(np.int64).tolist(), NEAR_RING.tolist(), strict=True):
        row, column = divmod(offset + int(_CORNER), 21)
        squares[:, 5 * row + column] = small[[LAST_RING + ring, BEFORE_RING + ring]]
    return squares.ravel()


class RolloutState(NamedTuple):
    """What a thread needs to play; all arrays are modified in place."""

    weights: np.ndarray
    """int64[2 · WEIGHTS_OF_ONE]: Black's moves, then White's; 0 where a move is not sensible. See `first_weight`."""
    rows: np.ndarray
    """int64[2 · ROWS_OF_ONE]: their sums by row, the same way. See `first_row`."""
    places: np.ndarray
    """float32[POINTS]: the factor of `place`, for the board that is being played on."""
    marks: np.ndarray
    """uint32[POINTS]: number of the last update that a point was part of."""
    dirty: np.ndarray
    """uint16[MAX_DIRTY]: the points that an update has to weigh anew."""
    counter: np.ndarray
    """uint32[1]: number of the update."""
    changed: np.ndarray
    """uint16[MAX_CHANGES]: points whose weights are changed for a draw."""
    kept: np.ndarray
    """int64[MAX_CHANGES]: what they were before, in the order of the changes."""
    kept_squares: np.ndarray
    """int64[2 · SQUARE]: what the weights in the squares were before they were changed."""
    kept_rows: np.ndarray
    """int64[ROWS_OF_ONE]: the same of the rows."""
    answers: np.ndarray
    answer_kinds: np.ndarray
    """uint16[MAX_ANSWERS]: see `find_answers`."""


def new_state() -> RolloutState:
    return RolloutState(
        weights=np.zeros(2 * WEIGHTS_OF_ONE, np.int64),
        rows=np.zeros(2 * ROWS_OF_ONE, np.int64),
        places=np.zeros(POINTS, np.float32),
        marks=np.zeros(POINTS, np.uint32),
        dirty=np.zeros(MAX_DIRTY, np.uint16),
        counter=np.zeros(1, np.uint32),
        changed=np.zeros(MAX_CHANGES, np.uint16),
        kept=np.zeros(MAX_CHANGES, np.int64),
        kept_squares=np.zeros(2 * SQUARE, np.int64),
        kept_rows=np.zeros(ROWS_OF_ONE, np.int64),
        answers=np.zeros(MAX_ANSWERS, np.uint16),
        answer_kinds=np.zeros(MAX_ANSWERS, np.uint16),
    )


@inlined
def first_weight(colour: np.uint64) -> np.uint64:
    """Return where the weights of a colour begin: that of point v is so many further."""
    return np.uint64(MARGIN) + (colour - _ONE) * np.uint64(WEIGHTS_OF_ONE)


@inlined
def first_row(colour: np.uint64) -> np.uint64:
    """Return where the rows of a colour begin."""
    return np.uint64(ROW_MARGIN) + (colour - _ONE) * np.uint64(ROWS_OF_ONE)


# --- Kept weights -----------------------------------------------------------------------------------------------------


@inlined
def _as_weight(factor: Number) -> Index:
    return max(np.int64(min(factor * ONE_WEIGHT, np.float64(MAX_WEIGHT))), np.int64(factor != 0.0))


@inlined
def _factor(
    shape: np.uint64, bits: np.uint64, taken: Index, own: Index, policy: RolloutPolicy, place: Number
) -> Number:
    """Return the product of the kept factors of a move; 0 if it is not sensible.

    Args:
        shape: the point's, from the mover's side.
        bits: `atari_bits`.
        taken, own: stones at stake, the opponent's and the mover's.
        place: the factor of `place`.
    """
    factor = np.float64(policy.patterns[shape | (bits << _ATARI_SHIFT)]) * place
    if taken > 0:
        factor *= np.float64(policy.small[np.uint64(capture_of(taken))])
    if own > 0:
        factor *= np.float64(policy.small[np.uint64(save_of(own))])
    return factor


@inlined
def _weigh(cells: np.ndarray, liberties: np.ndarray, v: np.uint64, policy: RolloutPolicy, state: RolloutState) -> None:
    """Weigh the point v anew, for both colours."""
    black: Index = 0
    white: Index = 0
    if cells[COLOUR + v] == EMPTY:
        bits = atari_bits(cells, liberties, v)
        blacks, whites = 0, 0
        if bits != _ZERO:
            blacks, whites = stones_at_stake(cells, v, bits)
        shape = np.uint64(cells[SHAPE + v])
        place = np.float64(state.places[v])
        black = _as_weight(_factor(shape, bits, whites, blacks, policy, place))
        white = _as_weight(_factor(mover_shape(shape, WHITE), bits, blacks, whites, policy, place))
    _set(state, v, _ONE, black)
    _set(state, v, _TWO, white)


@inlined
def _set(state: RolloutState, v: np.uint64, colour: np.uint64, weight: int) -> None:
    at = first_weight(colour) + v
    state.rows[first_row(colour) + v // STRIDE] += weight - state.weights[at]
    state.weights[at] = weight


@kernel
def start_rollout(cells: np.ndarray, liberties: np.ndarray, policy: RolloutPolicy, state: RolloutState) -> None:
    """Weigh all points of a board; `state` is modified in place."""
    size = np.int64(cells[SIZE])
    state.weights[:] = 0
    state.rows[:] = 0
    for row in range(1, size + 1):
        for column in range(1, size + 1):
            v = np.uint64(row) * STRIDE + np.uint64(column)
            state.places[v] = policy.small[np.uint64(place_of(v, size))]
    for i in range(cells[NUM_EMPTY]):
        _weigh(cells, liberties, np.uint64(cells[EMPTIES + np.uint64(i)]), policy, state)


@inlined
def _mark(state: RolloutState, v: np.uint64, count: np.uint64) -> np.uint64:
    """Add a point to the dirty ones, once; return their number."""
    if state.marks[v] == state.counter[0]:
        return count
    state.marks[v] = state.counter[0]
    state.dirty[count] = v
    return count + _ONE


@inlined
def _mark_around(state: RolloutState, v: np.uint64, count: np.uint64) -> np.uint64:
    """Mark a point and the eight around it."""
    for row in (v - STRIDE, v, v + STRIDE):
        count = _mark(state, row - _ONE, count)
        count = _mark(state, row, count)
        count = _mark(state, row + _ONE, count)
    return count


@kernel
def _mark_captured(
    cells: np.ndarray, liberties: np.ndarray, state: RolloutState, chain: np.uint64, count: np.uint64
) -> np.uint64:
    """Mark what changes when a chain is taken off: its surroundings, and the last liberties of chains that it frees."""
    colour = np.uint64(cells[COLOUR + chain])
    stone = chain
    while True:
        count = _mark_around(state, stone, count)
        for n in (stone - STRIDE, stone - _ONE, stone + _ONE, stone + STRIDE):
            if cells[COLOUR + n] == BOTH - colour:
                packed = liberties[cells[CHAIN + n]]
                if in_atari(packed):
                    count = _mark(state, np.uint64(last_liberty(packed)), count)
        stone = np.uint64(cells[NEXT + stone])
        if stone == chain:
            return count


@inlined
def rollout_play(
    cells: np.ndarray,
    liberties: np.ndarray,
    v: np.uint64,
    colour: np.uint64,
    policy: RolloutPolicy,
    state: RolloutState,
) -> None:
    """Play a legal move that is no suicide, or a pass, and weigh anew what it changes; all but `policy` is modified."""
    if v == PASS_POINT:
        play(cells, liberties, v, colour)
        return
    count = _ZERO
    for n in (v - STRIDE, v - _ONE, v + _ONE, v + STRIDE):
        if cells[COLOUR + n] == BOTH - colour:
            chain = np.uint64(cells[CHAIN + n])
            if in_atari(liberties[chain]):
                if count == _ZERO:
                    _begin_marking(state)
                count = _mark_captured(cells, liberties, state, chain, count)
    play(cells, liberties, v, colour)
    _set(state, v, _ONE, 0)
    _set(state, v, _TWO, 0)
    # One place where points are weighed, so that it is compiled into this function once. A point may come twice.
    for i in range(8):
        state.dirty[count] = v + NEAR_OFFSET[i]
        count += _ONE
    for n in (v, v - STRIDE, v - _ONE, v + _ONE, v + STRIDE):
        if cells[COLOUR + n] == BOTH - colour or n == v:
            packed = liberties[cells[CHAIN + n]]
            if in_atari(packed):
                state.dirty[count] = last_liberty(packed)
                count += _ONE
    for i in range(count):
        _weigh(cells, liberties, np.uint64(state.dirty[i]), policy, state)


@inlined
def _begin_marking(state: RolloutState) -> None:
    state.counter[0] += np.uint32(1)
    if state.counter[0] == 0:  # Once in 2³² times the numbers begin again.
        state.marks[:] = 0
        state.counter[0] = np.uint32(1)


# --- One draw ---------------------------------------------------------------------------------------------------------


@inlined
def _times(weight: Index, factor: Number) -> Index:
    """Return a weight times a factor; 0 stays 0. Without a branch, which nothing could predict."""
    return max(np.int64(min(np.float64(weight) * factor, np.float64(MAX_WEIGHT))), np.int64(weight != 0))


@inlined
def _put_on_square(
    state: RolloutState, colour: np.uint64, middle: np.uint64, squares: np.ndarray, place: np.uint64
) -> None:
    """Multiply the weights around a point by their factors from `place` in `squares`."""
    row = first_row(colour) + middle // STRIDE - _TWO
    at = first_weight(colour) + middle - _CORNER
    for _ in range(5):
        gained = 0
        for j in range(5):
            weight = state.weights[at + np.uint64(j)]
            changed = _times(weight, squares[place])
            state.kept_squares[place] = weight
            state.weights[at + np.uint64(j)] = changed
            gained += changed - weight
            place += _ONE
        state.rows[row] += gained
        row += _ONE
        at += STRIDE


@inlined
def _take_off_square(state: RolloutState, colour: np.uint64, middle: np.uint64, place: np.uint64) -> None:
    at = first_weight(colour) + middle - _CORNER
    for _ in range(5):
        for j in range(5):
            state.weights[at + np.uint64(j)] = state.kept_squares[place]
            place += _ONE
        at += STRIDE


@inlined
def _change(state: RolloutState, v: np.uint64, colour: np.uint64, factor: Number, count: np.uint64) -> np.uint64:
    """Multiply one weight, and note it; return the number of notes."""
    weight = state.weights[first_weight(colour) + v]
    state.changed[count] = v
    state.kept[count] = weight
    _set(state, v, colour, _times(weight, factor))
    return count + _ONE


@inlined
def _put_on(
    cells: np.ndarray, liberties: np.ndarray, colour: np.uint64, policy: RolloutPolicy, state: RolloutState
) -> np.uint64:
    """Put on what depends on the last two moves, and the ko; return the number of changes outside the squares."""
    row = first_row(colour)
    for i in range(np.int64(cells[SIZE]) + 1):
        state.kept_rows[np.uint64(i)] = state.rows[row + np.uint64(i)]
    count = _ZERO
    last, before = np.uint64(cells[LAST]), np.uint64(cells[BEFORE_LAST])
    if last != PASS_POINT:
        _put_on_square(state, colour, last, policy.squares, _ZERO)
    if before != PASS_POINT:
        _put_on_square(state, colour, before, policy.squares, np.uint64(SQUARE))
    if is_answerable(cells, colour):
        for i in range(8):
            v = last + NEAR_OFFSET[i]
            shape = mover_shape(np.uint64(cells[SHAPE + v]), colour)
            factor = np.float64(policy.responses[shape | (NEAR_SLOT[i] << _SLOT_SHIFT)])
            _set(state, v, colour, _times(state.weights[first_weight(colour) + v], factor))
        for i in range(find_answers(cells, liberties, colour, state.answers, state.answer_kinds)):
            v = np.uint64(state.answers[i])
            factor = np.float64(policy.small[np.uint64(ANSWER + np.int64(state.answer_kinds[i]))])
            count = _change(state, v, colour, factor, count)
    ko = np.uint64(cells[KO])
    if ko != NO_POINT:
        weight = state.weights[first_weight(colour) + ko]
        state.changed[count] = ko
        state.kept[count] = weight
        _set(state, ko, colour, 0)
        count += _ONE
    return count


@inlined
def _take_off(cells: np.ndarray, colour: np.uint64, state: RolloutState, count: np.uint64) -> None:
    """Undo `_put_on`, backwards, as a point may have been changed several times."""
    for i in range(count):
        place = count - np.uint64(i) - _ONE
        state.weights[first_weight(colour) + np.uint64(state.changed[place])] = state.kept[place]
    last, before = np.uint64(cells[LAST]), np.uint64(cells[BEFORE_LAST])
    if before != PASS_POINT:
        _take_off_square(state, colour, before, np.uint64(SQUARE))
    if last != PASS_POINT:
        _take_off_square(state, colour, last, _ZERO)
    row = first_row(colour)
    for i in range(np.int64(cells[SIZE]) + 1):
        state.rows[row + np.uint64(i)] = state.kept_rows[np.uint64(i)]


@inlined
def _draw(state: RolloutState, colour: np.uint64, size: int, rng: np.ndarray) -> np.uint64:
    """Draw a point by the weights as they are, or return `PASS_POINT` if they are all 0."""
    first = first_weight(colour)
    row = first_row(colour) + _ONE
    total = 0
    for i in range(size):
        total += state.rows[row + np.uint64(i)]
    if total == 0:
        return PASS_POINT
    left = np.int64(uniform(rng) * np.float64(total))
    v = first + STRIDE + _ONE
    while left >= state.rows[row]:
        left -= state.rows[row]
        row += _ONE
        v += STRIDE
    while left >= state.weights[v]:
        left -= state.weights[v]
        v += _ONE
    return v - first


@inlined
def rollout_move(
    cells: np.ndarray,
    liberties: np.ndarray,
    colour: np.uint64,
    rng: np.ndarray,
    policy: RolloutPolicy,
    state: RolloutState,
) -> np.uint64:
    """Draw a sensible move, or return `PASS_POINT` if there is none; `rng` and `state` are modified in place."""
    count = _put_on(cells, liberties, colour, policy, state)
    size = np.int64(cells[SIZE])
    while True:
        v = _draw(state, colour, size, rng)
        if v == PASS_POINT:
            break
        exposed = self_atari(cells, liberties, v, colour)
        if exposed == NO_FEATURE or uniform(rng) < policy.small[np.uint64(exposed)]:
            break
    _take_off(cells, colour, state, count)
    return v


@kernel
def rollout_playout(
    cells: np.ndarray,
    liberties: np.ndarray,
    colour: np.uint64,
    rng: np.ndarray,
    trace: np.ndarray,
    start: int,
    policy: RolloutPolicy,
    state: RolloutState,
) -> int:
    """Play on like `playouts.uniform_playout`, but by a policy; all arrays but the policy's are modified in place."""
    size = np.int64(cells[SIZE])
    limit = MOVES_PER_POINT * size * size
    passes = 0
    moves = 0
    start_rollout(cells, liberties, policy, state)
    while passes < 2 and moves < limit:
        v = rollout_move(cells, liberties, colour, rng, policy, state)
        rollout_play(cells, liberties, v, colour, policy, state)
        trace[start + moves] = v
        passes = passes + 1 if v == PASS_POINT else 0
        colour = BOTH - colour
        moves += 1
    return moves


@kernel
def rollout_probabilities(
    cells: np.ndarray,
    liberties: np.ndarray,
    colour: np.uint64,
    policy: RolloutPolicy,
    state: RolloutState,
    out: np.ndarray,
) -> None:
    """Write the probability of each point to `out`, float32[POINTS]: 0 where `colour` has no sensible move.

    If there is none at all, all are 0: the policy passes. `out` and `state` (all of it) are modified in place.
    """
    start_rollout(cells, liberties, policy, state)
    _put_on(cells, liberties, colour, policy, state)
    first = first_weight(colour)
    out[:] = 0.0
    total = 0.0
    for i in range(cells[NUM_EMPTY]):
        v = np.uint64(cells[EMPTIES + np.uint64(i)])
        weight = np.float64(state.weights[first + v])
        if weight != 0.0:
            exposed = self_atari(cells, liberties, v, colour)
            if exposed != NO_FEATURE:
                weight *= np.float64(policy.small[np.uint64(exposed)])
            out[v] = weight / ONE_WEIGHT
            total += weight / ONE_WEIGHT
    if total > 0.0:
        for i in range(POINTS):
            out[i] /= total


@njit(cache=True, nogil=True)
def run_rollouts(
    cells: np.ndarray,
    liberties: np.ndarray,
    colour: np.uint64,
    rng: np.ndarray,
    count: int,
    policy: RolloutPolicy,
    state: RolloutState,
) -> tuple[int, int]:
    """Play `count` playouts from one position; return (their moves, sum of Black's area minus White's)."""
    board = cells.copy()
    board_liberties = liberties.copy()
    trace = np.zeros(MOVES_PER_POINT * MAX_SIZE**2, np.uint16)
    moves = 0
    total = 0
    for _ in range(count):
        copy_board(cells, liberties, board, board_liberties)
        moves += rollout_playout(board, board_liberties, colour, rng, trace, 0, policy, state)
        total += quick_area_difference(board)
    return moves, total
