"""Runs written to shared stores: many processes at once, processes that die, artifacts in a folder or on the server."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks import tracking_load
from benchmarks.services import TrackingServer

from miai.errors import MiaiError
from miai.tracking import KILLED, Store, locate

DYING = """
import os, sys
from pathlib import Path
from miai.tracking import Store, locate

run = Store(locate(sys.argv[1], root=Path(sys.argv[2]))).start("dying", "dead", {}, {}, Path(sys.argv[2]))
run.log(1, {"eval/win": 0.5})
run.flush()
print(run.run_id)
sys.stdout.flush()
os._exit(9)
"""


@pytest.mark.parametrize("kind", tracking_load.GOALS)
def test_many_processes_lose_nothing(kind: str) -> None:
    load = tracking_load.measure(kind, runs=40, processes=4)
    assert load.kept == ()
    assert load.wrong == ()
    assert load.parallel > 0


def test_more_runs_than_a_server_sends_at_once_are_all_found(
    server: TrackingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("miai.tracking.store.SERVER_PAGE", 2)
    store = Store(locate(server.address, root=tmp_path))
    for number in range(5):
        work = tmp_path / str(number)
        work.mkdir()
        store.start("pages", f"run {number}", {}, {"miai.fingerprint": str(number)}, work).finish()
    assert sorted(store.finished("pages")) == ["0", "1", "2", "3", "4"]
    assert [run.name for run in store.runs("pages")] == [f"run {number}" for number in range(5)]


def test_a_run_whose_process_died_is_closed_on_a_shared_store(address: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DYING, address, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 9, done.stderr
    store = Store(locate(address, root=tmp_path))
    assert store.close_dead_runs() == [done.stdout.strip()]
    [run] = store.runs("dying")
    assert (run.status, run.metrics) == (KILLED, {"eval/win": 0.5})


def test_artifacts_on_the_server_and_in_a_folder(
    server: TrackingServer, fresh: Callable[[], str], tmp_path: Path
) -> None:
    folder = tmp_path / "shared folder"
    stores = {
        "on the server": Store(locate(server.address, root=tmp_path)),
        "in a folder": Store(locate(fresh(), artifacts=str(folder), root=tmp_path)),
    }
    games = tmp_path / "games"
    (games / "a").mkdir(parents=True)
    (games / "a" / "1.sgf").write_text("(;)")
    for study, store in stores.items():
        work = tmp_path / f"work {study}"
        work.mkdir()
        run_log = store.start(study, "run", {"seed": 1}, {}, work)
        run_log.artifact(games)
        run_log.artifact(games / "a" / "1.sgf", "best/first one.sgf")
        run_log.finish()
        assert run_log.kept is None
        [run] = store.runs(study)
        names = ["best/first one.sgf", "config.yaml", "games/a/1.sgf", "history.parquet"]
        assert store.artifacts(run) == names
        for name in ("best/first one.sgf", "games/a/1.sgf"):
            assert store.artifact(run, name).read_text() == "(;)"
        with pytest.raises(MiaiError, match=r"has no artifact 'games/a/2\.sgf'; it has: best/first one\.sgf, "):
            store.artifact(run, "games/a/2.sgf")
    assert len(list(folder.rglob("*.sgf"))) == 2
    assert len(list(server.artifacts.rglob("*.sgf"))) == 2
