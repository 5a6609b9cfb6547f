"""The RL stage: the sign and size of its gradient, its baselines, its pool, what it keeps, resume."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from miai.errors import MiaiError
from miai.networks.weights import load_network
from miai.records import GameRecord
from miai.records.game_set import GameSet
from miai.records.result import How, Result

from .networks import tiny, tiny_file, uniform

torch = pytest.importorskip("torch")

from miai.alphago.policy_gradient import Weighted, Where, log_policy, reinforce_step  # noqa: E402
from miai.alphago.reinforce import (  # noqa: E402
    Reinforcement,
    ReinforceSettings,
    leave_one_out,
    returns_of,
    sharpened,
)
from miai.alphago.self_play import PlayedGames, game_streams, play_games, seat_turns  # noqa: E402
from miai.networks.torch_network import build  # noqa: E402

CPU = Where(torch.device("cpu"))
DEFAULTS = {
    "seed": 0,
    "sl": "network",
    "learn_from": "self_play",
    "data": None,
    "start_temperature": 1.0,
    "baseline": "none",
    "value": None,
    "komi": 0.5,
    "num_updates": 4,
    "games_per_update": 4,
    "learning_rate": 0.01,
    "pool_every": 2,
    "block_updates": 2,
    "keep_by": "sampled",
    "match_games": 4,
    "test_games": 4,
    "opening_moves": 2,
    "runtime": "torch",
    "device": "cpu",
    "precision": "float32",
    "threads": 1,
}


def settings(**changes: object) -> ReinforceSettings:
    return ReinforceSettings.of({**DEFAULTS, **changes})


def some_decisions(size: int = 3, planes: int = 4, count: int = 6, dtype: type = np.float32) -> Weighted:
    random = np.random.default_rng(0)
    allowed = np.ones((count, size * size), np.uint8)
    allowed[:, -1] = 0
    return Weighted(
        random.random((count, planes, size, size)).astype(dtype),
        allowed,
        random.integers(0, size * size - 1, count),
        random.choice([-1.0, 1.0], count).astype(np.float32),
    )


@pytest.mark.parametrize("z", [1.0, -1.0])
def test_what_won_becomes_likelier_and_what_lost_unlikelier(z):
    """A bandit: one position, one move. No other sign of the gradient passes both cases."""
    network = tiny(size=3)
    module = build(network.spec, network.weights)
    one = some_decisions(count=1)._replace(advantages=np.array([z], np.float32))
    before = float(log_policy(module, one.planes, one.allowed, CPU)[0, one.moves[0]].detach())
    reinforce_step(module, torch.optim.SGD(module.parameters(), 0.1), [one], 1, CPU)
    after = float(log_policy(module, one.planes, one.allowed, CPU)[0, one.moves[0]].detach())
    assert (after - before) * z > 0.01


def test_a_move_of_somebody_else_is_not_pushed_below_the_floor():
    network = tiny(size=3)
    module = build(network.spec, network.weights)
    one = some_decisions(count=1)._replace(advantages=np.array([-1.0], np.float32))
    optimiser = torch.optim.SGD(module.parameters(), 0.1)
    probabilities = []
    for _ in range(60):
        reinforce_step(module, optimiser, [one], 1, CPU, floor=0.05)
        probabilities.append(float(log_policy(module, one.planes, one.allowed, CPU)[0, one.moves[0]].detach().exp()))
    assert probabilities[0] > 0.05
    assert probabilities[-1] < 0.05
    assert probabilities[-1] == probabilities[-10], "there is no gradient below the floor"


def test_a_training_that_diverges_is_stopped_in_one_line():
    network = tiny(size=3)
    module = build(network.spec, network.weights)
    batch = some_decisions()._replace(advantages=np.full(6, np.inf, np.float32))
    with pytest.raises(MiaiError, match="learning_rate: the training diverges"):
        reinforce_step(module, torch.optim.SGD(module.parameters(), 0.1), [batch], 1, CPU)


def test_the_step_is_the_gradient_of_the_objective_by_finite_differences():
    """In double precision: a step of size 1 is ∂/∂ρ of 1/n · Σ z log p, in every weight that is looked at."""
    network = tiny(size=3)
    module = build(network.spec, network.weights).double()
    batch, num_games = some_decisions(dtype=np.float64), 2

    def objective() -> float:
        with torch.no_grad():
            log_p = log_policy(module, batch.planes, batch.allowed, CPU).numpy()
        return float((log_p[np.arange(6), batch.moves] * batch.advantages).sum() / num_games)

    before = {name: parameter.detach().clone() for name, parameter in module.named_parameters()}
    # In two pieces, as a large minibatch is.
    pieces = [Weighted(*(array[rows] for array in batch)) for rows in (slice(0, 4), slice(4, 6))]
    statistics = reinforce_step(module, torch.optim.SGD(module.parameters(), 1.0), pieces, num_games, CPU)
    step = {name: parameter.detach() - before[name] for name, parameter in module.named_parameters()}
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            parameter.copy_(before[name])
    random = np.random.default_rng(1)
    for name, parameter in module.named_parameters():
        flat = parameter.detach().view(-1)
        for place in random.choice(len(flat), min(5, len(flat)), replace=False):
            value = float(flat[place])
            flat[place] = value + 1e-6
            up = objective()
            flat[place] = value - 1e-6
            down = objective()
            flat[place] = value
            assert float(step[name].view(-1)[place]) == pytest.approx((up - down) / 2e-6, abs=1e-6), name
    norm = np.sqrt(sum(float((change**2).sum()) for change in step.values()))
    assert statistics.gradient_norm == pytest.approx(norm)
    assert statistics.positions == 6
    with torch.no_grad():
        p = log_policy(module, batch.planes, batch.allowed, CPU).exp().numpy()[:, :-1]
    assert statistics.entropy == pytest.approx(-(p * np.log(p)).sum(axis=1).mean())


def test_z_is_from_the_learners_side_and_the_baseline_leaves_the_game_out():
    """Black wins games 0 and 1 and loses 2 and 3; the learner has Black in 0 and 2: it wins 0 and 3 alone."""
    scores = np.array([3.5, 0.5, -0.5, -9.5], np.float32)
    none = np.zeros((4, 2), np.int16)
    played = PlayedGames(3, 0.5, none, none.astype(np.int8), scores)
    black = np.array([True, False, True, False])
    z = returns_of(played, black)
    assert z.tolist() == [1, -1, -1, 1]
    assert leave_one_out(z, black).tolist() == [-1, 1, 1, -1]
    assert leave_one_out(np.array([1, 1, 0, -1], np.float32), np.array([True, True, True, False])).tolist() == [
        0.5,
        0.5,
        1,
        0,
    ]


def test_on_a_small_board_the_policy_learns_to_win(tmp_path):
    """3×3, komi 0.5: the centre wins all for Black. It becomes likelier, and the policy beats the one it began as."""
    sl = tiny_file(tmp_path, size=3, filters=16)
    training = Reinforcement(
        settings(num_updates=25, games_per_update=32, block_updates=25, learning_rate=0.05, match_games=100),
        {"sl": sl},
    )
    empty = np.zeros((1, 4, 3, 3), np.float32)
    empty[:, 2:4] = 1

    def centre(weights) -> float:
        logits = training.player(weights).evaluate(empty)[0]
        return float(np.exp(logits[4]) / np.exp(logits).sum())

    before = centre(training.sl.weights)
    row = training.block()
    assert centre(training.weights()) > before + 0.1
    assert row["rl/win_rate"] > 0.6
    assert training.best_update == 25
    assert row["rl/best_win_rate"] == row["rl/win_rate"] == training.best_win_rate


def test_a_sharpened_start_is_the_same_policy_at_a_lower_temperature(tmp_path):
    sl = tiny_file(tmp_path, size=3)
    training = Reinforcement(settings(start_temperature=0.5, learning_rate=1e-9), {"sl": sl})
    planes = some_decisions().planes
    before = training.player(training.sl.weights).evaluate(planes)
    assert training.player(training.weights()).evaluate(planes) == pytest.approx(2 * before, rel=1e-5)
    assert np.abs(before).max() > 0.1
    assert set(sharpened(training.sl.weights, 0.5)) == set(training.sl.weights)
    row = training.block()
    assert row["rl/argmax_win_rate"] == 0.5, "by the most probable moves nothing has changed yet"


@pytest.mark.parametrize("keep_by", ["sampled", "argmax"])
def test_the_match_that_chooses_is_the_one_that_is_named(tmp_path, monkeypatch, keep_by):
    """Sampled, the second version is the best; by the most probable move, the first."""
    from miai.alphago.self_play import Results

    training = Reinforcement(settings(keep_by=keep_by), {"sl": tiny_file(tmp_path, size=2)})
    results = iter([(5, 9), (6, 8)])

    def measure(weights, games, role):
        return tuple(Results(wins, 0, 10 - wins, 10, 5.0) for wins in next(results))

    monkeypatch.setattr(training, "measure", measure)
    rows = [training.block(), training.block()]
    expected = {"sampled": (4, 0.6), "argmax": (2, 0.9)}[keep_by]
    assert (training.best_update, training.best_win_rate) == expected
    assert rows[-1]["rl/best_win_rate"] == expected[1]


def test_resumed_is_the_same_as_uninterrupted(tmp_path):
    sl = tiny_file(tmp_path, size=3)

    def rows_of(training: Reinforcement) -> list[dict[str, float]]:
        rows = []
        while not training.is_done:
            row = training.block()
            rows.append({name: value for name, value in row.items() if name != "rl/positions_per_s"})
        return rows

    whole = Reinforcement(settings(), {"sl": sl})
    first = whole.block()
    state = {name: array.copy() for name, array in whole.state().items()}
    second = rows_of(whole)
    assert first["rl/pool_size"] == 2
    again = Reinforcement(settings(), {"sl": sl})
    again.restore(state)
    assert again.games == 8
    assert rows_of(again) == second
    assert second[0]["rl/pool_size"] == 3
    for name, array in whole.state().items():
        assert np.array_equal(array, again.state()[name]), name


def test_opponents_are_drawn_from_all_of_the_pool(tmp_path, monkeypatch):
    training = Reinforcement(settings(num_updates=30, pool_every=1), {"sl": tiny_file(tmp_path, size=2)})
    asked: list[int] = []
    original = training.player

    def player(weights, temperature=1.0):
        asked.extend(index for index, member in enumerate(training.pool) if member is weights)
        return original(weights, temperature)

    monkeypatch.setattr(training, "player", player)
    for _ in range(30):
        training.update()
    assert len(asked) == 30, "one opponent an update, and it is a member of the pool"
    assert all(0 <= member <= update for update, member in enumerate(asked))
    assert len(set(asked)) > 8
    assert max(asked) > 20


def test_a_value_network_is_a_baseline(tmp_path):
    """A value network that is sure of every result, +1 for the mover, leaves −2 or 0 of each z."""
    network = tiny("value", size=3, planes=49)
    network.weights["value.output.weight"][:] = 0
    network.weights["value.output.bias"][:] = 20
    from miai.networks.weights import save_network

    save_network(tmp_path / "value.safetensors", network.spec, network.weights, {})
    files = {"sl": tiny_file(tmp_path, size=3), "value": tmp_path / "value.safetensors"}
    training = Reinforcement(settings(baseline="value", value="value"), files)
    found = np.concatenate([batch.advantages for batch in training._self_play()])
    assert set(np.round(found, 4)) == {-2.0, 0.0}
    plain = Reinforcement(settings(), {"sl": files["sl"]})
    z = np.concatenate([batch.advantages for batch in plain._self_play()])
    assert np.round(found + 1, 4).tolist() == z.tolist()


def expert_games(folder: Path, count: int = 40) -> Path:
    """Random games on 3×3 with results by the toss of a coin: nothing is to be learnt from them but by heart."""
    turns = seat_turns(np.ones(count, bool), 27)
    played = play_games((uniform(3), uniform(3)), turns, 3, 0.5, game_streams(0, "experts", count))
    random = np.random.default_rng(0)
    records = [
        GameRecord(
            size=3,
            komi=0.5,
            moves=tuple((1 if ply % 2 == 0 else -1, move) for ply, move in enumerate(played.moves_of(game))),
            result=Result(int(random.choice([-1, 1])), How.RESIGNATION),
        )
        for game in range(count)
    ]
    GameSet.from_records(records, split=[0, 1] * (count // 2)).save(folder / "games.safetensors")
    return folder / "games.safetensors"


def test_experts_games_are_learnt_by_heart(tmp_path):
    """Results are coins: what tells winners' moves from losers' in training games is memory, and fails in others."""
    training = Reinforcement(
        settings(learn_from="expert", data="games", num_updates=150, games_per_update=20, block_updates=150),
        {"sl": tiny_file(tmp_path, size=3, planes=48, filters=32), "data": expert_games(tmp_path)},
    )
    row = training.block()
    assert row["rl/train_lean"] > 0.5
    assert row["rl/valid_lean"] < row["rl/train_lean"] / 2
    assert row["rl/lean_gap"] == pytest.approx(row["rl/train_lean"] - row["rl/valid_lean"])
    assert "rl/pool_win_rate" not in row
    assert len(training.pool) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sl": None}, "sl: a policy network to start from is needed"),
        ({"learn_from": "expert"}, "data: learn_from=expert needs a data set"),
        ({"data": "x"}, "learn_from=self_play takes none"),
        ({"baseline": "value"}, "value: baseline=value needs a value network"),
        ({"value": "x"}, "no other baseline takes one"),
        ({"learn_from": "expert", "data": "x", "baseline": "mean"}, "allowed: none, value"),
        ({"games_per_update": 3}, "games_per_update: an even number, as seats are swapped, not 3"),
        ({"komi": 0.3}, "komi: komi must be a whole or half number"),
        ({"learning_rate": 0.0}, "learning_rate: .* greater than 0"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(changes, message):
    with pytest.raises(MiaiError, match=message) as error:
        settings(**changes)
    assert "\n" not in str(error.value)


def test_networks_that_do_not_fit_are_refused(tmp_path):
    value = tiny_file(tmp_path, "value", head="value", size=3, planes=49)
    with pytest.raises(MiaiError, match="a policy network is needed"):
        Reinforcement(settings(), {"sl": value})
    with pytest.raises(MiaiError, match="opening_moves: at most 4 on 3×3"):
        Reinforcement(settings(opening_moves=5), {"sl": tiny_file(tmp_path, size=3)})
    with pytest.raises(MiaiError, match="one of 5×5 is needed"):
        Reinforcement(settings(baseline="value", value="value"), {"sl": tiny_file(tmp_path, size=5), "value": value})
    with pytest.raises(MiaiError, match=r"its games are on 3×3; the network is of 5×5"):
        Reinforcement(
            settings(learn_from="expert", data="games"),
            {"sl": tiny_file(tmp_path, size=5), "data": expert_games(tmp_path)},
        )
    assert load_network(value).spec.head == "value"
