"""The eight symmetries of the square, as permutations of flat indices.

Symmetry k (0 … 7) is, in this order: transpose if k & 4 (mirror at the main diagonal), then mirror the rows (top to
bottom) if k & 2, then mirror the columns (left to right) if k & 1. Symmetry 0 changes nothing.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from miai.games.game import PASS

NUM_SYMMETRIES = 8


def _check(k: int) -> int:
    if not 0 <= k < NUM_SYMMETRIES:
        raise ValueError(f"symmetry must be from 0 to {NUM_SYMMETRIES - 1}, got {k!r}")
    return k


def transform(planes: np.ndarray, k: int) -> np.ndarray:
    """Return `planes` [..., N, N] under symmetry k (a view where NumPy can make one)."""
    _check(k)
    if k & 4:
        planes = np.swapaxes(planes, -1, -2)
    if k & 2:
        planes = planes[..., ::-1, :]
    if k & 1:
        planes = planes[..., ::-1]
    return planes


@cache
def permutation(size: int, k: int) -> np.ndarray:
    """Return where each point goes: int64[N²] `to`, so that `transform(board, k).ravel()[to[i]] == board.ravel()[i]`.

    The array is shared and read-only.
    """
    source = transform(np.arange(size * size).reshape(size, size), k).ravel()
    to = np.empty(size * size, np.int64)
    to[source] = np.arange(size * size)
    to.flags.writeable = False
    return to


def transform_move(move: int, size: int, k: int) -> int:
    """Return a move under symmetry k; a pass stays a pass."""
    return PASS if move == PASS else int(permutation(size, k)[move])


def inverse(k: int) -> int:
    """Return the symmetry that undoes k: itself, but for the two quarter turns."""
    return {5: 6, 6: 5}.get(_check(k), k)
