"""Random streams that compiled kernels carry: xoshiro256++ (Blackman and Vigna, 2019), one stream a role.

A stream is a uint64[4] array that is modified in place. Streams of different roles are spawned from the run's
seed, so that the learner's coins do not move when the opponent draws more often. `np.random` inside a
kernel would be slower and global; this is neither.
"""

from __future__ import annotations

import zlib

import numpy as np

from miai.compiled import Index, Number, kernel

Stream = np.ndarray
"""uint64[4], never all zero."""

_TO_UNIT = 1.0 / (1 << 53)
_FRACTION = np.uint64((1 << 53) - 1)

MAX_SPLIT = 1 << 11
"""The largest n of `split`: 53 bits times n fit into 64."""


def stream(seed: int, role: str) -> Stream:
    """Return the stream of `role` for a run's `seed` (any whole number from 0).

    The role enters by the CRC of its name, as the spawn key of `numpy.random.SeedSequence`, so adding a role
    never moves the others.
    """
    if seed < 0:
        raise ValueError(f"seed must be 0 or more, got {seed}")
    sequence = np.random.SeedSequence(entropy=seed, spawn_key=(zlib.crc32(role.encode()),))
    return sequence.generate_state(4, np.uint64)


def generator(seed: int, role: str) -> np.random.Generator:
    """Return a NumPy generator for work outside kernels, spawned as `stream` is."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(zlib.crc32(role.encode()),))))


@kernel
def next_uint64(state: np.ndarray) -> np.uint64:
    """Draw 64 bits; `state` is modified in place."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    total = s0 + s3
    result = ((total << np.uint64(23)) | (total >> np.uint64(41))) + s0
    t = s1 << np.uint64(17)
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= t
    s3 = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3
    return result


@kernel
def uniform(state: np.ndarray) -> float:
    """Draw a float64 from [0, 1), of 53 bits."""
    return np.float64(next_uint64(state) >> np.uint64(11)) * _TO_UNIT


@kernel
def below(state: np.ndarray, n: Index) -> Index:
    """Draw a whole number from 0 to n − 1, for 0 < n < 2³².

    Lemire's multiplication without the rejection: the bias is below n / 2⁵³, far under what any run here can see.
    """
    return np.int64(np.float64(next_uint64(state) >> np.uint64(11)) * _TO_UNIT * n)


@kernel
def split(state: np.ndarray, n: Index) -> tuple[Index, Number]:
    """Draw the whole part and the fraction of n · u, u from [0, 1) of 53 bits, for 0 < n ≤ `MAX_SPLIT`.

    The whole part is a number from 0 to n − 1, the fraction one from [0, 1). In whole numbers it is exact, and what
    waits for the whole part gets it sooner than by floats.
    """
    product = (next_uint64(state) >> np.uint64(11)) * np.uint64(n)
    return np.int64(product >> np.uint64(53)), np.float64(product & _FRACTION) * _TO_UNIT
