"""What playouts say of a position: the mean result of n of them, beside which a value network is measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from miai.games.game import FIRST
from miai.games.go.board import BLACK, WHITE, copy_board, new_board, point_of
from miai.games.go.boards import Boards, new_boards, play_on, set_up_stone
from miai.games.go.coordinates import MAX_SIZE
from miai.games.go.scoring import quick_area_difference
from miai.records.game_set import GameSet
from miai.rng import stream
from miai.search.patterns import pattern_table
from miai.search.playouts import MOVES_PER_POINT, pattern_playout


def rollout_values(
    game_set: GameSet, game: np.ndarray, ply: np.ndarray, komi: np.ndarray, counts: Sequence[int], seed: int
) -> np.ndarray:
    """Return the mean result of pattern playouts from each position, from the mover's side.

    Args:
        game, ply: int[E], positions of the set.
        komi: float[E], for the result of a playout: +1 won, −1 lost, 0 drawn.
        counts: numbers of playouts, ascending; each includes the ones before.

    Returns:
        float64[E, len(counts)].

    Raises:
        ValueError: the counts do not ascend from 1.
    """
    wanted = np.array(counts, np.int64)
    if not len(wanted) or wanted[0] < 1 or np.any(np.diff(wanted) < 1):
        raise ValueError(f"counts: ascending numbers from 1 needed, got {list(counts)}")
    found = np.empty((len(game), len(wanted)))
    _estimate(
        game_set.start,
        game_set.moves,
        game_set.first_to_play,
        game_set.black_setup_start,
        game_set.black_setup,
        game_set.white_setup_start,
        game_set.white_setup,
        np.asarray(game, np.int64),
        np.asarray(ply, np.int64),
        np.asarray(komi, np.float64),
        wanted,
        stream(seed, "rollouts"),
        pattern_table(),
        new_board(game_set.board_size),
        new_boards(1, game_set.board_size),
        game_set.board_size,
        np.zeros(MOVES_PER_POINT * MAX_SIZE**2, np.uint16),
        found,
    )
    return found


@njit(cache=True, nogil=True)
def _estimate(
    start: np.ndarray,
    moves: np.ndarray,
    first_to_play: np.ndarray,
    black_start: np.ndarray,
    black: np.ndarray,
    white_start: np.ndarray,
    white: np.ndarray,
    games: np.ndarray,
    plies: np.ndarray,
    komi: np.ndarray,
    counts: np.ndarray,
    rng: np.ndarray,
    patterns: np.ndarray,
    empty: tuple[np.ndarray, np.ndarray],
    boards: Boards,
    size: int,
    trace: np.ndarray,
    found: np.ndarray,
) -> None:
    """Write each position's estimates to `found`; `rng`, `boards` and `trace` are modified in place too."""
    cells, liberties = empty[0].copy(), empty[1].copy()
    for row in range(len(games)):
        game = games[row]
        copy_board(empty[0], empty[1], boards.cells[0], boards.liberties[0])
        for k in range(black_start[game], black_start[game + 1]):
            set_up_stone(boards, 0, point_of(np.int64(black[k]), size), BLACK)
        for k in range(white_start[game], white_start[game + 1]):
            set_up_stone(boards, 0, point_of(np.int64(white[k]), size), WHITE)
        boards.to_play[0] = BLACK if first_to_play[game] == FIRST else WHITE
        boards.ply[0] = 0
        for k in range(plies[row]):
            play_on(boards, 0, point_of(np.int64(moves[start[game] + k]), size))
        colour = np.uint64(boards.to_play[0])
        side = 1.0 if colour == BLACK else -1.0
        total, done = 0.0, 0
        for i in range(len(counts)):
            while done < counts[i]:
                copy_board(boards.cells[0], boards.liberties[0], cells, liberties)
                pattern_playout(cells, liberties, colour, rng, trace, 0, patterns)
                total += side * np.sign(quick_area_difference(cells) - komi[row])
                done += 1
            found[row, i] = total / done
