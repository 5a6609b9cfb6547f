"""Small sets of invented games, for trainings in tests."""

from __future__ import annotations

import numpy as np

from miai.games.go import GoGame
from miai.networks.policy import sensible_points
from miai.records.game_set import GameSet
from miai.records.play import record_game

SPLIT = (0, 0, 0, 0, 1, 2)
"""Of the games, in turn: four to train on, one to validate, one to test."""


def near_the_middle(game: GoGame) -> np.ndarray:
    """How well an invented expert likes each point: near the middle of the board and near the last move."""
    rows, columns = np.divmod(np.arange(game.size**2), game.size)
    middle = (game.size - 1) / 2
    liking = -0.5 * ((rows - middle) ** 2 + (columns - middle) ** 2)
    if game.moves:
        row, column = divmod(game.moves[-1], game.size)
        liking -= np.abs(rows - row) + np.abs(columns - column)
    return liking


def invented_games(count: int, size: int = 5, length: int = 12, seed: int = 0) -> GameSet:
    """Games of an expert with a habit, which a network can learn, of two collections in turn."""
    dice = np.random.default_rng(seed)
    records = []
    for _ in range(count):
        game = GoGame(size)
        for _ in range(length):
            liking = near_the_middle(game) + dice.gumbel(size=size * size)
            game.play(int(np.where(sensible_points(game), liking, -np.inf).argmax()))
        records.append(record_game(game))
    splits = [SPLIT[i % len(SPLIT)] for i in range(count)]
    return GameSet.from_records(records, splits, [("even", "odd")[i % 2] for i in range(count)])


def experts_loss(games: GameSet, chosen: np.ndarray) -> float:
    """The expert's own mean −ln p of the moves of some games: no network can be better but by chance."""
    losses = []
    for number in np.unique(chosen):
        game = GoGame(games.board_size)
        for move in games.moves_of(number).tolist():
            powers = np.where(sensible_points(game), np.exp(near_the_middle(game)), 0.0)
            losses.append(-np.log(powers[move] / powers.sum()))
            game.play(move)
    return float(np.mean(losses))
