"""Which child a descent follows: the one place where flat Monte Carlo, UCB and UCT differ.

An algorithm is a rule and a depth: flat Monte Carlo is `EVENLY` at depth 1, UCB is `BY_UCB` at depth 1, and UCT is
`BY_UCB` at any depth. Rules are integer codes, branched on here, since a kernel that takes functions is never cached.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from miai.games.go.compiled import inlined
from miai.search.tree import Tree, mean_for, signed

_TINY = 1e-9
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
    """µ_i + C·√(ln p / p_i): Auer, Cesa-Bianchi and Fischer (2002), Kocsis and Szepesvári (2006)."""
    first = signed(tree.first_child[node])
    last = first + signed(tree.num_children[node]) - 1
    if rule.fpu == math.inf and tree.visits[last] == 0 and tree.prior_visits[last] == 0.0:
        # Moves are tried in their order then: the first without a visit is the one.
        child = first
        while tree.visits[child] > 0:
            child += 1
        return child
    exploration = rule.c_uct * math.sqrt(math.log(max(tree.visits[node], 1)))
    best = first
    best_score = -math.inf
    for child in range(first, last + 1):
        own_visits = tree.visits[child] + tree.prior_visits[child]
        if own_visits > 0.0:
            score = mean_for(tree.value[child] + tree.prior_value[child], own_visits, first_to_move)
            score += exploration * math.sqrt(1.0 / max(tree.visits[child], 1))
        else:
            score = rule.fpu
        if score > best_score:
            best = child
            best_score = score
    return best


@inlined
def _best_by_ucb_and_rave(tree: Tree, node: int, rule: Rule, first_to_move: bool) -> int:
    """UCB with µ_i mixed with the mean of all moves as first: (1 − β)·µ_i + β·RAVE_i (Gelly and Silver 2011).

    β = n' / (n' + n + n·n' / k), with n visits, n' RAVE visits and the equivalence k. Without either, it is `fpu`.
    """
    first = signed(tree.first_child[node])
    exploration = rule.c_uct * math.sqrt(math.log(max(tree.visits[node], 1)))
    best = first
    best_score = -math.inf
    for child in range(first, first + signed(tree.num_children[node])):
        own_visits = tree.visits[child] + tree.prior_visits[child]
        rave_visits = tree.rave_visits[child]
        if own_visits + rave_visits > 0.0:
            beta = rave_visits / (rave_visits + own_visits + rave_visits * own_visits / rule.rave_equivalence)
            score = (1.0 - beta) * (tree.value[child] + tree.prior_value[child]) / max(own_visits, _TINY)
            score += beta * tree.rave_value[child] / max(rave_visits, _TINY)
            if not first_to_move:
                score = 1.0 - score
            score += exploration * math.sqrt(1.0 / max(tree.visits[child], 1))
        else:
            score = rule.fpu
        if score > best_score:
            best = child
            best_score = score
    return best
