"""The two training kernels: one-step methods, which learn as they play, and n-step methods, which keep the episode.

Both play games on the graph of a small game, ply by ply. Each player is either a learner, which moves
ε-greedily by the table and learns, or an opponent, whose moves are sampled from a fixed policy. In self-play both are
learners and share the table. A learner's entry waits until its owner's next turn, when the target is known:

1. the game goes on: the target is γ times the value of that next turn;
2. the learner's own move ended the game: the target is the reward;
3. the other player's reply ended it: the target is the reward, for the learner's last move.

Cases 2 and 3 are one piece of code: at the end, whatever still waits gets the reward, from its owner's side.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from miai.compiled import Index, kernel
from miai.games.graph import GraphArrays
from miai.rng import below, uniform
from miai.tabular.sampling import AliasTable, sample_edge
from miai.tabular.targets import (
    bootstrap,
    entry_of,
    greedy_edge,
    update,
)

NOTHING = -1
"""No entry waits."""

# Codes of who learns: the first player, the second, or each in turn (the first in games 0, 2, …).
LEARN_FIRST, LEARN_SECOND, LEARN_ALTERNATING = range(3)

WIN, DRAW, LOSS = range(3)
"""Places of the counts of results."""


class Rule(NamedTuple):
    """What distinguishes one algorithm from another, as the kernels read it."""

    target: int
    n_step: int
    """Turns of the learner from an entry to its bootstrap; longer than any game means none (Monte Carlo)."""
    gamma: float
    gamma_n: float
    """γ to the power of `n_step`."""
    learners: int


@kernel
def learning_player(game: Index, learners: Index) -> Index:
    """Return the player (0 first, 1 second) from whose side game number `game` is seen: the one who learns."""
    if learners == LEARN_ALTERNATING:
        return game % 2
    return 1 if learners == LEARN_SECOND else 0


@kernel
def count_result(outcome: Index, learner: Index, results: np.ndarray) -> None:
    """Count a game's result from the side of player `learner`; `results` is modified in place."""
    results[DRAW - outcome if learner == 0 else DRAW + outcome] += 1


@kernel
def train_one_step(
    graph: GraphArrays,
    opponent: AliasTable | None,
    afterstates: np.ndarray | None,
    rule: Rule,
    values: np.ndarray,
    visits: np.ndarray,
    other: np.ndarray | None,
    other_visits: Any,
    first_game: Index,
    epsilons: np.ndarray,
    alphas: np.ndarray | None,
    learner_stream: np.ndarray,
    opponent_stream: np.ndarray,
    tie_stream: np.ndarray | None,
    results: np.ndarray,
) -> None:
    """Play one game for each value of `epsilons` and learn at every turn, by a one-step target.

    Args:
        graph: `games.graph.GraphArrays`.
        opponent: `sampling.AliasTable` of the opponent's policy; `None` for self-play, where both players learn.
        afterstates: `edge_child` of the graph if entries are after-states; `None` if they are (state, action).
        rule: `Rule`.
        values, visits: the table, float64[entries] and int64[entries], modified in place.
        other, other_visits: the second table of double Q-learning, modified in place; `None` for every other target.
        first_game: number of the first game, for alternating seats.
        epsilons: float64[games].
        alphas: float64[games]; `None` for α = 1 / visits of the entry.
        learner_stream, opponent_stream: random streams, modified in place.
        tie_stream: a random stream to break ties of the greedy choice, modified in place; `None` to take the first.
        results: int64[3], wins, draws and losses of the learner are added to it.
    """
    edge_start, edge_child, _, outcomes = graph
    target, _, gamma, _, learners = rule
    one = np.int64(edge_start[0]) + 1  # A step that the compiler cannot see: see `compiled`.
    for index in range(len(epsilons)):
        epsilon = epsilons[index]
        alpha = None if alphas is None else alphas[index]
        learner = learning_player(first_game + index, learners)
        # What waits for an update: the entry of the player to move, and that of the other one.
        mine = theirs = np.int64(NOTHING)
        state, player = np.int64(0), 0
        first, last = np.int64(edge_start[0]), np.int64(edge_start[1])
        while first < last:
            if opponent is None or player == learner:
                if uniform(learner_stream) < epsilon:
                    edge = first + below(learner_stream, last - first)
                else:
                    edge = greedy_edge(first, last, one, afterstates, values, other, tie_stream)
                if mine != NOTHING:
                    if other is not None and uniform(learner_stream) < 0.5:
                        value = bootstrap(target, edge, first, last, one, afterstates, other, values, epsilon)
                        update(other, other_visits, mine, gamma * value, alpha)
                    else:
                        value = bootstrap(target, edge, first, last, one, afterstates, values, other, epsilon)
                        update(values, visits, mine, gamma * value, alpha)
                mine = entry_of(edge, afterstates)
            else:
                edge = sample_edge(first, last, opponent, opponent_stream)
            state = np.int64(edge_child[np.uint64(edge)])
            first, last = np.int64(edge_start[state]), np.int64(edge_start[state + 1])
            player = 1 - player
            mine, theirs = theirs, mine
        outcome = outcomes[state]
        for _ in range(2):
            if mine != NOTHING:
                reward = float(outcome if player == 0 else -outcome)
                if other is not None and uniform(learner_stream) < 0.5:
                    update(other, other_visits, mine, reward, alpha)
                else:
                    update(values, visits, mine, reward, alpha)
            player = 1 - player
            mine, theirs = theirs, mine
        count_result(outcome, learner, results)


@kernel
def train_n_step(
    graph: GraphArrays,
    opponent: AliasTable | None,
    afterstates: np.ndarray | None,
    rule: Rule,
    values: np.ndarray,
    visits: np.ndarray,
    first_game: Index,
    epsilons: np.ndarray,
    alphas: np.ndarray | None,
    learner_stream: np.ndarray,
    opponent_stream: np.ndarray,
    tie_stream: np.ndarray | None,
    scratch: np.ndarray,
    results: np.ndarray,
) -> None:
    """Play games and learn from n-step returns (Sutton and Barto, 2018, section 7.2); n beyond the game is Monte Carlo.

    The entry of a learner's turn t is pulled, when the move of turn t + n is chosen, towards γⁿ times the value of
    that move; what still waits when the game ends, towards the reward, discounted once for each of its owner's turns
    in between. Every visit counts; no position of these games occurs twice in a game. Arguments as in `train_one_step`;
    besides, `scratch`: int64[2, plies of the longest game], overwritten.
    """
    edge_start, edge_child, _, outcomes = graph
    _, n_step, gamma, gamma_n, learners = rule
    one = np.int64(edge_start[0]) + 1
    for index in range(len(epsilons)):
        epsilon = epsilons[index]
        alpha = None if alphas is None else alphas[index]
        learner = learning_player(first_game + index, learners)
        state, ply = np.int64(0), 0
        first, last = np.int64(edge_start[0]), np.int64(edge_start[1])
        while first < last:
            player, turn = ply % 2, ply // 2
            if opponent is None or player == learner:
                if uniform(learner_stream) < epsilon:
                    edge = first + below(learner_stream, last - first)
                else:
                    edge = greedy_edge(first, last, one, afterstates, values, None, tie_stream)
                entry = entry_of(edge, afterstates)
                if turn >= n_step:
                    earlier = scratch[player, turn - n_step]
                    update(values, visits, earlier, gamma_n * values[entry], alpha)
                scratch[player, turn] = entry
            else:
                edge = sample_edge(first, last, opponent, opponent_stream)
            state = np.int64(edge_child[edge])
            first, last = np.int64(edge_start[state]), np.int64(edge_start[state + 1])
            ply += 1
        outcome = outcomes[state]
        for player in range(2):
            if opponent is None or player == learner:
                turns = (ply + 1 - player) // 2
                discounted = float(outcome if player == 0 else -outcome)
                turn = turns - 1
                while turn >= max(0, turns - n_step):
                    update(values, visits, scratch[player, turn], discounted, alpha)
                    discounted *= gamma
                    turn -= 1
        count_result(outcome, learner, results)
