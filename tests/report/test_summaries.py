from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from miai.report import metrics, summaries
from miai.report.selection import Selection
from miai.report.spec import ReportSpec

from .invented import study
from .invented_networks import value_study


def select(data, **block) -> Selection:
    spec = ReportSpec.from_mapping(block, data.study)
    return Selection(data, spec.sections[0], spec.labels)


@pytest.fixture(scope="module")
def selection() -> Selection:
    return select(study({}, num_seeds=8, num_checkpoints=5))


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.98934, 4, "0.9893"),
        (8631, 0, "8,631"),
        (-0.5, 2, "−0.50"),
        (0.0, 4, "0.0000"),
        (0.00001, 4, "< 0.0001"),
        (-0.00001, 4, "> −0.0001"),
        (np.nan, 2, "–"),
        (np.inf, 2, "∞"),
    ],
)
def test_numbers_as_people_write_them(value, digits, text):
    assert metrics.number(value, digits) == text


def test_results_hold_the_statistics(selection):
    frame = summaries.results(selection).frame
    row = frame[(frame["metric"] == "eval/win") & (frame["algorithm.name"] == "mc")].iloc[0]
    values = selection.runs[selection.runs["algorithm.name"] == "mc"]["eval/win"].to_numpy()
    assert row["runs"] == 8
    assert row["mean"] == pytest.approx(values.mean())
    assert row["iqm"] == pytest.approx(stats.trim_mean(values, 0.25))
    assert row["standard deviation"] == pytest.approx(values.std(ddof=1))
    assert (row["lowest"], row["highest"]) == (values.min(), values.max())
    assert row["mean low"] < row["mean"] < row["mean high"]


def test_overview_counts_unbeatable_runs(selection):
    table = summaries.overview(selection)
    assert table.columns[:4] == ("algorithm", "seeds", "table size (entries)", "unbeatable")
    for row, (_, record) in zip(table.rows, table.frame.iterrows(), strict=True):
        runs = selection.runs[selection.runs["algorithm.name"] == record["algorithm.name"]]
        count = (runs["eval/exploitability"] < 1e-9).sum()
        assert record["unbeatable"] == count
        assert row[3].startswith(f"{count} of 8 [")
    assert "Unbeatable" in table.note


def test_overview_speaks_of_unbeatable_runs_only_where_there_is_an_exploitability(tmp_path):
    values = select(value_study(tmp_path), compare="positions", metrics=["test/mse"], figures=["value_error"])
    assert "Unbeatable" not in summaries.overview(values).note


def test_a_number_that_is_compared_has_its_name_in_legends_and_stands_alone_under_it():
    values = select(study({"alpha": (0.1, 0.3)}, num_seeds=2, num_checkpoints=3), compare="alpha")
    assert [group.label for group in values.groups] == ["step size α 0.1", "step size α 0.3"]
    table = summaries.overview(values)
    assert table.columns[0] == "step size α"
    assert [row[0] for row in table.rows] == ["0.1", "0.3"]


def test_differences_are_corrected_over_all_rows_of_a_metric(selection):
    frame = summaries.differences(selection).frame
    own = frame[frame["metric"] == "eval/optimality_gap"]
    assert len(own) == 6
    smallest = own.loc[own["p"].idxmin()]
    assert smallest["p holm"] == pytest.approx(min(1.0, 6 * smallest["p"]))
    assert (own["p holm"] >= own["p"]).all()
    mc, sarsa = (
        selection.runs[selection.runs["algorithm.name"] == name].sort_values("seed")["eval/optimality_gap"].to_numpy()
        for name in ("mc", "sarsa")
    )
    row = own[(own["first"] == "Monte Carlo") & (own["second"] == "SARSA")].iloc[0]
    assert row["difference"] == pytest.approx((mc - sarsa).mean())
    assert row["pairs"] == 8
    # Lower is better for a gap: the probability that Monte Carlo is better counts its smaller values.
    assert row["probability first better"] == pytest.approx((mc[:, None] < sarsa[None]).mean())


def test_verdicts_name_the_better_group(selection):
    table = summaries.differences(selection)
    for row, (_, record) in zip(table.rows, table.frame.iterrows(), strict=True):
        if record["p holm"] >= 0.05:
            assert row[-1] == "not told apart"
        else:
            lower_is_better = record["metric"] != "eval/win"
            first_leads = (record["difference"] < 0) == lower_is_better
            assert row[-1] == f"{record['first'] if first_leads else record['second']} better"


def test_a_sweep_has_a_row_a_value():
    swept = select(study({"alpha": (0.1, 0.3)}, num_seeds=3, num_checkpoints=2), sweep="alpha")
    table = summaries.overview(swept)
    assert table.columns[:3] == ("algorithm", "step size α", "seeds")
    assert len(table.rows) == 8
    assert [row[:3] for row in table.rows[:2]] == [("Monte Carlo", "0.1", "3"), ("Monte Carlo", "0.3", "3")]
    assert set(summaries.differences(swept).frame["alpha"]) == {0.1, 0.3}
    assert summaries.findings(swept) == ()


def test_one_seed_has_no_interval():
    alone = select(study({"algorithm.name": ("mc", "sarsa")}, num_seeds=1, num_checkpoints=2))
    row = summaries.results(alone).rows[0]
    assert row[2:7] == ("1", row[3], "–", row[5], "–")
    assert "too few common seeds" in summaries.findings(alone)[0]


def test_findings_say_who_leads(selection):
    sentences = summaries.findings(selection)
    assert sentences[0].startswith("Win rate: ")
    means = selection.runs.groupby("algorithm.name")["eval/optimality_gap"].mean()
    best = metrics.VALUES[str(means.idxmin())]
    assert sentences[1].startswith(f"Optimality gap: {best} is best, ")


@pytest.mark.parametrize(
    ("p", "text"),
    [(1.0, "1.000"), (0.0421, "0.042"), (0.00096, "1 · 10⁻³"), (9.6e-05, "1 · 10⁻⁴"), (2e-12, "2 · 10⁻¹²")],
)
def test_p_values_as_people_write_them(p, text):
    assert summaries.p_value(p) == text
