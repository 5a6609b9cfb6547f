"""The benchmark compares like with like, and says right what it found."""

from __future__ import annotations

import importlib
import json
import platform
import shutil

import numpy as np
import pytest
from benchmarks import plain_python, run, tables
from benchmarks.measuring import Measure, Missing, machine, side_by_side


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler (cc)")
def test_the_peer_in_c_learns_the_same_table(tmp_path):
    setting = tables.Setting(np.linspace(1, 0, 3_000))
    (_, values, visits), (_, c_values, c_visits) = setting.ours("chosen"), setting.in_c(tables.compile_c(tmp_path))
    assert values.tobytes() == c_values.tobytes()
    assert visits.tobytes() == c_visits.tobytes()
    assert visits.sum() > 3_000


def test_the_plain_trainer_learns():
    learner = plain_python.train(2_000, decay=200.0)
    opening = np.zeros((3, 3), dtype=int)
    values = [learner.value(opening, action) for action in plain_python.legal_actions(opening)]
    assert len(learner.q) < 8_631
    assert max(values) > 0.4


def test_measures():
    faster = Measure("a", "games/s", 30.0, 10.0, goal=2.5)
    assert (faster.ratio, faster.reached) == (3, True)
    assert Measure("a", "games/s", 30.0, 10.0, goal=2.5, ratios=(2.0, 2.4, 9.0)).ratio == 2.4
    slower = Measure("b", "s", 30.0, None, goal=20.0, at_least=False)
    assert (slower.ratio, slower.reached) == (30, False)
    assert "NO" in run.line(slower)
    assert "2.4" in run.line(Measure("a", "games/s", 30.0, 10.0, goal=2.5, ratios=(2.0, 2.4, 9.0)))
    assert run.line(Missing("c", "no compiler")).endswith("not measured: no compiler")


def test_turns_are_taken_side_by_side():
    calls: list[str] = []

    def rate(name: str, value: float):
        def take() -> float:
            calls.append(name)
            return value

        return take

    measure = side_by_side("x", "1/s", rate("ours", 6.0), rate("peer", 2.0), goal=2, repeats=3)
    assert calls == ["ours", "peer"] * 4
    assert (measure.ours, measure.peer, measure.ratios) == (6, 2, (3, 3, 3))


def test_results_are_written_by_section(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(
        tables, "measure_all", lambda: iter([Missing("x", "a reason"), Measure("y", "s", 1.5, None, 2)])
    )
    (tmp_path / "results.json").write_text(json.dumps({"go": {"measures": []}}))
    assert run.main(["--only", "tables"]) == 0
    results = json.loads((tmp_path / "results.json").read_text())
    assert set(results) == {"go", "tables"}
    assert results["tables"]["measures"][0] == {"name": "x", "not_measured": "a reason"}
    assert results["tables"]["measures"][1]["reached"] is False
    assert "a reason" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        run.main(["--only", "nothing"])


@pytest.mark.parametrize("section", run.SECTIONS)
def test_every_section_measures(section):
    assert callable(importlib.import_module(run.SECTIONS[section]).measure_all)


def test_the_machine_is_described_without_its_name():
    described = machine()
    assert described["cores"] >= 1
    assert described["numba"]
    assert platform.node() not in described.values()
