"""Drawing points at random, in kernels."""

from __future__ import annotations

import numpy as np

from miai.games.go.compiled import inlined
from miai.rng import next_uint64

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_HALF_WORD = np.uint64(32)


@inlined
def below_point(rng: np.ndarray, n: np.uint64) -> np.uint64:
    """Draw a uint64 from 0 to n − 1, for 0 < n < 2³²; `rng` is modified in place."""
    return ((next_uint64(rng) >> _HALF_WORD) * n) >> _HALF_WORD


@inlined
def draw_better(best: np.uint64, v: np.uint64, found: np.uint64, rng: np.ndarray) -> np.uint64:
    """Return v with probability 1 / found, else `best`: after all candidates, each is drawn with the same chance."""
    return v if found == _ONE or below_point(rng, found) == _ZERO else best
