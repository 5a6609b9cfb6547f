"""The rules of m,n,k-games, on boards that a reader can check, and against the plain ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from miai.errors import MiaiError
from miai.games.game import FIRST, SECOND, RulesGame
from miai.games.small import games
from miai.games.small.mnk import MnkPosition, MnkRules

from .plain_mnk import PlainMnk, as_array, as_text

TICTACTOE = MnkRules(3, 3, 3, "tictactoe")


def position(board: str) -> MnkPosition:
    marks = board.replace(" ", "").replace("\n", "")
    return MnkPosition(*(sum(1 << cell for cell, m in enumerate(marks) if m == mark) for mark in "XO"))


@st.composite
def games_in_progress(draw):
    """Rules of some size, and the moves of a game to its end."""
    rows, cols = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    rules = MnkRules(rows, cols, draw(st.integers(1, max(rows, cols))))
    cells = draw(st.permutations(range(rules.cells)))
    return rules, cells


def test_lines_are_rows_then_columns_then_diagonals():
    assert TICTACTOE.lines == (
        (0, 1, 2), (3, 4, 5), (6, 7, 8),
        (0, 3, 6), (1, 4, 7), (2, 5, 8),
        (0, 4, 8), (2, 4, 6),
    )  # fmt: skip


def test_lines_of_another_board():
    assert MnkRules(2, 3, 2).lines == (
        (0, 1), (1, 2), (3, 4), (4, 5),
        (0, 3), (1, 4), (2, 5),
        (0, 4), (1, 5),
        (1, 3), (2, 4),
    )  # fmt: skip
    assert MnkRules(1, 2, 1).lines == ((0,), (1,))


@pytest.mark.parametrize(
    ("board", "outcome"),
    [
        ("... ... ...", None),
        ("XXX OO. ...", FIRST),
        ("OX. OXX O.X", SECOND),
        ("XO. OX. ..X", FIRST),
        ("XXO XO. O..", SECOND),
        ("XOX XOO OXX", 0),
        ("XX. OO. ...", None),
    ],
)
def test_outcomes(board, outcome):
    assert TICTACTOE.outcome(position(board)) == outcome


def test_a_win_on_the_last_free_cell_is_a_win():
    board = position("XOX OXO OX.")
    assert TICTACTOE.legal_moves(board) == (8,)
    assert TICTACTOE.outcome(TICTACTOE.play(board, 8)) == FIRST


def test_a_line_does_not_wrap_around_the_edge():
    assert TICTACTOE.outcome(position(".XX X.. OO.")) is None


@given(games_in_progress())
def test_games_agree_with_the_plain_rules(game):
    rules, cells = game
    plain = PlainMnk(*rules.shape, rules.k)
    here, board = rules.initial(), plain.start
    for cell in cells:
        assert as_text(rules.board(here)) == board
        assert rules.to_play(here) == {"X": FIRST, "O": SECOND}[plain.mover(board)]
        assert list(rules.legal_moves(here)) == plain.moves(board)
        assert rules.outcome(here) == {None: None, "=": 0, "X": FIRST, "O": SECOND}[plain.result(board)]
        if plain.result(board):
            break
        assert rules.to_play(rules.play(here, cell)) == -rules.to_play(here)
        here, board = rules.play(here, cell), plain.play(board, cell)


@given(games_in_progress())
def test_rules_of_many_positions_are_those_of_one(game):
    rules, cells = game
    positions = [rules.initial()]
    for cell in cells:
        if rules.outcome(positions[-1]) is not None:
            break
        positions.append(rules.play(positions[-1], cell))
    keys = MnkRules.bulk_key(np.array([p.first for p in positions]), np.array([p.second for p in positions]))
    final, outcome = rules.bulk_outcome(keys)
    assert [rules.outcome(p) for p in positions] == [o if f else None for f, o in zip(final, outcome, strict=True)]
    assert np.array_equal(rules.bulk_boards(keys), [rules.board(p) for p in positions])


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((0, 3, 3), "rows and cols are 1 or more, not 0 and 3"),
        ((3, -1, 3), "not 3 and -1"),
        ((6, 6, 3), "6×6 has 36 cells; at most 32"),
        ((3, 4, 5), "a line of 5 does not fit on 3×4; allowed: 1 to 4"),
        ((3, 3, 0), "a line of 0 does not fit"),
    ],
)
def test_impossible_sizes_are_refused(sizes, message):
    with pytest.raises(MiaiError, match=message):
        MnkRules(*sizes)


def test_tictactoe_is_an_mnk_game():
    same = games.build({"name": "mnk", "rows": 3, "cols": 3, "k": 3}).rules()
    assert games.build({"name": "tictactoe"}).rules() == same
    assert hash(TICTACTOE) == hash(same)
    assert MnkRules(3, 4, 3) != TICTACTOE
    assert MnkRules(3, 3, 2) != TICTACTOE
    assert TICTACTOE != "tictactoe"


def test_a_game_in_progress_can_be_undone_and_drawn():
    game = RulesGame(TICTACTOE)
    for move in (4, 0, 8):
        game.play(move)
    assert game.render() == "  0 1 2\n0 O . .\n1 . X .\n2 . . X"
    game.undo()
    assert np.array_equal(TICTACTOE.board(game.position), as_array("O...X...."))
    with pytest.raises(ValueError, match="illegal move 4"):
        game.play(4)
