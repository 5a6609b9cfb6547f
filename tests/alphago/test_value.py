"""The value stage: signs, what it starts from, overfitting, resume, playouts beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from miai.alphago.rollout_values import rollout_values  # noqa: E402
from miai.alphago.self_play import game_streams, play_games, seat_turns  # noqa: E402
from miai.alphago.value import ValueTraining, first_weights, predict  # noqa: E402
from miai.alphago.value_data import ValueData  # noqa: E402
from miai.alphago.value_examples import ValueExamples, load_expert_games, load_value_data  # noqa: E402
from miai.alphago.value_settings import ValueTask  # noqa: E402
from miai.errors import MiaiError  # noqa: E402
from miai.networks.evaluator import Inference, make_evaluator  # noqa: E402
from miai.networks.weights import Network  # noqa: E402
from miai.records import GameRecord  # noqa: E402
from miai.records.game_set import GameSet  # noqa: E402
from miai.records.result import How, Result  # noqa: E402
from miai.runner.compose import compose_one  # noqa: E402

from .networks import tiny, uniform  # noqa: E402

TINY = (
    "network=tiny",
    "batch_size=16",
    "num_epochs=4",
    "epoch_positions=64",
    "optimisation.learning_rate=0.01",
    "device=cpu",
    "precision=float32",
    "threads=1",
)


def task(*overrides: str) -> ValueTask:
    return ValueTask.of(compose_one("value", [*TINY, *overrides]))


def value_data(folder: Path, count: int = 120, size: int = 3) -> Path:
    """Uniform games with a position each, move 3; in turn: train, valid, test."""
    turns = seat_turns(np.ones(count, bool), 3 * size * size)
    played = play_games((uniform(size), uniform(size)), turns, size, 0.5, game_streams(0, "games", count))
    lengths = played.lengths
    ValueData(
        board_size=size,
        komi=0.5,
        start=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        moves=np.concatenate([np.array(played.moves_of(game), np.int16) for game in range(count)]),
        ply=np.full(count, 3, np.int32),
        winner=played.winners,
        split=(np.arange(count) % 3).astype(np.uint8),
    ).save(folder / "positions.safetensors", {})
    return folder / "positions.safetensors"


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    return value_data(tmp_path_factory.mktemp("data"))


def examples(data: Path, *, every: bool = False) -> dict[str, ValueExamples]:
    return load_value_data(data, every=every, seed=0)


def test_a_position_comes_with_the_result_of_the_side_to_move(data):
    whole = ValueData.load(data)
    one = examples(data)
    for code, split in enumerate(("train", "valid", "test")):
        games = np.flatnonzero(whole.split == code)
        assert one[split].examples.game.tolist() == games.tolist()
        assert (one[split].examples.ply == 3).all()
        assert one[split].results.tolist() == (-whole.winner[games]).tolist()  # White is to move after 3 moves.
    every = examples(data, every=True)
    games = np.flatnonzero(whole.split == 0)
    assert len(every["train"]) == whole.lengths[games].sum()
    assert len(every["test"]) == len(one["test"])
    first = every["train"].take(np.flatnonzero(every["train"].examples.ply == 0))
    assert first.results.tolist() == whole.winner[games].tolist()  # Black is to move.


def record(winner: int, how: How, moves: int = 4, first: int = 1) -> GameRecord:
    played = tuple((first if ply % 2 == 0 else -first, ply) for ply in range(moves))
    return GameRecord(size=3, komi=0.5, to_play=first, moves=played, result=Result(winner, how))


def test_experts_losses_on_time_and_draws_are_left_out(tmp_path):
    kinds = [(1, How.RESIGNATION), (-1, How.TIME), (0, How.DRAW), (-1, How.RESIGNATION)]
    records = [record(winner, how) for winner, how in kinds for _ in range(3)]
    records += [record(1, How.RESIGNATION, first=-1)]
    GameSet.from_records(records, [0, 1, 2] * 4 + [0], opening=1).save(tmp_path / "games.safetensors")
    naive = load_expert_games(tmp_path / "games.safetensors", every=True, seed=0)
    assert np.unique(naive["train"].examples.game).tolist() == [0, 9, 12]
    assert naive["train"].examples.ply.tolist() == [1, 2, 3] * 3, "the random opening is not looked at"
    # Black won game 0: after 1 move White is to move, so −1, then +1, −1. White won 9. White began in 12.
    assert naive["train"].results.tolist() == [-1, 1, -1, 1, -1, 1, 1, -1, 1]
    one = load_expert_games(tmp_path / "games.safetensors", every=False, seed=0)
    assert one["train"].examples.game.tolist() == [0, 9, 12]
    assert len(one["valid"]) == len(naive["valid"]) == 6
    GameSet.from_records(records, 0).save(tmp_path / "train.safetensors")
    with pytest.raises(MiaiError, match="no positions with a result in its valid split"):
        load_expert_games(tmp_path / "train.safetensors", every=True, seed=0)


def test_fifty_positions_can_be_learnt_by_heart(data):
    every = examples(data, every=True)
    few = {**every, "train": every["train"].take(np.arange(50) * 3)}
    options = ("network.filters=32", "network.planes=48", "optimisation.lr_schedule=constant", "patience=null")
    training = ValueTraining(task(*options, "num_epochs=1", "epoch_positions=6400", "batch_size=50"), few)
    [(_, row)] = training.epochs()
    assert row["value/mse_train"] < 0.1
    assert row["value/gap"] == row["value/mse_valid"] - row["value/mse_train"] > 0.2


def test_resumed_is_the_same_as_uninterrupted(data):
    def rows(training: ValueTraining, after: int) -> list[dict[str, float]]:
        found = []
        for _, row in training.epochs():
            found.append({name: value for name, value in row.items() if name != "train/positions_per_s"})
            if training.num_epochs == after:
                break
        return found

    whole = ValueTraining(task(), examples(data))
    first = rows(whole, 2)
    state = {name: array.copy() for name, array in whole.state().items()}
    rest = rows(whole, 4)
    assert len(first) == len(rest) == 2
    again = ValueTraining(task(), examples(data))
    again.restore(state)
    assert rows(again, 4) == rest
    assert all(np.array_equal(array, again.state()[name]) for name, array in whole.state().items())


def test_it_stops_when_the_valid_split_gains_nothing(data):
    training = ValueTraining(task("patience=1", "num_epochs=50", "optimisation.learning_rate=1e-9"), examples(data))
    training.best_mse = 0.0  # nothing can be smaller
    assert len(list(training.epochs())) == 1


def test_a_policys_trunk_sees_what_it_saw(data):
    """48 planes become 49: with any colour to play the first convolution gives the same, and the head is new."""
    policy = tiny(size=3, planes=48)
    training = ValueTraining(task(), examples(data), init=policy)
    weights = training.learner.weights()
    assert training.spec.planes == 49
    first = weights["trunk.0.conv.weight"]
    assert np.array_equal(first[:, :48], policy.weights["trunk.0.conv.weight"])
    assert not first[:, 48].any()
    assert np.array_equal(weights["trunk.1.conv.weight"], policy.weights["trunk.1.conv.weight"])
    assert weights["value.output.weight"].any()
    value = Network(training.spec, weights, {})
    again = ValueTraining(task(), examples(data), init=value)
    assert all(np.array_equal(again.learner.weights()[name], array) for name, array in weights.items())
    with pytest.raises(MiaiError, match="init: it is a network of the 5×5 board; one of 3×3 is needed"):
        ValueTraining(task(), examples(data), init=tiny(size=5, planes=48))
    assert first_weights(training.spec, None, np.random.default_rng(0)).keys() == weights.keys()


def test_predictions_are_those_of_the_network_position_by_position(data):
    network = tiny("value", size=3, planes=49)
    evaluate = make_evaluator(network, Inference("torch", "cpu"))
    some = examples(data, every=True)["train"].take(slice(0, 9))
    together = predict(evaluate, some, network.spec)
    for row in range(9):
        alone = evaluate(some.planes(slice(row, row + 1), np.zeros(1, np.uint8), 49))
        assert together[row] == pytest.approx(float(alone[0]), abs=1e-5)


def test_playouts_know_who_wins_and_whose_turn_it_is():
    """3×3, Black holds the middle row, and all is Black's: +1 with Black to move, −1 with White, for any number."""
    moves = ((1, 3), (-1, -1), (1, 4), (-1, -1), (1, 5), (-1, -1), (1, 1))
    black_wall = GameRecord(size=3, komi=0.5, moves=moves, result=Result(1, How.RESIGNATION))
    games = GameSet.from_records([black_wall])
    found = rollout_values(games, np.array([0, 0]), np.array([5, 6]), np.full(2, 0.5), (1, 30), seed=0)
    assert found.tolist() == [[-1, -1], [1, 1]]
    lost = rollout_values(games, np.array([0]), np.array([6]), np.array([30.5]), (4,), seed=0)
    assert lost.tolist() == [[-1]], "komi decides"
    drawn = rollout_values(games, np.array([0]), np.array([6]), np.array([9.0]), (5,), seed=0)
    assert -1 <= drawn[0, 0] <= 0
    with pytest.raises(ValueError, match="ascending numbers from 1"):
        rollout_values(games, np.array([0]), np.array([6]), np.array([0.5]), (5, 2), seed=0)


def test_more_playouts_are_nearer_to_the_mean_of_very_many():
    opened = GameRecord(size=5, komi=2.5, moves=((1, 12), (-1, 6)), result=Result(1, How.RESIGNATION))
    games = GameSet.from_records([opened] * 200)
    number, ply, komi = np.arange(200), np.full(200, 1), np.full(200, 2.5)
    found = rollout_values(games, number, ply, komi, (1, 4, 100), seed=0)
    truth = found[:, 2].mean()
    errors = np.square(found - truth).mean(axis=0)
    variance = 1 - truth**2
    assert variance > 0.5, "the game is open"
    assert errors[:2] == pytest.approx([variance, variance / 4], rel=0.35)
    assert errors[2] < errors[1] < errors[0]


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["data=x"], "value_data or data: one of them is needed, and only one"),
        (["value_data=null"], "value_data or data: one of them is needed"),
        (["positions_per_game=some"], "positions_per_game: Input should be 'one' or 'all'"),
        (["test.rollouts=[10,1]"], "test.rollouts: ascending numbers"),
        (["network.planes=49"], "network.planes: 4, 12 or 48"),
        (["optimisation.learning_rate=0"], "optimisation.learning_rate"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(overrides, message):
    with pytest.raises(MiaiError, match=message) as error:
        task(*overrides)
    assert "\n" not in str(error.value)
