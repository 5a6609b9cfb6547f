"""Positions for a value network: one a game, of games that networks play (Silver et al., 2016, Methods).

Start reading at `play_positions`. Positions of one game share its result, and a network that learns many of them learns
to recognise the game. So of each game one position is learnt: U is drawn uniformly from a range; the SL policy plays
the first U − 1 moves, move U is drawn uniformly among the legal points, and the RL policy plays the rest. The position
after move U is kept, with the result of the game. If the game is over before it, U and the game are drawn again.

The file holds the games whole, so that results can be checked, and so that learning from *all* their positions can be
compared with learning from one.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from miai.alphago.game_batch import game_limit
from miai.alphago.self_play import UNIFORM, Policy, game_streams, play_games
from miai.errors import MiaiError
from miai.games.go.coordinates import MAX_SIZE, MIN_SIZE
from miai.networks.evaluator import Inference, load_evaluator
from miai.records.game_set import SCORE, TEST, TRAIN, VALID, GameSet
from miai.rng import generator
from miai.tensor_file import load_tensors, save_tensors

POSITIONS_FILE = "positions.safetensors"
KIND = "positions"
VERSION = 1
SL, RL = 0, 1
"""The two policies."""
PAPER_LAST, PAPER_POINTS = 450, 361
"""The paper's largest U, and the points of its board."""
MOST_ATTEMPTS = 200
"""How often a game is drawn again before the range of U is called impossible."""

_TYPES = {"start": "int64", "moves": "int16", "ply": "int32", "winner": "int8", "split": "uint8"}


def fitting_last(size: int) -> int:
    """Return the largest U for a board: the paper's 450 of 19×19, in proportion to the points."""
    return max(1, round(PAPER_LAST * size * size / PAPER_POINTS))


class DrawnGames(NamedTuple):
    """Games with a position each.

    Attributes:
        moves: of each game, whole.
        plies: U of each game: the position after so many moves is the one to learn.
        winners: +1 Black, −1 White, 0 a draw.
        redrawn: games that were over too early, and were drawn again.
    """

    moves: list[list[int]]
    plies: list[int]
    winners: list[int]
    redrawn: int


def play_positions(
    policies: Sequence[Policy], count: int, size: int, komi: float, first: int, last: int, seed: int, role: str
) -> DrawnGames:
    """Play `count` games, each with the one position that is to be learnt.

    Args:
        policies: SL and RL.
        first, last: the range that U is drawn from, both included.
        seed, role: of the randomness (`miai.rng`).

    Raises:
        ValueError: the range is empty, or reaches to the limit of moves.
        MiaiError: games are over before U again and again.
    """
    limit = game_limit(size)
    if not 1 <= first <= last <= limit - 3:
        raise ValueError(f"U: a range within 1 to {limit - 3} needed, got {first} to {last}")
    drawn = DrawnGames([], [], [], 0)
    attempt = 0
    while (missing := count - len(drawn.moves)) > 0:
        if attempt == MOST_ATTEMPTS:
            raise MiaiError(f"first_move, last_move: games are over before move U, of {first} to {last}, every time.")
        plies = generator(seed, f"{role} U {attempt}").integers(first, last, missing, endpoint=True)
        moves = np.arange(1, limit + 1)
        turns = np.where(moves < plies[:, None], SL, RL).astype(np.int8)
        turns[np.arange(missing), plies - 1] = UNIFORM
        played = play_games(policies, turns, size, komi, game_streams(seed, f"{role} games {attempt}", missing))
        longest = played.moves.shape[1]
        # The random move has to have been made, and the game has to go on after it.
        there = np.minimum(plies, longest) - 1
        made = (plies < played.lengths) & (played.deciders[np.arange(missing), there] == UNIFORM)
        for game in np.flatnonzero(made):
            drawn.moves.append(played.moves_of(int(game)))
            drawn.plies.append(int(plies[game]))
            drawn.winners.append(int(played.winners[game]))
        drawn = drawn._replace(redrawn=drawn.redrawn + int((~made).sum()))
        attempt += 1
    return drawn


class Unit(NamedTuple):
    """Some of the games of a run: what a process needs to play them."""

    sl: str
    rl: str
    inference: Inference
    temperature: float
    num_games: int
    size: int
    komi: float
    first: int
    last: int
    seed: int
    number: int


def make_unit(unit: Unit) -> dict[str, Any]:
    """Play a unit's games; return them as JSON can hold them (`DrawnGames`, moves of all games as one string)."""
    policies = [_policy(path, unit.inference, unit.temperature) for path in (unit.sl, unit.rl)]
    role = f"unit {unit.number}"
    drawn = play_positions(policies, unit.num_games, unit.size, unit.komi, unit.first, unit.last, unit.seed, role)
    moves = np.concatenate([np.array(game, "<i2") for game in drawn.moves])
    return {
        "moves": base64.b64encode(moves.tobytes()).decode("ascii"),
        "lengths": [len(game) for game in drawn.moves],
        "plies": drawn.plies,
        "winners": drawn.winners,
        "redrawn": drawn.redrawn,
    }


@lru_cache(maxsize=4)
def _policy(path: str, inference: Inference, temperature: float) -> Policy:
    """Load a network once a process."""
    evaluator = load_evaluator(path, inference)
    return Policy(evaluator, evaluator.spec.planes, temperature)


@dataclass(frozen=True, eq=False, kw_only=True)
class ValueData:
    """Games g = 0 … G − 1, each with one position to learn.

    Attributes:
        start: int64[G + 1]; moves of game g are `moves[start[g]:start[g + 1]]`.
        moves: int16[M], flat indices, −1 a pass; Black moves first.
        ply: int32[G], U: the position after so many moves is the one to learn. The game goes on after it.
        winner: int8[G], +1 Black, −1 White, 0 a draw.
        split: uint8[G], as in `records.game_set`.
    """

    board_size: int
    komi: float
    start: np.ndarray
    moves: np.ndarray
    ply: np.ndarray
    winner: np.ndarray
    split: np.ndarray

    @classmethod
    def of_units(
        cls, results: Sequence[Mapping[str, Any]], size: int, komi: float, seed: int, valid: float, test: float
    ) -> ValueData:
        """Put the results of `make_unit` together; `valid` and `test` are the shares of these splits."""
        moves = [np.frombuffer(base64.b64decode(result["moves"]), "<i2").astype(np.int16) for result in results]
        lengths = [length for result in results for length in result["lengths"]]
        draw = generator(seed, "split").random(len(lengths))
        split = np.where(draw < valid, VALID, np.where(draw < valid + test, TEST, TRAIN))
        return cls(
            board_size=size,
            komi=komi,
            start=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            moves=np.concatenate(moves),
            ply=np.array([ply for result in results for ply in result["plies"]], np.int32),
            winner=np.array([winner for result in results for winner in result["winners"]], np.int8),
            split=split.astype(np.uint8),
        )

    def __len__(self) -> int:
        return len(self.ply)

    @property
    def lengths(self) -> np.ndarray:
        """Moves of each game, int64[G]."""
        return np.diff(self.start)

    def mover_results(self) -> np.ndarray:
        """Return z of each game from the side that moves in its position, int8[G]."""
        return np.where(self.ply % 2 == 0, self.winner, -self.winner).astype(np.int8)

    def game_set(self) -> GameSet:
        """Return the games as a set, without copying their moves."""
        count = len(self)
        none = np.zeros(count + 1, np.int64), np.zeros(0, np.int16)
        return GameSet(
            board_size=self.board_size,
            collections=("value data",),
            start=self.start,
            moves=self.moves,
            first_to_play=np.ones(count, np.int8),
            opening=np.zeros(count, np.int16),
            komi=np.full(count, self.komi, np.float32),
            winner=self.winner,
            ended=np.full(count, SCORE, np.uint8),
            margin=np.zeros(count, np.float32),
            split=self.split,
            collection=np.zeros(count, np.uint16),
            black_setup_start=none[0],
            black_setup=none[1],
            white_setup_start=none[0],
            white_setup=none[1],
        )

    def save(self, path: str | Path, meta: Mapping[str, Any]) -> None:
        """Write a file; `meta` says where the games come from. The same data give the same bytes."""
        arrays = {name: getattr(self, name) for name in _TYPES}
        save_tensors(path, KIND, VERSION, arrays, {**meta, "board_size": self.board_size, "komi": self.komi})

    @classmethod
    def load(cls, path: str | Path) -> ValueData:
        """Map a file.

        Raises:
            MiaiError: there is no such file, or it is no sound set of positions.
        """
        arrays, meta = load_tensors(path, KIND, VERSION, _TYPES, mapped=True)
        size, komi = meta.get("board_size"), meta.get("komi")
        if not (isinstance(size, int) and MIN_SIZE <= size <= MAX_SIZE and isinstance(komi, (int, float))):
            raise MiaiError(f"{path}: it is damaged: its board size or komi is missing.")
        found = cls(board_size=size, komi=float(komi), **arrays)
        wrong = found._find_fault()
        if wrong:
            raise MiaiError(f"{path}: it is damaged: {wrong}.")
        return found

    def _find_fault(self) -> str | None:
        count = len(self.ply)
        if any(getattr(self, name).ndim != 1 for name in _TYPES) or not count:
            return "it holds no games, or an array is not one-dimensional"
        if any(len(getattr(self, name)) != count for name in ("winner", "split")) or len(self.start) != count + 1:
            return "its arrays are of different lengths"
        if self.start[0] != 0 or self.start[-1] != len(self.moves) or np.any(np.diff(self.start) < 1):
            return "start does not divide moves"
        if self.moves.min() < -1 or self.moves.max() >= self.board_size**2:
            return "a move is off the board"
        if np.any(self.ply < 0) or np.any(self.ply >= self.lengths):
            return "a position is not within its game"
        if np.any(np.abs(self.winner) > 1) or np.any(self.split > TEST):
            return "a winner or a split is not one"
        return None
