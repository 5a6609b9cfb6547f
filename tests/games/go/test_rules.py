"""The rules of Go by hand-drawn positions. X is black, O is white; vertices are GTP's (A1 is the lower left)."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from miai.errors import MiaiError
from miai.games.game import FIRST, SECOND, Game
from miai.games.go import GoGame
from miai.games.go.render import read_diagram


def play(game: GoGame, *names: str) -> GoGame:
    for name in names:
        game.play(game.parse_move(name))
    return game


def legal(game: GoGame, name: str) -> bool:
    return game.is_legal(game.parse_move(name))


def assert_board(game: GoGame, diagram: str) -> None:
    assert (game.board == read_diagram(diagram)).all(), "\n" + game.render()


def test_it_is_a_game() -> None:
    assert isinstance(GoGame(9), Game)


# --- Counts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "count"), [(2, 57), (3, 12_675)])
def test_number_of_legal_positions(size: int, count: int) -> None:
    """Tromp and Farnebäck, "Combinatorics of Go" (2007), table 1."""
    game = GoGame(size)
    found = 0
    for cells in product((0, 1, -1), repeat=size * size):
        board = np.array(cells)
        try:
            game.setup(np.flatnonzero(board == 1), np.flatnonzero(board == -1))
        except ValueError:
            pass
        else:
            found += 1
            assert (game.board.ravel() == board).all()
    assert found == count


# --- Captures and suicide ---------------------------------------------------------------------------------------------


def test_capture_of_one_stone_in_the_corner() -> None:
    game = GoGame.from_diagram(
        """
        O X .
        . . .
        . . .
        """
    )
    play(game, "A2")
    assert_board(
        game,
        """
        . X .
        X . .
        . . .
        """,
    )
    assert game.ko is None  # Two points are free beside the capturing stone, so nothing can be retaken.


def test_capture_of_several_chains_by_one_move() -> None:
    game = GoGame.from_diagram(
        """
        . X O X .
        X O . O X
        . X O X .
        . . X . .
        . . . . .
        """
    )
    play(game, "C4")
    assert_board(
        game,
        """
        . X . X .
        X . X . X
        . X . X .
        . . X . .
        . . . . .
        """,
    )


CAPTURE_BEFORE_SUICIDE = """
. O X . .
O O X . .
X X X . .
. . . . .
. . . . .
"""


def test_capture_comes_before_suicide() -> None:
    """Black's stone at A5 has no liberty of its own, but takes White's last one first."""
    for suicide in (False, True):
        game = GoGame.from_diagram(CAPTURE_BEFORE_SUICIDE, suicide=suicide)
        play(game, "A5")
        assert_board(
            game,
            """
            X . X . .
            . . X . .
            X X X . .
            . . . . .
            . . . . .
            """,
        )


SUICIDE = """
. X . . .
X . . . .
. . . X .
. . X . X
. . X O .
"""


def test_suicide_of_one_stone() -> None:
    game = GoGame.from_diagram(SUICIDE, to_play=SECOND)
    assert not legal(game, "A5")
    with pytest.raises(ValueError, match="A5: suicide"):
        play(game, "A5")
    # With suicide allowed, one stone's suicide leaves the stones as they were: only positional superko forbids it.
    assert not legal(GoGame.from_diagram(SUICIDE, SECOND, suicide=True, superko="positional"), "A5")
    for superko in ("situational", "none"):
        game = GoGame.from_diagram(SUICIDE, SECOND, suicide=True, superko=superko)
        play(game, "A5")
        assert_board(game, SUICIDE)
        assert game.to_play == FIRST


MANY = """
. O X . .
O O X . .
X X . . .
. . . . .
. . . . .
"""


def test_suicide_of_many_stones() -> None:
    assert not legal(GoGame.from_diagram(MANY, SECOND), "A5")
    game = GoGame.from_diagram(MANY, SECOND, suicide=True)
    play(game, "A5")
    assert_board(
        game,
        """
        . . X . .
        . . X . .
        X X . . .
        . . . . .
        . . . . .
        """,
    )


def test_a_move_that_joins_a_chain_with_another_liberty_is_no_suicide() -> None:
    game = GoGame.from_diagram(
        """
        . X O . .
        X X O . .
        . X O . .
        O O O . .
        . . . . .
        """
    )
    assert legal(game, "A5")
    assert legal(game, "A3")


def test_one_point_eyes_at_the_edge_are_closed_to_the_enemy_until_the_last() -> None:
    """Two eyes at the edge live: White may play in neither."""
    game = GoGame.from_diagram(
        """
        . X . X O
        X X X X O
        O O O O O
        . . . . .
        . . . . .
        """,
        to_play=SECOND,
    )
    assert not legal(game, "A5")
    assert not legal(game, "C5")
    play(game, "PASS", "A5")  # Black fills one of its own eyes …
    play(game, "C5")  # … and dies.
    assert_board(
        game,
        """
        . . O . O
        . . . . O
        O O O O O
        . . . . .
        . . . . .
        """,
    )


def test_snapback() -> None:
    """White takes one stone at A4, and Black takes back three: not a ko, as the chain that is retaken is longer."""
    game = GoGame.from_diagram(
        """
        . O X . .
        . O X . .
        O O X . .
        X X X . .
        . . . . .
        """
    )
    play(game, "A5")
    assert not game.is_legal(game.parse_move("A3"))
    play(game, "A4")
    assert_board(
        game,
        """
        . O X . .
        O O X . .
        O O X . .
        X X X . .
        . . . . .
        """,
    )
    assert game.ko is None
    play(game, "A5")
    assert_board(
        game,
        """
        X . X . .
        . . X . .
        . . X . .
        X X X . .
        . . . . .
        """,
    )


def test_capture_of_two_stones_is_no_ko() -> None:
    """White takes two stones with one, and Black may play back at once where they stood."""
    game = GoGame.from_diagram(
        """
        X X . . .
        O O X . .
        . . . . .
        . . . . .
        . . . . .
        """,
        to_play=SECOND,
    )
    play(game, "C5")
    assert_board(
        game,
        """
        . . O . .
        O O X . .
        . . . . .
        . . . . .
        . . . . .
        """,
    )
    assert game.ko is None
    assert legal(game, "B5")


def test_seki() -> None:
    """Whoever fills B5 or C5 is taken there: both pass, both chains count as alive, and B5 and C5 are neutral."""
    diagram = """
    O . . O X
    O X X O X
    O O O O X
    X X X X X
    . X . X .
    """
    game = GoGame.from_diagram(diagram, komi=0)
    assert_board(
        play(game.copy(), "B5", "C5"),
        """
        O . O O X
        O . . O X
        O O O O X
        X X X X X
        . X . X .
        """,
    )
    assert_board(
        play(game.copy(), "PASS", "B5", "C5"),
        """
        . . X . X
        . X X . X
        . . . . X
        X X X X X
        . X . X .
        """,
    )
    play(game, "PASS", "PASS")
    assert game.score() == (12 + 3) - 8
    assert game.area()[0].tolist() == [-1, 0, 0, -1, 1]


# --- Ko ---------------------------------------------------------------------------------------------------------------

KO = """
. X O . .
X . X O .
. X O . .
. . . . .
. . . . .
"""


def test_simple_ko() -> None:
    for superko in ("positional", "situational", "none"):
        game = GoGame.from_diagram(KO, to_play=SECOND, superko=superko)
        play(game, "B4")
        assert game.move_name(game.ko) == "C4"
        assert not legal(game, "C4")
        with pytest.raises(ValueError, match="C4: ko"):
            play(game, "C4")
        play(game, "E1", "E2")
        assert game.ko is None
        assert legal(game, "C4")


def test_the_ko_point_and_the_side_to_move_are_part_of_the_key() -> None:
    taken = play(GoGame.from_diagram(KO, to_play=SECOND), "B4")
    same_stones = GoGame(5)
    board = taken.board.ravel()
    same_stones.setup(np.flatnonzero(board == 1), np.flatnonzero(board == -1), FIRST)
    assert (same_stones.board == taken.board).all()
    assert same_stones.to_play == taken.to_play
    assert same_stones.key != taken.key
    other_side = GoGame(5)
    other_side.setup(np.flatnonzero(board == 1), np.flatnonzero(board == -1), SECOND)
    assert other_side.key != same_stones.key


# Three kos side by side; in each the left or the right stone has just been taken. Black holds the first two, White
# the third: by turns each side can always take one, and after six moves the position is the first again.
TRIPLE_KO = """
. X O . . . . . .
X . X O . . . . .
. X O . . . . . .
. X O . . . . . .
X . X O . . . . .
. X O . . . . . .
. X O . . . . . .
X O . O . . . . .
. X O . . . . . .
"""
TRIPLE_KO_CYCLE = ("B8", "C2", "B5", "C8", "B2", "C5")


@pytest.mark.parametrize(("superko", "repeats"), [("positional", False), ("situational", False), ("none", True)])
def test_triple_ko(superko: str, repeats: bool) -> None:
    """White and Black take the three kos in turn. The sixth capture brings the first position back."""
    game = GoGame.from_diagram(TRIPLE_KO, to_play=SECOND, superko=superko)
    start = game.board
    play(game, *TRIPLE_KO_CYCLE[:5])
    assert game.ko != game.parse_move("C5")  # Simple ko says nothing here.
    assert legal(game, "C5") == repeats
    assert (game.parse_move("C5") in game.legal_moves()) == repeats
    if repeats:
        play(game, "C5")
        assert (game.board == start).all()
    else:
        with pytest.raises(ValueError, match=f"C5: {superko} superko"):
            play(game, "C5")


@pytest.mark.parametrize(("superko", "allowed"), [("positional", False), ("situational", True), ("none", True)])
def test_sending_two_returning_one(superko: str, allowed: bool) -> None:
    """White sends two stones, Black takes them with one, White takes that one.

    The stones are then those of the beginning, but it is Black's turn: only positional superko forbids that.
    """
    diagram = """
    . O . O .
    X X O O .
    X X O . .
    X X O . .
    . X O . .
    """
    game = GoGame.from_diagram(diagram, to_play=SECOND, superko=superko)
    play(game, "A5", "C5")
    assert game.ko is None
    assert legal(game, "B5") == allowed
    if allowed:
        play(game, "B5")
        assert_board(game, diagram)


# --- The end, the score, the switches ---------------------------------------------------------------------------------


def test_two_passes_end_the_game() -> None:
    game = play(GoGame(5, komi=0.5), "C3", "PASS")
    assert not game.is_over
    assert game.outcome() is None
    assert game.result_text() == "?"
    play(game, "PASS")
    assert game.is_over
    assert game.legal_moves() == ()
    assert (game.score(), game.outcome(), game.result_text()) == (24.5, FIRST, "B+24.5")
    with pytest.raises(ValueError, match="the game is over"):
        play(game, "A1")
    game.undo()
    assert not game.is_over


def test_area_counts_stones_and_territory_and_leaves_shared_points_out() -> None:
    diagram = """
    . X . O .
    . X . O .
    . X . O .
    . X . O .
    X X . O .
    """
    game = GoGame.from_diagram(diagram, komi=0)
    assert game.score() == (6 + 4) - (5 + 5)
    assert (game.area() == [[1, 1, 0, -1, -1]] * 5).all()
    play(game, "PASS", "PASS")
    assert (game.outcome(), game.result_text()) == (0, "0")


def test_dead_stones_count_as_alive() -> None:
    """Tromp–Taylor: White's lonely stone spoils Black's whole area."""
    game = GoGame.from_diagram(
        """
        . X . . .
        . X . . .
        . X X X X
        . X . . .
        . X . O .
        """,
        komi=0,
    )
    assert game.score() == (8 + 5 + 6) - 1
    assert (game.area()[3:, 2:] == [[0, 0, 0], [0, -1, 0]]).all()


def test_an_empty_board_is_neutral() -> None:
    game = GoGame(9, komi=7.5)
    assert game.score() == -7.5
    assert play(game, "PASS", "PASS").result_text() == "W+7.5"


def test_whole_komi_makes_draws() -> None:
    game = play(GoGame(3, komi=9), "B2", "PASS", "PASS")
    assert (game.outcome(), game.result_text()) == (0, "0")


@pytest.mark.parametrize("komi", [0.25, float("nan"), float("inf"), 1000.0])
def test_komi_is_a_half_or_whole_number(komi: float) -> None:
    with pytest.raises(ValueError, match="komi must be"):
        GoGame(9, komi=komi)


@pytest.mark.parametrize("size", [1, 20, 9.0, True])
def test_sizes(size: object) -> None:
    with pytest.raises(ValueError, match="board size"):
        GoGame(size)  # type: ignore[arg-type]


def test_unknown_superko() -> None:
    with pytest.raises(MiaiError, match=r"superko: no such choice 'position'.*positional"):
        GoGame(9, superko="position")


def test_resignation_and_taking_it_back() -> None:
    game = play(GoGame(9), "E5")
    game.resign()
    assert (game.is_over, game.outcome(), game.result_text(), game.legal_moves()) == (True, FIRST, "B+R", ())
    with pytest.raises(ValueError, match="over"):
        game.resign()
    game.undo()
    assert game.moves == (40,)
    game.resign(FIRST)
    assert (game.outcome(), game.result_text()) == (SECOND, "W+R")


def test_undo_needs_a_move() -> None:
    game = GoGame(9)
    with pytest.raises(ValueError, match="no move"):
        game.undo()


def test_moves_off_the_board_and_on_stones_are_refused_and_change_nothing() -> None:
    game = play(GoGame(9), "E5")
    for move in (81, -2, 40):
        with pytest.raises(ValueError, match="illegal move"):
            game.play(move)
    assert game.moves == (40,)


def test_either_side_may_be_played_for() -> None:
    game = GoGame(9)
    game.play_as(FIRST, 40)
    game.play_as(FIRST, 41)
    assert game.history == ((FIRST, 40), (FIRST, 41))
    assert game.to_play == SECOND
    with pytest.raises(ValueError, match="occupied"):
        game.play_as(FIRST, 40)
    assert game.to_play == SECOND
    game.undo()
    assert game.to_play == FIRST
    with pytest.raises(ValueError, match="colour"):
        game.play_as(0, 5)


def test_a_copy_goes_its_own_way() -> None:
    game = play(GoGame(9), "E5")
    other = game.copy()
    play(other, "E6")
    assert len(game.moves) == 1
    assert game.board[3, 4] == 0
    assert other.board[3, 4] == SECOND


def test_setup_refuses_nonsense() -> None:
    game = GoGame(5)
    with pytest.raises(ValueError, match="named twice"):
        game.setup([3], [3])
    with pytest.raises(ValueError, match="from 0 to 24"):
        game.setup([25], [])
    with pytest.raises(ValueError, match="to_play"):
        game.setup([], [], 0)
    with pytest.raises(ValueError, match="without a liberty"):
        game.setup([0], [1, 5])
    with pytest.raises(ValueError, match="without a liberty"):
        game.setup([1, 5], [0])


def test_handicap() -> None:
    game = GoGame(9, handicap=2)
    assert game.to_play == SECOND
    assert [game.move_name(flat) for flat in game.handicap] == ["C3", "G7"]
    assert game.board.sum() == 2
    free = GoGame(5, handicap=(0, 24, 12))
    assert free.handicap == (0, 24, 12)
    with pytest.raises(ValueError, match="no move"):
        free.undo()
    with pytest.raises(ValueError, match="fixed handicap on a board of 5: allowed none"):
        GoGame(5, handicap=2)
    with pytest.raises(ValueError, match="empty board"):
        play(GoGame(9), "E5").place_handicap((0, 1))
    with pytest.raises(ValueError, match="2 to 80"):
        GoGame(9, handicap=(0,))
