"""Sampling a move from a policy in constant time: Walker's alias method (Walker, 1977; Vose, 1991)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from miai.compiled import Index, kernel
from miai.rng import MAX_SPLIT, split


class AliasTable(NamedTuple):
    """A policy, prepared for sampling. Column i of a state's n columns is chosen with probability 1/n each."""

    accept: np.ndarray
    """float64[E]: probability to keep the column's own edge."""
    alias: np.ndarray
    """uint32[E]: the edge to take otherwise."""


def alias_table(edge_start: np.ndarray, policy: np.ndarray) -> AliasTable:
    """Prepare a policy, float64[E] of probabilities that sum to 1 in each state, for sampling.

    Raises:
        ValueError: a state has more than `rng.MAX_SPLIT` moves.
    """
    most = int(np.diff(edge_start).max())
    if most > MAX_SPLIT:
        raise ValueError(f"at most {MAX_SPLIT} moves of a state can be sampled from, not {most}")
    accept = np.ones(len(policy))
    alias = np.arange(len(policy), dtype=np.uint32)
    _fill(edge_start, policy, accept, alias)
    return AliasTable(accept, alias)


@njit(cache=True)
def _fill(edge_start: np.ndarray, policy: np.ndarray, accept: np.ndarray, alias: np.ndarray) -> None:
    """Modifies `accept` and `alias` in place."""
    for state in range(len(edge_start) - 1):
        first, last = edge_start[state], edge_start[state + 1]
        n = last - first
        if n == 0:
            continue
        small = np.empty(n, np.int32)
        large = np.empty(n, np.int32)
        num_small = num_large = 0
        for edge in range(last - 1, first - 1, -1):
            accept[edge] = policy[edge] * n
            if accept[edge] < 1.0:
                small[num_small] = edge
                num_small += 1
            else:
                large[num_large] = edge
                num_large += 1
        while num_small and num_large:
            num_small -= 1
            little, big = small[num_small], large[num_large - 1]
            alias[little] = big
            accept[big] -= 1.0 - accept[little]
            if accept[big] < 1.0:
                num_large -= 1
                small[num_small] = big
                num_small += 1
        # What is left is 1 up to rounding.
        for i in range(num_small):
            accept[small[i]] = 1.0
        for i in range(num_large):
            accept[large[i]] = 1.0


@kernel
def sample_edge(first: Index, last: Index, opponent: AliasTable, stream: np.ndarray) -> Index:
    """Draw an edge of the state whose edges are first … last − 1, from its policy (an `AliasTable`), by one number of
    `stream`.
    """
    accept, alias = opponent
    column, fraction = split(stream, last - first)
    edge = first + column
    if fraction >= accept[np.uint64(edge)]:
        edge = np.int64(alias[np.uint64(edge)])
    return edge
