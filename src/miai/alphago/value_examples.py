"""Positions with results, for value networks: one of each game, or all.

A position comes with z = ±1 from the side that is to move in it, 0 for a draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from miai import rng
from miai.alphago.examples import Examples
from miai.alphago.expert_games import decided_games, mover_results
from miai.alphago.value_data import ValueData
from miai.errors import MiaiError
from miai.records.game_set import SPLITS, GameSet


@dataclass(frozen=True, eq=False)
class ValueExamples:
    """E positions with results.

    Attributes:
        examples: which positions.
        results: float32[E], z from the mover's side.
    """

    examples: Examples
    results: np.ndarray

    @classmethod
    def of(cls, game_set: GameSet, game: np.ndarray, ply: np.ndarray) -> ValueExamples:
        """Take positions with the results of their games."""
        return cls(Examples(game_set, game, ply), mover_results(game_set, game, ply))

    def __len__(self) -> int:
        return len(self.results)

    def take(self, chosen: np.ndarray | slice) -> ValueExamples:
        """Return some of them."""
        return ValueExamples(self.examples.take(chosen), self.results[chosen])

    def spread(self, count: int | None) -> ValueExamples:
        """Return `count` of them, evenly spread over their order; all, if there are no more or `count` is `None`."""
        return self if count is None or count >= len(self) else self.take(np.arange(count) * len(self) // count)

    def planes(self, chosen: np.ndarray | slice, symmetries: np.ndarray, num_planes: int) -> np.ndarray:
        """Encode some of them, each turned by its symmetry: float32[B, P, N, N]."""
        return self.examples.batch(chosen, symmetries, num_planes).planes


def load_value_data(path: Path, *, every: bool, seed: int) -> dict[str, ValueExamples]:
    """Return the positions of a file of value data, by split.

    Args:
        every: train on all positions of the games; valid and test hold the one of each game in any case.
        seed: not looked at, for the file says which position is the one.

    Raises:
        MiaiError: the file is not what is needed, or a split is empty.
    """
    data = ValueData.load(path)
    game_set = data.game_set()
    found = {}
    for code, split in enumerate(SPLITS):
        games = np.flatnonzero(data.split == code).astype(np.int32)
        one = every is False or split != "train"
        found[split] = ValueExamples.of(game_set, *((games, data.ply[games]) if one else _every(game_set, games)))
    return _checked(found, path)


def load_expert_games(path: Path, *, every: bool, seed: int) -> dict[str, ValueExamples]:
    """Return positions of experts' games that were won, and not on time, by split.

    Args:
        every: train on all positions, which a network learns by heart; else on one of each game, drawn by `seed`. Valid
            and test hold all positions in any case.

    Raises:
        MiaiError: the file is not what is needed, or a split is empty.
    """
    game_set = GameSet.load(path)
    found = {}
    for split in SPLITS:
        games = decided_games(game_set, split).astype(np.int32)
        games = games[game_set.lengths[games] > game_set.opening[games]]
        if every or split != "train":
            found[split] = ValueExamples.of(game_set, *_every(game_set, games))
        else:
            low, high = game_set.opening[games].astype(np.int64), game_set.lengths[games]
            ply = rng.generator(seed, "one position a game").integers(low, high).astype(np.int32)
            found[split] = ValueExamples.of(game_set, games, ply)
    return _checked(found, path)


def _every(game_set: GameSet, games: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all positions of the games from which a move was made, but for their random openings."""
    lengths = game_set.lengths[games]
    game = np.repeat(games, lengths)
    ply = (np.arange(len(game)) - np.repeat(np.cumsum(lengths) - lengths, lengths)).astype(np.int32)
    chosen = ply >= game_set.opening[game]
    return game[chosen], ply[chosen]


def _checked(found: dict[str, ValueExamples], path: Path) -> dict[str, ValueExamples]:
    for split, examples in found.items():
        if not len(examples):
            raise MiaiError(f"{path}: there are no positions with a result in its {split} split.")
    return found
