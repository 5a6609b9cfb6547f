from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from miai.errors import MiaiError
from miai.report.grouping import keep_runs
from miai.report.load import load_study, parse
from miai.report.spec import Section


@dataclass
class Record:
    run_id: str
    name: str
    status: str = "FINISHED"
    params: dict = field(default_factory=dict)
    tags: dict = field(default_factory=dict)
    metrics: dict = field(default_factory=dict)
    started: datetime = datetime(2024, 1, 1, tzinfo=UTC)


class Store:
    """A store in memory, with histories in a folder."""

    def __init__(self, records: list[Record], folder: Path | None = None) -> None:
        self.records, self.folder = records, folder

    def runs(self, experiment: str) -> list[Record]:
        assert experiment == "study"
        return self.records

    def artifact(self, run: Record, name: str) -> Path:
        path = (self.folder or Path("/nowhere")) / f"{run.run_id}-{name}"
        if not path.is_file():
            raise MiaiError(f"run {run.run_id} has no artifact {name!r}")
        return path


def record(number: int, algorithm: str = "sarsa", later: int = 0, **changes) -> Record:
    settings = {"algorithm.name": algorithm, "seed": str(number), "alpha": "0.1", "init": "null", "workers": "2"}
    made = Record(
        run_id=f"{algorithm}-{number}-{later}",
        name=f"{algorithm}-s{number}",
        params=settings,
        tags={"miai.fingerprint": f"f-{algorithm}-{number}", "miai.stage": "compare"},
        metrics={"final/eval/win": 0.9 + number / 100, "eval/win": 0.1},
        started=datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=number + 1000 * later),
    )
    for name, value in changes.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("0.1", 0.1),
        ("1e-3", 0.001),
        ("true", True),
        ("null", None),
        (None, None),
        ("sarsa", "sarsa"),
        ("", None),
    ],
)
def test_parameters_are_converted(text, value):
    assert parse(text) == value
    assert type(parse(text)) is type(value)


def test_runs_become_rows():
    data = load_study(Store([record(0), record(1, "mc")]), "study")
    assert data.runs["run_id"].tolist() == ["sarsa-0-0", "mc-1-0"]
    assert data.parameters == ("stage", "algorithm.name", "seed", "alpha", "init")  # workers decide nothing
    assert data.runs["seed"].tolist() == [0, 1]
    assert data.runs["alpha"].tolist() == [0.1, 0.1]
    assert data.metrics == ("eval/win",)
    np.testing.assert_allclose(data.runs["eval/win"], [0.90, 0.91])
    assert data.notes == []


def test_of_one_configuration_the_newest_run_counts():
    old = record(0, later=0)
    new = record(0, later=1)
    newer_sources = record(0, later=2, tags={"miai.fingerprint": "another", "miai.stage": "compare"})
    newer_sources.params["workers"] = "8"
    data = load_study(Store([newer_sources, old, new]), "study")
    assert data.runs["run_id"].tolist() == ["sarsa-0-2"]
    assert data.notes == ["2 runs left out: a newer run of the same configuration counts."]


def test_failed_runs_are_said_unless_made_good():
    broken = record(1, status="FAILED", tags={"miai.fingerprint": "x", "miai.error": "MiaiError: no such table\ntrace"})
    mended = record(0, status="FAILED")
    data = load_study(Store([record(0, later=1), broken, mended, record(2, status="RUNNING")]), "study")
    assert data.notes == [
        "1 run FAILED and not drawn: sarsa-s1 (MiaiError: no such table).",
        "1 run RUNNING and not drawn: sarsa-s2.",
    ]


def test_a_plan_says_what_is_missing_and_what_does_not_belong():
    planned = {"f-sarsa-0": "sarsa-s0", "f-sarsa-1": "sarsa-s1", "f-sarsa-2": "sarsa-s2"}
    data = load_study(Store([record(0), record(5)]), "study", planned)
    assert data.runs["seed"].tolist() == [0]
    outside, missing = data.notes
    assert outside.startswith("1 run in the store left out")
    assert missing == "2 of 3 planned runs are missing: sarsa-s1, sarsa-s2."


def test_a_run_that_two_stages_ask_for_was_made_once_and_counts_in_both():
    stage = {"miai.stage": "grid"}
    records = [record(0, tags={"miai.fingerprint": "a", **stage}), record(1, tags={"miai.fingerprint": "b", **stage})]
    planned = {"a": "sarsa-s0", "b": "sarsa-s1"}
    data = load_study(Store(records), "study", planned, {"a": ["grid"], "b": ["grid", "best"]})
    assert list(zip(data.runs["seed"], data.runs["stage"], strict=True)) == [(0, "grid"), (1, "grid"), (1, "best")]
    assert data.notes == []
    runs = {stages: keep_runs(data, Section(stages=stages), "here") for stages in ((), ("grid",), ("best",))}
    assert [kept["seed"].tolist() for kept in runs.values()] == [[0, 1], [0, 1], [1]]


def test_nothing_is_left_by_two_conditions():
    data = load_study(Store([record(0), record(1)]), "study")
    kept = keep_runs(data, Section(where={"seed": (7,), "algorithm.name": ("sarsa",)}), "here")
    assert kept.empty
    assert list(kept.columns) == list(data.runs.columns)


@pytest.mark.parametrize("records", [[], [record(0, status="FAILED")]])
def test_no_finished_run_names_the_command(records):
    with pytest.raises(MiaiError, match="`miai sweep study`"):
        load_study(Store(records), "study")


def test_a_damaged_history_is_left_out_and_said(tmp_path):
    for number in range(2):
        pd.DataFrame({"step": [10], "eval/win": [0.5]}).to_parquet(tmp_path / f"sarsa-{number}-0-history.parquet")
    file = tmp_path / "sarsa-1-0-history.parquet"
    file.write_bytes(file.read_bytes()[:-9])
    data = load_study(Store([record(0), record(1)], tmp_path), "study")
    assert data.history["run_id"].tolist() == ["sarsa-0-0"]
    assert data.notes == ["The history of sarsa-s1 is damaged: left out of every figure over games."]


def test_histories_are_joined_and_missing_ones_said(tmp_path):
    pd.DataFrame({"step": [10, 20], "eval/win": [0.5, 0.6]}).to_parquet(tmp_path / "sarsa-0-0-history.parquet")
    pd.DataFrame({"step": [20], "table/size": [7.0]}).to_parquet(tmp_path / "mc-1-0-history.parquet")
    data = load_study(Store([record(0), record(1, "mc"), record(2)], tmp_path), "study")
    assert data.history["run_id"].tolist() == ["sarsa-0-0", "sarsa-0-0", "mc-1-0"]
    assert data.history["step"].tolist() == [10, 20, 20]
    np.testing.assert_array_equal(data.history["eval/win"], [0.5, 0.6, np.nan])
    assert data.rows == {"sarsa-0-0": slice(0, 2), "mc-1-0": slice(2, 3)}
    assert data.notes == ["No history of sarsa-s2: left out of every figure over games."]


def test_provenance_counts_commits():
    tags = {"miai.git_commit": "0123456789abcdef", "miai.git_dirty": "true", "miai.fingerprint": "g"}
    data = load_study(Store([record(0, tags=tags), record(1)]), "study")
    assert data.provenance == ("0123456789ab with uncommitted changes (1 run)",)


def test_boards_are_a_parameter_of_their_own():
    runs = [record(0), record(1), record(2)]
    for made, rows, columns in zip(runs, ("3", "3", "4"), ("3", "4", "4"), strict=True):
        made.params |= {"game.rows": rows, "game.cols": columns, "game.k": "3"}
    assert load_study(Store(runs), "study").runs["board"].tolist() == ["3 × 3", "3 × 4", "4 × 4"]
    runs[2].params["game.k"] = "4"
    assert load_study(Store(runs), "study").runs["board"].tolist()[2] == "4 × 4, 4 in a row"
    assert "board" not in load_study(Store([record(0)]), "study").parameters
