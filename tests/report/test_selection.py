from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from miai.errors import MiaiError
from miai.report.events import NEVER
from miai.report.load import StudyData
from miai.report.selection import Selection
from miai.report.spec import ReportSpec

from .invented import ALGORITHMS, study


def select(data: StudyData, **block) -> Selection:
    return Selection(data, ReportSpec.from_mapping(block, data.study).sections[0])


def tiny(rows: list[dict], history: list[tuple] = ()) -> StudyData:
    """A study by hand: rows of parameters and `eval/…` metrics, and a history of (run, step, exploitability)."""
    frame = pd.DataFrame([{"run_id": f"r{i}", "name": f"r{i}", "fingerprint": "", **row} for i, row in enumerate(rows)])
    parameters = [name for name in frame.columns[3:] if "/" not in name]
    curves = pd.DataFrame(history, columns=["run_id", "step", "eval/exploitability"])
    return StudyData("tiny", frame, parameters, history=curves)


def test_groups_come_in_their_own_order_with_labels_and_styles():
    selection = select(study({}, num_seeds=2, num_checkpoints=3))
    assert [group.key for group in selection.groups] == [(name,) for name in ALGORITHMS]
    assert [group.label for group in selection.groups] == ["Monte Carlo", "SARSA", "Q-learning", "AfterState"]
    looks = {(group.style.colour, str(group.style.line), group.style.marker) for group in selection.groups}
    assert len({look[0] for look in looks}) == len({look[1] for look in looks}) == len({look[2] for look in looks}) == 4
    assert [facet.label for facet in selection.facets] == [""]


def test_a_colour_does_not_depend_on_what_else_is_shown():
    data = study({"algorithm.name": ("sarsa", "new_one", "another")}, num_seeds=1, num_checkpoints=2)
    everything = {group.label: group.style for group in select(data).groups}
    some = {group.label: group.style for group in select(data, where={"algorithm.name": ["new_one", "sarsa"]}).groups}
    assert some == {label: everything[label] for label in some}


def test_two_compared_parameters_keep_the_colour_of_the_first():
    data = study({"opponent.name": ("random", "advanced")}, num_seeds=1, num_checkpoints=2)
    selection = select(data, compare=["algorithm.name", "opponent.name"], where={"algorithm.name": ["mc", "sarsa"]})
    labels = [group.label for group in selection.groups]
    assert labels == ["Monte Carlo · random", "Monte Carlo · advanced", "SARSA · random", "SARSA · advanced"]
    first, second, third, _ = (group.style for group in selection.groups)
    assert first.colour == second.colour != third.colour
    assert first.marker != second.marker
    assert first.marker == third.marker


def test_where_and_stages_filter():
    data = study({"alpha": (0.1, 0.3)}, num_seeds=3, num_checkpoints=2)
    assert len(select(data, where={"alpha": 0.3, "algorithm.name": "mc"}).runs) == 3
    assert select(data, stages=["later"]).runs.empty
    with pytest.raises(MiaiError, match=r"parameter: no such choice 'alhpa'.*Did you mean 'alpha'"):
        select(data, where={"alhpa": 0.3})


def test_unbalanced_seeds_are_said():
    data = study({}, num_seeds=5, num_checkpoints=2, drop=frozenset({("mc", 3), ("mc", 4)}))
    selection = select(data)
    [note] = selection.notes
    assert note.startswith("Unbalanced seeds: Monte Carlo has 3 of 5; missing: 3, 4.")
    assert selection.seeds() == "3 to 5 seeds"
    metric = selection.metric("eval/win")
    mc, sarsa = selection.groups[:2]
    assert selection.compare(metric, mc, sarsa, selection.facets[0]).num_pairs == 3


def test_pooled_settings_are_said_and_paired_on():
    rows = [
        {"algorithm.name": name, "schedule.name": schedule, "schedule.decay": decay, "seed": seed, "eval/win": value}
        for name, lead in (("mc", 0.0), ("sarsa", 0.1))
        for schedule, decay in (("linear", None), ("exponential", 10_000))
        for seed, value in ((0, lead + 0.5), (1, lead + 0.6))
    ]
    selection = select(tiny(rows))
    assert selection.pooled == ("schedule.name",)  # it decides the decay
    assert "ε schedule (2 values)" in selection.notes[0]
    mc, sarsa = selection.groups
    compared = selection.compare(selection.metric("eval/win"), sarsa, mc, selection.facets[0])
    assert compared.num_pairs == 4
    assert float(compared.difference.value) == pytest.approx(0.1)
    assert selection.seeds() == "4 runs"


def test_pairs_match_seeds_and_not_rows():
    rows = [
        {"algorithm.name": "mc", "seed": 1, "eval/win": 0.1},
        {"algorithm.name": "mc", "seed": 0, "eval/win": 0.2},
        {"algorithm.name": "sarsa", "seed": 0, "eval/win": 0.25},
        {"algorithm.name": "sarsa", "seed": 1, "eval/win": 0.15},
        {"algorithm.name": "sarsa", "seed": 2, "eval/win": 0.9},
    ]
    selection = select(tiny(rows))
    mc, sarsa = selection.groups
    found = selection.compare(selection.metric("eval/win"), sarsa, mc, selection.facets[0])
    assert found.num_pairs == 2
    assert float(found.difference.value) == pytest.approx(0.05)
    assert found.p_value == pytest.approx(0.5)


def test_both_seats_become_metrics_of_their_own():
    rows = [{"algorithm.name": "mc", "seed": 0, "eval/first/win": 0.9, "eval/second/win": 0.8}]
    selection = select(tiny(rows), metrics=["eval/win", "eval/draw"])
    assert [metric.label for metric in selection.metrics] == ["win rate as X", "win rate as O"]
    assert "No run holds the metric eval/draw: left out." in selection.notes


def test_runs_of_one_seat_stand_beside_runs_of_both():
    rows = [
        {"algorithm.name": "mc", "seat": "both", "seed": 0, "eval/first/win": 0.9, "eval/second/win": 0.8},
        {"algorithm.name": "sarsa", "seat": "first", "seed": 0, "eval/win": 0.95},
        {"algorithm.name": "q_learning", "seat": "second", "seed": 0, "eval/win": 0.85},
    ]
    history = [("r1", 10, 0.5), ("r1", 20, 0.0)]
    selection = select(tiny(rows, history))
    as_x, as_o = selection.resolve(("eval/win",))
    assert [metric.name for metric in (as_x, as_o)] == ["eval/first/win", "eval/second/win"]
    found = [
        [selection.finals(metric, group, selection.facets[0]).tolist() for metric in (as_x, as_o)]
        for group in selection.groups
    ]
    assert found == [[[0.9], [0.8]], [[0.95], []], [[], [0.85]]]
    curves = selection.curves(selection.metric("eval/first/exploitability"), selection.groups[1], selection.facets[0])
    np.testing.assert_array_equal(curves.values, [[0.5, 0.0]])


def test_different_checkpoints_meet_on_the_coarsest():
    rows = [{"algorithm.name": "mc", "seed": seed} for seed in (0, 1)]
    history = [("r0", 10, 0.4), ("r0", 20, 0.2), ("r0", 40, 0.0), ("r1", 5, 0.9), ("r1", 15, 0.3), ("r1", 25, 0.1)]
    history += [("r1", 35, 0.1)]
    selection = select(tiny(rows, history))
    curves = selection.curves(selection.metric("eval/exploitability"), selection.groups[0], selection.facets[0])
    np.testing.assert_array_equal(curves.steps, [10, 20])  # within 10 … 35, on the run with three points
    np.testing.assert_allclose(curves.values, [[0.4, 0.2], [0.6, 0.2]])
    assert "interpolated" in selection.notes[-1]


def test_times_count_runs_that_never_get_there():
    rows = [{"algorithm.name": "mc", "seed": seed} for seed in (0, 1)]
    history = [("r0", 10, 0.4), ("r0", 20, 0.0), ("r1", 10, 0.0), ("r1", 20, 0.2)]
    selection = select(tiny(rows, history))
    times, horizons = selection.times(selection.metric("eval/exploitability"), selection.groups[0], selection.facets[0])
    assert times.tolist() == [20, NEVER]
    assert horizons.tolist() == [20, 20]


def test_final_values_fall_back_on_the_last_checkpoint():
    selection = select(tiny([{"algorithm.name": "mc", "seed": 4}], [("r0", 10, 0.4), ("r0", 20, 0.1)]))
    found = selection.finals(selection.metric("eval/exploitability"), selection.groups[0], selection.facets[0])
    assert found.to_dict() == {(4,): 0.1}


def test_a_sweep_needs_numbers():
    data = study({"opponent.name": ("random", "minimax")}, num_seeds=1, num_checkpoints=2)
    with pytest.raises(MiaiError, match="not numbers"):
        select(data, sweep="opponent.name")
    assert select(study({"alpha": (0.3, 0.1)}, num_seeds=1, num_checkpoints=2), sweep="alpha").sweep_values == (
        0.1,
        0.3,
    )
