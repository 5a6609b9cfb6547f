"""Ladders on drawn boards, and against a slow reader. X is black, O is white; vertices are GTP's (A1 lower left)."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miai.games.game import FIRST, SECOND
from miai.games.go import GoGame
from miai.games.go.board import BLACK, POINTS, WHITE
from miai.games.go.ladders import CAPTURE, ESCAPE, Reading, find_ladders, new_reading

from . import plain_ladders
from .reference import Stones

READING = new_reading()


def marks(game: GoGame, reading: Reading = READING) -> np.ndarray:
    """The marks of the side to move, uint8[N, N]."""
    found = np.full(POINTS, 255, np.uint8)
    cells, liberties = (array.copy() for array in game.state)
    find_ladders(cells, liberties, BLACK if game.to_play == FIRST else WHITE, reading, found)
    assert (cells == game.state[0]).all()
    assert (liberties == game.state[1]).all()
    on_board = found.reshape(21, 21)[1 : game.size + 1, 1 : game.size + 1]
    assert found.sum() == on_board.sum(), "a mark off the board"
    return on_board


def plain_marks(game: GoGame) -> np.ndarray:
    size = game.size
    stones: Stones = {(r, c): int(game.board[r, c]) for r, c in zip(*map(list, np.nonzero(game.board)), strict=True)}
    ko = None if game.ko is None else divmod(game.ko, size)
    captures, escapes = plain_ladders.find_ladders((stones, ko), game.to_play, size)
    found = np.zeros((size, size), np.uint8)
    for moves, mark in ((captures, CAPTURE), (escapes, ESCAPE)):
        for point in moves:
            found[point] |= mark
    return found


def ladders(diagram: str, to_play: int = FIRST, *moves: str) -> tuple[set[str], set[str]]:
    """The moves that capture and those that escape in a ladder, after some moves from a drawn board."""
    game = GoGame.from_diagram(diagram, to_play)
    for name in moves:
        game.play(game.parse_move(name))
    found = marks(game)
    assert (found == plain_marks(game)).all(), "\n" + game.render()
    captures, escapes = (
        {game.move_name(int(flat)) for flat in np.flatnonzero(found.ravel() & mark)} for mark in (CAPTURE, ESCAPE)
    )
    return captures, escapes


FREE_WAY = """
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    . . X O . . . . .
    . . . X X . . . .
    . . . . . . . . .
"""
BROKEN = """
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . O . .
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    . . X O . . . . .
    . . . X X . . . .
    . . . . . . . . .
"""


def test_a_ladder_that_works_is_driven_to_the_edge_and_only_from_the_right_side() -> None:
    # From E3 White would go to D4, with three liberties.
    assert ladders(FREE_WAY) == ({"D4"}, set())
    assert ladders(FREE_WAY, FIRST, "D4") == (set(), set())


def test_a_stone_on_the_way_breaks_the_ladder() -> None:
    assert ladders(BROKEN) == (set(), set())
    assert ladders(BROKEN, FIRST, "D4") == (set(), {"E3"})


def test_a_stone_of_the_chaser_on_the_way_does_not_break_it() -> None:
    assert ladders(BROKEN.replace(". . O . .", ". . X . .")) == ({"D4"}, set())


def test_the_chased_side_has_no_ladder_of_its_own_without_being_in_atari() -> None:
    # Black's stones have more than two liberties, White's one is not in atari.
    assert ladders(FREE_WAY, SECOND) == (set(), set())


def test_crawling_along_the_edge_ends_in_the_corner() -> None:
    diagram = """
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . X . . .
        . . . O . . .
    """
    assert ladders(diagram) == ({"C1", "E1"}, set())
    # With a friend at F2 White connects: from C1 the chase fails, from E1 it does not.
    friend = diagram.replace(". . . X . . .", ". . . X . O .")
    assert ladders(friend) == ({"E1"}, set())


def test_a_short_ladder_step_by_step() -> None:
    diagram = """
        . . . .
        . . . .
        X O . .
        . X X .
    """
    assert ladders(diagram) == ({"B3"}, set())
    # White's two stones are caught from either side: D2 C3, then C4 or D3; C3 D2, then D3, and D1 is suicide.
    assert ladders(diagram, FIRST, "B3", "C2") == ({"C3", "D2"}, set())
    assert ladders(diagram, FIRST, "B3", "C2", "D2") == (set(), set())
    assert ladders(diagram, FIRST, "B3", "C2", "D2", "C3") == ({"C4", "D3"}, set())


def test_capturing_a_chaser_that_is_in_atari_saves_the_chain() -> None:
    # White's D4 is in atari. Extending to D5 leaves one liberty, D6; taking D3 from D2 joins it to its friends.
    diagram = """
        . . . . . . .
        . . . . . . .
        . . X . X . .
        . . X O X . .
        . . O X O . .
        . . . . . . .
        . . . . . . .
    """
    assert ladders(diagram, SECOND) == (set(), {"D2"})
    # With D3 out of danger nothing helps.
    assert ladders(diagram.replace(". . O X O . .", ". . . X O . ."), SECOND) == (set(), set())


def test_a_ladder_stops_where_a_chaser_can_be_taken() -> None:
    # As the ladder with a free way, but after Black D4, White E3, Black's two stones are in atari: if Black goes on
    # from F3, White takes them from F2; if from E4, White has three liberties at F3.
    diagram = """
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . X O . . . . .
        . . O X X . . . .
        . . . O O . . . .
    """
    assert "D4" not in ladders(diagram)[0]
    assert not {"E4", "F3"} & ladders(diagram, FIRST, "D4", "E3")[0]
    # With a friend at F2 the two are safe, and both ways work.
    assert ladders(diagram.replace("X X . . . .", "X X X . . ."), FIRST, "D4", "E3")[0] >= {"E4", "F3"}


def test_capturing_into_a_snapback_does_not_save_the_chain() -> None:
    # Black C1; White takes it from D1 and is left with one liberty, C1 again.
    diagram = """
        . . . . . .
        . . . . . .
        . . . . . .
        X X X X X X
        X O O O O X
        X O . . O X
    """
    assert ladders(diagram) == ({"C1", "D1"}, set())
    assert ladders(diagram, FIRST, "C1") == (set(), set())


def test_ko_forbids_an_atari() -> None:
    # White takes the ko at B3. Black may not take back at C3, from where White's two stones above would be caught.
    diagram = """
        . X O . .
        . X O X .
        X . X O .
        . X O . .
        . . . . .
    """
    no_ko = diagram.replace("X . X O .", "X O . O .")
    assert "C3" in ladders(no_ko)[0]
    assert "C3" not in ladders(diagram, SECOND, "B3")[0]


def replay_random(seed: int, size: int, moves: int, tidy: float) -> GoGame:
    """A random game; with probability `tidy` a move is next to the last one, so that stones are chased."""
    dice = random.Random(seed)
    game = GoGame(size)
    for _ in range(moves):
        legal = game.legal_moves()[:-1]
        if not legal or game.is_over:
            break
        last = game.moves[-1] if game.moves else 0
        near = [move for move in legal if abs(move // size - last // size) + abs(move % size - last % size) <= 2]
        game.play(dice.choice(near if near and dice.random() < tidy else legal))
    return game


@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(2, 9),
    fill=st.floats(0.05, 2.0),
    tidy=st.sampled_from([0.0, 0.5, 0.9]),
)
def test_random_positions_are_read_as_the_slow_reader_reads_them(
    seed: int, size: int, fill: float, tidy: float
) -> None:
    game = replay_random(seed, size, int(fill * size * size), tidy)
    assert (marks(game) == plain_marks(game)).all(), "\n" + game.render()


@pytest.mark.parametrize("seed", range(4))
def test_random_positions_on_the_large_board(seed: int) -> None:
    game = replay_random(seed, 19, 60 + 40 * seed, 0.7)
    assert (marks(game) == plain_marks(game)).all(), "\n" + game.render()


def test_the_longest_way_across_the_large_board() -> None:
    game = GoGame(19)
    game.setup([flat(game, name) for name in ("C3", "D2", "E2")], [flat(game, "D3")], FIRST)
    assert marks(game).sum() == CAPTURE
    assert marks(game).ravel()[flat(game, "D4")] == CAPTURE
    game.setup([flat(game, name) for name in ("C3", "D2", "E2")], [flat(game, "D3"), flat(game, "Q16")], FIRST)
    assert marks(game).sum() == 0


def flat(game: GoGame, name: str) -> int:
    return game.parse_move(name)


def test_what_is_not_read_to_its_end_counts_as_escaped() -> None:
    short = new_reading(max_moves=9)
    game = GoGame.from_diagram(FREE_WAY)
    assert marks(game).sum() == CAPTURE
    assert marks(game, short).sum() == 0
    game.play(flat(game, "D4"))
    assert marks(game).sum() == 0
    assert marks(game, short).ravel()[flat(game, "E3")] == ESCAPE


@given(seed=st.integers(0, 2**32 - 1), choices=st.integers(0, 3), moves=st.integers(1, 30))
def test_reading_less_never_finds_more_captures(seed: int, choices: int, moves: int) -> None:
    game = replay_random(seed, 7, 40, 0.8)
    whole, part = marks(game), marks(game, new_reading(moves, choices))
    assert not (part & ~whole & CAPTURE).any()
    assert not (whole & ~part & ESCAPE).any()


def test_room_for_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="max_moves must be from 1 and max_choices from 0, got 0 and 1"):
        new_reading(0, 1)
