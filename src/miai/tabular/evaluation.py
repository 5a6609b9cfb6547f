"""Exact evaluation: what a policy is worth, by sweeps of the game graph instead of sampled games.

Two values belong to every state s, each from the side of one player:

- V(s), of the player who moves in s: what it expects when it follows its policy from here;
- A(s), of the player who has just moved into s (s as an after-state): the other one replies first.

With π the policy of the mover and ρ the one of the replier, γ one step of discount from a turn to its owner's next:

    V(s) = Σ_a π(a | s) · A(child(s, a))
    A(s) = the reward, if s is final; otherwise
           Σ_b ρ(b | s) · (the reward, if child(s, b) is final; otherwise γ · V(child(s, b)))

States are sorted by ply, so one pass from the last state to the first computes both, for both seats at once.
The exact value of an entry (s, a), and of its after-state, is A(child(s, a)). A maximum in place of Σπ gives the best
that can be done against ρ; a minimum in place of Σρ gives the value against a best response.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from miai.compiled import kernel
from miai.games.game import FIRST
from miai.games.graph import GameGraph, GraphArrays
from miai.tabular.policies import minimax_values
from miai.tabular.sampling import AliasTable, alias_table, sample_edge
from miai.tabular.targets import AFTERSTATE


class Outcome(NamedTuple):
    """Probabilities of a game's results, from one player's side."""

    win: float
    draw: float
    loss: float

    @property
    def value(self) -> float:
        """Win 1, draw 0, loss −1, undiscounted."""
        return self.win - self.loss


class Values(NamedTuple):
    """V and A of every state, float64[S] each (see the module's text)."""

    to_move: np.ndarray
    after_move: np.ndarray


def state_values(
    graph: GameGraph,
    policy: np.ndarray | None,
    replies: np.ndarray | None,
    gamma: float = 1.0,
    out: Values | None = None,
) -> Values:
    """Return V and A of every state, for both seats.

    Args:
        policy: float64[E], π; `None` for the best that can be done (a maximum).
        replies: float64[E], ρ; `None` for a best response (a minimum).
        gamma: discount from a turn to its owner's next.
        out: arrays to write to, in place of new ones.
    """
    values = out if out is not None else Values(np.empty(graph.num_states), np.empty(graph.num_states))
    _sweep(graph.arrays, policy, replies, gamma, values.to_move, values.after_move)
    return values


@kernel
def _sweep(
    graph: GraphArrays,
    policy: np.ndarray | None,
    replies: np.ndarray | None,
    gamma: float,
    to_move: np.ndarray,
    after_move: np.ndarray,
) -> None:
    """Write V and A; `to_move` and `after_move` are modified in place."""
    edge_start, edge_child, movers, outcome = graph
    state = len(edge_start) - 2
    while state >= 0:
        first, last = np.int64(edge_start[state]), np.int64(edge_start[state + 1])
        mover = float(movers[state])
        if first == last:
            to_move[state] = mover * outcome[state]
            after_move[state] = -mover * outcome[state]
        else:
            own = 0.0 if policy is not None else -np.inf
            replied = 0.0 if replies is not None else np.inf
            for edge in range(first, last):
                child = np.int64(edge_child[edge])
                after = after_move[child]
                if policy is not None:
                    own += policy[edge] * after
                else:
                    own = max(own, after)
                # V of a final child is the reward of its mover, who is the owner of A(state): no discount there.
                ends = edge_start[child] == edge_start[child + 1]
                then = to_move[child] if ends else gamma * to_move[child]
                if replies is not None:
                    replied += replies[edge] * then
                else:
                    replied = min(replied, then)
            to_move[state] = own
            after_move[state] = replied
        state -= 1


def start_value(player: int, values: Values) -> float:
    """Return the value of the game's start for `player`.

    V(0) for the first, A(0) for the second, who replies to a first move.
    """
    return float(values.to_move[0] if player == FIRST else values.after_move[0])


def outcome(graph: GameGraph, player: int, joint: np.ndarray) -> Outcome:
    """Return the exact results, from the side of `player`, when every move is drawn from `joint`, float64[E]."""
    totals = np.zeros(3)
    _outcome(graph.arrays, joint, np.zeros(graph.num_states), totals)
    first_wins, draws, second_wins = totals.tolist()
    return Outcome(first_wins, draws, second_wins) if player == FIRST else Outcome(second_wins, draws, first_wins)


@kernel
def _outcome(graph: GraphArrays, joint: np.ndarray, reach: np.ndarray, totals: np.ndarray) -> None:
    """Push probability from the start to the final states; `reach`, all zero, and `totals` are modified in place."""
    edge_start, edge_child, _, outcome = graph
    reach[0] = 1.0
    for state in range(len(edge_start) - 1):
        probability = reach[state]
        if probability == 0.0:
            continue
        first, last = np.int64(edge_start[state]), np.int64(edge_start[state + 1])
        if first == last:
            totals[1 - outcome[state]] += probability
        for edge in range(first, last):
            reach[edge_child[edge]] += probability * joint[edge]


def best_value(graph: GameGraph, player: int, replies: np.ndarray) -> float:
    """Return the best expected outcome (win 1, draw 0, loss −1) that `player` can have against `replies`."""
    return start_value(player, state_values(graph, None, replies))


def value_of_game(graph: GameGraph, player: int) -> int:
    """Return the minimax value of the start for `player`: 1, 0 or −1."""
    return int(minimax_values(graph)[0]) * player


def exploitability(graph: GameGraph, player: int, policy: np.ndarray, out: Values | None = None) -> float:
    """Return how much a best response takes from `player`.

    The minimax value minus the value against it. 0 is unbeatable.
    """
    values = state_values(graph, policy, None, out=out)
    return value_of_game(graph, player) - start_value(player, values)


def entry_values(graph: GameGraph, entry_kind: str, values: Values) -> np.ndarray:
    """Return the exact value of every entry of a table, float64[entries]."""
    return values.after_move if entry_kind == AFTERSTATE else values.after_move[graph.arrays.edge_child]


class Sample(NamedTuple):
    """Counts of sampled games, from one player's side."""

    wins: int
    draws: int
    losses: int
    distinct_games: int


def sample_games(graph: GameGraph, player: int, joint: np.ndarray, num_games: int, stream: np.ndarray) -> Sample:
    """Play games whose every move is drawn from `joint`, float64[E]; `stream` is modified in place."""
    paths = np.full((num_games, graph.max_plies), -1, np.int64)
    results = np.zeros(3, np.int64)
    _sample(graph.arrays, alias_table(graph.arrays.edge_start, joint), stream, paths, results)
    first_wins, draws, second_wins = results.tolist()
    distinct = len(np.unique(paths, axis=0)) if num_games else 0
    wins, losses = (first_wins, second_wins) if player == FIRST else (second_wins, first_wins)
    return Sample(wins, draws, losses, distinct)


@kernel
def _sample(graph: GraphArrays, joint: AliasTable, stream: np.ndarray, paths: np.ndarray, results: np.ndarray) -> None:
    """Play `len(paths)` games; `stream`, `paths` and `results` are modified in place."""
    edge_start, edge_child, _, outcome = graph
    for game in range(len(paths)):
        state, ply = np.int64(0), 0
        first, last = np.int64(edge_start[0]), np.int64(edge_start[1])
        while first < last:
            edge = sample_edge(first, last, joint, stream)
            paths[game, ply] = edge
            ply += 1
            state = np.int64(edge_child[edge])
            first, last = np.int64(edge_start[state]), np.int64(edge_start[state + 1])
        results[1 - outcome[state]] += 1
