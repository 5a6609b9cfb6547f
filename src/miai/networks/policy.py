"""From the logits of a policy network to moves: masks, temperature, passes.

A policy network knows no pass: passes are left out of what it learns from. A network player therefore passes when no
*sensible* point is left, one that is legal and does not fill an eye of its own; and, beyond that, where
`search.passing.must_pass` says so, as every player that searches does.
"""

from __future__ import annotations

import numpy as np

from miai.compiled import kernel
from miai.games.game import FIRST, PASS
from miai.games.go import GoGame
from miai.games.go.board import BLACK, EMPTIES, KO, NUM_EMPTY, SIZE, STRIDE, WHITE, is_sensible
from miai.games.go.symmetry import NUM_SYMMETRIES, permutation


def masked_softmax(logits: np.ndarray, allowed: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """Return probabilities over the allowed points, exactly 0 elsewhere.

    Args:
        logits: [..., N²], finite.
        allowed: bool or uint8 [..., N²].
        temperature: from 0. At 0 all the probability is on the largest allowed logit, the first of equal ones.

    Returns:
        float64[..., N²]; a row with nothing allowed is all 0, every other sums to 1.

    Raises:
        ValueError: shapes differ, or the temperature is negative or not finite.
    """
    if logits.shape != allowed.shape:
        raise ValueError(f"logits and allowed must have one shape, got {logits.shape} and {allowed.shape}")
    if not (temperature >= 0 and np.isfinite(temperature)):
        raise ValueError(f"temperature must be from 0, got {temperature!r}")
    mask = allowed.astype(bool)
    masked = np.where(mask, logits.astype(np.float64), -np.inf)
    best = masked.max(axis=-1, keepdims=True)
    some = np.isfinite(best)
    if temperature == 0:
        found = np.zeros(masked.shape)
        np.put_along_axis(found, masked.argmax(axis=-1)[..., None], 1.0, axis=-1)
        return found * some
    # The largest becomes exp(0), so nothing overflows, and the sum is at least 1.
    powers = np.exp((masked - np.where(some, best, 0.0)) / temperature)
    return powers / np.maximum(powers.sum(axis=-1, keepdims=True), 1.0)


def policy_moves(logits: np.ndarray, allowed: np.ndarray, temperature: float, uniforms: np.ndarray) -> np.ndarray:
    """Choose a move for each of several positions.

    Args:
        logits, allowed: [B, N²], as for `masked_softmax`; `allowed` are the sensible points.
        uniforms: float64[B] from [0, 1), the only randomness; at temperature 0 they are not looked at.

    Returns:
        int64[B], flat indices; `PASS` where nothing is allowed. A point that is not allowed is never chosen.
    """
    probabilities = masked_softmax(logits, allowed, temperature)
    return sample(probabilities, uniforms)


def sample(probabilities: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Draw a point a row, int64[B], by probabilities float64[B, N²] and uniforms float64[B]; `PASS` from a row of 0."""
    totals = probabilities.cumsum(axis=-1)
    whole = totals[:, -1:]
    # Rounding may put u · whole on the last total: the last point with a probability is the answer then.
    last = probabilities.shape[-1] - 1 - (probabilities[:, ::-1] > 0).argmax(axis=-1)
    drawn = np.minimum((totals <= uniforms[:, None] * whole).sum(axis=-1), last)
    return np.where(whole[:, 0] > 0, drawn, PASS)


@kernel
def mark_sensible(cells: np.ndarray, liberties: np.ndarray, colour: np.uint64, out: np.ndarray) -> None:
    """Mark where `colour` may sensibly play by the rules of the board alone; `out`, [N²], is modified in place.

    Sensible is legal (captures, suicide, simple ko; superko is the game's) and not into an eye of its own.
    """
    size = np.int64(cells[SIZE])
    for flat in range(size * size):
        out[np.uint64(flat)] = 0
    for i in range(np.int64(cells[NUM_EMPTY])):
        v = np.uint64(cells[EMPTIES + np.uint64(i)])
        if v != cells[KO] and is_sensible(cells, liberties, v, colour):
            row, column = np.int64(v // STRIDE) - 1, np.int64(v % STRIDE) - 1
            out[np.uint64(row * size + column)] = 1


def sensible_points(game: GoGame) -> np.ndarray:
    """Return the sensible points of the side to move, bool[N²], superko included."""
    out = np.zeros(game.size**2, np.bool_)
    mark_sensible(*game.state, BLACK if game.to_play == FIRST else WHITE, out)
    legal = np.zeros_like(out)
    legal[[move for move in game.legal_moves() if move != PASS]] = True
    return out & legal


def turn_points(values: np.ndarray, size: int, symmetry: int) -> np.ndarray:
    """Return values [..., N²] of the board turned by `symmetry`, from those of the board as it is."""
    turned = np.empty_like(values)
    turned[..., permutation(size, symmetry)] = values
    return turned


def turn_points_back(values: np.ndarray, size: int, symmetry: int) -> np.ndarray:
    """Return values [..., N²] of the board as it is, from those of the board turned by `symmetry`."""
    return values[..., permutation(size, symmetry)]


ALL_SYMMETRIES = np.arange(NUM_SYMMETRIES, dtype=np.uint8)
