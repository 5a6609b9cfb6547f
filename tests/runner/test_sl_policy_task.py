"""The task `sl_policy`: from a command line's overrides to the run in the store."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from alphago.recorded import invented_games  # noqa: E402
from miai.alphago import supervised  # noqa: E402
from miai.errors import MiaiError  # noqa: E402
from miai.networks.weights import NETWORK_FILE, load_network  # noqa: E402
from miai.records.game_set import GAMES_FILE  # noqa: E402
from miai.runner import Job, run_one  # noqa: E402
from miai.runner.compose import compose_one  # noqa: E402
from miai.runner.configured import job_of  # noqa: E402
from miai.runner.stopping import Stopped  # noqa: E402
from miai.tracking import KILLED, Store, read_history  # noqa: E402
from miai.tracking.location import Location  # noqa: E402

TINY = ("network=tiny", "network.planes=4", "batch_size=32", "num_epochs=3", "epoch_positions=160", "device=cpu")


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("games") / GAMES_FILE
    invented_games(30).save(path)
    return path


def job(experiment: str, games: Path, *overrides: str) -> Job:
    return job_of({**compose_one("sl_policy", [f"data={games}", *TINY, *overrides]), "study": experiment})


def test_a_training_leaves_a_network_and_its_curve(
    location: Location, store: Store, experiment: str, games: Path
) -> None:
    outcome = run_one(job(experiment, games), location)
    assert outcome.status == "finished", outcome.reason
    assert outcome.name == "sl-2x8-p4-s0"
    assert outcome.final["train/positions"] == 480
    network = load_network(store.artifact(outcome.run_id, NETWORK_FILE))
    assert (network.spec.head, network.spec.board_size, network.spec.planes) == ("policy", 5, 4)
    assert network.meta["positions"] == 480
    assert network.meta["test_top1"] == outcome.final["test/top1"]
    history = read_history(store.artifact(outcome.run_id, "history.parquet"))
    assert history["step"].to_pylist() == [160, 320, 480]
    assert min(filter(None, history["valid/loss"].to_pylist())) == outcome.final["valid/best_loss"]


def test_a_killed_training_goes_on_to_the_same_end(
    location: Location, store: Store, experiment: str, games: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run_one(job(experiment, games, "seed=1"), location)
    with monkeypatch.context() as patch:
        steps = iter(range(7))  # five an epoch, so that it is killed in the second
        learn = supervised.Learner.update

        def update(*arguments) -> None:
            if next(steps, None) is None:
                raise Stopped(15)
            learn(*arguments)

        patch.setattr(supervised.Learner, "update", update)
        killed = run_one(job(experiment, games, "seed=1"), location)
    assert killed.status == "killed"
    assert store.run(killed.run_id).status == KILLED
    resumed = run_one(job(experiment, games, "seed=1"), location)
    assert resumed.status == "finished", resumed.reason
    assert "continued from a checkpoint with 1 rows" in store.artifact(resumed.run_id, "run.log").read_text()
    files = [store.artifact(run.run_id, NETWORK_FILE).read_bytes() for run in (whole, resumed)]
    assert files[0] == files[1]
    curves = [read_history(store.artifact(run.run_id, "history.parquet")) for run in (whole, resumed)]
    for name in ("step", "train/loss", "train/top1", "valid/loss", "test/loss"):
        assert curves[0][name].to_pylist() == curves[1][name].to_pylist()


def test_it_goes_on_from_the_network_of_a_run(location: Location, store: Store, experiment: str, games: Path) -> None:
    first = run_one(job(experiment, games, "num_epochs=1"), location)
    second = run_one(job(experiment, games, "num_epochs=1", f"init={first.run_id}"), location)
    assert second.status == "finished", second.reason
    losses = [store.run(run.run_id).metrics["train/loss"] for run in (first, second)]
    assert losses[1] < losses[0]
    other = run_one(job(experiment, games, "network.filters=9", f"init={first.run_id}"), location)
    assert other.status == "failed"
    assert "init: it is a network of" in other.reason


def test_a_file_that_is_no_set_of_games_is_refused(location: Location, experiment: str, tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(b"nonsense")
    outcome = run_one(job(experiment, path), location)
    assert outcome.status == "failed"
    assert "it is damaged, or no safetensors file" in outcome.reason
    with pytest.raises(MiaiError, match="data: no such file"):
        run_one(job(experiment, tmp_path / "y.safetensors"), location)


@pytest.mark.parametrize(
    ("overrides", "name"),
    [
        (("network=small",), "sl-6x64-p4-s0"),
        (("network.block=residual", "network.layers=5", "seed=3"), "sl-r5x8-p4-s3"),
        (("num_positions=1000",), "sl-2x8-p4-n1000-s0"),
    ],
)
def test_a_run_is_named_after_its_network(overrides: tuple[str, ...], name: str, games: Path) -> None:
    planes = "network.planes=4"
    assert job("runs", games, *overrides, planes).name == name
