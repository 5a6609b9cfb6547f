"""Which child a descent follows: the one place where flat Monte Carlo, UCB and UCT differ.

An algorithm is a rule and a depth: flat Monte Carlo is `EVENLY` at depth 1, UCB is `BY_UCB` at depth 1, and UCT is
`BY_UCB` at any depth. Rules are integer codes, branched on here, since a kernel that takes functions is never cached.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from miai.games.go.compiled import inlined
from miai.search.tree import Tree, signed

_NONE, _ONE, _TINY = np.float32(0.0), np.float32(1.0), np.float32(1e-9)
_FIRST = np.uint64(0)

EVENLY = 0
BY_UCB = 1


class Rule(NamedTuple):
    """What selection needs to know; part of every kernel's arguments."""

    code: int
    """EVENLY or BY_UCB."""
    max_depth: int
    """How many moves a descent makes at most."""
    expand_after: int
    """A leaf is expanded when it is met again after so many visits."""
    c_uct: float
    """C, the weight of exploration; results lie in [0, 1]."""
    fpu: float
    """The value of a move that has never been tried: +∞ tries every move once before any a second time."""
    rave: bool
    """Whether to mix in the means of all moves as first."""
    rave_equivalence: float
    """The number of visits at which a move's own mean and a well-founded RAVE mean weigh the same."""
    priors: bool
    """Whether new moves begin with the virtual playouts of `search.priors`."""


@inlined
def select(tree: Tree, node: int, rule: Rule, first_to_move: bool) -> int:
    """Return the child of an expanded node to follow: the edge with the highest score, the first of equals."""
    if rule.code == EVENLY:
        return _least_visited(tree, node)
    if rule.rave:
        return _best_by_ucb_and_rave(tree, node, rule, first_to_move)
    return _best_by_ucb(tree, node, rule, first_to_move)


@inlined
def _least_visited(tree: Tree, node: int) -> int:
    first = signed(tree.first_child[node])
    best = first
    for child in range(first, first + tree.num_children[node]):
        if tree.visits[child] < tree.visits[best]:
            best = child
    return best


@inlined
def _best_by_ucb(tree: Tree, node: int, rule: Rule, first_to_move: bool) -> int:
    """µ_i + C·√(ln p / p_i): Auer, Cesa-Bianchi and Fischer (2002), Kocsis and Szepesvári (2006).

    Scores are computed for all children before the best is looked for: the first loop then runs on vectors.
    """
    first = np.uint64(tree.first_child[node])
    count = np.uint64(tree.num_children[node])
    last = signed(first + count) - 1
    if rule.fpu == math.inf and tree.visits[last] == 0 and tree.prior_visits[last] == 0.0:
        # Moves are tried in their order then, so the first without a visit is at most as far on as the node has visits.
        child = min(signed(first) + tree.visits[node], last)
        while child > signed(first) and tree.visits[child - 1] == 0:
            child -= 1
        return child
    exploration = _exploration(tree, node, rule)
    fpu = np.float32(rule.fpu)
    base, sign = _side(first_to_move)
    for i in range(count):
        child = first + np.uint64(i)
        visits = np.float32(tree.visits[child])
        own_visits = visits + tree.prior_visits[child]
        mean = (np.float32(tree.value[child]) + tree.prior_value[child]) / own_visits
        score = base + sign * mean + exploration * np.sqrt(_ONE / max(visits, _ONE))
        tree.scores[i] = score if own_visits > _NONE else fpu
    return _first_highest(tree, first, count)


@inlined
def _best_by_ucb_and_rave(tree: Tree, node: int, rule: Rule, first_to_move: bool) -> int:
    """UCB with µ_i mixed with the mean of all moves as first: (1 − β)·µ_i + β·RAVE_i (Gelly and Silver 2011).

    β = n' / (n' + n + n·n' / k), with n visits, n' RAVE visits and the equivalence k. Without either, it is `fpu`.
    """
    first = np.uint64(tree.first_child[node])
    count = np.uint64(tree.num_children[node])
    exploration = _exploration(tree, node, rule)
    fpu = np.float32(rule.fpu)
    inverse_k = np.float32(1.0 / rule.rave_equivalence)
    base, sign = _side(first_to_move)
    for i in range(count):
        child = first + np.uint64(i)
        visits = np.float32(tree.visits[child])
        own_visits = visits + tree.prior_visits[child]
        rave_visits = tree.rave_visits[child]
        beta = rave_visits / (rave_visits + own_visits + rave_visits * own_visits * inverse_k + _TINY)
        mean = (np.float32(tree.value[child]) + tree.prior_value[child]) / (own_visits + _TINY)
        rave_mean = tree.rave_value[child] / (rave_visits + _TINY)
        mixed = mean + beta * (rave_mean - mean)
        score = base + sign * mixed + exploration * np.sqrt(_ONE / max(visits, _ONE))
        tree.scores[i] = score if own_visits + rave_visits > _NONE else fpu
    return _first_highest(tree, first, count)


@inlined
def _exploration(tree: Tree, node: int, rule: Rule) -> np.float32:
    """Return C·√(ln p)."""
    return np.float32(rule.c_uct * math.sqrt(math.log(max(tree.visits[node], 1))))


@inlined
def _side(first_to_move: bool) -> tuple[np.float32, np.float32]:
    """Return (a, b) so that a + b·mean is the mover's mean: (0, 1) for the first player, (1, −1) for the second."""
    return (_NONE, _ONE) if first_to_move else (_ONE, -_ONE)


@inlined
def _first_highest(tree: Tree, first: np.uint64, count: np.uint64) -> int:
    best = _FIRST
    for i in range(count):
        if tree.scores[i] > tree.scores[best]:
            best = np.uint64(i)
    return signed(first + best)
