"""Many runs: what is there is left out, what fails is shown, and what is killed is made again."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from miai.errors import MiaiError
from miai.runner import Job, SweepResult, run_jobs, run_one
from miai.tracking import FAILED, FINISHED, KILLED, Store, locate, sync
from miai.tracking.location import Location
from runner.conftest import leftovers
from runner.sample_tasks import COUNT, RESUMABLE, SQUARES


def jobs(experiment: str, seeds: Sequence[int], **config: Any) -> list[Job]:
    return [Job(COUNT, {"seed": seed, **config}, experiment) for seed in seeds]


def statuses(result: SweepResult) -> list[str]:
    return [outcome.status for outcome in result.outcomes]


def statuses_in(store: Store, experiment: str) -> list[str]:
    return sorted(run.status for run in store.runs(experiment))


class Screen:
    """What a person sees: plain text, or a terminal's."""

    def __init__(self, terminal: bool = False) -> None:
        self._file = io.StringIO()
        self.console = Console(file=self._file, width=300, force_terminal=terminal, color_system=None)

    @property
    def text(self) -> str:
        return self._file.getvalue()


@pytest.mark.parametrize("launcher", ["local", "serial"])
def test_the_same_command_again_runs_only_what_is_missing_and_says_so(
    location: Location, store: Store, experiment: str, launcher: Any
) -> None:
    first = run_jobs(jobs(experiment, range(2)), location, launcher=launcher, workers=2)
    assert statuses(first) == ["finished"] * 2
    screen = Screen()
    second = run_jobs(
        jobs(experiment, range(4)), location, launcher=launcher, workers=2, console=screen.console, title="study"
    )
    assert statuses(second) == ["there", "there", "finished", "finished"]
    assert [outcome.run_id for outcome in second.outcomes[:2]] == [outcome.run_id for outcome in first.outcomes]
    assert "study: 4 runs, 2 already there, 2 to do." in screen.text
    assert "study: 2 finished, 2 already there; " in screen.text
    assert second.complete
    assert second.exit_code == 0
    assert statuses_in(store, experiment) == [FINISHED] * 4
    forced = run_jobs(jobs(experiment, range(2)), location, launcher=launcher, workers=2, resume=False)
    assert statuses(forced) == ["finished"] * 2
    assert statuses_in(store, experiment) == [FINISHED] * 6
    assert leftovers(location) == []


@pytest.mark.parametrize("launcher", ["local", "serial"])
def test_failures_stop_nobody_close_the_sweep_in_a_table_and_are_tried_again(
    location: Location, store: Store, experiment: str, launcher: Any
) -> None:
    good, bad = jobs(experiment, range(2)), jobs(experiment, [7], trouble="error")
    worse = jobs(experiment, [8], trouble="user")
    screen = Screen()
    result = run_jobs([*bad, good[0], *worse, good[1]], location, launcher=launcher, workers=2, console=screen.console)
    assert statuses(result) == ["failed", "finished", "failed", "finished"]
    assert result.exit_code == 1
    assert [outcome.reason for outcome in result.failures] == [
        "RuntimeError: sparks and smoke",
        "alpha: 2.0 is too large; allowed: 0 to 1.",
    ]
    assert "2 failed" in screen.text
    for outcome in result.failures:
        assert outcome.name in screen.text
        assert outcome.reason in screen.text
        assert outcome.log in screen.text
        assert Path(outcome.log).is_file()
    assert statuses_in(store, experiment) == [FAILED, FAILED, FINISHED, FINISHED]
    again = run_jobs([*bad, good[0]], location, launcher=launcher, workers=2)
    assert statuses(again) == ["failed", "there"]


def test_fail_fast_stops_at_the_first_failure(location: Location, store: Store, experiment: str) -> None:
    first = jobs(experiment, [0], trouble="error")
    rest = jobs(experiment, range(1, 6), steps=1000, seconds=60)
    result = run_jobs([*first, *rest], location, workers=2, fail_fast=True)
    assert statuses(result)[0] == "failed"
    assert set(statuses(result)[1:]) <= {"killed", "cancelled"}
    assert result.count("cancelled") >= 3
    assert result.exit_code == 1
    assert statuses_in(store, experiment)[0] == FAILED
    assert set(statuses_in(store, experiment)[1:]) <= {KILLED}  # A run that was stopped early enough is not there.


def test_a_killed_worker_is_replaced_and_its_run_made_again(
    location: Location, store: Store, experiment: str, tmp_path: Path
) -> None:
    victim = jobs(experiment, [9], trouble="suicide once", marker=str(tmp_path / "marker"))
    result = run_jobs([*victim, *jobs(experiment, range(3))], location, workers=2)
    assert statuses(result) == ["finished"] * 4
    assert statuses_in(store, experiment) == [FINISHED] * 4 + [KILLED]
    assert leftovers(location) == []


def test_a_run_that_kills_three_workers_is_given_up(location: Location, store: Store, experiment: str) -> None:
    poison = jobs(experiment, [9], trouble="suicide")
    result = run_jobs([*poison, *jobs(experiment, range(3))], location, workers=2)
    assert statuses(result) == ["failed", "finished", "finished", "finished"]
    assert result.outcomes[0].reason == "its worker died 3 times, the last time killed by SIGKILL"
    assert statuses_in(store, experiment) == [FINISHED] * 3 + [KILLED] * 3


def test_a_killed_run_goes_on_from_its_checkpoint_with_its_whole_history(
    location: Location, store: Store, experiment: str
) -> None:
    task_jobs = [Job(RESUMABLE, {"seed": seed, "steps": 6, "die_at": 3}, experiment) for seed in range(2)]
    result = run_jobs(task_jobs, location, workers=2)
    assert [(outcome.status, outcome.final) for outcome in result.outcomes] == [("finished", {"start": 4.0})] * 2
    history = store.client.get_metric_history(result.outcomes[0].run_id, "step")
    assert sorted(metric.step for metric in history) == [0, 1, 2, 3, 4, 5]
    assert leftovers(location) == []


def test_equal_jobs_are_run_once(location: Location, store: Store, experiment: str) -> None:
    result = run_jobs(jobs(experiment, [1, 2, 1], seconds=0), location, workers=2)
    assert statuses(result) == ["finished", "finished", "there"]
    assert result.outcomes[2].run_id == result.outcomes[0].run_id
    assert len(store.runs(experiment)) == 2


def test_a_job_whose_input_is_missing_fails_alone(location: Location, experiment: str) -> None:
    bad = Job(COUNT, {"seed": 0, "init": "gone.npz"}, experiment)
    result = run_jobs([bad, *jobs(experiment, range(2))], location, workers=2)
    assert statuses(result) == ["failed", "finished", "finished"]
    assert "no such file: 'gone.npz'" in result.outcomes[0].reason


def test_a_single_run_of_a_sweep_spreads_its_units(location: Location, experiment: str, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    units = [{"x": x, "marks": str(marks)} for x in range(4)]
    result = run_jobs([Job(SQUARES, {"units": units}, experiment)], location, workers=2)
    assert statuses(result) == ["finished"]
    assert len({line.split()[1] for line in marks.read_text().splitlines()}) == 2


def test_a_terminal_shows_a_bar(location: Location, experiment: str) -> None:
    screen = Screen(terminal=True)
    run_jobs(
        jobs(experiment, range(3), steps=10, seconds=0.5), location, workers=2, console=screen.console, title="study"
    )
    assert "/3 runs" in screen.text
    assert "runs/s" in screen.text


def test_no_jobs_is_no_error(location: Location) -> None:
    assert run_jobs([], location).exit_code == 0


def test_an_unknown_launcher_is_refused(location: Location) -> None:
    with pytest.raises(MiaiError, match=r"^launcher: no such choice 'lokal'; .* Did you mean 'local'\?"):
        run_jobs([], location, launcher="lokal")


def test_a_store_that_does_not_answer_costs_nothing_but_a_sync(
    tmp_path: Path, location: Location, store: Store, experiment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    away = locate("http://127.0.0.1:9", root=tmp_path)
    screen = Screen()
    result = run_jobs(jobs(experiment, range(4)), away, workers=2, console=screen.console)
    assert statuses(result) == ["finished"] * 4
    assert all(outcome.kept for outcome in result.outcomes)
    assert screen.text.count("cannot be reached") == 1
    assert statuses(run_jobs(jobs(experiment, range(5)), away, workers=2)) == ["there"] * 4 + ["finished"]
    back = Store(Location(location.uri, location.artifacts, away.mlruns))
    assert len(sync(back, adopt=True).uploaded) == 5
    assert statuses_in(store, experiment) == [FINISHED] * 5
    assert statuses(run_jobs(jobs(experiment, range(5)), location, workers=2)) == ["there"] * 5


def test_a_place_that_cannot_be_written_to_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(MiaiError, match=r"mlruns: it cannot be written to, so no run can be made\."):
        run_jobs(jobs("study", range(3)), locate(root=tmp_path), launcher="serial")
    [job] = jobs("study", [0])
    with pytest.raises(MiaiError, match="cannot be written to"):
        run_one(job, locate(root=tmp_path))
