"""Positions of recorded games as batches for training: replayed and encoded in compiled code.

Start reading at `positions`, which says what may be drawn, then `fill_batch`, which makes a batch of what was drawn.
"""

from __future__ import annotations

import numpy as np

from miai.compiled import Index, kernel
from miai.games.game import FIRST, PASS
from miai.games.go.board import BLACK, COLOUR, EMPTY, PASS_POINT, WHITE, point_of
from miai.games.go.boards import Boards, copy_to, new_boards, play_on, set_up_stone
from miai.networks.features import (
    Scratch,
    check_planes,
    check_symmetries,
    encode,
    flat_legal,
    flat_planes,
    mark_legal,
    scratch_for,
)
from miai.records.game_set import GameSet

SOUND = -1
"""What the kernels return where every move could be played."""


def positions(game_set: GameSet, games: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return every position of the games from which there is a move to learn: a point, no pass, and not of the opening.

    Args:
        games: numbers of games, such as `game_set.games("train")`.

    Returns:
        (game, ply), int32[…] each: the game's number, and how many of its moves lead to the position (0 is the start).
        The order is that of `games`, then of the moves.

    Raises:
        ValueError: there is no such game.
    """
    chosen = np.asarray(games, np.int64)
    if chosen.ndim != 1 or (len(chosen) and not 0 <= chosen.min() <= chosen.max() < len(game_set)):
        raise ValueError(f"games must be numbers from 0 to {len(game_set) - 1}, got {games!r}")
    lengths = game_set.lengths[chosen]
    game = np.repeat(chosen, lengths)
    first = np.cumsum(lengths) - lengths
    ply = np.arange(len(game)) - np.repeat(first, lengths)
    learnable = (game_set.moves[game_set.start[game] + ply] != PASS) & (ply >= game_set.opening[game])
    return game[learnable].astype(np.int32), ply[learnable].astype(np.int32)


def fill_batch(
    game_set: GameSet,
    game: np.ndarray,
    ply: np.ndarray,
    symmetries: np.ndarray,
    num_planes: int,
    out: np.ndarray,
    moves: np.ndarray,
    legal: np.ndarray,
    scratch: Scratch | None = None,
) -> None:
    """Replay and encode B positions, each turned by its symmetry, with the moves that were played there.

    A position that follows another of the same game in the batch is played on from there: batches in the games' order
    cost less.

    Args:
        game, ply: int[B] each, of `positions`.
        symmetries: uint8[B], 0 to 7 (`games.go.symmetry`).
        num_planes: 4, 12, 48 or 49, see `features.PLANES`.
        out: float32[≥ B, P, N, N], the planes, from the mover's side; modified in place.
        moves: int64[≥ B], the move played in the position, a flat index of the turned board, `PASS` of a pass; modified
            in place.
        legal: bool or uint8[≥ B, N²], which points of the turned board may be played by the board's own rules (ko, no
            suicide), and the move that was played, whatever rules the game followed; modified in place.
        scratch: of `features.new_scratch`, to spare making it at each call; one thread at a time may use it.

    Raises:
        ValueError: an argument is not as it should be, there is no such position, or a game puts a stone on another.
    """
    size, count = game_set.board_size, len(game)
    games, plies = np.ascontiguousarray(game, np.int64), np.ascontiguousarray(ply, np.int64)
    if games.ndim != 1 or games.shape != plies.shape:
        raise ValueError(f"game and ply must be arrays of one length, got shapes {games.shape} and {plies.shape}")
    if count and not 0 <= games.min() <= games.max() < len(game_set):
        raise ValueError(f"game must be from 0 to {len(game_set) - 1}, got {games.min()} to {games.max()}")
    outside = (plies < 0) | (plies >= game_set.lengths[games])
    if outside.any():
        raise ValueError(f"game {games[outside][0]} has no move after {plies[outside][0]} moves")
    check_planes(num_planes)
    check_symmetries(symmetries, count)
    planes, mask = flat_planes(out, count, num_planes, size), flat_legal(legal, count, size)
    if moves.dtype != np.int64 or moves.ndim != 1 or len(moves) < count:
        raise ValueError(f"moves must be int64[{count} or more], got {moves.dtype}{list(moves.shape)}")
    wrong = _fill(
        game_set.start,
        game_set.moves,
        game_set.first_to_play,
        game_set.black_setup_start,
        game_set.black_setup,
        game_set.white_setup_start,
        game_set.white_setup,
        games,
        plies,
        np.ascontiguousarray(symmetries[:count], np.uint8),
        num_planes,
        planes,
        moves,
        mask,
        new_boards(1, size),
        new_boards(1, size),
        scratch_for(size, scratch),
        size,
    )
    if wrong != SOUND:
        raise ValueError(f"game {games[wrong]} puts a stone on another within its first {plies[wrong] + 1} moves")


@kernel
def _fill(
    start: np.ndarray,
    moves: np.ndarray,
    first_to_play: np.ndarray,
    black_start: np.ndarray,
    black: np.ndarray,
    white_start: np.ndarray,
    white: np.ndarray,
    games: np.ndarray,
    plies: np.ndarray,
    symmetries: np.ndarray,
    num_planes: Index,
    planes: np.ndarray,
    targets: np.ndarray,
    legal: np.ndarray,
    empty: Boards,
    boards: Boards,
    scratch: Scratch,
    size: Index,
) -> Index:
    """Fill the batch; return `SOUND`, or the first entry of it whose game cannot be played."""
    game, ply = -1, 0
    for b in range(len(games)):
        if games[b] != game or plies[b] < ply:
            game, ply = games[b], 0
            copy_to(empty, 0, boards, 0)
            sound = _set_up(boards, black, black_start[game], black_start[game + 1], BLACK, size)
            sound &= _set_up(boards, white, white_start[game], white_start[game + 1], WHITE, size)
            if not sound:
                return b
            boards.to_play[0] = BLACK if first_to_play[game] == FIRST else WHITE
        while ply < plies[b]:
            v = point_of(np.int64(moves[start[game] + ply]), size)
            if v != PASS_POINT and boards.cells[0, COLOUR + v] != EMPTY:
                return b
            play_on(boards, 0, v)
            ply += 1
        symmetry = np.int64(symmetries[b])
        encode(boards, 0, num_planes, symmetry, planes[b], scratch)
        mark_legal(boards, 0, symmetry, legal[b], scratch)
        v = point_of(np.int64(moves[start[game] + ply]), size)
        targets[b] = PASS
        if v != PASS_POINT:
            if boards.cells[0, COLOUR + v] != EMPTY:
                return b
            targets[b] = scratch.targets[symmetry, v]
            legal[b, np.uint64(targets[b])] = True
    return SOUND


@kernel
def _set_up(boards: Boards, stones: np.ndarray, first: Index, end: Index, colour: np.uint64, size: Index) -> bool:
    """Place a game's stones of a colour on board 0, modified in place; return whether every point was free."""
    for k in range(first, end):
        v = point_of(np.int64(stones[k]), size)
        if boards.cells[0, COLOUR + v] != EMPTY:
            return False
        set_up_stone(boards, 0, v, colour)
    return True
