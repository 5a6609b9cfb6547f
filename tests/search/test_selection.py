"""Selection against numbers that were worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from miai.compiled import kernel
from miai.search.selection import BY_UCB, EVENLY, Rule, select
from miai.search.tree import ROOT, Tree, add_children, new_tree


@kernel
def choose(tree: Tree, rule: Rule, first_to_move: bool) -> int:
    return select(tree, ROOT, rule, first_to_move)


@kernel
def expand(tree: Tree, moves: np.ndarray) -> bool:
    return add_children(tree, ROOT, moves, len(moves))


def make_tree(*children: tuple[float, int], rave: tuple[tuple[float, int], ...] = ()) -> Tree:
    """Return a tree of depth 1 from each child's (first player's total, visits)."""
    tree = new_tree(100)
    assert expand(tree, np.arange(len(children), dtype=np.uint16))
    for child, (value, visits) in enumerate(children, start=1):
        tree.value[child], tree.visits[child] = value, visits
    for child, (value, visits) in enumerate(rave, start=1):
        tree.rave_value[child], tree.rave_visits[child] = value, visits
    tree.visits[ROOT] = sum(visits for _, visits in children)
    return tree


def rule(code: int = BY_UCB, c_uct: float = 0.3, fpu: float = math.inf, rave: bool = False, k: float = 100.0) -> Rule:
    return Rule(code, 2**31, 1, c_uct, fpu, rave, k, priors=False)


def test_flat_monte_carlo_takes_the_least_visited_in_order() -> None:
    assert choose(make_tree((1, 2), (0, 1), (1, 1)), rule(EVENLY), True) == 2


def test_ucb_by_hand() -> None:
    """With p = 15, ln p = 2.708: 0.6 + C·√(2.708/10) = 0.756; 0.5 + C·√(2.708/4) = 0.747; C·√2.708 = 0.494."""
    tree = make_tree((6, 10), (2, 4), (0, 1))
    assert choose(tree, rule(), True) == 1
    # C = 0.4: 0.808, 0.829, 0.658.
    assert choose(tree, rule(c_uct=0.4), True) == 2
    # C = 2: 1.641, 2.146, 3.291.
    assert choose(tree, rule(c_uct=2.0), True) == 3
    # C = 0 is greedy.
    assert choose(tree, rule(c_uct=0.0), True) == 1


def test_the_second_player_wants_the_other_end() -> None:
    """For the second player the means are 0.4, 0.5 and 1."""
    tree = make_tree((6, 10), (2, 4), (0, 1))
    assert choose(tree, rule(c_uct=0.0), False) == 3
    # Means 0.4 and 0.5, and without the third child: p = 14, ln p = 2.639: 0.554 and 0.744.
    assert choose(make_tree((6, 10), (2, 4)), rule(), False) == 2


def test_a_move_that_was_never_tried_comes_first() -> None:
    assert choose(make_tree((1, 1), (0, 0), (0, 0)), rule(c_uct=0.0), True) == 2
    assert choose(make_tree((1, 1), (1, 1), (0, 0)), rule(c_uct=0.0), True) == 3


def test_first_play_urgency() -> None:
    """With a value for moves that were never tried, one that is better is followed again first."""
    tree = make_tree((7, 10), (0, 0))
    assert choose(tree, rule(c_uct=0.0, fpu=0.6), True) == 1
    assert choose(tree, rule(c_uct=0.0, fpu=0.8), True) == 2


def test_of_equals_the_first() -> None:
    assert choose(make_tree((1, 2), (1, 2), (1, 2)), rule(), True) == 1


def test_priors_are_virtual_playouts() -> None:
    """1 of 2 becomes (1 + 8) / (2 + 8) = 0.9 with eight virtual wins; the other stays at 0.75."""
    tree = make_tree((1, 2), (3, 4))
    assert choose(tree, rule(c_uct=0.0), True) == 2
    tree.prior_value[1], tree.prior_visits[1] = 8, 8
    assert choose(tree, rule(c_uct=0.0), True) == 1


def test_rave_by_hand() -> None:
    """k = 100. First move: n = 10, mean 0.6, n' = 40, mean 0.2: β = 40 / (40 + 10 + 4) = 0.741, value 0.304.

    Second: n = 10, mean 0.4, n' = 10, mean 0.3: β = 10 / (10 + 10 + 1) = 0.476, value 0.352. Third: RAVE alone, 0.33.
    """
    tree = make_tree((6, 10), (4, 10), (0, 0), rave=((8, 40), (3, 10), (3.3, 10)))
    assert choose(tree, rule(c_uct=0.0, rave=True), True) == 2
    # From the second player's side: 0.696, 0.648, 0.67.
    assert choose(tree, rule(c_uct=0.0, rave=True), False) == 1
    # A very small k trusts the moves' own means.
    assert choose(tree, rule(c_uct=0.0, rave=True, k=0.01), True) == 1


@pytest.mark.parametrize("first_to_move", [True, False])
def test_selection_agrees_with_the_formula_on_random_trees(first_to_move: bool) -> None:
    dice = np.random.default_rng(5)
    for _ in range(200):
        visits = dice.integers(1, 50, 9)
        wins = np.floor(dice.random(9) * (visits + 1))
        c = dice.random() * 2
        means = wins / visits if first_to_move else 1 - wins / visits
        scores = means + c * np.sqrt(np.log(visits.sum()) / visits)
        tree = make_tree(*((float(w), int(n)) for w, n in zip(wins, visits, strict=True)))
        chosen = choose(tree, rule(c_uct=float(c)), first_to_move) - 1
        assert scores[chosen] == pytest.approx(scores.max(), abs=1e-12)
