"""`miai play`: games between a person, played by a script, and a table."""

from __future__ import annotations

import io
import re
import sys

import numpy as np
import pytest

from miai.cli.playing import TerminalGame
from miai.games.game import RulesGame
from miai.tabular.table import ValueTable

WEAK = ("algorithm=sarsa", "num_games=30", "num_checkpoints=1", "seed=1")


@pytest.fixture
def played(miai, monkeypatch):
    """Play with what a person types, one line each."""

    def play(*arguments, typed=()):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in typed)))
        said = miai("play", *arguments)
        assert said.code == 0, said
        assert said.err == ""
        return said.out

    return play


def line_with_outcome(table, human, outcome):
    """Find moves of the person that lead to an outcome (+1 the person wins) against the table's fixed replies."""
    game = TerminalGame(table, human, 0, print, lambda prompt: None)

    def search(moves):
        game.game = RulesGame(game.graph.rules)
        mine = iter(moves)
        while not game.game.is_over:
            if game.game.to_play != game.human:
                game.game.play(game.table_move())
                continue
            move = next(mine, None)
            if move is None:
                found = [search([*moves, other]) for other in game.game.legal_moves()]
                return next((line for line in found if line is not None), None)
            if not game.game.is_legal(move):
                return None
            game.game.play(move)
        return moves if game.game.outcome() * game.human == outcome else None

    found = search([])
    assert found is not None, "this table gives no such game; take another seed"
    return [f"{move // 3},{move % 3}" for move in found]


@pytest.mark.parametrize(
    ("human", "agent"), [("second", "first"), ("first", "second")], ids=["as in the course", "the other way round"]
)
def test_a_person_wins_draws_and_loses(train, played, store, human, agent):
    run = train("study=play", f"seat={agent}", *WEAK)
    table = ValueTable.load(store.artifact(run, "table.npz"))
    for outcome, verdict in ((1, "You win."), (-1, "You lose.")):
        out = played(run.run_id, f"human_seat={human}", typed=[*line_with_outcome(table, human, outcome), "n"])
        assert out.startswith(
            f"You are {'X' if human == 'first' else 'O'}; sarsa is {'O' if human == 'first' else 'X'}."
        )
        assert verdict in out
        assert out.endswith("Another game? [y/N] ")
    strong = train("study=play", f"seat={agent}", "algorithm=afterstate", "opponent=mixture", "num_games=50000")
    table = ValueTable.load(store.artifact(strong, "table.npz"))
    moves = line_with_outcome(table, human, 0)
    out = played(strong.run_id, f"human_seat={human}", typed=[*moves, "yes", *moves, ""])
    assert out.count("A draw.") == 2


def test_the_board_as_it_is_drawn(train, played):
    run = train("study=play", "seat=second", *WEAK)
    out = played(run.run_id, "human_seat=first", typed=["1,1", "quit"])
    assert "  0 1 2\n0 . . .\n1 . X .\n2 . . .\nO plays " in out
    assert out.endswith("X> Goodbye.\n")


def test_undo_hint_values_and_words_that_are_none(train, played):
    run = train("study=play", "seat=second", *WEAK)
    typed = ["undo", "hint", "values", "help", "corner", "3,3", "0,0", "undo", "0,0", "0,0", "values", "undo", "undo"]
    out = played(run.run_id, "human_seat=first", typed=typed)
    assert out.count("There is no move of yours to take back.") == 2
    assert "Best: 0,0, 0,1, 0,2, 1,0, 1,1, 1,2, 2,0, 2,1, 2,2." in out  # every opening keeps the draw
    assert "'corner' is not a move" in out
    assert "'3,3' is off the board" in out
    assert "0,0 is taken; free: " in out
    assert out.count("X> ") == len(typed) + 1
    assert out.endswith("X> Goodbye.\n")  # the end of the input is a goodbye too
    perfect = "What perfect play gives you:\n" + "\n".join(["  draw    draw    draw"] * 3)
    assert perfect in out


def test_values_are_those_of_the_table(train, store):
    """After X at the corner, each reply's learnt value stands in its cell, and ? where there is none."""
    run = train("study=play", "seat=second", *WEAK)
    table = ValueTable.load(store.artifact(run, "table.npz"))
    game = TerminalGame(table, "first", 0, print, lambda prompt: None)
    game.game.play(0)
    state = game.graph.find(np.array([1, 0, 0, 0, 0, 0, 0, 0, 0], np.int8))
    first = int(game.graph.arrays.edge_start[state])
    board = game.value_board().split("What perfect play")[0]
    shown = re.findall(r"[+-]\d\.\d\d|\?|X", board)
    assert shown[0] == "X"
    for cell in range(1, 9):
        edge = first + cell - 1
        expected = f"{table.values[edge]:+.2f}" if table.visits[edge] else "?"
        assert shown[cell] == expected


def test_without_a_run_a_table_is_trained_once(played, store):
    for _ in range(2):
        out = played(typed=["quit"])
        assert out.startswith("No run was named, so a table is trained for the first seat.\n")
        assert "You are O; afterstate is X." in out
    [run] = [run for run in store.runs("play") if run.params["opponent.name"] == "mixture"][-1:]
    assert run.params["num_games"] == "200000"
    assert run.metrics["final/eval/exploitability"] == 0


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["human_seat=third"], "human_seat: no such choice 'third'; allowed: first, second."),
        (["nosuch"], "run: the store "),
        (["seed=x"], "seed: a whole number from 0 is allowed, not 'x'."),
        (["opponent=random"], "opponent: there is no such option."),
    ],
)
def test_bad_input(miai, home, arguments, line):
    assert miai("play", *arguments).refusal.startswith(f"miai play: {line}")


def test_the_seat_that_a_table_has_not_learnt(train, miai):
    run = train("study=play", "seat=second", *WEAK)
    assert miai("play", run.run_id).refusal == (
        "miai play: human_seat: this table has learnt the second seat, so you take the other: human_seat=first."
    )
