"""Figures of networks and searches: what they take from artifacts, by numbers that can be checked by hand."""

from __future__ import annotations

import copy
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_hex
from matplotlib.patches import Circle, Rectangle

from miai.report import figures, style
from miai.report.figures import value_error
from miai.report.selection import Selection
from miai.report.spec import ReportSpec

from .invented_networks import ANALYSIS, position_study, value_study


def select(data, **block) -> Selection:
    spec = ReportSpec.from_mapping(block, data.study)
    return Selection(data, spec.sections[0], spec.labels)


def drawn(name: str, selection: Selection, **options: object):
    kind = figures.kinds()[name]
    given = kind.options(**options)
    assert kind.applies(selection, given) is None
    with style.drawing():
        drawing = kind.draw(selection, given)
        drawing.figure.canvas.draw()
    return drawing


def texts(figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(mpl.text.Text) if text.get_text()]


def test_errors_by_move_are_means_over_positions(tmp_path: Path) -> None:
    selection = select(value_study(tmp_path, ("one",)), compare="positions")
    table = value_error.errors(selection, selection.groups[0], selection.facets[0])
    assert table is not None
    assert table["positions"].tolist() == [40, 40, 20]
    # (30 · 0.90 + 10 · 0.50) / 40, (0.60 + 0.40) / 2, (0.20 + 0.40) / 2
    np.testing.assert_allclose(table["value_mse"], [0.80, 0.50, 0.30])
    # Of the last range one run knows no error of ten playouts: the other's counts alone.
    np.testing.assert_allclose(table["rollouts_10_mse"], [1.10, 0.70, 0.30])


def test_runs_with_other_ranges_of_moves_are_left_out_with_a_note(tmp_path: Path) -> None:
    selection = select(value_study(tmp_path, ("one",)), compare="positions")
    (tmp_path / "one1.csv").write_text("first_move,last_move,positions,value_mse\n0,4,10,0.1\n")
    table = value_error.errors(selection, selection.groups[0], selection.facets[0])
    assert table is not None
    np.testing.assert_allclose(table["value_mse"], [0.9, 0.6, 0.2])
    assert "1 of 2 runs have other ranges of moves" in " ".join(selection.notes)


def test_the_figure_of_errors_names_its_lines_and_playouts_at_equal_time(tmp_path: Path) -> None:
    selection = select(value_study(tmp_path, ("one",)), compare="positions")
    drawing = drawn("value_error", selection)
    assert {"value network", "1 playout", "mean of 10 playouts", "always the mean result"} <= set(texts(drawing.figure))
    assert "In the time of one value there are 7.5 playouts." in drawing.caption
    assert drawing.table is not None
    assert drawing.table.rows[0] == ("0 to 9", "40", "0.800", "1.600", "1.100")
    fewer = drawn("value_error", selection, playouts=(10,))
    assert "1 playout" not in texts(fewer.figure)


def test_the_gap_is_held_out_less_learnt_from(tmp_path: Path) -> None:
    drawing = drawn("train_test_gap", select(value_study(tmp_path), compare="positions"))
    assert "one +0.050" in drawing.caption
    assert "all +0.700" in drawing.caption
    assert {"learnt from", "held out"} <= set(texts(drawing.figure))
    assert "error on held-out positions" not in " ".join(texts(drawing.figure)).replace("\n", " "), "both are drawn"


def test_a_gap_needs_both_metrics(tmp_path: Path) -> None:
    kind = figures.kinds()["train_test_gap"]
    selection = select(value_study(tmp_path), compare="positions")
    assert (
        kind.applies(selection, kind.options(train="train/loss")) == "no run holds both train/loss and value/mse_valid"
    )


def test_the_picture_shows_stones_and_the_numbers_of_moves(tmp_path: Path) -> None:
    drawing = drawn("search_picture", select(position_study(tmp_path), compare="task"))
    priors, values, visits = drawing.figure.axes
    assert [ax.get_title() for ax in (priors, values, visits)] == [
        "prior P (%)",
        "chance to win, (1 + Q) / 2 (%)",
        "visits N",
    ]
    stones = {stone.center: to_hex(stone.get_facecolor()) for stone in priors.patches if isinstance(stone, Circle)}
    assert stones == {(1, 1): "#222222", (0, 0): "#ffffff"}, "Black at B2, White at A3"
    found = {(text.get_position(), text.get_text()) for text in priors.texts}
    assert found == {((0, 1), "50"), ((1, 0), "30"), ((2, 2), "15")}, "a pass is not on the board"
    assert {text.get_text() for text in values.texts} == {"80", "60"}, "C1 was never tried"
    assert {text.get_text() for text in visits.texts} == {"60", "39"}
    framed = [p for p in visits.patches if isinstance(p, Rectangle) and to_hex(p.get_edgecolor()) == "#d55e00"]
    assert [(round(p.get_x() + 0.47), round(p.get_y() + 0.47)) for p in framed] == [(0, 1)]
    assert "as Black after B2 A3: plays A2, a chance to win of 75 %." in drawing.caption
    assert drawing.table is not None
    assert drawing.table.rows[0] == ("APV-MCTS", "A2", "50.0 %", "80.0 %", "60")


def test_the_picture_has_a_panel_for_what_is_said_alone(tmp_path: Path) -> None:
    plain = copy.deepcopy(ANALYSIS)
    for move in plain["players"][0]["moves"]:
        del move["prior"]
    plain["game"] = {"name": "tictactoe"}
    drawing = drawn("search_picture", select(position_study(tmp_path, plain), compare="task"))
    assert [ax.get_title() for ax in drawing.figure.axes] == ["chance to win, (1 + Q) / 2 (%)", "visits N"]
    alone = drawn("search_picture", select(position_study(tmp_path), compare="task"), parts=("visits",))
    assert [ax.get_title() for ax in alone.figure.axes] == ["visits N"]


def test_no_picture_without_an_analysis(tmp_path: Path) -> None:
    kind = figures.kinds()["search_picture"]
    reason = kind.applies(select(value_study(tmp_path), compare="positions"), kind.options())
    assert reason is not None
    assert "analysis.json" in reason
