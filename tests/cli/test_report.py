"""`miai report`: from the store to reports/STUDY/."""

from __future__ import annotations

import pytest

TINY = ("num_games=300", "num_checkpoints=3", "test.games=10", "seed=0,1")
STUDY = """\
question: Which is better?
grid:
  algorithm: [mc, afterstate]
report:
  figures: [final_results]
  tables: [overview]
"""

STAGED = """\
question: Which?
stages:
  - name: grid
    grid: {algorithm: [mc, sarsa], alpha: [0.1, 0.2]}
  - name: best
    select: {of: grid, by: algorithm, choose: alpha, metric: eval/win}
    seeds: [5]
report:
  sections:
    - {title: Grid, stages: [grid], figures: [], tables: [overview]}
    - {title: Best, stages: [best], figures: [], tables: [overview]}
"""


@pytest.fixture
def study(home):
    (home / "experiments").mkdir(exist_ok=True)
    file = home / "experiments" / "small.yaml"
    file.write_text(STUDY)
    return file


def test_a_studys_report(miai, store, home, study):
    assert miai("sweep", "small", *TINY, "launcher=serial").code == 0
    said = miai("report", "small", *TINY)
    assert said.code == 0, said
    page = home / "reports" / "small" / "report.html"
    assert said.out.splitlines()[-1] == str(page)
    assert "small: 4 runs, " in said.out
    table = [line for line in said.out.splitlines() if line.lstrip().startswith(("Monte Carlo", "AfterState"))]
    assert len(table) == 2, "the first table is shown"
    assert "missing" not in said.out
    text = page.read_text(encoding="utf-8")
    assert "Which is better?" in text
    assert f"miai sweep small {' '.join(TINY)} &amp;&amp; miai report small {' '.join(TINY)}" in text
    [kept] = [run for run in store.runs("reports") if run.name == "small"]
    assert "report.html" in store.artifacts(kept)
    before = page.stat().st_mtime_ns
    assert "up to date" in miai("report", "small", *TINY).out
    assert page.stat().st_mtime_ns == before
    assert "drawn" in miai("report", "small", *TINY, "force=true").out
    assert page.stat().st_mtime_ns > before


def test_it_takes_the_runs_of_exactly_these_settings_and_says_what_is_missing(miai, home, study):
    for further in ("alpha=0.2", "alpha=0.3"):
        assert miai("sweep", "small", *TINY, "seed=0", further, "launcher=serial").code == 0
    said = miai("report", "small", *TINY, "alpha=0.2")
    assert said.code == 0
    assert "2 of 4 planned runs are missing: mc-random-first-s1, afterstate-random-first-s1." in said.out
    assert "left out: made with other settings" in said.out
    assert "small: 2 runs" in said.out
    assert "no finished run in the store" in miai("report", "small", *TINY, "alpha=0.77").refusal


def test_a_stage_that_waits_for_another_is_left_out_and_said_to_be(miai, home):
    (home / "experiments").mkdir(exist_ok=True)
    (home / "experiments" / "staged.yaml").write_text(STAGED)
    few = ("num_games=300", "num_checkpoints=2", "test.games=10")
    assert miai("sweep", "staged", *few, "alpha=0.1", "launcher=serial").code == 0
    said = miai("report", "staged", *few)
    assert said.code == 0, said
    assert "Stage best is left out. study staged: 2 of 4 runs of stage grid" in said.out
    assert miai("sweep", "staged", *few, "launcher=serial").code == 0
    said = miai("report", "staged", *few)
    assert "left out." not in said.out
    assert "staged: 6 runs" in said.out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "name a study: "),
        (["nosuch"], "study: no such choice 'nosuch'; allowed: "),
        (["td_comparison", "force=1"], "force: true or false is allowed, not 1."),
        (["td_comparison", "nosuch=1"], "nosuch: there is no such option."),
        (["td_comparison", "alpha=5"], "alpha: Input should be less than or equal to 1, not 5."),
        (["td_comparison", "tracking.uri=x"], "tracking.uri: 'x' is a file store"),
    ],
)
def test_bad_input(miai, home, arguments, line):
    assert miai("report", *arguments).refusal.startswith(f"miai report: {line}")


@pytest.mark.parametrize(
    ("report", "complaint"),
    [
        ("{figures: [nosuch]}", "nosuch"),
        ("{compare: nosuch}", "nosuch"),
        ("{nosuch: 1}", "no such choice 'nosuch'"),
        ("3", "valid dictionary, not 3"),
    ],
)
def test_a_bad_report_block_is_one_line(miai, home, study, report, complaint):
    miai("sweep", "small", *TINY, "launcher=serial")
    study.write_text(STUDY[: STUDY.index("report:")] + f"report: {report}\n")
    assert complaint in miai("report", "small", *TINY, "force=true").refusal
