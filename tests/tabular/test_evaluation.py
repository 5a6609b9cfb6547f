"""Exact evaluation, against plain recursion with fractions, by hand on a game of three sticks, and against sampling."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from games.last_stick import LastStick, Sticks
from games.plain_mnk import PlainMnk, Policy, as_text, expected, value
from miai import rng
from miai.games.game import FIRST, SECOND
from miai.games.graph import GameGraph
from miai.games.small.mnk import MnkRules
from miai.tabular import evaluation
from miai.tabular.measure import SeatMeasure
from miai.tabular.policies import greedy_policy, joint_policy, minimax_policy, minimax_values, uniform_policy
from miai.tabular.targets import AFTERSTATE, STATE_ACTION

from .configuration import tictactoe

SIZES = [(2, 2, 2), (2, 3, 2), (2, 3, 3), (1, 5, 2)]
SEATS = [(FIRST, "X"), (SECOND, "O")]


def random_policy(graph: GameGraph, rng_: np.random.Generator) -> np.ndarray:
    """Small whole weights, some of them 0, made probabilities."""
    weights = rng_.integers(0, 4, graph.num_edges).astype(float)
    totals = np.bincount(graph.edge_state, weights, graph.num_states)
    weights[totals[graph.edge_state] == 0] = 1
    return weights / np.bincount(graph.edge_state, weights, graph.num_states)[graph.edge_state]


def as_fractions(graph: GameGraph, policy: np.ndarray) -> Policy:
    table: dict[str, dict[int, Fraction]] = {}
    for edge, probability in enumerate(policy):
        board = as_text(graph.boards[graph.edge_state[edge]])
        table.setdefault(board, {})[int(graph.edge_action[edge])] = Fraction(probability).limit_denominator(1000)
    return lambda board: table[board]


@settings(max_examples=20)
@given(st.sampled_from(SIZES), st.integers(0, 2**32), st.sampled_from([Fraction(1), Fraction(9, 10), Fraction(1, 3)]))
def test_values_of_every_state_are_those_of_the_plain_recursion(sizes, seed, gamma):
    plain, graph = PlainMnk(*sizes), GameGraph.of(MnkRules(*sizes))
    random = np.random.default_rng(seed)
    own, replies = random_policy(graph, random), random_policy(graph, random)
    plain_own, plain_replies = as_fractions(graph, own), as_fractions(graph, replies)
    for ours, theirs in itertools.product(((own, plain_own), (None, None)), ((replies, plain_replies), (None, None))):
        values = evaluation.state_values(graph, ours[0], theirs[0], float(gamma))
        memos: dict[str, dict] = {"X": {}, "O": {}}
        for state in range(graph.num_states):
            board = as_text(graph.boards[state])
            mover = plain.mover(board)
            other = "O" if mover == "X" else "X"
            to_move = value(plain, mover, ours[1], theirs[1], board, memos[mover], gamma)
            assert values.to_move[state] == pytest.approx(float(to_move), abs=1e-12)
            # As an after-state of the other player.
            after_move = value(plain, other, ours[1], theirs[1], board, memos[other], gamma)
            assert values.after_move[state] == pytest.approx(float(after_move), abs=1e-12)


@settings(max_examples=20)
@given(st.sampled_from(SIZES), st.integers(0, 2**32))
def test_results_are_those_of_the_plain_recursion(sizes, seed):
    plain, graph = PlainMnk(*sizes), GameGraph.of(MnkRules(*sizes))
    random = np.random.default_rng(seed)
    own, replies = random_policy(graph, random), random_policy(graph, random)
    for player, seat in SEATS:
        outcome = evaluation.outcome(graph, player, joint_policy(graph, player, own, replies))
        other = "O" if seat == "X" else "X"
        exact = expected(plain, seat, as_fractions(graph, own), as_fractions(graph, replies), plain.start, {})
        assert outcome == pytest.approx([float(exact.get(result, 0)) for result in (seat, "=", other)], abs=1e-12)
        assert sum(outcome) == pytest.approx(1, abs=1e-12)
        values = evaluation.state_values(graph, own, replies)
        assert evaluation.start_value(player, values) == pytest.approx(outcome.value, abs=1e-12)


@pytest.mark.parametrize("sizes", [(2, 2, 2), (1, 5, 3), (1, 4, 2)])
@pytest.mark.parametrize(("player", "seat"), SEATS)
def test_exploitability_is_what_the_best_of_all_pure_replies_takes(sizes, player, seat):
    graph, plain = GameGraph.of(MnkRules(*sizes)), PlainMnk(*sizes)
    random = np.random.default_rng(7)
    policy = random_policy(graph, random)
    # Brute force: every choice of a move in every state where the other player decides and that can be reached.
    worst = min(_all_pure_values(plain, seat, as_fractions(graph, policy), plain.start))
    assert worst == value(plain, seat, as_fractions(graph, policy), None, plain.start, {})
    exact = evaluation.value_of_game(graph, player) - worst
    assert evaluation.exploitability(graph, player, policy) == pytest.approx(float(exact), abs=1e-12)
    assert evaluation.value_of_game(graph, player) == value(plain, seat, None, None, plain.start, {})


def _all_pure_values(game: PlainMnk, seat: str, policy: Policy, board: str) -> set[Fraction]:
    """The values for `seat` of all pure replies to its policy. In a tree of plays every choice is free."""
    if game.result(board):
        return {Fraction(game.reward(board, seat))}
    if game.mover(board) != seat:
        return set().union(*(_all_pure_values(game, seat, policy, game.play(board, m)) for m in game.moves(board)))
    options = [
        {probability * reached for reached in _all_pure_values(game, seat, policy, game.play(board, move))}
        for move, probability in policy(board).items()
    ]
    return {sum(choice, Fraction(0)) for choice in itertools.product(*options)}


def test_the_value_of_other_games_need_not_be_a_draw():
    # Two in a row on 2×2: the first player's second mark always completes a line.
    graph = GameGraph.of(MnkRules(2, 2, 2))
    assert (evaluation.value_of_game(graph, FIRST), evaluation.value_of_game(graph, SECOND)) == (1, -1)
    assert evaluation.exploitability(graph, FIRST, minimax_policy(graph)) == 0
    assert evaluation.exploitability(graph, SECOND, uniform_policy(graph)) == 0  # it cannot lose more than all


def sticks() -> tuple[GameGraph, dict[str, int]]:
    """Three sticks, and the states by the number that is left and whose turn it is."""
    rules = LastStick(3)
    graph = GameGraph.of(rules)
    names = {
        f"{left}{'+' if turn == 1 else '-'}": graph.find(rules.board(Sticks(left, turn)))
        for left, turn in ((3, 1), (2, -1), (1, -1), (1, 1), (0, 1), (0, -1))
    }
    return graph, names


def test_three_sticks_by_hand():
    # X leaves 2 or 1. O: from 2 leaves 1 (then X takes the last) or takes both; from 1 takes the last.
    #   V of X at 1 is 1. A of 2 (O replies by halves) = ½ · γ · 1 + ½ · −1;  A of 1 = −1.
    graph, state = sticks()
    values = evaluation.state_values(graph, uniform_policy(graph), uniform_policy(graph), 0.5)
    assert values.after_move[[state["2-"], state["1-"]]].tolist() == [0.5 * 0.5 - 0.5, -1]
    assert values.to_move[state["3+"]] == (-0.25 - 1) / 2
    # O at 2: leaving 1 loses (−1, no turn of O comes after), taking both wins.
    assert values.to_move[[state["2-"], state["1-"], state["1+"]]].tolist() == [0, 1, 1]
    # O before its first turn: X leaves 2 (V 0) or 1 (V 1), by halves.
    assert values.after_move[0] == 0.5 * (0 + 1) / 2
    assert minimax_values(graph)[0] == -1  # who faces three sticks loses
    assert evaluation.outcome(graph, FIRST, uniform_policy(graph)) == (0.25, 0, 0.75)


def test_rms_error_by_hand():
    graph, state = sticks()
    measure = SeatMeasure(graph, FIRST, uniform_policy(graph))
    uniform = uniform_policy(graph)
    values, visits = np.zeros(graph.num_states), np.zeros(graph.num_states, np.int64)
    arguments = (uniform, uniform, 0.5)
    assert measure.rms_error(AFTERSTATE, values, visits, *arguments) == 0
    # X's after-states: 2 is worth −0.25 and 1 is worth −1. The first is learnt as 0.05, the second as −0.6.
    values[[state["2-"], state["1-"]]] = 0.05, -0.6
    visits[[state["2-"], state["1-"]]] = 3, 1
    assert measure.rms_error(AFTERSTATE, values, visits, *arguments) == pytest.approx(np.sqrt((0.3**2 + 0.4**2) / 2))
    # What belongs to O, or was never updated, does not count.
    values[state["1+"]], visits[state["1+"]] = 9, 9
    visits[state["1-"]] = 0
    assert measure.rms_error(AFTERSTATE, values, visits, *arguments) == pytest.approx(0.3)
    edges = np.zeros(graph.num_edges)
    edge_visits = np.zeros(graph.num_edges, np.int64)
    one_stick = graph.find_edge(0, 0)
    edges[one_stick], edge_visits[one_stick] = 0.05, 1
    assert measure.rms_error(STATE_ACTION, edges, edge_visits, *arguments) == pytest.approx(0.3)


@pytest.mark.parametrize("player", [FIRST, SECOND])
@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_the_opponent_as_an_environment_is_an_ordinary_mdp(player, gamma):
    # Value iteration on the learner's states, with transitions built from scratch, finds the same best values.
    graph = tictactoe()
    replies = random_policy(graph, np.random.default_rng(3))
    starts, children, _, outcome = graph.arrays
    states = graph.decision_states(player)
    values = np.zeros(graph.num_states)
    transitions = {}
    for state in states:
        for edge in range(starts[state], starts[state + 1]):
            after = children[edge]
            if graph.is_final[after]:
                transitions[edge] = [(1.0, float(outcome[after] * player), -1)]
                continue
            transitions[edge] = [
                (replies[reply], float(outcome[children[reply]] * player), -1)
                if graph.is_final[children[reply]]
                else (replies[reply], 0.0, int(children[reply]))
                for reply in range(starts[after], starts[after + 1])
            ]
    for _ in range(6):  # no game has more than five turns of one player
        for state in states:
            values[state] = max(
                sum(p * (reward + gamma * values[after] * (after >= 0)) for p, reward, after in transitions[edge])
                for edge in range(starts[state], starts[state + 1])
            )
    best = evaluation.state_values(graph, None, replies, gamma).to_move
    assert best[states] == pytest.approx(values[states], abs=1e-12)


@pytest.mark.parametrize("player", [FIRST, SECOND])
def test_sampled_games_agree_with_exact_results(player):
    graph = tictactoe()
    random = np.random.default_rng(5)
    joint = joint_policy(graph, player, random_policy(graph, random), random_policy(graph, random))
    exact = np.array(evaluation.outcome(graph, player, joint))
    stream = rng.stream(1, "test")
    sample = evaluation.sample_games(graph, player, joint, 20_000, stream)
    assert sample.wins + sample.draws + sample.losses == 20_000
    assert stats.chisquare(sample[:3], 20_000 * exact).pvalue > 0.001


def test_distinct_games_are_counted():
    graph = tictactoe()
    zero = np.zeros(graph.num_edges)
    always_first = greedy_policy(graph, STATE_ACTION, zero, "first")
    sample = evaluation.sample_games(graph, FIRST, always_first, 50, rng.stream(0, "test"))
    assert sample == (50, 0, 0, 1)  # X 0, O 1, X 2, O 3, X 4, O 5, X 6 completes a diagonal
    many = evaluation.sample_games(graph, FIRST, uniform_policy(graph), 50, rng.stream(0, "test"))
    assert many.distinct_games > 45
    assert evaluation.sample_games(graph, FIRST, always_first, 0, rng.stream(0, "test")) == (0, 0, 0, 0)


def test_measures_of_a_seat():
    graph = tictactoe()
    measured = SeatMeasure(graph, SECOND, uniform_policy(graph)).policy(minimax_policy(graph))
    assert set(measured) == {"win", "draw", "loss", "value", "optimality_gap", "exploitability"}
    assert measured["value"] == measured["win"] - measured["loss"]
    assert measured["optimality_gap"] == pytest.approx(874 / 945 - measured["value"], abs=1e-12)
    assert measured["optimality_gap"] > 0
    assert (measured["loss"], measured["exploitability"]) == (0, 0)


def test_rounding_is_not_a_gap():
    graph = tictactoe()
    values = evaluation.state_values(graph, None, uniform_policy(graph))
    best = greedy_policy(graph, STATE_ACTION, evaluation.entry_values(graph, STATE_ACTION, values), "first")
    for player in (FIRST, SECOND):
        assert SeatMeasure(graph, player, uniform_policy(graph)).policy(best)["optimality_gap"] == 0
