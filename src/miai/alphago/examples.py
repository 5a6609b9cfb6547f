"""Positions with the expert's move: which ones, and in what order they come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from miai import rng
from miai.errors import MiaiError
from miai.games.go.symmetry import NUM_SYMMETRIES
from miai.networks.batches import fill_batch, positions
from miai.networks.features import new_scratch
from miai.records.game_set import GameSet


class Batch(NamedTuple):
    """B positions, as `networks.batches.fill_batch` makes them."""

    planes: np.ndarray
    """float32[B, P, N, N]."""
    moves: np.ndarray
    """int64[B], flat indices of the turned boards."""
    legal: np.ndarray
    """bool[B, N²]."""


@dataclass(frozen=True, eq=False)
class Examples:
    """Positions of a set of games, E of them.

    Attributes:
        game, ply: int32[E]: after `ply` moves of `game`.
    """

    game_set: GameSet
    game: np.ndarray
    ply: np.ndarray

    @classmethod
    def of(cls, game_set: GameSet, split: str, collections: Sequence[str] | None = None) -> Examples:
        """Take every position of a split that has a move to learn.

        Raises:
            MiaiError: there is none, or no such collection.
        """
        examples = cls(game_set, *positions(game_set, game_set.games(split, collections)))
        if not len(examples):
            where = f"{split} split" + (f" of {', '.join(collections)}" if collections else "")
            raise MiaiError(f"data: there are no moves to learn in its {where}.")
        return examples

    def __len__(self) -> int:
        return len(self.game)

    def take(self, chosen: np.ndarray | slice) -> Examples:
        """Return some of them."""
        return Examples(self.game_set, self.game[chosen], self.ply[chosen])

    def spread(self, count: int | None) -> Examples:
        """Return `count` of them, evenly spread over their order; all, if there are no more or `count` is `None`."""
        if count is None or count >= len(self):
            return self
        return self.take(np.arange(count) * len(self) // count)

    def games_up_to(self, count: int, seed: int) -> Examples:
        """Return the first `count` positions of the games in an order drawn by `seed`: with more, these and others."""
        if count >= len(self):
            return self
        games = np.unique(self.game)
        rank = np.empty(int(games.max()) + 1, np.int64)
        rank[rng.generator(seed, "subset").permutation(games)] = np.arange(len(games))
        order = np.argsort(rank[self.game], kind="stable")
        return self.take(order[:count])

    def batch(self, chosen: np.ndarray | slice, symmetries: np.ndarray, num_planes: int) -> Batch:
        """Encode some of them, each turned by its symmetry, uint8[B]."""
        game, ply = self.game[chosen], self.ply[chosen]
        count, size = len(game), self.game_set.board_size
        planes = np.empty((count, num_planes, size, size), np.float32)
        moves = np.empty(count, np.int64)
        legal = np.empty((count, size * size), np.bool_)
        fill_batch(self.game_set, game, ply, symmetries, num_planes, planes, moves, legal, new_scratch(size))
        return Batch(planes, moves, legal)


class ShuffledBatches:
    """An endless row of batches: pass after pass through all examples, each pass in an order of its own.

    Batch number k, from 0, is a function of the seed and of k alone, so that a training can begin at any of them.
    """

    def __init__(self, examples: Examples, batch_size: int, num_planes: int, seed: int) -> None:
        self.examples = examples
        self.batch_size = batch_size
        self.num_planes = num_planes
        self.seed = seed
        self._order = lru_cache(maxsize=2)(self._draw_order)

    def _draw_order(self, number: int) -> np.ndarray:
        order = np.arange(len(self.examples), dtype=np.int32)
        rng.generator(self.seed, f"order of pass {number}").shuffle(order)
        return order

    def draw(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return which examples are in batch number k, int32[B], and a random symmetry for each, uint8[B]."""
        total = len(self.examples)
        place, end = k * self.batch_size, (k + 1) * self.batch_size
        parts = []
        while place < end:
            number, offset = divmod(place, total)
            parts.append(self._order(number)[offset : offset + end - place])
            place += len(parts[-1])
        draw = rng.generator(self.seed, f"symmetries of batch {k}")
        return np.concatenate(parts), draw.integers(0, NUM_SYMMETRIES, self.batch_size, np.uint8)

    def __getitem__(self, k: int) -> Batch:
        """Make batch number k: each position under a random one of the eight symmetries."""
        return self.examples.batch(*self.draw(k), self.num_planes)
