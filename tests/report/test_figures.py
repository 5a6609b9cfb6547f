from __future__ import annotations

import dataclasses
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from miai.errors import MiaiError
from miai.report import figures, style
from miai.report.figures.scaling import Options as ScalingOptions
from miai.report.figures.table_size import bounds
from miai.report.figures.value_map import move_values
from miai.report.figures.variance_explained import factors
from miai.report.selection import Selection
from miai.report.spec import ReportSpec

from .invented import study, write_table
from .invented_matches import LADDER, SWEPT, TOURNAMENT
from .invented_matches import study as matches
from .invented_networks import position_study, value_study

FOLDER = Path(figures.__file__).parent
EXACT = dict.fromkeys(range(9), 0.7)


def select(data, exact=None, **block) -> Selection:
    spec = ReportSpec.from_mapping(block, data.study)
    return Selection(data, spec.sections[0], spec.labels, exact)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """The table file of any run of an invented study: its kind is in the run's name."""
    folder = tmp_path_factory.mktemp("tables")

    def artifact(run_id: str, name: str) -> Path:
        return write_table(folder / f"{run_id}-{name}", "mc", int(run_id[-2:]))

    return artifact


def selection_for(name: str, tables) -> Selection:
    """A small section that figure `name` applies to."""
    small = {"num_seeds": 6, "num_checkpoints": 12}
    match name:
        case "sensitivity":
            return select(
                study({"alpha": (0.01, 0.1, 1.0)}, **small), sweep="alpha", metrics=["eval/win", "table/size"]
            )
        case "scaling":
            return select(study({"board": ("3x3", "3x4")}, **small), facet="board")
        case "results_grid":
            return select(study({"opponent.name": ("random", "minimax")}, **small), facet="opponent.name")
        case "variance_explained":
            return select(study({"alpha": (0.1, 0.3), "schedule.name": ("linear", "constant")}, **small))
        case _:
            return select(study({}, artifact=tables, **small), exact=lambda parameters, after: EXACT)


def of_games(name: str, folder: Path) -> Selection | None:
    """A small section of games between players, or of networks, if figure `name` is one of these."""
    match name:
        case "strength":
            return select(matches(folder, SWEPT), compare="player.name", sweep="player.num_simulations")
        case "match_scores":
            return select(matches(folder, SWEPT), compare="player.label")
        case "elo_ladder" | "win_matrix":
            return select(matches(folder, [TOURNAMENT], LADDER), compare="task")
        case "value_error" | "train_test_gap":
            return select(value_study(folder), compare="positions")
        case "search_picture":
            return select(position_study(folder), compare="task")
    return None


def image_of(figure: Figure) -> np.ndarray:
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())


def words_of(figure: Figure) -> list[str]:
    """All texts of a figure, tick labels apart."""
    return [text.get_text() for text in figure.findobj(mpl.text.Text) if text.get_text()]


def test_every_file_is_a_figure():
    names = {path.stem for path in FOLDER.glob("*.py")} - {"__init__"}
    assert set(figures.kinds()) == names
    for name, kind in figures.kinds().items():
        assert kind.title, name
        assert all(field.default is not dataclasses.MISSING for field in dataclasses.fields(kind.options)), name
    with pytest.raises(MiaiError, match="Did you mean 'learning_curves'"):
        figures.kind("learning_curve", "report")


@pytest.mark.parametrize("name", sorted(figures.kinds()))
def test_every_figure_draws_itself_and_says_what_it_shows(name, tables, tmp_path):
    kind, selection = figures.kinds()[name], of_games(name, tmp_path) or selection_for(name, tables)
    options = kind.options()
    before = dict(mpl.rcParams)
    assert kind.applies(selection, options) is None
    with style.drawing():
        drawing = kind.draw(selection, options)
        pixels = image_of(drawing.figure)
    assert pixels[..., :3].std() > 10, "blank"
    assert (pixels[0, :, :3] > 250).mean() > 0.9, "something is cut off at the top edge"
    assert len(drawing.caption) > 40
    assert drawing.caption.endswith(".")
    assert "  " not in drawing.caption
    assert dict(mpl.rcParams) == before
    import matplotlib.pyplot as plt

    assert plt.get_fignums() == []  # no figure is left in a global list


@pytest.mark.parametrize("name", sorted(figures.kinds()))
def test_every_figure_bears_one_run_or_says_why_not(name):
    kind = figures.kinds()[name]
    for data in (
        study({"algorithm.name": ("sarsa",)}, num_seeds=1, num_checkpoints=1),
        study({"algorithm.name": ("something_new",)}, num_seeds=2, num_checkpoints=3),
    ):
        selection = select(data)
        reason = kind.applies(selection, kind.options())
        if reason is None:
            with style.drawing():
                image_of(kind.draw(selection, kind.options()).figure)
        else:
            assert reason[0].islower()
            assert not reason.endswith(".")


def test_captions_name_seeds_and_interval(tables):
    selection = selection_for("learning_curves", tables)
    kind = figures.kinds()["learning_curves"]
    with style.drawing():
        caption = kind.draw(selection, kind.options()).caption
    assert "mean over 6 seeds" in caption
    assert "95 % interval over seeds (studentised bootstrap" in caption
    assert "logarithmic" in caption
    one = select(study({}, num_seeds=1, num_checkpoints=5))
    with style.drawing():
        assert "no interval (one seed)" in kind.draw(one, kind.options()).caption


def test_unbeatable_counts_all_runs(tables):
    selection = selection_for("unbeatable", tables)
    with style.drawing():
        drawing = figures.kinds()["unbeatable"].draw(selection, figures.kinds()["unbeatable"].options())
    metric = selection.metric("eval/exploitability")
    for group in selection.groups:
        times, _ = selection.times(metric, group, selection.facets[0])
        assert f"{group.label} ({np.isfinite(times).sum()} of 6)" in words_of(drawing.figure)


def test_exact_bounds_are_lines(tables):
    selection = selection_for("table_size", tables)
    assert bounds(selection, selection.facets[0]) == {2739.0: "after-states", 8631.0: "state–action pairs"}
    kind = figures.kinds()["table_size"]
    with style.drawing():
        words = words_of(kind.draw(selection, kind.options()).figure)
    assert "8,631 state–action pairs" in words
    assert "2,739 after-states" in words


def test_the_value_map_reads_both_kinds_of_table(tmp_path):
    pairs = move_values(write_table(tmp_path / "pairs.npz", "sarsa", 3), ())
    afters = move_values(write_table(tmp_path / "afters.npz", "afterstate", 3), ())
    np.testing.assert_array_equal(pairs, afters)
    assert pairs[4] == max(pairs)
    assert np.isnan(move_values(tmp_path / "pairs.npz", (4,))).all()


def test_the_value_map_after_moves(tmp_path):
    #  X . .      O to move; the table holds O's reply at 4, as a pair and as the board after it.
    #  . . .
    boards = np.array([[1, 0, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, -1, 0, 0, 0, 0]], dtype=np.int8)
    for actions, values in (([4, 0], [0.25, 9.0]), ([-1, -1], [9.0, 0.25])):
        path = tmp_path / "table.npz"
        np.savez(path, boards=boards, actions=np.array(actions, np.int16), values=np.array(values))
        found = move_values(path, (0,))
        assert found[4] == 0.25
        assert np.isnan(np.delete(found, 4)).all()


def test_exact_values_are_left_out_where_runs_differ_in_what_decides_them(tables):
    kind = figures.kinds()["value_map"]

    def exact(parameters, after):
        assert parameters["gamma"] == 0.9
        assert after == ()
        return EXACT

    data = study({"opponent.name": ("random", "minimax")}, num_seeds=2, num_checkpoints=2, artifact=tables)
    with style.drawing():
        mixed = kind.draw(select(data, exact), kind.options())
        alike = kind.draw(select(data, exact, where={"opponent.name": "random"}), kind.options())
    assert "exact" not in words_of(mixed.figure)
    assert "exact" in words_of(alike.figure)
    assert "learnt minus exact" in alike.caption


def test_factors_leave_out_what_others_decide(tables):
    selection = selection_for("variance_explained", tables)
    assert factors(selection, figures.kinds()["variance_explained"].options()) == (
        "algorithm.name",
        "schedule.name",
        "alpha",
    )
    drawing = figures.kinds()["variance_explained"].draw(selection, figures.kinds()["variance_explained"].options())
    assert drawing.table is not None
    shares = drawing.table.frame
    assert shares[shares["metric"] == "table/size"]["eta_squared"].sum() == pytest.approx(1)


def test_scaling_refuses_a_baseline_that_is_not_there(tables):
    selection = selection_for("scaling", tables)
    with pytest.raises(MiaiError, match="baseline: no such choice 'sarsa_2'"):
        figures.kinds()["scaling"].draw(selection, ScalingOptions(baseline="sarsa_2"))


def test_figures_say_why_they_do_not_apply(tables):
    plain = selection_for("learning_curves", tables)
    for name, word in (("sensitivity", "swept"), ("scaling", "facet"), ("results_grid", "facet")):
        kind = figures.kinds()[name]
        assert word in kind.applies(plain, kind.options())
    alone = select(study({"algorithm.name": ("mc",)}, num_seeds=2, num_checkpoints=2))
    improvement = figures.kinds()["improvement"]
    assert improvement.applies(alone, improvement.options()) == "there is one group only"


def test_axes_near_zero():
    with style.drawing():
        figure, axes = style.panels(1, 2, 2.0)
    assert style.near_zero(axes[0, 0], np.array([0.5, 0.02])) == "logarithmic"
    words = style.near_zero(axes[0, 1], np.array([0.5, 0.02, 0.0]))
    assert words == "logarithmic above 0.01 and linear from there to 0"
    assert axes[0, 1].get_ylim()[0] == 0
    image_of(figure)


def test_panels_that_share_an_axis_show_every_run():
    data = study({"board": ("3x3", "3x4")}, num_seeds=4, num_checkpoints=3)
    far = data.runs["board"] == "3x4"
    data.runs["table/size"] = np.where(far, 9000.0, 3000.0) + np.arange(len(data.runs))
    selection = select(data, facet="board", metrics=["eval/win"])
    with style.drawing():
        figure = (
            figures.kind("final_results", "test").draw(selection, figures.final_results.Options(("table/size",))).figure
        )
    drawn = [point for ax in figure.axes for line in ax.lines for point in line.get_xdata() if point > 1000]
    for ax in figure.axes:
        low, high = ax.get_xlim()
        assert low < min(drawn)
        assert max(drawn) < high
