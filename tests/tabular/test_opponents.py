"""Each opponent's policy, against a slow reading of what it is said to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from games.last_stick import LastStick
from games.plain_mnk import PlainMnk, as_array, as_text
from miai.errors import MiaiError
from miai.games.game import FIRST, SECOND
from miai.games.graph import GameGraph
from miai.games.small import game_graph
from miai.tabular import evaluation
from miai.tabular.opponents import opponents
from miai.tabular.policies import greedy_policy, joint_policy, minimax_policy, minimax_values, uniform_policy

from .configuration import tictactoe, trained

PLAIN = PlainMnk(3, 3, 3)
LINES = ["012", "345", "678", "036", "147", "258", "048", "246"]


def moves_of(graph: GameGraph, policy: np.ndarray, board: str) -> dict[int, float]:
    state = graph.find(as_array(board))
    edges = range(int(graph.arrays.edge_start[state]), int(graph.arrays.edge_start[state + 1]))
    return {int(graph.edge_action[edge]): float(policy[edge]) for edge in edges}


def build(**options) -> np.ndarray:
    return opponents.build(options).policy(tictactoe(), {})


def test_all_are_found():
    assert opponents.names() == ("advanced", "minimax", "mixture", "random", "self", "table")


def test_random_plays_any_move():
    graph = tictactoe()
    for board in ("." * 9, "X.O.X....", "XOXOXO.X."[:6] + "..."):
        moves = moves_of(graph, build(name="random"), board)
        assert list(moves) == PLAIN.moves(board)
        assert set(moves.values()) == {1 / len(moves)}


def plain_advanced(board: str, p: float) -> dict[int, float]:
    """With probability p the first winning cell, else the first blocking cell; otherwise uniform."""
    moves = PLAIN.moves(board)
    policy = dict.fromkeys(moves, 1 / len(moves))
    mover = PLAIN.mover(board)
    for mark in (mover, "O" if mover == "X" else "X"):
        for line in LINES:
            marks = [board[int(cell)] for cell in line]
            if marks.count(mark) == 2 and marks.count(".") == 1:
                cell = int(line[marks.index(".")])
                return {move: (1 - p) * share + p * (move == cell) for move, share in policy.items()}
    return policy


@pytest.mark.parametrize("p", [0.0, 0.8, 1.0])
def test_advanced_on_every_board(p):
    graph, policy = tictactoe(), build(name="advanced", p=p)
    for state in np.flatnonzero(~graph.is_final):
        board = as_text(graph.boards[state])
        assert moves_of(graph, policy, board) == pytest.approx(plain_advanced(board, p), abs=1e-15)


@pytest.mark.parametrize(
    ("board", "cell"),
    [
        ("XX.OO....", 2),  # X to move: its own line before the block
        ("OO.X..X..", 2),  # X to move: blocks the row, though no line of its own is open … (1,0) is taken by X
        ("XX.O...O.", 2),  # one line
        ("X.XO.O...", 1),  # X to move: wins at (0,1) before it blocks at (1,1)
        ("O.XX.X..O", 4),  # X to move: row 1 comes before the column
    ],
)
def test_advanced_by_hand(board, cell):
    moves = moves_of(tictactoe(), build(name="advanced", p=0.8), board)
    assert moves[cell] == pytest.approx(0.8 + 0.2 / len(moves))
    assert sum(moves.values()) == pytest.approx(1)


def test_advanced_needs_a_game_with_lines():
    with pytest.raises(MiaiError, match=r"needs a game with lines.*not last_stick"):
        opponents.build({"name": "advanced"}).policy(GameGraph.of(LastStick(4)), {})


def test_advanced_on_another_board():
    #  X X .    3×4 with k = 3: the row is completed at (0,2)
    graph = game_graph({"name": "mnk", "rows": 3, "cols": 4, "k": 3})
    policy = opponents.build({"name": "advanced", "p": 1.0}).policy(graph, {})
    assert moves_of(graph, policy, "XX..OO......")[2] == 1


@pytest.mark.parametrize("player", [FIRST, SECOND])
def test_minimax_never_loses(player):
    graph = tictactoe()
    perfect = build(name="minimax")
    assert evaluation.exploitability(graph, player, perfect) == 0
    for rival in ("random", "advanced"):
        assert evaluation.outcome(graph, player, joint_policy(graph, player, perfect, build(name=rival))).loss == 0


def test_minimax_plays_every_perfect_move_alike():
    graph, policy = tictactoe(), build(name="minimax")
    assert moves_of(graph, policy, "....X....") == dict.fromkeys((0, 2, 6, 8), 0.25) | dict.fromkeys((1, 3, 5, 7), 0)
    kept = minimax_values(graph)[graph.arrays.edge_child] == minimax_values(graph)[graph.edge_state]
    assert np.array_equal(policy > 0, kept)


def test_a_mixture_is_the_weighted_mean():
    mixture = build(
        name="mixture",
        weights={"a": 1.0, "b": 3.0, "c": 0.0},
        parts={"a": {"name": "random"}, "b": {"name": "minimax"}, "c": {"name": "advanced"}},
    )
    assert mixture == pytest.approx(0.25 * uniform_policy(tictactoe()) + 0.75 * minimax_policy(tictactoe()), abs=1e-15)


def test_a_table_plays_its_greedy_policy(tmp_path: Path):
    learning = trained(algorithm="afterstate", seat="both")
    path = tmp_path / "table.npz"
    learning.table().save(path, learning.graph)
    opponent = opponents.build({"name": "table", "run": "some run"})
    assert opponent.tables() == {"table": "some run"}
    policy = opponent.policy(learning.graph, {"table": path})
    assert np.array_equal(policy, greedy_policy(learning.graph, "afterstate", learning.values, "first"))


def test_a_mixture_hands_tables_to_its_parts(tmp_path: Path):
    learning = trained(seat="both")
    path = tmp_path / "table.npz"
    learning.table().save(path, learning.graph)
    parts = {"a": {"name": "table", "run": "r"}, "b": {"name": "random"}}
    mixture = opponents.build({"name": "mixture", "weights": {"a": 1.0, "b": 1.0}, "parts": parts})
    assert mixture.tables() == {"a.table": "r"}
    policy = mixture.policy(learning.graph, {"a.table": path})
    greedy = greedy_policy(learning.graph, "state_action", learning.values, "first")
    assert policy == pytest.approx((greedy + uniform_policy(learning.graph)) / 2, abs=1e-15)


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"name": "advanced", "p": 1.5}, "opponent.p: .*less than or equal to 1, not 1.5"),
        ({"name": "table"}, "opponent.run: a value is needed"),
        (
            {"name": "mixture", "weights": {"a": 1.0}, "parts": {"b": {"name": "random"}}},
            r"parts that exist \(b\), not a",
        ),
        (
            {"name": "mixture", "weights": {"a": 0.0}, "parts": {"a": {"name": "random"}}},
            "at least one weight is above 0",
        ),
        ({"name": "mixture", "weights": {"a": -1.0}, "parts": {"a": {"name": "random"}}}, "weights.a: .*not -1.0"),
        ({"name": "mixture", "weights": {"a": 1.0}, "parts": {"a": {"name": "self"}}}, "self cannot be a part"),
        (
            {"name": "mixture", "weights": {"a": 1.0}, "parts": {"a": {"name": "rnd"}}},
            "opponent.parts.a: no such choice",
        ),
    ],
)
def test_options_are_checked(mapping, message):
    with pytest.raises(MiaiError, match=message) as caught:
        opponents.build(mapping)
    assert "\n" not in str(caught.value)


def test_self_is_for_training_alone():
    with pytest.raises(MiaiError, match="only for training"):
        opponents.build({"name": "self"}).policy(tictactoe(), {})
