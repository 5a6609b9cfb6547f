from __future__ import annotations

import numpy as np
import pytest

from miai.alphago.accuracy import Predictions, predict, predict_both
from miai.alphago.examples import Examples
from miai.games.go.symmetry import permutation

from .recorded import invented_games

GAMES = invented_games(6)
TEST = Examples.of(GAMES, "test")


def test_metrics_by_hand() -> None:
    found = Predictions(np.array([0.5, 0.25, 0.125, 1.0]), np.array([0, 4, 5, 0])).metrics("test")
    assert found["test/loss"] == pytest.approx(np.log(2) * (1 + 2 + 3 + 0) / 4)
    assert found["test/top1"] == 0.5
    assert found["test/top5"] == 0.75


def test_a_network_that_knows_nothing_gives_every_legal_point_the_same() -> None:
    found = predict(lambda planes: np.zeros((len(planes), 25), np.float32), TEST, 4)
    stones = np.arange(12)  # nothing is captured so early
    assert found.probability == pytest.approx(1 / (25 - stones))
    moves = GAMES.moves_of(5)
    empty_before = [sum(q not in moves[:ply] for q in range(move)) for ply, move in enumerate(moves)]
    assert found.rank.tolist() == empty_before, "of equals the first is taken, as argmax does"


def test_a_network_that_knows_the_moves_is_right() -> None:
    moves = iter(GAMES.moves_of(5))

    def oracle(planes: np.ndarray) -> np.ndarray:
        logits = np.zeros((len(planes), 25), np.float32)
        for row in logits:
            row[next(moves)] = 50
        return logits

    assert predict(oracle, TEST, 4).metrics("x") == pytest.approx({"x/loss": 0.0, "x/top1": 1.0, "x/top5": 1.0})


def test_what_is_impossible_costs_much_but_not_infinitely() -> None:
    def wrong(planes: np.ndarray) -> np.ndarray:
        # 1,000 on the last empty point, which these games do not reach.
        logits = np.zeros((len(planes), 25), np.float32)
        for row, empty in zip(logits, planes[:, 2].reshape(-1, 25), strict=True):
            row[np.flatnonzero(empty)[-1]] = 1_000
        return logits

    found = predict(wrong, TEST, 4)
    assert found.metrics("x")["x/loss"] > 100
    assert np.isfinite(found.metrics("x")["x/loss"])


def test_averaging_is_over_boards_turned_back() -> None:
    # The logits are the sum of a fixed pattern of the turned board and what the stones say.
    pattern = np.random.default_rng(0).normal(size=25).astype(np.float32)

    def network(planes: np.ndarray) -> np.ndarray:
        return pattern + planes[:, 0].reshape(-1, 25) - np.roll(planes[:, 1].reshape(-1, 25), 1, axis=1)

    single, averaged = predict_both(network, TEST, 4)
    for i in range(len(TEST)):
        expected = np.zeros(25)
        for k in range(8):
            batch = TEST.batch(slice(i, i + 1), np.array([k], np.uint8), 4)
            powers = np.where(batch.legal[0], np.exp(network(batch.planes)[0]), 0.0)
            expected += (powers / powers.sum())[permutation(5, k)] / 8
            if k == 0:
                assert single.probability[i] == pytest.approx(expected[batch.moves[0]] * 8, rel=1e-5)
        move = GAMES.moves_of(5)[TEST.ply[i]]
        assert averaged.probability[i] == pytest.approx(expected[move], rel=1e-5)


def test_averaging_a_network_that_treats_all_sides_alike_changes_nothing() -> None:
    middle = -np.square(np.indices((5, 5)) - 2).sum(axis=0).ravel().astype(np.float32)
    single, averaged = predict_both(lambda planes: np.tile(middle, (len(planes), 1)), TEST, 4)
    assert averaged.probability == pytest.approx(single.probability)
