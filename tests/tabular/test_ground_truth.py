"""What is known exactly about tic-tac-toe, against what the sweeps compute.

The expected fractions were computed with rational arithmetic; `tests/games/plain_mnk.py` computes them here once more.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from games.plain_mnk import PlainMnk, expected, uniform, value
from miai.games.game import FIRST, SECOND
from miai.tabular import evaluation
from miai.tabular.policies import greedy_policy, joint_policy, minimax_policy, minimax_values, uniform_policy
from miai.tabular.targets import STATE_ACTION

from .configuration import tictactoe

PLAIN = PlainMnk(3, 3, 3)
SEATS = [(FIRST, "X"), (SECOND, "O")]


def exactly(fraction: Fraction):
    return pytest.approx(float(fraction), abs=1e-14)


def optimal_entries() -> np.ndarray:
    """Values of all moves under best play against uniform random. Rounded, so that equal values are equal bits."""
    graph = tictactoe()
    values = evaluation.state_values(graph, None, uniform_policy(graph))
    return np.round(evaluation.entry_values(graph, STATE_ACTION, values), 12)


@pytest.mark.parametrize(
    ("player", "seat", "best"), [(FIRST, "X", Fraction(191, 192)), (SECOND, "O", Fraction(874, 945))]
)
def test_the_best_value_against_random(player, seat, best):
    graph = tictactoe()
    assert value(PLAIN, seat, None, uniform(PLAIN), PLAIN.start, {}) == best
    assert evaluation.best_value(graph, player, uniform_policy(graph)) == exactly(best)


@pytest.mark.parametrize(
    ("player", "seat", "best"), [(FIRST, "X", Fraction(50733, 64000)), (SECOND, "O", Fraction(116019, 175000))]
)
def test_the_discounted_value_of_the_start(player, seat, best):
    graph = tictactoe()
    gamma = Fraction(9, 10)
    # For O, the empty board is an after-state: the reply of X and one step of γ come before its first turn.
    assert value(PLAIN, seat, None, uniform(PLAIN), PLAIN.start, {}, gamma) == best
    values = evaluation.state_values(graph, None, uniform_policy(graph), 0.9)
    assert evaluation.start_value(player, values) == exactly(best)


def test_the_discounted_value_does_not_depend_on_ties():
    graph = tictactoe()
    best = evaluation.state_values(graph, None, uniform_policy(graph), 0.9)
    for ties in ("first", "random"):
        entries = np.round(evaluation.entry_values(graph, STATE_ACTION, best), 12)
        policy = greedy_policy(graph, STATE_ACTION, entries, ties)
        own = evaluation.state_values(graph, policy, uniform_policy(graph), 0.9)
        assert own.to_move[0] == pytest.approx(best.to_move[0], abs=1e-12)
        assert own.after_move[0] == pytest.approx(best.after_move[0], abs=1e-12)


@pytest.mark.parametrize(
    ("player", "ties", "results"),
    [
        (FIRST, "first", (0.994792, 0.005208, 0)),
        (FIRST, "random", (0.994792, 0.005208, 0)),
        (SECOND, "random", (0.932011, 0.060847, 0.007143)),
        (SECOND, "first", (0.932275, 0.060317, 0.007407)),
    ],
)
def test_results_of_an_optimal_policy(player, ties, results):
    graph = tictactoe()
    policy = greedy_policy(graph, STATE_ACTION, optimal_entries(), ties)
    assert tuple(evaluation.outcome(graph, player, joint_policy(graph, player, policy, uniform_policy(graph)))) == (
        pytest.approx(results, abs=5e-7)
    )


@pytest.mark.parametrize(("player", "best"), [(FIRST, Fraction(191, 192)), (SECOND, Fraction(866, 945))])
def test_the_best_policy_that_can_never_lose(player, best):
    # Only moves that keep the minimax value are allowed: backwards over the states, in plain Python.
    graph = tictactoe()
    starts, children, to_play, outcome = graph.arrays
    perfect = minimax_values(graph)
    values = [Fraction(0)] * graph.num_states
    for state in reversed(range(graph.num_states)):
        reached = children[starts[state] : starts[state + 1]].tolist()
        if not reached:
            values[state] = Fraction(int(outcome[state]) * player)
        elif to_play[state] == player:
            values[state] = max(values[child] for child in reached if perfect[child] == perfect[state])
        else:
            values[state] = sum((values[child] for child in reached), Fraction(0)) / len(reached)
    assert values[0] == best


def test_every_o_that_is_optimal_against_random_can_be_beaten():
    graph = tictactoe()
    for ties in ("first", "random"):
        policy = greedy_policy(graph, STATE_ACTION, optimal_entries(), ties)
        assert evaluation.exploitability(graph, SECOND, policy) > 0
        assert evaluation.exploitability(graph, FIRST, policy) == 0


def test_random_against_random():
    graph = tictactoe()
    results = evaluation.outcome(graph, FIRST, uniform_policy(graph))
    plain = expected(PLAIN, "X", uniform(PLAIN), uniform(PLAIN), PLAIN.start, {})
    assert plain == {"X": Fraction(737, 1260), "O": Fraction(121, 420), "=": Fraction(8, 63)}
    assert results == (exactly(plain["X"]), exactly(plain["="]), exactly(plain["O"]))
    assert results == pytest.approx((0.584921, 0.126984, 0.288095), abs=5e-7)
    assert evaluation.outcome(graph, SECOND, uniform_policy(graph)) == results[::-1]


def test_perfect_players_draw():
    graph = tictactoe()
    assert minimax_values(graph)[0] == 0
    assert evaluation.outcome(graph, FIRST, minimax_policy(graph)) == pytest.approx((0, 1, 0), abs=1e-14)
    for player, _ in SEATS:
        assert evaluation.value_of_game(graph, player) == 0
        assert evaluation.exploitability(graph, player, minimax_policy(graph)) == 0


def test_minimax_values_of_every_board():
    graph = tictactoe()
    memo: dict = {}
    for state, values in enumerate(minimax_values(graph)):
        board = "".join({1: "X", -1: "O", 0: "."}[int(mark)] for mark in graph.boards[state])
        assert values == value(PLAIN, "X", None, None, board, memo)
