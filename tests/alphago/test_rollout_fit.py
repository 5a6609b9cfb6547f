"""The fit of the rollout policy: the likelihood and its gradient against plain Python, and what it learns."""

from __future__ import annotations

import dataclasses
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from miai.alphago.rollout_fit import RolloutFit, RolloutSettings
from miai.errors import MiaiError
from miai.games.game import PASS
from miai.games.go import GoGame
from miai.records.game_set import TEST, TRAIN, VALID, GameSet, alternates
from miai.records.record import GameRecord
from miai.records.result import Result
from miai.search.rollout_features import NUM_WEIGHTS, SECTIONS, SELF_ATARI
from search.plain_rollouts import plain_scores

from .recorded import experts_loss, invented_games

GAMES = invented_games(60)
TWO_GAMES = invented_games(2, size=7, length=40, seed=5)


def settings(**options: Any) -> RolloutSettings:
    return RolloutSettings(data="games.safetensors", **options)


def record(*moves: int, size: int = 3, setup: tuple = ((), ())) -> GameRecord:
    return GameRecord(
        size=size,
        komi=None,
        handicap=0,
        setup=setup,
        to_play=1,
        moves=tuple((1 - 2 * (ply % 2), move) for ply, move in enumerate(moves)),
        result=Result(),
        source="test",
    )


def random_weights(seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    weights = generator.normal(0.0, 0.5, NUM_WEIGHTS)
    weights[SELF_ATARI : SELF_ATARI + SECTIONS["self_atari"]] = -1.0
    return weights


def plain_losses(games: GameSet, number: int, weights: np.ndarray) -> tuple[list[float], int]:
    """Return −log p of each move of a game, and how many of them had the largest score."""
    game = GoGame(games.board_size, superko="none")
    losses, hits = [], 0
    for move in games.moves_of(number).tolist():
        scores = plain_scores(game, weights)
        total = math.log(sum(map(math.exp, scores.values())))
        losses.append(total - scores[move])
        hits += max(scores, key=lambda flat: scores[flat]) == move
        game.play(move)
    return losses, hits


def test_loss_and_top1_are_those_of_a_plain_softmax() -> None:
    fit = RolloutFit(settings(), TWO_GAMES)
    fit.weights = random_weights(3)
    for number in range(2):
        losses, hits = plain_losses(TWO_GAMES, number, fit.weights)
        measured = fit.measure(np.array([number]))
        assert measured.positions == len(losses) == 40
        assert measured.loss == pytest.approx(np.mean(losses), rel=1e-9)
        assert measured.top1 == hits / len(losses)


def test_the_gradient_is_that_of_the_loss() -> None:
    """Central differences, for weights of every section that the games use and for one that they do not."""
    fit = RolloutFit(settings(), TWO_GAMES)
    weights = random_weights(4)
    fit.weights = weights
    numbers = np.array([0, 1])
    gradient, measured = fit.gradient(numbers)
    assert measured == fit.measure(numbers)
    begin = 0
    for name, size in SECTIONS.items():
        own = gradient[begin : begin + size]
        chosen = begin + int(np.abs(own).argmax())
        assert gradient[chosen] != 0.0, name
        for place in (chosen, begin + size - 1):
            losses = []
            for change in (1e-4, -1e-4):
                moved = weights.copy()
                moved[place] += change
                losses.append(fit.measure(numbers, moved).loss)
            assert gradient[place] == pytest.approx((losses[0] - losses[1]) / 2e-4, abs=1e-7)
        begin += size


def test_a_habit_is_learnt() -> None:
    fit = RolloutFit(settings(num_epochs=10, batch_games=4, patience=None, l2=1e-4), GAMES)
    rows = list(fit.epochs())
    assert [row["train/learning_rate"] for row in rows[:2]] == pytest.approx([0.02, 0.018])
    assert rows[0]["valid/loss"] > rows[-1]["valid/loss"]
    assert rows[-1]["train/loss"] < rows[0]["train/loss"]
    assert fit.best_loss == min(row["valid/loss"] for row in rows)
    tested = fit.test()
    assert tested["test/loss"] < math.log(17) - 0.5  # a random move of some 17
    assert tested["test/loss"] > experts_loss(GAMES, GAMES.games(TEST)) - 0.05
    assert {name for name in tested if "collection" in name} == {"test/collection/odd/loss", "test/collection/odd/top1"}


def test_self_atari_stays_within_its_bounds() -> None:
    """The only recorded move puts two stones into atari, again and again; its weight may come to 0, not further."""
    setup = ((1,), (0, 6, 5, 7))  # . at 2, 3, 4, 8 of a 3 × 3 board: Black at 4 leaves one liberty, 3
    games = GameSet.from_records([record(4, setup=setup)] * 8)
    fit = RolloutFit(settings(num_epochs=60, patience=None, l2=0.0, learning_rate=0.1), games)
    for _ in fit.epochs():
        exposed = fit.weights[SELF_ATARI : SELF_ATARI + SECTIONS["self_atari"]]
        assert (exposed >= -4.0).all()
        assert (exposed <= 0.0).all()


def test_openings_and_passes_are_not_learnt() -> None:
    games = GameSet.from_records([record(4, PASS, 0, 1)], opening=1)
    assert RolloutFit(settings(), games).measure(np.array([0])).positions == 2


def test_a_move_that_the_policy_never_makes_counts_as_not_predicted() -> None:
    """Black fills its own eye at the corner: no sensible move."""
    games = GameSet.from_records([record(0, setup=((1, 3, 4), ()))])
    measured = RolloutFit(settings(), games).measure(np.array([0]))
    assert measured == (0.0, 0.0, 1)


def test_the_same_seed_the_same_weights_and_another_seed_others() -> None:
    fits = [RolloutFit(settings(num_epochs=2, batch_games=4, seed=seed), GAMES) for seed in (0, 0, 1)]
    for fit in fits:
        list(fit.epochs())
    assert (fits[0].best == fits[1].best).all()
    assert (fits[0].best != fits[2].best).any()


def test_a_fit_that_goes_on_is_the_fit_that_never_stopped() -> None:
    def without_clock(row: dict[str, float]) -> dict[str, float]:
        return {name: value for name, value in row.items() if name != "train/positions_per_s"}

    options = settings(num_epochs=4, batch_games=4, epoch_games=20)
    whole = RolloutFit(options, GAMES)
    rows = [without_clock(row) for row in whole.epochs()]
    first = RolloutFit(options, GAMES)
    going = first.epochs()
    head = [without_clock(next(going)) for _ in range(2)]
    saved = {name: array.copy() for name, array in first.state().items()}
    second = RolloutFit(options, GAMES)
    second.restore(saved)
    assert head + [without_clock(row) for row in second.epochs()] == rows
    for name, array in whole.state().items():
        if name != "numbers":
            np.testing.assert_array_equal(array, second.state()[name], name)
    assert whole.test() == second.test()


def test_it_stops_when_patience_ends() -> None:
    """The valid game is the opposite of what is to be learnt, so the first epoch stays the best."""
    games = GameSet.from_records([record(4)] * 8 + [record(0)], [TRAIN] * 8 + [VALID])
    fit = RolloutFit(settings(num_epochs=50, patience=3, learning_rate=0.1), games)
    rows = list(fit.epochs())
    assert len(rows) == 4
    assert fit.best_loss == rows[0]["valid/loss"]
    assert (fit.best != fit.weights).any()


def test_l2_keeps_weights_small() -> None:
    norms = []
    for l2 in (0.0, 0.1):
        fit = RolloutFit(settings(num_epochs=3, batch_games=4, patience=None, l2=l2), GAMES)
        list(fit.epochs())
        norms.append(float(np.linalg.norm(fit.weights)))
    assert norms[1] < 0.7 * norms[0]


def test_collections_are_chosen() -> None:
    assert len(RolloutFit(settings(collections=("even",)), GAMES).numbers) == 20
    with pytest.raises(MiaiError, match="there is no 'west'"):
        RolloutFit(settings(collections=("west",)), GAMES)


def test_without_games_there_is_nothing_to_fit() -> None:
    with pytest.raises(MiaiError, match="no games to learn from"):
        RolloutFit(settings(), GameSet.from_records([record(4)], VALID))


def test_a_game_that_cannot_be_played_is_named() -> None:
    games = dataclasses.replace(TWO_GAMES, moves=np.zeros_like(TWO_GAMES.moves))
    with pytest.raises(MiaiError, match="game 0 puts a stone on another"):
        RolloutFit(settings(), games).measure(np.array([0]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_epochs": 0}, "num_epochs"),
        ({"batch_games": 0}, "batch_games"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"l2": -1.0}, "l2"),
        ({"patience": 0}, "patience"),
        ({"data": ""}, "data"),
        ({"collections": "all"}, "collections"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    config = {**dataclasses.asdict(settings()), **options}
    with pytest.raises(MiaiError, match=message):
        RolloutSettings.of(config)


@pytest.mark.skipif("MIAI_RECORDS" not in os.environ, reason="MIAI_RECORDS names no folder of records")
def test_strong_players_moves_are_predicted() -> None:
    """An eighth of the games, once: 27 % of held-out moves and more."""
    from miai.records import RecordReader, read_index

    place = Path(os.environ["MIAI_RECORDS"]) / "go9-strong.tar.xz"
    if not place.is_file():
        pytest.skip(f"there is no {place.name} in MIAI_RECORDS")
    index = read_index(place)
    codes = {"train": TRAIN, "valid": VALID, "test": TEST}
    records, splits = [], []
    for found in RecordReader(place):
        if len(records) == 3000:
            break
        if isinstance(found, GameRecord) and alternates(found):
            records.append(found)
            splits.append(codes[index[found.source]["split"]])
    fit = RolloutFit(settings(num_epochs=2), GameSet.from_records(records, splits))
    list(fit.epochs())
    assert fit.test()["test/top1"] > 0.27
