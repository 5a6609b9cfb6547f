"""How fast batches for networks are made: positions a second, replayed from the start of their games and encoded.

By the processor's time, on one thread. The games are pattern playouts, cut off before the board is full, so that the
benchmark needs no records; `miai.networks.batches` says what is timed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import median

import numpy as np

from benchmarks.measuring import Measure
from miai.games.go import GoGame
from miai.games.go.board import BLACK, point_to_flat
from miai.networks.batches import fill_batch, positions
from miai.networks.features import new_scratch
from miai.records import GameRecord
from miai.records.game_set import GameSet
from miai.rng import generator, stream
from miai.search.patterns import pattern_table
from miai.search.playouts import MOVES_PER_POINT, pattern_playout

REPEATS = 9
GAMES = 200
LENGTH = {9: 60, 19: 220}
"""Moves of a game by the board's size, about as many as strong players make."""
BATCH = 256
BATCHES = {9: 40, 19: 10}
GOAL = {9: 60_000.0, 19: 15_000.0}
NUM_PLANES = 48


def played_games(size: int) -> GameSet:
    """Return the first moves of pattern playouts from the empty board."""
    rng, trace = stream(1, "bench"), np.zeros(MOVES_PER_POINT * size * size, np.uint16)
    records = []
    for _ in range(GAMES):
        cells, liberties = (array.copy() for array in GoGame(size).state)
        pattern_playout(cells, liberties, BLACK, rng, trace, 0, pattern_table())
        moves = [point_to_flat(int(v), size) for v in trace[: LENGTH[size]]]
        colours = (1 if ply % 2 == 0 else -1 for ply in range(len(moves)))
        records.append(GameRecord(size=size, komi=7.5, moves=tuple(zip(colours, moves, strict=True))))
    return GameSet.from_records(records)


def positions_per_second(size: int, num_planes: int) -> float:
    """Return how many positions drawn at random are made a second, each under a symmetry drawn at random."""
    games = played_games(size)
    game, ply = positions(games, games.games())
    rng = generator(1, "bench")
    planes = np.empty((BATCH, num_planes, size, size), np.float32)
    moves, legal = np.empty(BATCH, np.int64), np.empty((BATCH, size * size), bool)
    scratch = new_scratch(size)
    rates = []
    for _ in range(REPEATS + 1):  # The first loads the kernels.
        drawn = rng.integers(0, len(game), (BATCHES[size], BATCH))
        symmetries = rng.integers(0, 8, (BATCHES[size], BATCH), np.uint8)
        began = time.process_time()
        for batch, turns in zip(drawn, symmetries, strict=True):
            fill_batch(games, game[batch], ply[batch], turns, num_planes, planes, moves, legal, scratch)
        rates.append(drawn.size / (time.process_time() - began))
    return median(rates[1:])


def measure_all() -> Iterator[Measure]:
    """Yield the measures of both sizes."""
    for size, goal in GOAL.items():
        name = f"batches, {size}×{size}, {NUM_PLANES} planes with ladders"
        yield Measure(name, "positions/s", positions_per_second(size, NUM_PLANES), None, goal)
