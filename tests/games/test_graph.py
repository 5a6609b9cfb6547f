"""Enumeration: the counts of tic-tac-toe, the two ways to enumerate, other games than m,n,k, and games too large."""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np
import pytest

from miai.errors import MiaiError
from miai.games.game import FIRST, SECOND
from miai.games.graph import GameGraph
from miai.games.small import game_graph
from miai.games.small.mnk import MnkRules

from .last_stick import LastStick
from .plain_mnk import PlainMnk, as_array, as_text


class OneByOne:
    """The m,n,k-game without its bulk methods, so that it is enumerated a position at a time."""

    def __init__(self, rows: int, cols: int, k: int) -> None:
        self.inner = MnkRules(rows, cols, k)
        self.name, self.shape = self.inner.name, self.inner.shape

    def __getattr__(self, attribute: str):
        if attribute.startswith("bulk"):
            raise AttributeError(attribute)
        return getattr(self.inner, attribute)


@pytest.fixture(scope="module")
def tictactoe() -> GameGraph:
    return game_graph({"name": "tictactoe"})


def test_counts_of_tictactoe(tictactoe):
    assert tictactoe.num_states == 5478
    assert int(tictactoe.is_final.sum()) == 958
    assert {seat: len(tictactoe.decision_states(seat)) for seat in (FIRST, SECOND)} == {FIRST: 2423, SECOND: 2097}
    assert {seat: tictactoe.num_state_actions(seat) for seat in (FIRST, SECOND)} == {FIRST: 8631, SECOND: 7536}
    assert {seat: tictactoe.num_afterstates(seat) for seat in (FIRST, SECOND)} == {FIRST: 2739, SECOND: 2738}
    assert tictactoe.num_edges == 8631 + 7536
    assert tictactoe.max_plies == 9


def test_boards_are_those_of_the_plain_rules(tictactoe):
    plain = PlainMnk(3, 3, 3)
    assert {as_text(board) for board in tictactoe.boards} == set(plain.boards())


@pytest.mark.parametrize("sizes", [(1, 1, 1), (1, 4, 2), (2, 2, 2), (2, 3, 2), (2, 3, 3), (3, 3, 3)])
def test_every_array_agrees_with_the_plain_rules(sizes):
    plain = PlainMnk(*sizes)
    graph = GameGraph.of(MnkRules(*sizes))
    arrays = graph.arrays
    assert graph.num_states == len(plain.boards())
    assert not graph.boards[0].any()
    for state in range(graph.num_states):
        board = as_text(graph.boards[state])
        edges = range(int(arrays.edge_start[state]), int(arrays.edge_start[state + 1]))
        assert [int(graph.edge_action[edge]) for edge in edges] == plain.moves(board)
        for edge in edges:
            child = int(arrays.edge_child[edge])
            assert child > state
            assert as_text(graph.boards[child]) == plain.play(board, int(graph.edge_action[edge]))
            assert graph.edge_state[edge] == state
        assert arrays.to_play[state] == {"X": FIRST, "O": SECOND}[plain.mover(board)]
        assert arrays.outcome[state] == {None: 0, "=": 0, "X": FIRST, "O": SECOND}[plain.result(board)]
        assert graph.is_final[state] == (plain.result(board) is not None)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (2, 3, 2), (3, 3, 3), (3, 4, 2)])
def test_both_ways_to_enumerate_give_one_graph(sizes):
    bulk, single = GameGraph.of(MnkRules(*sizes)), GameGraph.of(OneByOne(*sizes))
    assert bulk.max_plies == single.max_plies
    # The order within a ply may differ: compare what is reached from each board, by board.
    assert _by_board(bulk) == _by_board(single)
    plies = [np.count_nonzero(graph.boards, axis=1) for graph in (bulk, single)]
    assert np.array_equal(*plies)
    assert (np.diff(plies[0]) >= 0).all()


def _by_board(graph: GameGraph) -> dict:
    boards = [as_text(board) for board in graph.boards]
    start, child, to_play, outcome = graph.arrays
    return {
        board: (
            int(to_play[state]),
            int(outcome[state]),
            [
                (int(graph.edge_action[edge]), boards[int(child[edge])])
                for edge in range(int(start[state]), int(start[state + 1]))
            ],
        )
        for state, board in enumerate(boards)
    }


def test_a_game_without_lines_is_enumerated():
    # Three sticks: X leaves 2 or 1; O leaves 1 or none, and from 1 none; X takes the last.
    graph = GameGraph.of(LastStick(3))
    assert graph.num_states == 1 + 2 + 2 + 1
    assert graph.max_plies == 3
    assert graph.arrays.outcome[graph.is_final].tolist() == [SECOND, FIRST]
    assert graph.edge_action.tolist() == [0, 1, 0, 1, 0, 0]


def test_a_position_may_be_reached_in_several_plies():
    # From six sticks, 2 + 2 and 1 + 1 + 1 + 1 leave the same two, with X to move: its ply is that of the longer way.
    graph = GameGraph.of(LastStick(6))
    assert graph.num_states == 12  # 6+, and every number from 5 to 0 with either player to move, but 5+
    assert graph.max_plies == 6
    assert (graph.arrays.edge_child > graph.edge_state).all()


def test_boards_and_moves_are_found(tictactoe):
    board = as_array("X.O.X....")
    state = tictactoe.find(board)
    assert np.array_equal(tictactoe.boards[state], board)
    assert tictactoe.edge_action[tictactoe.find_edge(state, 8)] == 8
    with pytest.raises(KeyError, match="cannot be reached"):
        tictactoe.find(as_array("XXX......"))
    with pytest.raises(KeyError, match="move 0 is not legal"):
        tictactoe.find_edge(state, 0)
    with pytest.raises(KeyError, match="move -1 is not legal"):
        tictactoe.find_edge(state, -1)
    with pytest.raises(ValueError, match="has 9"):
        tictactoe.find(as_array("X.O.X..."))


def test_every_state_finds_itself(tictactoe):
    assert np.array_equal(tictactoe.find_all(tictactoe.boards), np.arange(tictactoe.num_states))
    edges = tictactoe.find_edges(tictactoe.edge_state, tictactoe.edge_action)
    assert np.array_equal(edges, np.arange(tictactoe.num_edges))
    assert tictactoe.find_all(tictactoe.boards[:0]).tolist() == []


@pytest.mark.parametrize("rules", [MnkRules, OneByOne])
def test_a_game_that_is_too_large_is_refused_in_one_line(rules):
    with pytest.raises(MiaiError, match=r"3×4 has more than 5,000 positions.*raise game\.max_states") as caught:
        GameGraph.of(rules(3, 4, 3), max_states=5000)
    assert "\n" not in str(caught.value)


def test_the_bound_is_exact():
    sizes = {"name": "mnk", "rows": 3, "cols": 3, "k": 3}
    assert game_graph({**sizes, "max_states": 5478}).num_states == 5478
    with pytest.raises(MiaiError, match="more than 5,477 positions"):
        game_graph({**sizes, "max_states": 5477})


def test_a_graph_is_enumerated_once():
    assert game_graph({"name": "tictactoe"}) is game_graph({"name": "tictactoe"})


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({}, "game.name: a value is needed; allowed: mnk, tictactoe"),
        ({"name": "tictactoo"}, "no such choice 'tictactoo'.*Did you mean 'tictactoe'"),
        ({"name": "mnk", "rows": 0}, "game.rows: .*greater than or equal to 1, not 0"),
        ({"name": "mnk", "rows": [3]}, r"game.rows: .*not \[3\]"),
        ({"name": "mnk", "rows": True}, "game.rows: .*not True"),
        ({"name": "tictactoe", "rows": 3}, "game.rows: there is no such option"),
    ],
)
def test_options_of_a_game_are_checked(mapping, message):
    with pytest.raises(MiaiError, match=message):
        game_graph(mapping)


class _Broken(LastStick):
    def __init__(self, **replaced) -> None:
        super().__init__(3)
        for name, function in replaced.items():
            setattr(self, name, partial(function, self))


@pytest.mark.parametrize(
    ("replaced", "message"),
    [
        ({"to_play": lambda self, position: FIRST}, "do not alternate"),
        ({"to_play": lambda self, position: -LastStick.to_play(self, position)}, "the first beginning"),
        ({"legal_moves": lambda self, position: ()}, "no legal move, and no outcome"),
        ({"play": lambda self, position, move: dataclasses.replace(position, turn=-position.turn)}, "can come back"),
        ({"board": lambda self, position: np.zeros(3, np.int8)}, "the same board"),
    ],
)
def test_rules_that_break_the_contract_are_refused(replaced, message):
    with pytest.raises(ValueError, match=message):
        GameGraph.of(_Broken(**replaced))
