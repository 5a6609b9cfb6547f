"""Experts' games with their results: for the control of the RL stage, and for the naive value network.

Both learn from results, so that games lost on time are left out, as the position does not say who was slow; and games
that nobody won.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from miai.errors import MiaiError
from miai.networks.batches import fill_batch, positions
from miai.records.game_set import TIME, GameSet
from miai.rng import generator

LEAN_POSITIONS = 4096
"""So many positions, or all if there are fewer, of each split tell how a policy leans."""


class ExpertMoves(NamedTuple):
    """Experts' moves, each with the result of its game.

    Attributes:
        planes: float32[n, P, N, N].
        allowed: bool[n, N²], the legal points.
        moves: int64[n].
        returns: float32[n], +1 if the mover won the game, −1 if it lost.
    """

    planes: np.ndarray
    allowed: np.ndarray
    moves: np.ndarray
    returns: np.ndarray


class ExpertGames:
    """The games of a data set that tell who won.

    Args:
        path: a `GameSet`.
        size: the board that is needed.
        seed: decides which positions `lean` looks at.

    Attributes:
        game_set: all games.
        train, valid: int64[…], the numbers of the games of these splits that count.

    Raises:
        MiaiError: no such file, another board size, or too few games.
    """

    def __init__(self, path: Path, size: int, seed: int) -> None:
        self.game_set = GameSet.load(path)
        if self.game_set.board_size != size:
            side = self.game_set.board_size
            raise MiaiError(f"{path}: its games are on {side}×{side}; the network is of {size}×{size}.")
        self.train, self.valid = (decided_games(self.game_set, split) for split in ("train", "valid"))
        if not len(self.train) or not len(self.valid):
            raise MiaiError(f"{path}: games with a winner are needed in both splits, train and valid.")
        random = generator(seed, "lean")
        self._samples = {
            name: _sample(self.game_set, games, random)
            for name, games in (("train", self.train), ("valid", self.valid))
        }

    def batches(self, games: np.ndarray, num_planes: int, most: int) -> Iterator[ExpertMoves]:
        """Yield the moves of some games, at most so many at once."""
        game, ply = positions(self.game_set, games)
        yield from self._batches(game, ply, num_planes, most)

    def _batches(self, game: np.ndarray, ply: np.ndarray, num_planes: int, most: int) -> Iterator[ExpertMoves]:
        size = self.game_set.board_size
        for start in range(0, len(game), most):
            rows = slice(start, start + most)
            count = len(game[rows])
            planes = np.empty((count, num_planes, size, size), np.float32)
            moves = np.empty(count, np.int64)
            legal = np.empty((count, size * size), np.bool_)
            same = np.zeros(count, np.uint8)
            fill_batch(self.game_set, game[rows], ply[rows], same, num_planes, planes, moves, legal)
            yield ExpertMoves(planes, legal, moves, mover_results(self.game_set, game[rows], ply[rows]))

    def lean(self, evaluate: Callable[[np.ndarray], np.ndarray], num_planes: int) -> dict[str, float]:
        """Return by how much likelier a policy makes winners' moves than losers', in nats: a mean of log p a side.

        What holds of all games shows in both splits. What shows in `train_lean` alone was learnt by heart.

        Returns:
            `train_lean`, `valid_lean`, and their difference `lean_gap`.
        """
        found = {}
        for split, (game, ply) in self._samples.items():
            logs, returns = [], []
            for batch in self._batches(game, ply, num_planes, 1024):
                logits = np.where(batch.allowed, evaluate(batch.planes).astype(np.float64), -np.inf)
                best = logits.max(axis=1)
                total = best + np.log(np.exp(logits - best[:, None]).sum(axis=1))
                logs.append(logits[np.arange(len(logits)), batch.moves] - total)
                returns.append(batch.returns)
            log_p, won = np.concatenate(logs), np.concatenate(returns) > 0
            found[f"{split}_lean"] = float(log_p[won].mean() - log_p[~won].mean()) if 0 < won.sum() < len(won) else 0.0
        return {**found, "lean_gap": found["train_lean"] - found["valid_lean"]}


def decided_games(game_set: GameSet, split: str) -> np.ndarray:
    """Return the games of a split that were won, and not on time; int64[…]."""
    games = game_set.games(split)
    return games[(game_set.winner[games] != 0) & (game_set.ended[games] != TIME)]


def mover_results(game_set: GameSet, game: np.ndarray, ply: np.ndarray) -> np.ndarray:
    """Return z from the side that moves after `ply` moves of each game, float32[n]."""
    mover = np.where(ply % 2 == 0, game_set.first_to_play[game], -game_set.first_to_play[game])
    return (game_set.winner[game] * mover).astype(np.float32)


def _sample(game_set: GameSet, games: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    game, ply = positions(game_set, games)
    chosen = np.sort(random.choice(len(game), min(len(game), LEAN_POSITIONS), replace=False))
    return game[chosen], ply[chosen]
