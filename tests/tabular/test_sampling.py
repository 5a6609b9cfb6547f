"""Sampling by alias tables: the probabilities that a table stands for, and what is drawn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from miai import rng
from miai.tabular.policies import minimax_policy, uniform_policy
from miai.tabular.sampling import alias_table, sample_edge

from .configuration import tictactoe


def probabilities(edge_start: np.ndarray, accept: np.ndarray, alias: np.ndarray) -> np.ndarray:
    """What an alias table stands for: each column keeps its edge with `accept`, and gives the rest to its alias."""
    degrees = np.diff(edge_start)
    share = np.repeat(1 / np.maximum(degrees, 1), degrees)
    return share * accept + np.bincount(alias, share * (1 - accept), len(alias))


@given(st.lists(st.lists(st.integers(0, 20), min_size=1, max_size=9).filter(any), min_size=1, max_size=5))
def test_the_table_stands_for_the_policy(weights):
    policy = np.concatenate([np.array(state) / sum(state) for state in weights])
    edge_start = np.cumsum([0, *(len(state) for state in weights)]).astype(np.uint32)
    table = alias_table(edge_start, policy)
    assert probabilities(edge_start, *table) == pytest.approx(policy, abs=1e-15)
    assert ((table.accept >= 0) & (table.accept <= 1)).all()
    owners = np.repeat(np.arange(len(weights)), np.diff(edge_start))
    assert np.array_equal(owners, owners[table.alias])
    # A move that is never played is never drawn, not even by rounding.
    assert (table.accept[policy == 0] == 0).all()
    assert (policy[table.alias][table.accept < 1] > 0).all()


@pytest.mark.parametrize("policy_of", [uniform_policy, minimax_policy])
def test_policies_of_tictactoe(policy_of):
    graph = tictactoe()
    policy = policy_of(graph)
    assert probabilities(graph.arrays.edge_start, *alias_table(graph.arrays.edge_start, policy)) == pytest.approx(
        policy, abs=1e-15
    )


def test_too_many_moves_are_refused():
    edge_start = np.array([0, 1, rng.MAX_SPLIT + 2], np.uint32)
    with pytest.raises(ValueError, match=r"at most 2048 moves .* not 2049"):
        alias_table(edge_start, np.ones(rng.MAX_SPLIT + 2))


def test_draws_follow_the_policy():
    policy = np.array([0.5, 0.0, 0.2, 0.05, 0.25, 0.7, 0.3])
    table = alias_table(np.array([0, 5, 7], np.uint32), policy)
    stream = rng.stream(11, "test")
    for first, last in ((0, 5), (5, 7)):
        drawn = np.bincount([sample_edge(first, last, table, stream) for _ in range(20_000)], minlength=last)[first:]
        expected = 20_000 * policy[first:last]
        assert (drawn[expected == 0] == 0).all()
        assert stats.chisquare(drawn[expected > 0], expected[expected > 0]).pvalue > 0.001
