"""Many Go positions side by side: what networks are fed with, batched self-play steps through, and searches descend on.

Start reading at `Boards`. A position here is a compiled board (`games.go.board`) and what a network wants to know
besides the stones: whose turn it is, how many moves were made, and when each stone was played. Superko needs the whole
history, which is not here: whoever needs it keeps it (`GoGame`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from miai.compiled import Index, kernel
from miai.games.game import FIRST
from miai.games.go.board import (
    BEFORE_LAST,
    BLACK,
    BOTH,
    KO,
    LAST,
    NO_POINT,
    PASS_POINT,
    POINTS,
    SIZE,
    STRIDE,
    WHITE,
    copy_board,
    flat_to_point,
    new_board,
    play,
)
from miai.games.go.compiled import inlined
from miai.games.go.coordinates import check_size
from miai.games.go.game import GoGame

SET_UP = -8
"""`placed` of a stone that was there before the first move: for the planes of age, long ago (8 moves or more)."""

_TWO = np.uint64(2)


class Boards(NamedTuple):
    """B positions of one board size. Kernels take the tuple and a position's number, and modify the arrays in place."""

    cells: np.ndarray
    """uint16[B, CELLS], the board (`games.go.board`)."""
    liberties: np.ndarray
    """uint64[B, POINTS], its pseudo-liberties."""
    placed: np.ndarray
    """int32[B, POINTS]: the number (from 0) of the move that placed the stone now on the point; `SET_UP` for stones
    that the game began with. Of points without a stone it says nothing."""
    ply: np.ndarray
    """int32[B]: how many moves were made, passes among them."""
    to_play: np.ndarray
    """uint8[B]: whose turn it is, BLACK or WHITE."""


def new_boards(count: int, size: int) -> Boards:
    """Return `count` empty boards, Black to play.

    Raises:
        ValueError: `count` is not positive, or `size` not a board size.
    """
    if count < 1:
        raise ValueError(f"count of boards must be 1 or more, got {count!r}")
    cells, liberties = new_board(check_size(size))
    return Boards(
        cells=np.tile(cells, (count, 1)),
        liberties=np.tile(liberties, (count, 1)),
        placed=np.full((count, POINTS), SET_UP, np.int32),
        ply=np.zeros(count, np.int32),
        to_play=np.full(count, BLACK, np.uint8),
    )


def size_of(boards: Boards) -> int:
    """Return the size of the boards."""
    return int(boards.cells[0, SIZE])


def check_number(boards: Boards, i: int) -> int:
    """Return `i` if the boards have a position of that number; raise `ValueError` otherwise."""
    count = len(boards.ply)
    if not 0 <= i < count:
        raise ValueError(f"position must be from 0 to {count - 1}, got {i!r}")
    return int(i)


@inlined
def play_on(boards: Boards, i: Index, v: np.uint64) -> Index:
    """Play a legal move, or `PASS_POINT`, for the side to move on board i, modified in place.

    Returns:
        The number of opponent's stones captured.
    """
    ply = boards.ply[i]
    colour = np.uint64(boards.to_play[i])
    captured = play(boards.cells[i], boards.liberties[i], v, colour)
    boards.placed[i, v] = ply  # A pass is written to a corner of the frame, where nobody looks.
    boards.ply[i] = ply + 1
    boards.to_play[i] = BOTH - colour
    return captured


@kernel
def copy_to(boards: Boards, i: Index, others: Boards, j: Index) -> None:
    """Copy board i of `boards` over board j of `others`, of the same size; `others` is modified in place."""
    copy_board(boards.cells[i], boards.liberties[i], others.cells[j], others.liberties[j])
    used = (np.uint64(boards.cells[i, SIZE]) + _TWO) * STRIDE
    for v in range(used):
        others.placed[j, v] = boards.placed[i, v]
    others.ply[j] = boards.ply[i]
    others.to_play[j] = boards.to_play[i]


@kernel
def set_up_stone(boards: Boards, i: Index, v: np.uint64, colour: np.uint64) -> None:
    """Put a stone on an empty point of board i before the game's first move; modified in place."""
    cells = boards.cells[i]
    play(cells, boards.liberties[i], v, colour)
    cells[KO] = NO_POINT
    cells[LAST] = PASS_POINT
    cells[BEFORE_LAST] = PASS_POINT
    boards.placed[i, v] = SET_UP


@kernel
def _play_all(boards: Boards, i: Index, points: np.ndarray, movers: np.ndarray) -> None:
    for k in range(len(points)):
        boards.to_play[i] = movers[k]
        play_on(boards, i, np.uint64(points[k]))


def from_game(boards: Boards, i: int, game: GoGame) -> None:
    """Set board i to the position of a game, by playing its moves again; modified in place.

    Raises:
        ValueError: there is no board i, or the boards are of another size.
    """
    check_number(boards, i)
    if size_of(boards) != game.size:
        raise ValueError(f"the boards are of size {size_of(boards)}, the game of size {game.size}")
    cells, liberties = game.start
    boards.cells[i], boards.liberties[i] = cells, liberties
    boards.placed[i] = SET_UP
    boards.ply[i] = 0
    history = game.history
    points = np.array([flat_to_point(move, game.size) for _, move in history], np.uint16)
    movers = np.array([BLACK if colour == FIRST else WHITE for colour, _ in history], np.uint8)
    _play_all(boards, i, points, movers)
    boards.to_play[i] = BLACK if game.to_play == FIRST else WHITE
