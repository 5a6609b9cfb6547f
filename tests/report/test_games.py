"""Figures of games between players, from invented matches whose counts can be checked by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from miai.arena import Tally, wilson_interval
from miai.errors import MiaiError
from miai.ratings import PairScore
from miai.report import figures, games, style
from miai.report.load import StudyData
from miai.report.selection import Selection
from miai.report.spec import ReportSpec, parse_options

from .invented_matches import LADDER, SWEPT, TOURNAMENT, row, study


def select(data: StudyData, **block: object) -> Selection:
    return Selection(data, ReportSpec.from_mapping({"compare": "player.name", **block}, data.study).sections[0])


def draw(selection: Selection, name: str, **options: object) -> figures.Drawing:
    kind = figures.kinds()[name]
    chosen = parse_options(kind.options, options, name)
    assert kind.applies(selection, chosen) is None
    with style.drawing():
        drawing = kind.draw(selection, chosen)
        drawing.figure.canvas.draw()
    return drawing


def test_games_of_a_cell_are_pooled_over_its_runs(tmp_path: Path) -> None:
    selection = select(study(tmp_path, SWEPT), sweep="player.num_simulations")
    ucb = next(group for group in selection.groups if group.label == "UCB")
    cell = games.counts(selection, ucb, selection.facets[0], 1000)
    assert cell is not None
    assert cell.tally == Tally(20, 0, 60)
    assert cell.without_faults == Tally(17, 0, 60)
    assert (cell.faults, cell.opponent_faults, cell.distinct) == (0, 3, 80)
    assert cell.words() == ("80", "20", "0", "60", "25.0 %", "[16.8, 35.5]", "0", "3", "80")
    low, high = wilson_interval(20, 80)
    assert (cell.numbers()["low"], cell.numbers()["high"]) == (low, high)


def test_strength_is_drawn_over_what_is_swept_with_its_numbers(tmp_path: Path) -> None:
    drawing = draw(select(study(tmp_path, SWEPT), sweep="player.num_simulations"), "strength")
    [ax] = drawing.figure.axes
    assert ax.get_xscale() == "log"
    assert ax.get_xlabel() == "simulations a move (logarithmic)"
    lines = {line.get_color(): line.get_ydata() for line in ax.lines if len(line.get_ydata()) == 2}
    assert lines[style.FIXED["uct"].colour] == pytest.approx([10 / 40, 31 / 40])
    assert lines[style.FIXED["ucb"].colour] == pytest.approx([4 / 40, 20 / 80])
    assert drawing.table is not None
    assert len(drawing.table.rows) == 4
    assert "Points a game against GNU Go" in drawing.caption
    assert "40 to 80 games a point" in drawing.caption


def test_scores_stand_beside_each_other_and_games_with_faults_apart(tmp_path: Path) -> None:
    rows = [row("uct", 100, 10, 0, 30), row("ucb", 100, 20, 0, 20, **{"match/opponent_faults": 10.0})]
    data = study(tmp_path, rows)
    drawing = draw(select(data, compare="player.label", reference={"match/score": {"published": 0.3}}), "match_scores")
    assert "Hollow: without the games that ended by a fault." in drawing.caption
    [ax] = drawing.figure.axes
    hollow = [line for line in ax.lines if line.get_markerfacecolor() == "white"]
    assert [line.get_xdata()[0] for line in hollow] == pytest.approx([10 / 30])
    assert "published" in [text.get_text() for text in ax.texts]
    assert drawing.table is not None
    assert {line[0] for line in drawing.table.rows} == {"UCT, 100 simulations", "UCB, 100 simulations"}


def test_a_ladder_has_the_strongest_on_top(tmp_path: Path) -> None:
    data = study(tmp_path, [TOURNAMENT], LADDER)
    selection = select(data, compare="task")
    assert games.pair_scores(selection)[2] == PairScore("uct num_simulations=100", "flat_mc", 24, 0, 16)
    assert games.pair_scores(selection, faults=False)[2] == PairScore("uct num_simulations=100", "flat_mc", 20, 0, 16)
    drawing = draw(selection, "elo_ladder", anchor="random")
    labels = [text.get_text() for text in drawing.figure.axes[0].get_yticklabels()]
    assert labels == ["UCT, 100 simulations", "flat Monte Carlo", "random"]
    assert drawing.table is not None
    assert [line[0] for line in drawing.table.rows] == labels
    assert drawing.table.frame["elo"].iloc[-1] == 0
    assert "3 players from 120 games, relative to random, whose rating is 0" in drawing.caption
    weakest = draw(selection, "elo_ladder")
    assert weakest.caption == drawing.caption
    assert draw(selection, "elo_ladder", anchor="nobody").caption == drawing.caption
    assert "nobody has no games here: ratings are relative to the weakest player." in selection.notes


def test_the_matrix_shows_both_sides_of_a_pair(tmp_path: Path) -> None:
    data = study(tmp_path, [TOURNAMENT], LADDER)
    drawing = draw(select(data, compare="task"), "win_matrix")
    words = [text.get_text().split("\n")[0] for text in drawing.figure.axes[0].texts]
    assert words == ["60", "95", "40", "75", "5", "25"]
    assert drawing.table is not None
    assert [line[:2] for line in drawing.table.rows] == [
        ("UCT, 100 simulations", "flat Monte Carlo"),
        ("UCT, 100 simulations", "random"),
        ("flat Monte Carlo", "random"),
    ]


def test_matches_of_a_study_make_a_ladder_too(tmp_path: Path) -> None:
    drawing = draw(select(study(tmp_path, SWEPT), compare="player.label"), "elo_ladder")
    assert drawing.table is not None
    assert drawing.table.rows[0][0] in ("GNU Go", "UCT, 1,000 simulations")
    assert len(drawing.table.rows) == 5


@pytest.mark.parametrize("name", ["strength", "match_scores", "elo_ladder", "win_matrix"])
def test_tables_have_no_such_figures(name: str) -> None:
    from .invented import study as tables

    selection = Selection(tables({}, num_seeds=2, num_checkpoints=2), ReportSpec.from_mapping({}, "t").sections[0])
    kind = figures.kinds()[name]
    assert kind.applies(selection, kind.options()) in (games.NO_MATCHES, games.NO_GAMES)


@pytest.mark.parametrize(
    "name", sorted(set(figures.kinds()) - {"strength", "match_scores", "elo_ladder", "win_matrix"})
)
def test_matches_do_not_break_the_figures_of_tables(name: str, tmp_path: Path) -> None:
    selection = select(study(tmp_path, SWEPT), sweep="player.num_simulations")
    kind = figures.kinds()[name]
    assert isinstance(kind.applies(selection, kind.options()), str)


def test_a_section_whose_stage_has_no_runs_yet_may_name_parameters_that_nobody_has(tmp_path: Path) -> None:
    data = study(tmp_path, [{**entry, "stage": "matches"} for entry in SWEPT])
    selection = select(data, stages=["tables"], compare="algorithm.name", facet="seat")
    assert selection.runs.empty
    with pytest.raises(MiaiError, match=r"parameter: no such choice 'algorithm\.name'"):
        select(data, stages=["matches"], compare="algorithm.name")


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("uct", "UCT"),
        ("uct num_simulations=2000 rave=true", "UCT, 2,000 simulations, RAVE"),
        ("uct c_uct=0.5", "UCT, exploration constant C 0.5"),
        ("gnugo level=1", "GNU Go, level 1"),
        ("sarsa against random, both seats, seed 0", "sarsa against random, both seats, seed 0"),
        ("my own", "my own"),
    ],
)
def test_players_are_named_for_people(tmp_path: Path, name: str, label: str) -> None:
    assert games.player_label(select(study(tmp_path, SWEPT)), name) == label
