"""The task `rl_policy`: what a run leaves, and that a killed one goes on as if nothing had been."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from alphago.networks import tiny_file
from miai.errors import MiaiError
from miai.networks.weights import load_network
from miai.runner import Job, run_one
from miai.runner.compose import compose_one
from miai.runner.configured import job_of
from miai.tracking import Store, read_history
from miai.tracking.location import Location

TINY = (
    "komi=0.5",
    "num_updates=4",
    "games_per_update=4",
    "pool_every=1",
    "block_updates=2",
    "match_games=4",
    "opening_moves=2",
    "test_games=8",
    "runtime=torch",
    "device=cpu",
    "precision=float32",
    "threads=1",
)


def job(experiment: str, sl: Path, *overrides: str) -> Job:
    return job_of({**compose_one("rl_policy", [f"sl={sl}", *TINY, *overrides]), "study": experiment})


@pytest.fixture
def sl(tmp_path: Path) -> Path:
    return tiny_file(tmp_path, size=3)


def rows(store: Store, run_id: str) -> list[dict[str, float]]:
    history = read_history(store.artifact(run_id, "history.parquet")).to_pylist()
    return [{name: value for name, value in row.items() if name != "rl/positions_per_s"} for row in history]


def test_a_run_leaves_its_curve_its_network_and_a_fresh_measurement(location: Location, experiment, store, sl) -> None:
    outcome = run_one(job(experiment, sl), location, workers=1)
    assert outcome.status == "finished", outcome.reason
    history = rows(store, outcome.run_id)
    assert [row["step"] for row in history if row["rl/win_rate"] is not None] == [8, 16]
    for row in history:
        if row["rl/win_rate"] is not None:
            assert 0 <= row["rl/win_rate"] <= row["rl/best_win_rate"] <= 1
            assert row["rl/gradient_norm"] > 0
            assert 0 < row["rl/entropy"] < np.log(9)
    final = outcome.final
    for name in ("test/win_rate", "test/argmax_win_rate", "test/control_win_rate"):
        assert 0 <= final[f"{name}_low"] <= final[name] <= final[f"{name}_high"] <= 1
    network = load_network(store.artifact(outcome.run_id, "network.safetensors"))
    assert network.spec == load_network(sl).spec
    assert network.meta["updates"] == final["rl/best_update"]
    assert "Against the SL policy, 8 games each, seats swapped" in outcome.conclusion


def test_a_run_that_was_killed_is_the_same_as_one_that_was_not(
    location: Location, experiment, store, sl, monkeypatch
) -> None:
    from miai.alphago.reinforce import Reinforcement

    whole = run_one(job(f"{experiment}-whole", sl), location, workers=1)
    original = Reinforcement.update

    def dies(self: Reinforcement) -> None:
        if self.updates == 3:
            sys.exit("killed")
        original(self)

    with monkeypatch.context() as patch:
        patch.setattr(Reinforcement, "update", dies)
        assert run_one(job(experiment, sl), location, workers=1).status != "finished"
    resumed = run_one(job(experiment, sl), location, workers=1)
    assert resumed.status == "finished", resumed.reason
    assert "continued from a checkpoint" in store.artifact(resumed.run_id, "run.log").read_text()
    assert rows(store, resumed.run_id) == rows(store, whole.run_id)
    one, other = (load_network(store.artifact(outcome.run_id, "network.safetensors")) for outcome in (whole, resumed))
    assert all(np.array_equal(one.weights[name], other.weights[name]) for name in one.weights)


def test_what_cannot_be_run_is_refused_before_anything_runs() -> None:
    with pytest.raises(MiaiError, match="sl: a policy network to start from is needed"):
        job_of(compose_one("rl_policy", []))
    with pytest.raises(MiaiError, match=r"num_updates: .* greater than or equal to 1, not 0"):
        job_of(compose_one("rl_policy", ["sl=x", "num_updates=0"]))
