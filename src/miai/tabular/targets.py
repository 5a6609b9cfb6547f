"""What an entry is pulled towards: the targets, each an equation, and the update that they share.

One learning step spans two plies, the learner's move and the opponent's reply (spec: temporal-difference learning
against an opponent). Rewards come at the end of a game alone, so a target is either the reward, with no
bootstrap, or γ times a value of what the learner meets at its next turn:

| target | at the learner's next turn, in state s′ with its move a′ |
|---|---|
| chosen | γ · Q(s′, a′), a′ the move that is really played (SARSA) |
| best | γ · max_a Q(s′, a) (Q-learning; Watkins, 1989) |
| expected | γ · Σ_a π(a | s′) · Q(s′, a), π ε-greedy (expected SARSA; van Seijen et al., 2009) |
| double | γ · Q_B(s′, argmax_a Q_A(s′, a)) for table A, and the reverse for B (double Q-learning; van Hasselt, 2010) |
| return | the discounted return G at the end of the game (Monte Carlo) |

Q(s, a) stands for the entry of the move: the pair (s, a), or the after-state that a leads to.
"""

from __future__ import annotations

import numpy as np

from miai.compiled import Index, Number, kernel
from miai.rng import below

# Codes of the targets; the kernels branch on them.
CHOSEN, BEST, EXPECTED, DOUBLE, RETURN = range(5)
TARGETS = {"chosen": CHOSEN, "best": BEST, "expected": EXPECTED, "double": DOUBLE, "return": RETURN}

# What an entry of the table stands for.
STATE_ACTION = "state_action"
AFTERSTATE = "afterstate"


@kernel
def entry_of(edge: Index, afterstates: np.ndarray | None) -> Index:
    """Return the index of a move's entry.

    The edge itself, or with `afterstates` (`edge_child`) the state it leads to.
    """
    if afterstates is None:
        return edge
    return np.int64(afterstates[np.uint64(edge)])


@kernel
def behaviour_value(values: np.ndarray, other: np.ndarray | None, entry: Index) -> Number:
    """Return the value that choices go by: the entry's, or with two tables (double Q-learning) the sum of both."""
    if other is None:
        return values[np.uint64(entry)]
    return values[np.uint64(entry)] + other[np.uint64(entry)]


@kernel
def greedy_edge(
    first: Index,
    last: Index,
    one: Index,
    afterstates: np.ndarray | None,
    values: np.ndarray,
    other: np.ndarray | None,
    tie_stream: np.ndarray | None,
) -> Index:
    """Return the edge of the largest value.

    Of several, the first, or with a `tie_stream` any of them, each as likely.
    """
    best = first
    best_value = behaviour_value(values, other, entry_of(first, afterstates))
    edge = first + one
    while edge < last:
        value = behaviour_value(values, other, entry_of(edge, afterstates))
        if value > best_value:
            best, best_value = edge, value
        edge += one
    if tie_stream is not None:
        count = 0
        edge = first
        while edge < last:
            if behaviour_value(values, other, entry_of(edge, afterstates)) == best_value:
                count += 1
                if below(tie_stream, count) == 0:
                    best = edge
            edge += one
    return best


@kernel
def bootstrap(
    target: Index,
    chosen: Index,
    first: Index,
    last: Index,
    one: Index,
    afterstates: np.ndarray | None,
    values: np.ndarray,
    other: np.ndarray | None,
    epsilon: float,
) -> Number:
    """Return the value, undiscounted, of the learner's next turn, for an update of the table `values`.

    The edges first … last − 1 are the moves of the next state s′, `chosen` the one that is played there.
    """
    if target == CHOSEN:
        return values[np.uint64(entry_of(chosen, afterstates))]
    best = edge = first
    best_value: Number = values[entry_of(first, afterstates)]
    total: Number = 0.0
    while edge < last:
        value = values[entry_of(edge, afterstates)]
        total += value
        if value > best_value:
            best, best_value = edge, value
        edge += one
    if other is not None:
        return other[entry_of(best, afterstates)]
    if target == EXPECTED:
        return (1.0 - epsilon) * best_value + epsilon * total / (last - first)
    return best_value


@kernel
def update(values: np.ndarray, visits: np.ndarray, entry: Index, target_value: Number, alpha: Number | None) -> None:
    """Pull one entry towards its target by α, or where `alpha` is `None` by 1 / visits; modified in place."""
    place = np.uint64(entry)
    visits[place] += 1
    if alpha is None:
        values[place] += (target_value - values[place]) / visits[place]
    else:
        values[place] += alpha * (target_value - values[place])
