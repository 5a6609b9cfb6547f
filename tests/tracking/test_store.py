"""Writing runs to a SQLite store and reading them back."""

from __future__ import annotations

import multiprocessing
import sqlite3
import subprocess
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from miai.errors import MiaiError
from miai.runner import start_early
from miai.tracking import FAILED, FINISHED, KILLED, RUNNING, Store, StoreUnreachableError, locate, origin, read_history

FINGERPRINT = "miai.fingerprint"


def test_a_run_comes_back_as_it_was_written(store: Store, start, tmp_path: Path) -> None:
    config = {"algorithm": {"name": "sarsa", "alpha": 0.1}, "long": "x" * 7000, "seeds": (1, 2)}
    run_log = start(store, "sarsa-7", config, **{FINGERPRINT: "f7", "miai.study": "study"})
    for step in (1000, 2000):
        run_log.log(step, {"eval/win": step / 4000, "table/size": 10})
    run_log.final({"win": 0.5})
    run_log.tag("colour", "blue")
    table = tmp_path / "table.npz"
    table.write_bytes(b"a table")
    run_log.artifact(table)
    table.write_bytes(b"another one")  # The artifact is what it was when it was given.
    log = tmp_path / "a.log"
    log.write_text("hello")
    run_log.finish(files={"run.log": log})

    (run,) = store.runs("study")
    assert (run.run_id, run.name, run.status, run.experiment) == (run_log.run_id, "sarsa-7", FINISHED, "study")
    assert run.params == {"algorithm.name": "sarsa", "algorithm.alpha": "0.1", "seeds": "[1, 2]"}
    assert run.metrics == {"eval/win": 0.5, "table/size": 10.0, "final/win": 0.5}
    assert run.fingerprint == "f7"
    assert run.tags["miai.study"] == "study"
    assert run.tags["colour"] == "blue"
    assert run.tags["miai.params_left_out"] == "long"
    assert run.tags["miai.host"] == origin.host()
    assert run.tags["miai.version.mlflow"]
    assert run.ended is not None
    assert abs(datetime.now(UTC) - run.started) < timedelta(minutes=5)
    assert not run.kept
    assert store.artifacts(run) == ["config.yaml", "history.parquet", "run.log", "table.npz"]
    assert store.artifact(run, "table.npz").read_bytes() == b"a table"
    assert yaml.safe_load(store.artifact(run, "config.yaml").read_text()) == {**config, "seeds": [1, 2]}
    assert read_history(store.artifact(run, "history.parquet")).to_pydict() == {
        "step": [1000, 2000],
        "eval/win": [0.25, 0.5],
        "table/size": [10.0, 10.0],
    }
    assert store.experiments() == ["study"]


def test_every_value_of_a_metric_is_in_mlflow_and_finals_are_at_step_0(store: Store, start) -> None:
    run_log = start(store)
    for step in range(1, 1501):
        run_log.log(step, {"eval/win": step / 1500})
    run_log.final({"win": 1.0})
    run_log.finish()
    history = store.client.get_metric_history(run_log.run_id, "eval/win")
    assert [(m.step, m.value) for m in sorted(history, key=lambda m: m.step)] == [
        (step, step / 1500) for step in range(1, 1501)
    ]
    (final,) = store.client.get_metric_history(run_log.run_id, "final/win")
    assert (final.step, final.value) == (0, 1.0)


def test_a_long_run_shows_its_progress(store: Store, start, monkeypatch: pytest.MonkeyPatch) -> None:
    run_log = start(store)
    run_log.log(1, {"eval/win": 0.25})
    assert store.run(run_log.run_id).metrics == {}
    monkeypatch.setattr("miai.tracking.run_log.FLUSH_SECONDS", 0.0)
    run_log.tick()
    run = store.run(run_log.run_id)
    assert run.metrics == {"eval/win": 0.25}
    assert run.status == RUNNING
    run_log.finish(FAILED, "out of luck")
    run = store.run(run_log.run_id)
    assert (run.status, run.tags["miai.error"]) == (FAILED, "out of luck")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_value_that_is_not_finite_is_refused_with_the_metrics_name(store: Store, start, value: float) -> None:
    run_log = start(store)
    with pytest.raises(ValueError, match="'eval/rms_error' is "):
        run_log.log(5, {"eval/win": 1.0, "eval/rms_error": value})
    with pytest.raises(ValueError, match="'final/gap' is "):
        run_log.final({"gap": value})
    run_log.finish()
    assert store.run(run_log.run_id).metrics == {}


def test_a_folder_of_artifacts_and_names_that_lead_outside(store: Store, start, tmp_path: Path) -> None:
    games = tmp_path / "games"
    (games / "a").mkdir(parents=True)
    (games / "a" / "1.sgf").write_text("(;)")
    run_log = start(store)
    run_log.artifact(games)
    run_log.artifact(games / "a" / "1.sgf", "best/first.sgf")
    with pytest.raises(ValueError, match="not a path inside"):
        run_log.artifact(games, "../games")
    with pytest.raises(ValueError, match="no such file"):
        run_log.artifact(tmp_path / "absent.npz")
    run_log.finish()
    assert store.artifacts(run_log.run_id) == ["best/first.sgf", "config.yaml", "games/a/1.sgf", "history.parquet"]
    with pytest.raises(MiaiError, match=r"no artifact 'table\.npz'; it has: best/first\.sgf"):
        store.artifact(run_log.run_id, "table.npz")


def test_a_project_that_was_moved_still_has_its_artifacts(store: Store, start, tmp_path: Path) -> None:
    run_log = start(store)
    run_log.finish()
    (tmp_path / "new home").mkdir()
    (tmp_path / "mlruns").rename(tmp_path / "new home" / "mlruns")
    moved = Store(locate(root=tmp_path / "new home"))
    assert moved.artifacts(run_log.run_id) == ["config.yaml", "history.parquet"]
    assert moved.artifact(run_log.run_id, "config.yaml").is_relative_to(tmp_path / "new home")


def test_runs_are_found_by_id_by_its_beginning_and_by_name(store: Store, start) -> None:
    first, second = start(store, "sarsa-1"), start(store, "mc-1")
    third = start(store, "mc-1")
    assert store.run(first.run_id).name == "sarsa-1"
    assert store.run(first.run_id[:12]).run_id == first.run_id
    assert store.run("sarsa-1").run_id == first.run_id
    with pytest.raises(MiaiError, match="'mc-1' fits 2 runs") as caught:
        store.run("mc-1")
    assert second.run_id[:8] in str(caught.value)
    assert third.run_id[:8] in str(caught.value)
    for name in ("it's", "nothing", "", "ffff%"):
        with pytest.raises(MiaiError, match=r"^run: "):
            store.run(name)


def test_finished_runs_by_fingerprint_the_newest_of_each(store: Store, start) -> None:
    for fingerprint, status in (("a", FINISHED), ("b", FAILED), ("a", FINISHED), ("c", KILLED), ("d", FINISHED)):
        run_log = start(store, **{FINGERPRINT: fingerprint})
        run_log.finish(status)
    running = start(store, **{FINGERPRINT: "e"})
    found = store.finished("study")
    by_age = store.runs("study")
    assert found == {"a": by_age[2].run_id, "d": by_age[4].run_id}
    assert store.finished("another study") == {}
    running.finish()


def test_runs_of_dead_processes_are_closed_and_those_of_living_ones_are_not(
    store: Store, start, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = start(store, "mine")
    tags = origin.process_tags()
    gone = subprocess.Popen(["true"])
    gone.wait()
    monkeypatch.setattr(origin, "process_tags", lambda: {**tags, origin.PID_TAG: str(gone.pid)})
    dead = start(store, "dead")
    monkeypatch.setattr(origin, "process_tags", lambda: {**tags, origin.PID_STARTED_TAG: "1000.0"})
    reused = start(store, "the process id was given to another process")
    monkeypatch.setattr(origin, "process_tags", lambda: {**tags, origin.HOST_TAG: "elsewhere", origin.PID_TAG: "1"})
    elsewhere = start(store, "elsewhere")
    namesake = {**tags, origin.MACHINE_TAG: "another one", origin.PID_TAG: str(gone.pid)}
    monkeypatch.setattr(origin, "process_tags", lambda: namesake)
    start(store, "another machine of this name")
    half = Path(dead.where(".table.npz.1.part"))
    half.write_text("hal")

    assert sorted(store.close_dead_runs()) == sorted([dead.run_id, reused.run_id])
    status = {run.name: run.status for run in store.runs("study")}
    assert status["dead"] == status[reused.name] == KILLED
    assert status["mine"] == status["elsewhere"] == status["another machine of this name"] == RUNNING
    assert store.artifacts(dead.run_id) == ["config.yaml"]
    assert not half.exists()
    assert store.close_dead_runs() == []
    mine.finish()
    elsewhere.finish()


def test_an_experiment_that_was_deleted_is_restored_and_the_user_told(store: Store, start, said: list[str]) -> None:
    start(store).finish()
    store.client.delete_experiment(store.prepare("study"))
    later = Store(store.location, tell=said.append)
    assert later.runs("study") == []
    later.prepare("study")
    assert len(later.runs("study")) == 1
    (line,) = said
    assert "'study' had been deleted" in line


def test_a_fresh_store_is_created_once_by_many_processes(tmp_path: Path) -> None:
    start_early()
    context = multiprocessing.get_context("forkserver")
    processes = [context.Process(target=_write_a_run, args=(tmp_path, number)) for number in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 4
    store = Store(locate(root=tmp_path))
    assert sorted(run.name for run in store.runs("study")) == ["0", "1", "2", "3"]
    assert {run.status for run in store.runs("study")} == {FINISHED}
    with sqlite3.connect(tmp_path / "mlruns" / "mlflow.db") as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert not list((tmp_path / "mlruns").glob("*.new*"))


def _write_a_run(root: Path, number: int) -> None:
    work = root / f"work-{number}"
    work.mkdir()
    run_log = Store(locate(root=root)).start("study", str(number), {}, {}, work)
    run_log.finish()
    assert run_log.kept is None, run_log.kept


def test_reading_from_a_store_that_does_not_answer_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    for uri in ("http://127.0.0.1:9", "postgresql://me:secret@127.0.0.1:9/miai"):
        with pytest.raises(StoreUnreachableError, match="cannot be reached") as caught:
            Store(locate(uri, root=tmp_path)).runs("study")
        assert "\n" not in str(caught.value)
        assert "secret" not in str(caught.value)


# ---- attacks ----


def alter(store: Store, statement: str, *values: str) -> None:
    """Change the database behind MLflow's back."""
    assert store.location.database is not None
    with closing(sqlite3.connect(store.location.database)) as connection, connection:
        connection.execute(statement, values)


def test_a_run_whose_artifacts_are_said_to_be_elsewhere_has_nothing_removed_there(store, start, tmp_path):
    run = start(store)
    own = Path(store.client.get_run(run.run_id).info.artifact_uri.removeprefix("file://")) / ".own.1.part"
    own.parent.mkdir(parents=True, exist_ok=True)
    other = tmp_path / "precious" / ".download.part"
    other.parent.mkdir()
    other.touch()
    dead = "UPDATE tags SET value = '999999999' WHERE key = 'miai.pid'"
    elsewhere = "UPDATE runs SET artifact_uri = ?"
    for artifacts, stays in ((other.parent.as_uri(), True), (own.parent.as_uri(), False)):
        own.touch()
        alter(store, dead)
        alter(store, elsewhere, artifacts)
        alter(store, "UPDATE runs SET status = 'RUNNING'")
        assert Store(store.location).close_dead_runs() == [run.run_id]
        assert (other.exists(), own.exists()) == (True, stays)


@pytest.mark.parametrize("run_id", ["../../../home", "/etc", "..", ""])
def test_an_id_that_is_a_path_is_refused(store, start, run_id):
    start(store).finish()
    alter(store, "UPDATE runs SET run_uuid = ?", run_id)
    with pytest.raises(MiaiError, match=r"has a run with the id '.*', which is none"):
        Store(store.location).runs("study")
