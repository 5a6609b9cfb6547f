"""The tasks `value_data` and `value`, one after the other, as a study runs them."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from alphago.networks import tiny_file
from miai.alphago.value_data import ValueData
from miai.errors import MiaiError
from miai.networks.weights import load_network
from miai.runner import Outcome, run_one
from miai.runner.compose import compose_one
from miai.runner.configured import job_of
from miai.tracking import Store, read_history
from miai.tracking.location import Location

DATA = ("positions=120", "komi=0.5", "unit_games=40", "valid_share=0.3", "test_share=0.3", "runtime=torch")
TRAINING = (
    "network=tiny",
    "num_epochs=3",
    "batch_size=16",
    "test.rollout_positions=10",
    "test.rollouts=[1,4]",
    "device=cpu",
    "precision=float32",
)


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_file(tmp_path_factory.mktemp("policy"), size=3, planes=48)


@pytest.fixture
def run(location: Location, experiment: str) -> Callable[..., Outcome]:
    def make(task: str, *overrides: str, study: str = experiment, workers: int = 1) -> Outcome:
        outcome = run_one(job_of({**compose_one(task, overrides), "study": study}), location, workers=workers)
        assert outcome.status == "finished", outcome.reason
        return outcome

    return make


def positions_of(store: Store, outcome: Outcome) -> Path:
    return store.artifact(outcome.run_id, "positions.safetensors")


def test_the_same_seed_is_the_same_file_however_many_processes(run, store: Store, policy: Path) -> None:
    alone = run("value_data", f"sl={policy}", f"rl={policy}", *DATA)
    spread = run("value_data", f"sl={policy}", f"rl={policy}", *DATA, workers=2)
    other = run("value_data", f"sl={policy}", f"rl={policy}", *DATA, "seed=1")
    assert positions_of(store, alone).read_bytes() == positions_of(store, spread).read_bytes()
    data = ValueData.load(positions_of(store, alone))
    assert not np.array_equal(data.ply, ValueData.load(positions_of(store, other)).ply)
    final = alone.final
    assert final["value_data/positions"] == len(data) == 120
    assert final["value_data/mean_z"] == pytest.approx(data.winner.mean())
    assert final["value_data/mean_length"] == pytest.approx(data.lengths.mean())
    assert sum(final[f"value_data/{split}"] for split in ("train", "valid", "test")) == 120
    assert data.ply.min() >= 1
    assert data.ply.max() <= 11, "450 of 361 points are 11 of 9"


def test_data_that_were_killed_go_on_with_the_units_that_are_missing(
    run, location: Location, store: Store, policy: Path, experiment: str, monkeypatch
) -> None:
    from miai.alphago import value_data

    original, calls = value_data.make_unit, []

    def dies(unit):
        calls.append(unit.number)
        if unit.number == 2:
            sys.exit("killed")
        return original(unit)

    overrides = (f"sl={policy}", f"rl={policy}", *DATA)
    with monkeypatch.context() as patch:
        patch.setattr(value_data, "make_unit", dies)
        job = job_of({**compose_one("value_data", overrides), "study": experiment})
        assert run_one(job, location, workers=1).status != "finished"
    assert calls == [0, 1, 2]
    resumed = run("value_data", *overrides)
    assert "2 of 3 units had been done before" in store.artifact(resumed.run_id, "run.log").read_text()
    whole = run("value_data", *overrides, study=f"{experiment}-whole")
    assert positions_of(store, resumed).read_bytes() == positions_of(store, whole).read_bytes()


def test_a_value_network_is_trained_on_a_run_of_value_data(run, store: Store, policy: Path, experiment: str) -> None:
    data = run("value_data", f"sl={policy}", f"rl={policy}", *DATA)
    outcome = run("value", f"value_data={data.run_id}", f"init={policy}", *TRAINING)
    final = outcome.final
    assert 0 < final["test/mse"] < 2
    assert final["test/gap"] == pytest.approx(final["test/mse"] - final["test/mse_train"])
    assert final["test/rollouts_4/mse"] >= 0
    network = load_network(store.artifact(outcome.run_id, "network.safetensors"))
    assert (network.spec.head, network.spec.planes, network.spec.filters) == ("value", 49, 8)
    assert network.meta["learnt_from"] == "value_data"
    rows = read_history(store.artifact(outcome.run_id, "history.parquet")).to_pylist()
    measured = [row for row in rows if row["value/mse_valid"] is not None]
    assert len(measured) == 3
    assert final["value/best_mse_valid"] == min(row["value/mse_valid"] for row in measured)
    table = list(csv.DictReader(io.StringIO(store.artifact(outcome.run_id, "mse_by_move.csv").read_text())))
    whole = ValueData.load(positions_of(store, data))
    assert sum(int(row["positions"]) for row in table) == (whole.split == 2).sum()
    errors = [(int(row["positions"]), float(row["value_mse"])) for row in table]
    mean = sum(count * error for count, error in errors) / sum(count for count, _ in errors)
    assert mean == pytest.approx(final["test/mse"], abs=1e-4)
    assert {"rollouts_1_mse", "rollouts_4_mse"} <= set(table[0])
    assert "Mean of (z − v)², z = ±1" in outcome.conclusion


def test_a_training_that_was_killed_is_the_same_as_one_that_was_not(
    run, location: Location, store: Store, policy: Path, experiment: str, monkeypatch
) -> None:
    from miai.alphago.value import ValueTraining

    data = run("value_data", f"sl={policy}", f"rl={policy}", *DATA)
    overrides = (f"value_data={data.run_id}", *TRAINING)
    whole = run("value", *overrides, study=f"{experiment}-whole")
    original = ValueTraining._train_epoch

    def dies(self: ValueTraining, on_step):
        if self.num_epochs == 2:
            sys.exit("killed")
        return original(self, on_step)

    with monkeypatch.context() as patch:
        patch.setattr(ValueTraining, "_train_epoch", dies)
        job = job_of({**compose_one("value", overrides), "study": experiment})
        assert run_one(job, location, workers=1).status != "finished"
    resumed = run("value", *overrides)
    for name in ("network.safetensors", "mse_by_move.csv"):
        one, other = (store.artifact(outcome.run_id, name).read_bytes() for outcome in (whole, resumed))
        assert one == other, name


@pytest.mark.parametrize(
    ("task", "overrides", "message"),
    [
        ("value_data", ["rl=x"], "sl: a policy network is needed: a run of sl_policy"),
        ("value_data", ["sl=x"], "rl: a policy network is needed: a run of rl_policy"),
        ("value_data", ["sl=x", "rl=x", "komi=0.3"], "komi: komi must be a whole or half number"),
        ("value_data", ["sl=x", "rl=x", "first_move=9", "last_move=3"], "last_move: from first_move, 9, not 3"),
        ("value_data", ["sl=x", "rl=x", "valid_share=0.5", "test_share=0.5"], "nothing is left to train on"),
        ("value", ["data=x"], "value_data or data: one of them is needed, and only one"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_runs(task: str, overrides: list[str], message: str) -> None:
    with pytest.raises(MiaiError, match=message) as error:
        job_of(compose_one(task, overrides))
    assert "\n" not in str(error.value)


def test_networks_that_do_not_fit_are_refused(
    location: Location, experiment: str, policy: Path, tmp_path: Path
) -> None:
    larger = tiny_file(tmp_path, size=4)
    job = job_of({**compose_one("value_data", [f"sl={policy}", f"rl={larger}", *DATA]), "study": experiment})
    outcome = run_one(job, location, workers=1)
    assert outcome.status == "failed"
    assert "one of 3×3 is needed" in outcome.reason
