"""Many games of Go at once, for networks that evaluate positions in batches.

Start reading at `GameBatch`. All games begin together and have the same number of moves, until one of them ends: so one
side is to move in all of them, and one call of a network serves all games in which it is that network's turn.

The rules are those of `GoGame` with its defaults: positional superko, no suicide, two passes end a game, area scoring
with every stone alive. Passing is not learnt, for the networks know no pass. It is done exactly when

- no move is allowed: legal, and not in a one-point eye of the mover's own; or
- the opponent has just passed, and the score as it stands wins for the mover; or
- the game is two moves before its limit, so that every game ends by two passes and is scored.

So a game is played on until nothing is left to be taken; it is never adjudicated before.
"""

from __future__ import annotations

import numpy as np

from miai.compiled import Index, kernel
from miai.games.game import PASS
from miai.games.go.board import (
    COLOUR,
    EMPTY,
    KO,
    PASS_POINT,
    POINTS,
    SHAPE,
    has_empty_neighbour,
    is_alive_after,
    is_eye,
    point_of,
)
from miai.games.go.boards import Boards, new_boards, play_on
from miai.games.go.coordinates import check_size
from miai.games.go.game import check_komi
from miai.games.go.scoring import area_difference
from miai.games.go.zobrist import stones_key_after
from miai.networks.features import Scratch, check_planes, encode, new_scratch
from miai.rng import below, uniform
from miai.search.playouts import MOVES_PER_POINT

PASS_MOVE = np.int16(PASS)
NO_MOVE = np.int16(-2)
"""In place of a move, after the end of a game."""


def game_limit(size: int) -> int:
    """Return the largest number of moves of a game: so many that only cycles of captures could reach it."""
    return MOVES_PER_POINT * size * size


class GameBatch:
    """Games in progress, from the empty board.

    Attributes:
        count: number of games, B.
        size, komi, limit: of every game; `limit` is the largest number of moves, passes included.
        boards: the positions now.
        moves: int16[B, limit], the moves so far: flat indices, `PASS_MOVE`, then `NO_MOVE`.
        keys: uint64[B, limit + 1], the key of the stones before each move, and now.
        captured: uint8[B], whether stones have left the board: only then can a position come back.
        over: uint8[B], whether the game has ended.
        ply: moves so far of every game that is not over.

    Raises:
        ValueError: an argument is not allowed.
    """

    def __init__(self, count: int, size: int, komi: float, limit: int | None = None) -> None:
        if count < 1:
            raise ValueError(f"count: 1 or more games needed, got {count}")
        self.count = count
        self.size = check_size(size)
        self.komi = check_komi(komi)
        self.limit = game_limit(size) if limit is None else limit
        if self.limit < 2:
            raise ValueError(f"limit: 2 or more moves needed, so that a game can end by passes, got {limit}")
        self.boards = new_boards(count, size)
        self.moves = np.full((count, self.limit), NO_MOVE)
        self.keys = np.zeros((count, self.limit + 1), np.uint64)
        self.captured = np.zeros(count, np.uint8)
        self.over = np.zeros(count, np.uint8)
        self.ply = 0
        self._owner = np.empty(POINTS, np.uint8)
        self._region = np.empty(POINTS, np.uint16)
        self._scratch = new_scratch(size)

    @property
    def points(self) -> int:
        """Points of the board, N²."""
        return self.size * self.size

    def active(self) -> np.ndarray:
        """Return the games that are not over, int64[n], ascending."""
        return np.flatnonzero(self.over == 0)

    def allowed(self, games: np.ndarray, *, eyes: bool = False) -> np.ndarray:
        """Return which points may be played, uint8[n, N²]: legal, superko included; with `eyes`, also in own eyes."""
        found = np.empty((len(games), self.points), np.uint8)
        _find_allowed(self.boards, self.keys, self.captured, games, eyes, self.size, found)
        return found

    def has_to_pass(self, games: np.ndarray, allowed: np.ndarray) -> np.ndarray:
        """Return in which games the side to move passes, by the rule of this module; bool[n]."""
        passes = allowed.max(axis=1) == 0
        if self.ply >= self.limit - 2:
            passes[:] = True
        elif self.ply:
            for row in np.flatnonzero(self.moves[games, self.ply - 1] == PASS_MOVE):
                passes[row] |= self.score(int(games[row])) * (1 if self.ply % 2 == 0 else -1) > 0
        return passes

    def planes(self, games: np.ndarray, num_planes: int) -> np.ndarray:
        """Return what a network sees of the positions (`networks.features`), float32[n, P, N, N]."""
        found = np.empty((len(games), check_planes(num_planes), self.points), np.float32)
        _encode_some(self.boards, games, num_planes, found, self._scratch)
        return found.reshape(len(games), num_planes, self.size, self.size)

    def score(self, game: int) -> float:
        """Return Black's area minus White's minus komi, every stone alive."""
        return float(area_difference(self.boards.cells[game], self._owner, self._region)) - self.komi

    def scores(self) -> np.ndarray:
        """Return the score of every game, float32[B]."""
        return np.array([self.score(game) for game in range(self.count)], np.float32)

    def lengths(self) -> np.ndarray:
        """Return the number of moves of every game so far, passes included; int32[B]."""
        return (self.moves != NO_MOVE).sum(axis=1, dtype=np.int32)

    def play(self, games: np.ndarray, moves: np.ndarray) -> None:
        """Play a move in every game that is not over: `games` as from `active`, moves int16[n], trusted to be legal.

        Raises:
            ValueError: `games` are not all the games that go on.
        """
        if not np.array_equal(games, self.active()):
            raise ValueError("a move is needed in each game that is not over, and in no other")
        _advance(self.boards, self.keys, self.captured, self.over, self.moves, games, moves, self.ply, self.size)
        self.ply += 1
        if self.ply == self.limit:
            self.over[:] = 1


def draw_uniform(games: np.ndarray, allowed: np.ndarray, streams: np.ndarray) -> np.ndarray:
    """Draw one of the allowed points of each row with equal probability, int16[n]; −1 where none is.

    Args:
        games: int64[n], each row's stream.
        allowed: uint8[n, N²].
        streams: uint64[B, 4], modified in place.
    """
    drawn = np.empty(len(games), np.int16)
    _draw_uniform(games, allowed, streams, drawn)
    return drawn


def draw_moves(
    games: np.ndarray, logits: np.ndarray, allowed: np.ndarray, temperature: float, streams: np.ndarray
) -> np.ndarray:
    """Draw a move of each row from softmax(logits / temperature) over the allowed points, int16[n].

    Args:
        games: int64[n], each row's stream.
        logits: float32[n, N²].
        allowed: uint8[n, N²], at least one in a row.
        temperature: 0 takes the largest logit, the first of equal ones.
        streams: uint64[B, 4], modified in place.

    Raises:
        ValueError: the temperature is negative, or shapes differ.
    """
    if not temperature >= 0:
        raise ValueError(f"temperature must be 0 or more, got {temperature!r}")
    if logits.shape != allowed.shape:
        raise ValueError(f"logits are {logits.shape}, allowed moves {allowed.shape}")
    drawn = np.empty(len(games), np.int16)
    _draw_moves(games, np.ascontiguousarray(logits, np.float32), allowed, float(temperature), streams, drawn)
    return drawn


# ---- kernels: they trust, and modify in place what their summaries name ----


@kernel
def _find_allowed(
    boards: Boards,
    keys: np.ndarray,
    captured: np.ndarray,
    games: np.ndarray,
    eyes: bool,
    size: Index,
    found: np.ndarray,
) -> None:
    """Write which points may be played to `found`, a row a game."""
    for row in range(len(games)):
        game = games[row]
        cells, liberties = boards.cells[game], boards.liberties[game]
        colour = np.uint64(boards.to_play[game])
        ply = np.int64(boards.ply[game])
        now = keys[game, ply]
        for flat in range(size * size):
            v = point_of(flat, size)
            found[row, flat] = 0
            if cells[COLOUR + v] != EMPTY or v == cells[KO]:
                continue
            shape = np.uint64(cells[SHAPE + v])
            is_open = has_empty_neighbour(shape)
            if not is_open and (
                (not eyes and is_eye(shape, colour)) or not is_alive_after(cells, liberties, v, colour)
            ):
                continue
            if captured[game]:
                key = stones_key_after(cells, liberties, v, colour, now)
                seen = False
                for past in range(ply + 1):
                    seen |= keys[game, past] == key
                if seen:
                    continue
            found[row, flat] = 1


@kernel
def _encode_some(boards: Boards, games: np.ndarray, num_planes: Index, found: np.ndarray, scratch: Scratch) -> None:
    """Write the planes of each game's position to `found`, float32[n, P, N²]; `scratch` is modified too."""
    for row in range(len(games)):
        encode(boards, games[row], num_planes, 0, found[row], scratch)


@kernel
def _advance(
    boards: Boards,
    keys: np.ndarray,
    captured: np.ndarray,
    over: np.ndarray,
    moves: np.ndarray,
    games: np.ndarray,
    played: np.ndarray,
    ply: Index,
    size: Index,
) -> None:
    """Play a move in each game; all arrays but `games` and `played` are modified in place."""
    for row in range(len(games)):
        game, flat = games[row], np.int64(played[row])
        cells, liberties = boards.cells[game], boards.liberties[game]
        key = keys[game, ply]
        v = PASS_POINT
        if flat >= 0:
            v = point_of(flat, size)
            key = stones_key_after(cells, liberties, v, np.uint64(boards.to_play[game]), key)
        if play_on(boards, game, v) > 0:
            captured[game] = 1
        keys[game, ply + 1] = key
        moves[game, ply] = flat
        if flat < 0 and ply > 0 and moves[game, ply - 1] == PASS_MOVE:
            over[game] = 1


@kernel
def _draw_uniform(games: np.ndarray, allowed: np.ndarray, streams: np.ndarray, drawn: np.ndarray) -> None:
    """Write a move of each row to `drawn`; `streams` is modified too."""
    for row in range(len(games)):
        total = 0
        for flat in range(allowed.shape[1]):
            total += allowed[row, flat] != 0
        drawn[row] = PASS_MOVE
        if total:
            left = below(streams[games[row]], total)
            for flat in range(allowed.shape[1]):
                if allowed[row, flat]:
                    if left == 0:
                        drawn[row] = flat
                        break
                    left -= 1


@kernel
def _draw_moves(
    games: np.ndarray,
    logits: np.ndarray,
    allowed: np.ndarray,
    temperature: float,
    streams: np.ndarray,
    drawn: np.ndarray,
) -> None:
    """Write a move of each row to `drawn`; `streams` is modified too."""
    for row in range(len(games)):
        best = -1
        for flat in range(allowed.shape[1]):
            if allowed[row, flat] and (best < 0 or logits[row, flat] > logits[row, best]):
                best = flat
        drawn[row] = best
        if temperature > 0:
            total = 0.0
            for flat in range(allowed.shape[1]):
                if allowed[row, flat]:
                    total += np.exp((np.float64(logits[row, flat]) - np.float64(logits[row, best])) / temperature)
            left = uniform(streams[games[row]]) * total
            for flat in range(allowed.shape[1]):
                if allowed[row, flat]:
                    left -= np.exp((np.float64(logits[row, flat]) - np.float64(logits[row, best])) / temperature)
                    if left < 0.0:
                        drawn[row] = flat
                        break
