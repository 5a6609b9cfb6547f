"""Positions side by side: the same as `GoGame`'s, and they know when each stone was played."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from miai.compiled import kernel
from miai.games.game import FIRST, PASS, SECOND
from miai.games.go import GoGame
from miai.games.go.board import BEFORE_LAST, BLACK, COLOUR, KO, LAST, POINTS, WHITE, flat_to_point
from miai.games.go.boards import (
    SET_UP,
    Boards,
    check_number,
    copy_to,
    from_game,
    new_boards,
    play_on,
    set_up_stone,
    size_of,
)


@kernel
def play_one(boards: Boards, i: int, v: np.uint64) -> int:
    """`play_on` becomes part of its callers: a caller for the tests."""
    return play_on(boards, i, v)


def stones(boards: Boards, i: int) -> np.ndarray:
    size = size_of(boards)
    frame = boards.cells[i, :POINTS].reshape(21, 21)[1 : size + 1, 1 : size + 1]
    return np.array([0, FIRST, SECOND], np.int8)[frame]


def placed(boards: Boards, i: int) -> dict[int, int]:
    """When the stones were played, by flat index."""
    size = size_of(boards)
    frame = boards.placed[i].reshape(21, 21)[1 : size + 1, 1 : size + 1]
    return {int(flat): int(frame.ravel()[flat]) for flat in np.flatnonzero(stones(boards, i))}


def random_game(seed: int, size: int, moves: int) -> GoGame:
    dice = random.Random(seed)
    game = GoGame(size)
    for _ in range(moves):
        if game.is_over:
            break
        game.play(dice.choice(game.legal_moves()))
    return game


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 9), moves=st.integers(0, 120))
def test_a_game_replayed_and_a_game_played_along_are_the_same(seed: int, size: int, moves: int) -> None:
    game = random_game(seed, size, moves)
    boards = new_boards(3, size)
    from_game(boards, 1, game)
    before = 0
    for move in game.moves:
        taken = play_one(boards, 2, flat_to_point(move, size))
        after = int(np.count_nonzero(stones(boards, 2)))
        assert taken == before + (move != PASS) - after
        before = after
    colour = BLACK if game.to_play == FIRST else WHITE
    for i in (1, 2):
        assert (stones(boards, i) == game.board).all()
        assert (boards.cells[i] == game.state[0]).all()
        assert (boards.liberties[i] == game.state[1]).all()
        assert boards.to_play[i] == colour
        assert boards.ply[i] == len(game.moves)
    # Each stone was placed by the last move at its point.
    last = {move: number for number, move in enumerate(game.moves)}
    assert placed(boards, 1) == placed(boards, 2) == {flat: last[flat] for flat in np.flatnonzero(game.board)}
    assert not stones(boards, 0).any()


def test_setup_stones_were_placed_before_the_first_move() -> None:
    game = GoGame.from_diagram("X O . / . . . / . . X".replace("/", "\n"), to_play=SECOND)
    game.play(4)
    boards = new_boards(1, 3)
    play_one(boards, 0, flat_to_point(7, 3))  # from_game starts anew, whatever the board held
    from_game(boards, 0, game)
    assert placed(boards, 0) == {0: SET_UP, 1: SET_UP, 8: SET_UP, 4: 0}
    assert boards.ply[0] == 1
    assert boards.to_play[0] == BLACK


def test_a_stone_is_set_up_without_a_move() -> None:
    boards = new_boards(1, 3)
    for flat, colour in ((0, BLACK), (1, WHITE), (8, BLACK)):
        set_up_stone(boards, 0, flat_to_point(flat, 3), colour)
    game = GoGame.from_diagram("X O . / . . . / . . X".replace("/", "\n"))
    assert (stones(boards, 0) == game.board).all()
    assert (boards.ply[0], boards.to_play[0]) == (0, BLACK)
    assert placed(boards, 0) == {0: SET_UP, 1: SET_UP, 8: SET_UP}
    assert [boards.cells[0, at] for at in (KO, LAST, BEFORE_LAST)] == [0, 0, 0]


def test_a_side_may_move_twice_in_a_record() -> None:
    game = GoGame(3)
    game.play(0)
    game.play_as(FIRST, 1)
    game.give_turn(FIRST)
    boards = new_boards(1, 3)
    from_game(boards, 0, game)
    assert (stones(boards, 0) == game.board).all()
    assert boards.to_play[0] == BLACK


def test_a_copy_goes_its_own_way() -> None:
    game = random_game(3, 5, 20)
    boards, others = new_boards(2, 5), new_boards(3, 5)
    from_game(boards, 1, game)
    play_one(others, 2, flat_to_point(12, 5))
    copy_to(boards, 1, others, 2)
    for mine, theirs in zip(boards, others, strict=True):
        assert (mine[1] == theirs[2]).all() or mine is boards.placed
    assert placed(boards, 1) == placed(others, 2)
    play_one(others, 2, flat_to_point(PASS, 5))
    assert others.ply[2] == boards.ply[1] + 1
    assert others.to_play[2] != boards.to_play[1]
    assert (stones(boards, 1) == game.board).all()


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="count of boards must be 1 or more, got 0"):
        new_boards(0, 9)
    with pytest.raises(ValueError, match="board size"):
        new_boards(1, 20)
    boards = new_boards(2, 9)
    with pytest.raises(ValueError, match="from 0 to 1, got 2"):
        check_number(boards, 2)
    with pytest.raises(ValueError, match="size 9, the game of size 5"):
        from_game(boards, 0, GoGame(5))
    assert (boards.cells[:, COLOUR] == 3).all()
