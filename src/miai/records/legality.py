"""Whether the moves of many games are legal: the rules of `games.go.GoGame`, in compiled code without its history.

`GoGame` keeps every board, so that moves can be taken back. Here only the keys of the positions are kept, in a hash
table that all games share; some ten million moves take seconds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from miai.compiled import Index, kernel
from miai.errors import choose
from miai.games.game import FIRST, PASS
from miai.games.go.board import (
    BEFORE_LAST,
    BLACK,
    BOTH,
    COLOUR,
    EMPTY,
    KO,
    LAST,
    NO_POINT,
    NUM_EMPTY,
    PASS_POINT,
    WHITE,
    clear,
    is_legal,
    new_board,
    play,
    point_of,
)
from miai.games.go.game import SUPERKO
from miai.games.go.zobrist import side_key, stones_key, stones_key_after
from miai.records.game_set import GameSet

LEGAL, OCCUPIED, IS_KO, SUICIDE, REPEATED, OVER, NO_LIBERTY = 0, 1, 2, 3, 4, 5, 6
FAULTS = ("", "the point is occupied", "ko", "suicide", "superko", "the game is over", "a set-up chain has no liberty")
"""What is wrong with a game, by code."""

NO_MOVE = -1
_POSITIONAL, _SITUATIONAL, _NONE = (SUPERKO.index(name) for name in ("positional", "situational", "none"))


class Verdicts(NamedTuple):
    """Of each game, whether it is legal, and if not, where it goes wrong.

    Attributes:
        faults: uint8[G], codes of `FAULTS`.
        plies: int32[G], the first illegal move, from 0; `NO_MOVE` where there is none.
    """

    faults: np.ndarray
    plies: np.ndarray

    def describe(self, game: int) -> str:
        """Say what is wrong with a game, such as `move 31: suicide`; nothing if it is legal."""
        text = FAULTS[self.faults[game]]
        return text if self.plies[game] == NO_MOVE else f"move {self.plies[game] + 1}: {text}"


def judge_games(game_set: GameSet, superko: str = "positional", suicide: bool = False) -> Verdicts:
    """Play all games of a set through.

    Args:
        superko, suicide: the rules, as in `GoGame`.

    Raises:
        MiaiError: `superko` is no such choice.
    """
    code = SUPERKO.index(choose(superko, SUPERKO, "superko"))
    count = len(game_set)
    verdicts = Verdicts(np.zeros(count, np.uint8), np.full(count, NO_MOVE, np.int32))
    longest = int(game_set.lengths.max(initial=0))
    capacity = 1 << (2 * (longest + 1)).bit_length()  # Never more than half full.
    _judge(
        game_set.board_size,
        game_set.start,
        game_set.moves,
        game_set.first_to_play,
        game_set.black_setup_start,
        game_set.black_setup,
        game_set.white_setup_start,
        game_set.white_setup,
        code,
        suicide,
        *new_board(game_set.board_size),
        np.zeros(capacity, np.uint64),
        np.full(capacity, -1, np.int64),
        *verdicts,
    )
    return verdicts


@kernel
def _judge(
    size: Index,
    start: np.ndarray,
    moves: np.ndarray,
    first_to_play: np.ndarray,
    black_start: np.ndarray,
    black: np.ndarray,
    white_start: np.ndarray,
    white: np.ndarray,
    superko: Index,
    suicide: bool,
    cells: np.ndarray,
    liberties: np.ndarray,
    table: np.ndarray,
    owners: np.ndarray,
    faults: np.ndarray,
    plies: np.ndarray,
) -> None:
    """Fill the last two arrays; the four before them are scratch, `owners` filled with −1."""
    for game in range(len(start) - 1):
        clear(cells, liberties, size)
        sound = _place(cells, liberties, size, black, black_start[game], black_start[game + 1], BLACK)
        sound = sound and _place(cells, liberties, size, white, white_start[game], white_start[game + 1], WHITE)
        if not sound:
            faults[game] = NO_LIBERTY
            continue
        cells[KO], cells[LAST], cells[BEFORE_LAST] = NO_POINT, PASS_POINT, PASS_POINT
        colour = BLACK if first_to_play[game] == FIRST else WHITE
        stones = stones_key(cells)
        _remember(table, owners, game, stones ^ side_key(colour) if superko == _SITUATIONAL else stones)
        passes = 0
        for i in range(start[game], start[game + 1]):
            fault = LEGAL
            v = PASS_POINT
            if passes == 2:
                fault = OVER
            elif moves[i] == PASS:
                passes += 1
            else:
                passes = 0
                v = point_of(moves[i], size)
                if cells[COLOUR + v] != EMPTY:
                    fault = OCCUPIED
                elif v == cells[KO]:
                    fault = IS_KO
                elif not is_legal(cells, liberties, v, colour, suicide):
                    fault = SUICIDE
                else:
                    stones = stones_key_after(cells, liberties, v, colour, stones)
            if fault == LEGAL and superko != _NONE:
                key = stones ^ side_key(BOTH - colour) if superko == _SITUATIONAL else stones
                if _remember(table, owners, game, key) and v != PASS_POINT:
                    fault = REPEATED
            if fault != LEGAL:
                faults[game] = fault
                plies[game] = i - start[game]
                break
            play(cells, liberties, v, colour)
            colour = BOTH - colour


@kernel
def _place(
    cells: np.ndarray,
    liberties: np.ndarray,
    size: Index,
    stones: np.ndarray,
    first: Index,
    last: Index,
    colour: np.uint64,
) -> bool:
    """Put stones on the board, in place; `False` if a chain has no liberty, and so left the board (see `GoGame`)."""
    for i in range(first, last):
        empty = np.int64(cells[NUM_EMPTY])
        play(cells, liberties, point_of(stones[i], size), colour)
        if np.int64(cells[NUM_EMPTY]) != empty - 1:
            return False
    return True


@kernel
def _remember(table: np.ndarray, owners: np.ndarray, game: Index, key: np.uint64) -> bool:
    """Add a position of a game to the hash table, in place; tell whether it was there.

    Places of other games count as free, so that the table need not be cleared between games.
    """
    mask = np.uint64(len(table) - 1)
    place = key & mask
    while owners[place] == game:
        if table[place] == key:
            return True
        place = (place + np.uint64(1)) & mask
    owners[place] = game
    table[place] = key
    return False
