"""Runs that the store could not take: nothing is lost, and nothing arrives twice."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from miai.errors import MiaiError
from miai.tracking import FINISHED, KILLED, Store, locate, origin, read_history, sync
from miai.tracking.record import RunRecord

CLOSED_PORT = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def _no_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")


def write(run_log: Any, tmp_path: Path) -> None:
    """What a run does, from its start to just before its end."""
    for step in range(1, 4):
        run_log.log(step, {"eval/win": step / 4})
    table = tmp_path / "table.npz"
    table.write_bytes(b"a table")
    run_log.artifact(table)
    run_log.final({"win": 0.75})
    run_log.tag("colour", "blue")


def check(store: Store, run: RunRecord) -> None:
    """A run that was written by `write` is whole in the store, and only once."""
    assert (run.name, run.status, run.kept) == ("sarsa-0", FINISHED, False)
    assert run.params == {"seed": "0"}
    assert run.metrics == {"eval/win": 0.75, "final/win": 0.75}
    assert run.tags["colour"] == "blue"
    assert run.fingerprint == "f"
    assert store.artifacts(run) == ["config.yaml", "history.parquet", "table.npz"]
    assert store.artifact(run, "table.npz").read_bytes() == b"a table"
    assert read_history(store.artifact(run, "history.parquet"))["eval/win"].to_pylist() == [0.25, 0.5, 0.75]
    history = store.client.get_metric_history(run.run_id, "eval/win")
    assert sorted((m.step, m.value) for m in history) == [(1, 0.25), (2, 0.5), (3, 0.75)]


def unsynced(store: Store) -> list[Path]:
    return sorted(p for p in (store.location.mlruns / "unsynced").glob("*") if p.is_dir())


def test_without_a_store_a_run_is_kept_whole_and_counts_as_finished(tmp_path: Path, start, said: list[str]) -> None:
    store = Store(locate(CLOSED_PORT, root=tmp_path), tell=said.append)
    run_log = start(store, **{"miai.fingerprint": "f"})
    write(run_log, tmp_path)
    run_log.finish()
    second = start(store, **{"miai.fingerprint": "g"})
    second.finish()

    assert run_log.kept
    (line,) = said  # Once, not once a run.
    assert "127.0.0.1:9 cannot be reached" in line
    assert "miai sync" in line
    (folder, _) = unsynced(store)
    assert not list((store.location.mlruns / "unsynced").glob(".*"))
    assert store.finished("study") == {"f": run_log.run_id, "g": second.run_id}
    run = store.run(run_log.run_id)
    assert run.kept
    assert run.metrics == {"eval/win": 0.75, "final/win": 0.75}
    assert store.artifact(run, "table.npz").read_bytes() == b"a table"
    assert Path(run_log.where("table.npz")).read_bytes() == b"a table"
    assert folder.parent == tmp_path / "mlruns" / "unsynced"


def test_sync_uploads_once_and_removes_what_was_kept(tmp_path: Path, store: Store, start) -> None:
    away = Store(locate(CLOSED_PORT, root=tmp_path), tell=lambda line: None)
    run_log = start(away, **{"miai.fingerprint": "f"})
    write(run_log, tmp_path)
    run_log.finish()
    started = away.run(run_log.run_id).started

    report = sync(store)
    assert (report.uploaded, report.elsewhere) == ({}, {run_log.key: CLOSED_PORT})
    with pytest.raises(MiaiError, match="cannot be reached"):
        sync(away)
    assert len(unsynced(store)) == 1

    report = sync(store, adopt=True)
    (run,) = store.runs("study")
    assert report.uploaded == {run_log.key: run.run_id}
    assert (run.started, run.tags["miai.kept"][:9]) == (started, "tracking.")
    check(store, run)
    assert unsynced(store) == []
    assert sync(store, adopt=True).uploaded == {}
    check(store, *store.runs("study"))


CALLS = ["create_run", "log_batch", "log_artifacts", "set_terminated", "set_tag"]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_sync_that_is_cut_short_is_completed_and_nothing_doubled(
    tmp_path: Path, store: Store, start, monkeypatch: pytest.MonkeyPatch, call: str, moment: str
) -> None:
    away = Store(locate(CLOSED_PORT, root=tmp_path), tell=lambda line: None)
    run_log = start(away, **{"miai.fingerprint": "f"})
    write(run_log, tmp_path)
    run_log.finish()
    with monkeypatch.context() as patch:
        real = getattr(store.client, call)

        def cut(*args: Any, **kwargs: Any) -> None:
            if moment == "after":
                real(*args, **kwargs)
            raise KeyboardInterrupt

        patch.setattr(store.client, call, cut)
        with pytest.raises(KeyboardInterrupt):
            sync(store, adopt=True)
    assert len(unsynced(store)) == 1
    assert len(sync(store, adopt=True).uploaded) == 1
    check(store, *store.runs("study"))


def test_a_sync_that_died_before_it_removed_the_folder_does_not_upload_again(
    tmp_path: Path, store: Store, start
) -> None:
    away = Store(locate(CLOSED_PORT, root=tmp_path), tell=lambda line: None)
    run_log = start(away, **{"miai.fingerprint": "f"})
    write(run_log, tmp_path)
    run_log.finish()
    (folder,) = unsynced(store)
    shutil.copytree(folder, tmp_path / "copy")
    sync(store, adopt=True)
    shutil.copytree(tmp_path / "copy", folder)
    sync(store, adopt=True)
    check(store, *store.runs("study"))


CALLS_OF_A_RUN = ["create_run", "log_batch", "set_terminated"]


@pytest.mark.parametrize("call", CALLS_OF_A_RUN)
@pytest.mark.parametrize("skip", [0, 1])
def test_a_store_that_fails_at_any_call_loses_nothing(
    tmp_path: Path,
    store: Store,
    start,
    said: list[str],
    monkeypatch: pytest.MonkeyPatch,
    call: str,
    skip: int,
) -> None:
    with monkeypatch.context() as patch:
        real, calls = getattr(store.client, call), []

        def fail(*args: Any, **kwargs: Any) -> Any:
            calls.append(call)
            if len(calls) <= skip:
                return real(*args, **kwargs)
            raise ConnectionError("the line\nwent dead")

        patch.setattr(store.client, call, fail)
        run_log = start(store, **{"miai.fingerprint": "f"})
        write(run_log, tmp_path)
        run_log.finish()
    if skip and call != "log_batch":
        assert run_log.kept is None
        assert unsynced(store) == []
    else:
        assert "the line went dead" in (run_log.kept or "")
        assert len(said) == 1
        assert list(store.finished("study")) == ["f"]
        assert len(sync(store).uploaded) == 1
    check(store, *store.runs("study"))


def test_artifacts_that_cannot_be_stored_are_kept(tmp_path: Path, store: Store, start) -> None:
    run_log = start(store, **{"miai.fingerprint": "f"})
    folder = Path(run_log.where("x")).parent
    shutil.rmtree(folder)
    folder.write_text("in the way")
    write(run_log, tmp_path)
    run_log.finish()
    assert run_log.kept
    folder.unlink()
    sync(store)
    check(store, *store.runs("study"))


def test_what_a_dead_process_left_unfinished_is_removed(tmp_path: Path, store: Store, start) -> None:
    away = Store(locate(CLOSED_PORT, root=tmp_path), tell=lambda line: None)
    mine = start(away)
    gone = subprocess.Popen(["true"])
    gone.wait()
    folder = store.location.mlruns / "unsynced"
    (own,) = folder.glob(".*")
    for name in (f".{origin.host()}.{gone.pid}.abc", f".other.host.{gone.pid}.abc", ".removed-abc"):
        (folder / name / "artifacts").mkdir(parents=True)
    store.close_dead_runs()
    assert sorted(folder.glob(".*")) == sorted([own, folder / f".other.host.{gone.pid}.abc"])
    mine.finish(KILLED)
    assert [path.name for path in unsynced(store) if not path.name.startswith(".")] == [mine.key]
    assert away.finished("study") == {}


def test_a_damaged_folder_is_named_and_the_others_are_uploaded(tmp_path: Path, store: Store, start) -> None:
    away = Store(locate(CLOSED_PORT, root=tmp_path), tell=lambda line: None)
    kept = start(away)
    kept.finish()
    folder = store.location.mlruns / "unsynced" / "abc"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"key": "abc"}))
    with pytest.raises(MiaiError, match=r"unsynced/abc/run\.json: not a run that was kept \(uri: Field required\)"):
        away.finished("study")
    report = sync(store, adopt=True)
    assert list(report.uploaded) == [kept.key]
    assert list(report.failed) == ["abc"]
    shutil.rmtree(folder)
    assert sync(store, adopt=True).failed == {}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("key", "../../elsewhere"),
        ("key", "abc"),
        ("params", 5),
        ("rows", [[1, 2]]),
        ("rows", [[1, 2, {"eval/win": "much"}]]),
        ("started", 10**30),
        ("status", "RUNNING"),
    ],
)
def test_what_a_kept_run_holds_is_checked(tmp_path: Path, store: Store, start, key: str, value: Any) -> None:
    away = Store(locate(CLOSED_PORT, root=tmp_path), tell=lambda line: None)
    start(away).finish()
    (folder,) = unsynced(store)
    run = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**run, key: value}))
    (reason,) = sync(store, adopt=True).failed.values()
    assert f"{folder}/run.json: not a run that was kept" in reason
    assert "\n" not in reason


def test_a_store_that_stops_answering_leaves_the_rest_waiting(
    tmp_path: Path, store: Store, start, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = Store(locate(CLOSED_PORT, root=tmp_path), tell=lambda line: None)
    for _ in range(3):
        start(away).finish()
    with monkeypatch.context() as patch:

        def fail(*args: Any, **kwargs: Any) -> None:
            patch.setattr(store.client, "search_experiments", fail)
            raise ConnectionError("gone")

        patch.setattr(store.client, "create_run", fail)
        report = sync(store, adopt=True)
    assert (len(report.uploaded), len(report.failed), report.waiting) == (0, 1, 2)
    assert len(sync(store, adopt=True).uploaded) == 3
