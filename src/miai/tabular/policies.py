"""Policies on a game graph: the probability of every move, float64[E], summing to 1 in each state.

A policy speaks for both seats. `joint_policy` puts a learner's seat and its opponent together.
"""

from __future__ import annotations

import numpy as np

from miai.compiled import Index, kernel
from miai.games.graph import GameGraph, GraphArrays
from miai.tabular.targets import AFTERSTATE, entry_of


def uniform_policy(graph: GameGraph) -> np.ndarray:
    degrees = np.diff(graph.arrays.edge_start)
    return 1.0 / degrees[graph.edge_state]


def greedy_policy(graph: GameGraph, entry_kind: str, values: np.ndarray, tie_breaking: str) -> np.ndarray:
    """Return the greedy policy of a table.

    Args:
        entry_kind: `state_action` or `afterstate`.
        values: float64[entries], all entries of the graph, from the side of the player who moves.
        tie_breaking: `first` gives all to the first of the best moves, `random` shares equally among them.
    """
    policy = np.zeros(graph.num_edges)
    afterstates = graph.arrays.edge_child if entry_kind == AFTERSTATE else None
    _greedy(graph.arrays.edge_start, afterstates, values, tie_breaking == "random", policy)
    return policy


@kernel
def _greedy(
    edge_start: np.ndarray, afterstates: np.ndarray | None, values: np.ndarray, shares: bool, policy: np.ndarray
) -> None:
    """Write the greedy policy; `policy`, all zero, is modified in place."""
    for state in range(len(edge_start) - 1):
        first, last = np.int64(edge_start[state]), np.int64(edge_start[state + 1])
        if first == last:
            continue
        best: Index = first
        count = 1
        best_value = values[entry_of(first, afterstates)]
        for edge in range(first + 1, last):
            value = values[entry_of(edge, afterstates)]
            if value > best_value:
                best, best_value, count = edge, value, 1
            elif value == best_value:
                count += 1
        if shares and count > 1:
            for edge in range(best, last):
                if values[entry_of(edge, afterstates)] == best_value:
                    policy[edge] = 1.0 / count
        else:
            policy[best] = 1.0


def minimax_values(graph: GameGraph) -> np.ndarray:
    """Return the value of every state under perfect play, int8[S], from the first player's side."""
    values = graph.arrays.outcome.copy()
    _minimax(graph.arrays, values)
    return values


@kernel
def _minimax(graph: GraphArrays, values: np.ndarray) -> None:
    """Back values up from the final states, whose outcome `values` holds already; modified in place."""
    edge_start, edge_child, to_play, _ = graph
    state = len(edge_start) - 2
    while state >= 0:
        first, last = np.int64(edge_start[state]), np.int64(edge_start[state + 1])
        if first < last:
            best = -2
            for edge in range(first, last):
                best = max(best, to_play[state] * values[edge_child[edge]])
            values[state] = to_play[state] * best
        state -= 1


def minimax_policy(graph: GameGraph) -> np.ndarray:
    """Return perfect play: every move that keeps the minimax value, each as likely."""
    values = minimax_values(graph)
    policy = (values[graph.arrays.edge_child] == values[graph.edge_state]).astype(np.float64)
    return policy / np.add.reduceat(policy, graph.arrays.edge_start[:-1][~graph.is_final])[_decision_index(graph)]


def _decision_index(graph: GameGraph) -> np.ndarray:
    """Return, for each edge, the rank of its state among the states that are not final."""
    return (np.cumsum(~graph.is_final) - 1)[graph.edge_state]


def joint_policy(graph: GameGraph, player: int, own: np.ndarray, opponent: np.ndarray) -> np.ndarray:
    """Return the policy of a game in which `player` (+1 or −1) moves by `own` and the other by `opponent`."""
    return np.where(graph.arrays.to_play[graph.edge_state] == player, own, opponent)
