"""The supervised stage, on invented games, with tiny networks, in seconds."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from miai.alphago.examples import Examples  # noqa: E402
from miai.alphago.supervised import SupervisedTraining, batch_sums  # noqa: E402
from miai.alphago.supervised_settings import SupervisedTask  # noqa: E402
from miai.alphago.training import Learner, find_precision, policy_loss  # noqa: E402
from miai.errors import MiaiError  # noqa: E402
from miai.networks.weights import Network, initial_weights  # noqa: E402
from miai.runner.compose import compose_one  # noqa: E402

from .recorded import experts_loss, invented_games  # noqa: E402

GAMES = invented_games(60)
TINY = (
    "network=tiny",
    "network.planes=4",
    "batch_size=32",
    "num_epochs=3",
    "epoch_positions=320",
    "optimisation.learning_rate=0.01",
    "device=cpu",
    "precision=float32",
)


def task(*overrides: str) -> SupervisedTask:
    return SupervisedTask.of(compose_one("sl_policy", [*TINY, *overrides]))


def rows_of(training: SupervisedTraining) -> list[tuple[int, dict[str, float]]]:
    return [(step, {k: v for k, v in row.items() if k != "train/positions_per_s"}) for step, row in training.epochs()]


def test_it_learns_the_experts_habit() -> None:
    training = SupervisedTraining(task("num_epochs=8", "epoch_positions=640"), GAMES)
    rows = rows_of(training)
    assert [step for step, _ in rows] == [640 * epoch for epoch in range(1, 9)]
    first, last = rows[0][1], rows[-1][1]
    assert last["valid/loss"] < first["valid/loss"] < np.log(20), "better than a guess among about 20 points"
    tested = training.test()
    best_possible = experts_loss(GAMES, training.test_set.game)
    assert best_possible - 0.05 < tested["test/loss"] < best_possible + 0.3
    assert tested["test/top1"] <= tested["test/top5"] <= 1
    assert tested["test/averaged/loss"] < tested["test/loss"], "many opinions are better than one"
    assert {name for name in tested if "/collection/" in name} == {
        f"test/collection/odd/{rest}{what}" for rest in ("", "averaged/") for what in ("loss", "top1", "top5")
    }


def test_fifty_positions_can_be_learnt_by_heart() -> None:
    spec = task("network.filters=32", "network.layers=3").spec(5)
    options = task("optimisation.learning_rate=0.01", "optimisation.lr_schedule=constant").optimisation
    learner = Learner(spec, initial_weights(spec, np.random.default_rng(0)), options, torch.device("cpu"))
    # One position of each game, from the fourth move on, so that hardly two are alike.
    examples = Examples.of(GAMES, "train")
    late = np.flatnonzero(examples.ply >= 4)
    examples = examples.take(late[:: len(late) // 50][:50])
    batch = examples.batch(slice(None), np.zeros(50, np.uint8), 4)
    assert len(np.unique(batch.planes.reshape(50, -1), axis=0)) == 50
    moves, legal = torch.from_numpy(batch.moves), torch.from_numpy(batch.legal)
    for _ in range(200):
        learner.update(policy_loss(learner.forward(batch.planes), moves, legal), 0.5)
    logits = learner.forward(batch.planes, training=False).masked_fill(~legal, -torch.inf)
    assert (logits.argmax(dim=1) == moves).all()


@pytest.mark.parametrize(
    "kind",
    [
        ("optimisation.optimiser=adamw",),
        ("optimisation.optimiser=sgd", "network.block=residual", "network.layers=3", "network.batch_norm=true"),
        ("optimisation.optimiser=sgd", "optimisation.momentum=0.0", "precision=bfloat16"),
    ],
    ids=["adamw", "sgd-residual", "bfloat16"],
)
def test_resumed_is_as_uninterrupted(kind: tuple[str, ...]) -> None:
    whole = SupervisedTraining(task("num_epochs=4", *kind), GAMES)
    rows = rows_of(whole)
    half = SupervisedTraining(task("num_epochs=4", *kind), GAMES)
    epochs = half.epochs()
    next(epochs), next(epochs)
    state = {name: array.copy() for name, array in half.state().items()}
    resumed = SupervisedTraining(task("num_epochs=4", *kind), GAMES)
    resumed.restore(state)
    assert rows_of(resumed) == rows[2:]
    assert resumed.best_loss == whole.best_loss
    for name, array in whole.learner.weights().items():
        assert array.tobytes() == resumed.learner.weights()[name].tobytes(), name
        assert whole.best[name].tobytes() == resumed.best[name].tobytes(), name


def test_the_same_seed_gives_the_same_network_and_another_another() -> None:
    found = []
    for seed in (1, 1, 2):
        training = SupervisedTraining(task("num_epochs=1", f"seed={seed}"), GAMES)
        rows_of(training)
        found.append(b"".join(array.tobytes() for array in training.best.values()))
    assert found[0] == found[1] != found[2]


def test_the_best_weights_are_kept_and_patience_ends() -> None:
    training = SupervisedTraining(task("num_epochs=50", "patience=2"), GAMES)
    epochs = training.epochs()
    _, row = next(epochs)
    assert training.best_loss == row["valid/loss"]
    best = training.best
    training.best_loss = 0.0  # which no later epoch can be better than
    assert len(list(epochs)) == 2
    assert training.since_best == 2
    assert training.best is best
    assert any((training.learner.weights()[name] != array).any() for name, array in best.items())


def test_a_budget_in_minutes_ends_and_drives_the_schedule() -> None:
    seconds = iter(np.arange(0, 1e6, 0.5))
    training = SupervisedTraining(
        task("num_epochs=null", "max_minutes=0.5", "optimisation.warmup=0.0"), GAMES, clock=lambda: next(seconds)
    )
    rows = rows_of(training)
    assert training.progress == 1.0
    assert 30 <= training.seconds < 40
    rates = [row["train/learning_rate"] for _, row in rows]
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] == pytest.approx(0.0)


def test_a_part_of_the_positions_and_of_the_collections() -> None:
    training = SupervisedTraining(task("num_positions=100", "valid_positions=7", "test.positions=9"), GAMES)
    assert (len(training.train), len(training.valid), len(training.test_set)) == (100, 7, 9)
    with pytest.raises(MiaiError, match="there is no 'pros'"):
        SupervisedTraining(task("collections=[pros]"), GAMES)


def test_it_goes_on_from_a_network() -> None:
    first = SupervisedTraining(task("num_epochs=1"), GAMES)
    rows_of(first)
    network = Network(first.spec, first.best, {})
    second = SupervisedTraining(task("num_epochs=1"), GAMES, network)
    assert all((second.learner.weights()[name] == array).all() for name, array in first.best.items())
    with pytest.raises(MiaiError, match="init: it is a network of"):
        SupervisedTraining(task("network.filters=9"), GAMES, network)
    value = network.spec.with_value_head()
    with pytest.raises(MiaiError, match="init: it is a value network; a policy network is needed"):
        SupervisedTraining(task(), GAMES, Network(value, initial_weights(value, np.random.default_rng(0)), {}))


def test_a_loss_that_is_no_number_is_said() -> None:
    wild = task("optimisation.optimiser=sgd", "optimisation.learning_rate=1e30", "optimisation.max_gradient=null")
    with pytest.raises(MiaiError, match=r"the loss is no longer a number after [\d,]+ positions"):
        rows_of(SupervisedTraining(wild, GAMES))


def test_the_loss_is_over_legal_points_alone() -> None:
    logits = torch.tensor([[0.0, 0.0, 0.0, 9.0]], requires_grad=True)
    legal = torch.tensor([[True, True, True, False]])
    loss = policy_loss(logits, torch.tensor([1]), legal)
    assert loss.item() == pytest.approx(np.log(3))
    loss.backward()
    assert logits.grad[0].tolist() == pytest.approx([1 / 3, -2 / 3, 1 / 3, 0])


def test_what_is_said_of_illegal_points_does_not_count() -> None:
    logits = torch.tensor([[9.0, 3.0, 1.0, 2.0, 0.0, -1.0, -2.0]]).repeat(3, 1)
    legal = torch.tensor([[False, True, True, True, True, True, True]]).repeat(3, 1)
    found = batch_sums(torch.tensor(0.5), logits, torch.tensor([1, 5, 6]), legal)
    assert found.tolist() == [1.5, 1.0, 2.0]  # predicted; the fifth; the sixth


def test_precision() -> None:
    cpu = torch.device("cpu")
    assert find_precision("float32", cpu) == "float32"
    assert find_precision("bfloat16", cpu) == "bfloat16"
    assert find_precision("auto", cpu) in ("float32", "bfloat16")


@pytest.mark.parametrize(
    ("override", "complaint"),
    [
        ("batch_size=0", "batch_size: .* not 0"),
        ("num_epochs=null", "num_epochs or max_minutes: at least one of them is needed"),
        ("network.planes=49", "network.planes: 4, 12 or 48 of a policy"),
        ("precision=float16", "precision: Input should be 'auto', 'float32' or 'bfloat16'"),
        ("optimisation.optimiser=lion", "optimisation.optimiser: Input should be 'sgd' or 'adamw'"),
        ("test.positions=-1", "test_positions: .* not -1"),
    ],
)
def test_what_is_not_allowed_is_refused(override: str, complaint: str) -> None:
    with pytest.raises(MiaiError, match=complaint):
        task(override)
