"""The task `rollout_policy`: from a set of games to a policy that a match is played with; killed, and gone on with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from alphago.recorded import invented_games
from miai.networks.rollout_weights import load_rollout
from miai.runner import Job, run_one
from miai.runner.compose import compose_one
from miai.runner.configured import job_of
from miai.tracking import KILLED, Store, read_history
from miai.tracking.location import Location

GAMES = invented_games(24)
CLOCK = ["train/positions_per_s"]


def job(experiment: str, data: str, *overrides: str) -> Job:
    small = ("num_epochs=3", "batch_games=4", "patience=null")
    return job_of({**compose_one("rollout_policy", [f"data={data}", *small, *overrides]), "study": experiment})


@pytest.fixture
def data(tmp_path: Path) -> str:
    GAMES.save(tmp_path / "games.safetensors")
    return str(tmp_path / "games.safetensors")


def test_a_fit_leaves_a_policy_that_plays(location: Location, store: Store, experiment: str, data: str) -> None:
    outcome = run_one(job(experiment, data), location)
    assert outcome.status == "finished", outcome.reason
    loaded = load_rollout(store.artifact(outcome.run_id, "rollout.safetensors"))
    assert loaded.meta["board_size"] == 5
    assert loaded.meta["test_top1"] == outcome.final["test/top1"]
    assert outcome.final["train/positions"] == 3 * 16 * 12
    history = read_history(store.artifact(outcome.run_id, "history.parquet")).to_pandas()
    assert history.step.unique().tolist() == [16 * 12, 2 * 16 * 12, 3 * 16 * 12]
    options = f"player.uct.playout=learned player.uct.rollout={outcome.run_id}".split()
    match = compose_one("match", ["players=[uct@20,random]", "games=2", "game.size=5", *options])
    played = run_one(job_of({**match, "study": experiment}), location, workers=1)
    assert played.status == "finished", played.reason
    assert played.final["match/faults"] == 0


PROGRAM = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from miai.runner import run_one
from miai.runner.context import RunContext
from miai.tracking import locate
from runner.test_rollout_policy_task import job
save = RunContext.save_checkpoint
def save_and_die(context, arrays):
    save(context, arrays)
    if arrays["counters"][0] == 2:
        os.kill(os.getpid(), signal.SIGKILL)
RunContext.save_checkpoint = save_and_die
run_one(job(*sys.argv[2:]), locate(root=Path(sys.argv[1])))
"""


def test_a_fit_that_was_killed_comes_to_the_same_policy(
    location: Location, store: Store, experiment: str, data: str, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(tests=str(Path(__file__).parents[1])))
    command = [sys.executable, str(program), str(location.mlruns.parent), experiment, data]
    assert subprocess.run(command, check=False, env=os.environ).returncode == -signal.SIGKILL
    outcome = run_one(job(experiment, data), location)
    assert outcome.status == "finished", outcome.reason
    assert "continued from a checkpoint" in store.artifact(outcome.run_id, "run.log").read_text()
    assert sorted(run.status for run in store.runs(experiment)) == ["FINISHED", KILLED]
    whole = run_one(job(f"{experiment}-whole", data), location)
    curves = [
        read_history(store.artifact(run.run_id, "history.parquet")).to_pandas().drop(columns=CLOCK)
        for run in (outcome, whole)
    ]
    assert curves[0].equals(curves[1])
    policies = [load_rollout(store.artifact(run.run_id, "rollout.safetensors")).weights for run in (outcome, whole)]
    np.testing.assert_array_equal(*policies)
