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
    NEAR,
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
    find_answers,
    is_answerable,
    mover_shape,
    pattern_classes,
    place_of,
    response_classes,
    self_atari,
    sensible_patterns,
    stakes,
)

ONE_WEIGHT = 1 << 20
MAX_WEIGHT = 1 << 40
MAX_SCORE = 30.0
"""A file's weights are between this and its negative."""

ROWS = 21
MAX_CHANGES = 2 * NEAR + MAX_ANSWERS + 1
"""Weights that are changed for one draw: both squares, the answers, and the ko."""

_ZERO, _ONE, _TWO = np.uint64(0), np.uint64(1), np.uint64(2)
_ATARI_SHIFT, _SLOT_SHIFT = np.uint64(16), np.uint64(16)
_POINTS = np.uint64(POINTS)


class RolloutPolicy(NamedTuple):
    """The factors of a fitted policy. Shared and read only."""

    patterns: np.ndarray
    """float32[NUM_PATTERN_INDICES]: by the pattern's index; 0 where the move is not sensible."""
    responses: np.ndarray
    """float32[NUM_RESPONSE_INDICES]: by the response's index."""
    small: np.ndarray
    """float32[NUM_SMALL]: of all other features, by their places in the vector of weights."""


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
    policy = RolloutPolicy(patterns, factors[RESPONSE:][response_classes()], factors[:NUM_SMALL].copy())
    for array in policy:
        array.flags.writeable = False
    return policy


def no_policy() -> RolloutPolicy:
    """Return what stands in a policy's place where playouts are of another kind: it is never looked at."""
    policy = RolloutPolicy(*(np.zeros(1, np.float32) for _ in range(3)))
    for array in policy:
        array.flags.writeable = False
    return policy


class RolloutState(NamedTuple):
    """What a thread needs to play; all arrays are modified in place."""

    weights: np.ndarray
    """int64[2 · POINTS]: the kept weights, Black's moves, then White's; 0 where a move is not sensible."""
    rows: np.ndarray
    """int64[2 · ROWS]: their sums by row, the same way."""
    places: np.ndarray
    """float32[POINTS]: the factor of `place`, for the board that is being played on."""
    marks: np.ndarray
    """uint32[POINTS]: number of the last update that a point was part of."""
    dirty: np.ndarray
    """uint16[POINTS]: the points that an update has to weigh anew."""
    counter: np.ndarray
    """uint32[1]: number of the update."""
    changed: np.ndarray
    """uint16[MAX_CHANGES]: points whose weights are changed for a draw."""
    kept: np.ndarray
    """int64[MAX_CHANGES]: what they were before, in the order of the changes."""
    answers: np.ndarray
    answer_kinds: np.ndarray
    """uint16[MAX_ANSWERS]: see `find_answers`."""


def new_state() -> RolloutState:
    return RolloutState(
        weights=np.zeros(2 * POINTS, np.int64),
        rows=np.zeros(2 * ROWS, np.int64),
        places=np.zeros(POINTS, np.float32),
        marks=np.zeros(POINTS, np.uint32),
        dirty=np.zeros(POINTS, np.uint16),
        counter=np.zeros(1, np.uint32),
        changed=np.zeros(MAX_CHANGES, np.uint16),
        kept=np.zeros(MAX_CHANGES, np.int64),
        answers=np.zeros(MAX_ANSWERS, np.uint16),
        answer_kinds=np.zeros(MAX_ANSWERS, np.uint16),
    )


# --- Kept weights -----------------------------------------------------------------------------------------------------


@inlined
def _as_weight(factor: Number) -> Index:
    return max(np.int64(min(factor * ONE_WEIGHT, np.float64(MAX_WEIGHT))), 1)


@inlined
def _factor(
    cells: np.ndarray,
    liberties: np.ndarray,
    v: np.uint64,
    colour: np.uint64,
    bits: np.uint64,
    policy: RolloutPolicy,
    place: float,
) -> float:
    """Return the product of the kept factors of a move at the empty point v; 0 if it is not sensible."""
    shape = mover_shape(np.uint64(cells[SHAPE + v]), colour)
    factor = np.float64(policy.patterns[shape | (bits << _ATARI_SHIFT)]) * place
    if bits != _ZERO and factor != 0.0:
        capture, save = stakes(cells, liberties, v, colour, bits)
        if capture != NO_FEATURE:
            factor *= np.float64(policy.small[np.uint64(capture)])
        if save != NO_FEATURE:
            factor *= np.float64(policy.small[np.uint64(save)])
    return factor


@inlined
def _weigh(cells: np.ndarray, liberties: np.ndarray, v: np.uint64, policy: RolloutPolicy, state: RolloutState) -> None:
    """Weigh the point v anew, for both colours."""
    black, white = 0, 0
    if cells[COLOUR + v] == EMPTY:
        bits = atari_bits(cells, liberties, v)
        place = np.float64(state.places[v])
        factor = _factor(cells, liberties, v, _ONE, bits, policy, place)
        black = _as_weight(factor) if factor != 0.0 else 0
        factor = _factor(cells, liberties, v, _TWO, bits, policy, place)
        white = _as_weight(factor) if factor != 0.0 else 0
    row = v // STRIDE
    state.rows[row] += black - state.weights[v]
    state.rows[row + np.uint64(ROWS)] += white - state.weights[v + _POINTS]
    state.weights[v] = black
    state.weights[v + _POINTS] = white


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
    state.counter[0] += np.uint32(1)
    if state.counter[0] == 0:  # Once in 2³² moves the numbers begin again.
        state.marks[:] = 0
        state.counter[0] = np.uint32(1)
    count = _mark_around(state, v, _ZERO)
    for n in (v - STRIDE, v - _ONE, v + _ONE, v + STRIDE):
        if cells[COLOUR + n] == BOTH - colour:
            chain = np.uint64(cells[CHAIN + n])
            if in_atari(liberties[chain]):
                count = _mark_captured(cells, liberties, state, chain, count)
    play(cells, liberties, v, colour)
    for n in (v, v - STRIDE, v - _ONE, v + _ONE, v + STRIDE):
        if cells[COLOUR + n] == BOTH - colour or n == v:
            packed = liberties[cells[CHAIN + n]]
            if in_atari(packed):
                count = _mark(state, np.uint64(last_liberty(packed)), count)
    for i in range(count):
        _weigh(cells, liberties, np.uint64(state.dirty[i]), policy, state)


# --- One draw ---------------------------------------------------------------------------------------------------------


@inlined
def _change(state: RolloutState, v: np.uint64, first: np.uint64, row: np.uint64, weight: int, count: np.uint64) -> None:
    """Set the weight of the move v for this draw; `first` and `row` are where its colour's numbers begin."""
    kept = state.weights[first + v]
    state.changed[count] = v
    state.kept[count] = kept
    state.weights[first + v] = weight
    state.rows[row + v // STRIDE] += weight - kept


@inlined
def _multiply(
    state: RolloutState, v: np.uint64, first: np.uint64, row: np.uint64, factor: float, count: np.uint64
) -> np.uint64:
    weight = np.float64(state.weights[first + v]) * factor
    _change(state, v, first, row, max(np.int64(min(weight, np.float64(MAX_WEIGHT))), 1), count)
    return count + _ONE


@inlined
def _put_on(
    cells: np.ndarray, liberties: np.ndarray, colour: np.uint64, policy: RolloutPolicy, state: RolloutState
) -> np.uint64:
    """Put on what depends on the last two moves, and the ko; return the number of changes."""
    first = (colour - _ONE) * _POINTS
    row = (colour - _ONE) * np.uint64(ROWS)
    count = _ZERO
    answerable = is_answerable(cells, colour)
    last = np.uint64(cells[LAST])
    if last != PASS_POINT:
        for i in range(NEAR):
            v = last + NEAR_OFFSET[i]
            if v < POINTS and state.weights[first + v] != 0:
                factor = np.float64(policy.small[LAST_RING + NEAR_RING[i]])
                if answerable and i < 8:
                    shape = mover_shape(np.uint64(cells[SHAPE + v]), colour)
                    factor *= np.float64(policy.responses[shape | (NEAR_SLOT[i] << _SLOT_SHIFT)])
                count = _multiply(state, v, first, row, factor, count)
    before = np.uint64(cells[BEFORE_LAST])
    if before != PASS_POINT:
        for i in range(NEAR):
            v = before + NEAR_OFFSET[i]
            if v < POINTS and state.weights[first + v] != 0:
                count = _multiply(state, v, first, row, np.float64(policy.small[BEFORE_RING + NEAR_RING[i]]), count)
    if answerable:
        for i in range(find_answers(cells, liberties, colour, state.answers, state.answer_kinds)):
            v = np.uint64(state.answers[i])
            if state.weights[first + v] != 0:
                factor = np.float64(policy.small[ANSWER + np.int64(state.answer_kinds[i])])
                count = _multiply(state, v, first, row, factor, count)
    ko = np.uint64(cells[KO])
    if ko != NO_POINT and state.weights[first + ko] != 0:
        _change(state, ko, first, row, 0, count)
        count += _ONE
    return count


@inlined
def _take_off(state: RolloutState, colour: np.uint64, count: np.uint64) -> None:
    first = (colour - _ONE) * _POINTS
    row = (colour - _ONE) * np.uint64(ROWS)
    for i in range(count):
        last = count - np.uint64(i) - _ONE  # Backwards: a point may have been changed several times.
        v = np.uint64(state.changed[last])
        state.rows[row + v // STRIDE] += state.kept[last] - state.weights[first + v]
        state.weights[first + v] = state.kept[last]


@inlined
def _draw(state: RolloutState, colour: np.uint64, size: int, rng: np.ndarray) -> np.uint64:
    """Draw a point by the weights as they are, or return `PASS_POINT` if they are all 0."""
    first = (colour - _ONE) * _POINTS
    row = (colour - _ONE) * np.uint64(ROWS) + _ONE
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
    _take_off(state, colour, count)
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
    first = (colour - _ONE) * _POINTS
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
