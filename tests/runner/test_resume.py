"""Claims, and what dead processes left behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from miai.runner.execute import execute
from miai.runner.resume import CHECKPOINTS, Claim, Inputs, clean_up, plan, prepare, work_folder
from miai.runner.task import Job
from miai.tracking import FINISHED, KILLED, Store, locate, origin, sync
from miai.tracking.location import Location
from runner.sample_tasks import COUNT, RESUMABLE


@pytest.fixture
def location(tmp_path: Path) -> Location:
    return locate(root=tmp_path)


def test_one_fingerprint_has_one_owner_at_a_time(location: Location) -> None:
    mine, other = Claim(location, "study", "f"), Claim(location, "study", "f")
    assert mine.take()
    assert not other.take()
    assert not other.held
    assert Claim(location, "study", "another").take()
    assert Claim(location, "another study", "f").take()
    mine.release()
    assert other.take()
    other.release()


def test_a_claim_tells_of_a_run_that_was_finished_after_one_looked(location: Location) -> None:
    mine, other = Claim(location, "study", "f"), Claim(location, "study", "f")
    seen = other.read()
    assert seen == ""
    assert mine.take()
    assert mine.finished_since(seen) is None
    mine.mark("a-rather-long-run-id", finished=False)
    assert (mine.finished_since(seen), mine.were_ending()) == (None, ("a-rather-long-run-id",))
    mine.mark("run-7", finished=False, earlier=mine.were_ending())
    assert mine.were_ending() == ("run-7", "a-rather-long-run-id")
    mine.mark("run-7", finished=True)
    mine.release()
    assert other.take()
    assert (other.finished_since(seen), other.were_ending()) == ("run-7", ())
    assert other.finished_since(other.read()) is None
    other.release()


def die_before_the_word(claim: Claim, run_id: str, *, finished: bool, earlier: Sequence[str] = ()) -> None:
    """In place of `Claim.mark`: a process that is killed when the store has the run's end, and before it says so."""
    if finished:
        raise KeyboardInterrupt
    mark(claim, run_id, finished=finished, earlier=earlier)


mark = Claim.mark


def take_away(patch: pytest.MonkeyPatch) -> None:
    """Let no store be reached."""

    def refuse(store: Store) -> None:
        raise store.explain(ConnectionRefusedError("nobody listens"))

    patch.setattr(Store, "client", property(refuse))


def test_the_run_of_a_process_that_was_killed_between_its_end_and_its_word_is_not_made_again(
    shared_location: Location, experiment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store has it as finished, its claim does not, and the sweep asked the store before it was."""
    store = Store(shared_location)
    [ready] = plan([Job(COUNT, {"seed": 0}, experiment)], store, resume=True).todo.values()

    with monkeypatch.context() as patch:
        patch.setattr(Claim, "mark", die_before_the_word)
        with pytest.raises(KeyboardInterrupt):
            execute(ready, store, regardless=False, continue_killed=True)
    [run] = store.runs(experiment)
    assert run.status == FINISHED
    outcome = execute(ready, store, regardless=False, continue_killed=True)
    assert (outcome.status, outcome.run_id) == ("there", run.run_id)
    with monkeypatch.context() as patch:  # Killed a step earlier, before the store had it.
        patch.setattr(Claim, "mark", die_before_the_word)
        patch.setattr(Store, "run", lambda *_: replace(run, status=KILLED))
        with pytest.raises(KeyboardInterrupt):
            execute(ready, store, regardless=False, continue_killed=True)
    assert len(store.runs(experiment)) == 2


def test_what_this_machine_finished_is_not_made_again_while_the_store_is_away(
    shared_location: Location, experiment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [Job(COUNT, {"seed": seed}, experiment) for seed in range(2)]
    store = Store(shared_location)
    first, _ = plan(jobs, store, resume=True).todo.values()
    made = execute(first, store, regardless=False, continue_killed=True)
    with monkeypatch.context() as patch:
        take_away(patch)
        away = Store(shared_location, tell=lambda line: None)
        planned = plan(jobs, away, resume=True)
        assert planned.there == {0: (first.fingerprint, made.run_id)}
        assert list(planned.todo) == [1]
        assert list(plan(jobs, away, resume=False).todo) == [0, 1], "made again when that is what was asked for"
    store.client.delete_run(made.run_id)
    assert list(plan(jobs, Store(shared_location), resume=True).todo) == [0, 1], "the store's word comes first"


@pytest.mark.parametrize("end", [FINISHED, KILLED])
def test_a_run_that_may_be_finished_is_made_again_while_the_store_is_away_and_uploaded_if_it_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    location = locate(root=tmp_path)
    store = Store(location)
    [ready] = plan([Job(COUNT, {"seed": 0}, "study")], store, resume=True).todo.values()
    with monkeypatch.context() as patch:
        patch.setattr(Claim, "mark", die_before_the_word)
        with pytest.raises(KeyboardInterrupt):
            execute(ready, store, regardless=False, continue_killed=True)
    [run] = store.runs("study")
    store.client.set_terminated(run.run_id, end)
    with monkeypatch.context() as patch:
        take_away(patch)
        away = Store(location, tell=lambda line: None)
        patch.setattr(Claim, "mark", die_before_the_word)
        with pytest.raises(KeyboardInterrupt):  # And again, before it is known what became of the first.
            execute(ready, away, regardless=False, continue_killed=True)
        for folder in (location.mlruns / "unsynced").iterdir():
            shutil.rmtree(folder)  # Say that it had not come so far as to be kept.
    with monkeypatch.context() as patch:
        take_away(patch)
        away = Store(location, tell=lambda line: None)
        again = execute(ready, away, regardless=False, continue_killed=True)
    assert (again.status, again.kept) == ("finished", True)
    report = sync(store)
    runs = [run for run in store.runs("study") if run.status == FINISHED]
    assert len(runs) == 1, "the run is there once"
    if end == FINISHED:
        assert (report.uploaded, list(report.there.values()), runs[0].run_id) == ({}, [run.run_id], run.run_id)
    else:
        assert (list(report.uploaded.values()), report.there) == ([runs[0].run_id], {})
    assert not [path for path in (location.mlruns / "unsynced").iterdir() if path.is_dir()]


def test_a_claim_is_let_go_when_its_process_dies(location: Location) -> None:
    claim = Claim(location, "study", "f")
    assert claim.take()
    claim.release()
    (path,) = (location.mlruns / "claims").iterdir()
    program = "import fcntl, sys, time; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_EX); time.sleep(60)"
    holder = subprocess.Popen([sys.executable, "-c", program, str(path)])
    try:
        deadline = time.monotonic() + 30
        while claim.take():
            claim.release()
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        holder.kill()
        holder.wait()
    assert claim.take()
    claim.release()


def test_old_claims_are_cleared_away_unless_they_are_held(location: Location) -> None:
    held, old, new = (Claim(location, "study", name) for name in ("held", "old", "new"))
    paths = {}
    for claim in (held, old, new):
        before = set((location.mlruns / "claims").glob("*"))
        assert claim.take()
        (paths[claim],) = set((location.mlruns / "claims").glob("*")) - before
    old.release()
    new.release()
    for claim in (held, old):
        os.utime(paths[claim], (0, 0))
    clean_up(location)
    assert sorted((location.mlruns / "claims").iterdir()) == sorted([paths[held], paths[new]])
    assert old.take()


def test_work_folders_of_dead_processes_are_removed_and_no_others(location: Location) -> None:
    mine = work_folder(location, "abc")
    gone = subprocess.Popen(["true"])
    gone.wait()
    dead = mine.with_name(f"{origin.host()}.{gone.pid}.abc")
    elsewhere = mine.with_name(f"other.host.{gone.pid}.abc")
    for folder in (dead, elsewhere):
        folder.mkdir()
        (folder / "file").touch()
    clean_up(location)
    assert sorted(mine.parent.iterdir()) == sorted([mine, elsewhere])


class _StoreThatHas:
    """As much of a store as a plan asks for: one finished run."""

    def __init__(self, location: Location, experiment: str, fingerprint: str) -> None:
        self.location = location
        self._finished = {experiment: {fingerprint: "run-7"}}

    def finished(self, experiment: str) -> dict[str, str]:
        return self._finished.get(experiment, {})

    def is_down(self) -> bool:
        return False


def test_checkpoints_of_a_run_that_was_killed_when_the_store_had_it_already_are_removed(location: Location) -> None:
    job = Job(RESUMABLE, {"seed": 0, "steps": 1}, "study")
    fingerprint = prepare(job, Inputs(None)).fingerprint  # type: ignore[arg-type]  # It has no inputs to look up.
    folder = location.mlruns / CHECKPOINTS / fingerprint
    folder.mkdir(parents=True)
    (folder / "checkpoint.npz").touch()
    store: Any = _StoreThatHas(location, "study", fingerprint)
    again = Claim(location, "study", fingerprint)
    assert again.take()
    assert plan([job], store, resume=True).there == {0: (fingerprint, "run-7")}
    assert folder.exists()  # Somebody makes the run once more.
    again.release()
    plan([job], store, resume=True)
    assert not folder.exists()
