"""The file of a run's metrics: one row a step."""

from __future__ import annotations

from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from miai.errors import MiaiError
from miai.tracking.history import read_history, write_history


def test_rows_are_merged_by_step_sorted_and_padded_with_nulls(tmp_path: Path) -> None:
    path = tmp_path / "history.parquet"
    write_history(path, [(20, {"b": 2.0}), (10, {"a": 1.0, "b": 1.5}), (20, {"a": 3.0, "b": 2.5})])
    table = read_history(path)
    assert table.column_names == ["step", "b", "a"]
    assert table.to_pydict() == {"step": [10, 20], "b": [1.5, 2.5], "a": [1.0, 3.0]}


def test_a_metric_that_a_step_lacks_is_null(tmp_path: Path) -> None:
    path = tmp_path / "history.parquet"
    write_history(path, [(0, {"a": 1.0}), (1, {"b": 2.0})])
    assert read_history(path).to_pydict() == {"step": [0, 1], "a": [1.0, None], "b": [None, 2.0]}


def test_a_run_without_metrics_has_an_empty_history(tmp_path: Path) -> None:
    path = tmp_path / "history.parquet"
    write_history(path, [])
    assert read_history(path).num_rows == 0
    assert list(tmp_path.iterdir()) == [path]


def test_a_damaged_history_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "history.parquet"
    write_history(path, [(step, {"a": step / 7}) for step in range(100)])
    whole = path.read_bytes()
    for damaged in (b"", whole[:-20], whole[:40] + b"\xff" + whole[41:], b"PAR1" * 9):
        path.write_bytes(damaged)
        with pytest.raises(MiaiError, match=r"history\.parquet: the history cannot be read: "):
            read_history(path)
    with pytest.raises(MiaiError, match="cannot be read"):
        read_history(tmp_path / "nosuch.parquet")
    parquet.write_table(pyarrow.table({"step": ["x"]}), path)
    with pytest.raises(MiaiError, match="no history of a run: it holds step string"):
        read_history(path)
