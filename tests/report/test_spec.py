from __future__ import annotations

import pytest

from miai.errors import MiaiError
from miai.report.figures.learning_curves import Options as CurveOptions
from miai.report.figures.value_map import Options as MapOptions
from miai.report.spec import FigureRequest, ReportSpec, parse_options


def read(block):
    return ReportSpec.from_mapping(block, "a_study")


def test_nothing_said_is_one_section_of_everything():
    spec = read(None)
    assert spec.title == "a_study"
    [section] = spec.sections
    assert section.compare == ("algorithm.name",)
    assert section.figures is None
    assert section.tables == ("overview", "results", "differences")


def test_one_section_may_be_written_directly():
    spec = read(
        {
            "title": "A title",
            "question": " Which? ",
            "labels": {"mc": "MC", 3: "three"},
            "compare": ["algorithm.name", "opponent.name"],
            "where": {"alpha": [0.1, 0.2], "seat": "first"},
            "reference": {"eval/win": 0.99, "table/size": {"published": 6848}},
            "figures": ["learning_curves", {"improvement": {"metrics": ["eval/win"]}}, {"unbeatable": None}],
        }
    )
    [section] = spec.sections
    assert (spec.title, spec.question, spec.labels) == ("A title", "Which?", {"mc": "MC", "3": "three"})
    assert section.where == {"alpha": (0.1, 0.2), "seat": ("first",)}
    assert section.reference == {"eval/win": {"best possible": 0.99}, "table/size": {"published": 6848.0}}
    assert section.figures == (
        FigureRequest("learning_curves"),
        FigureRequest("improvement", {"metrics": ["eval/win"]}),
        FigureRequest("unbeatable"),
    )


def test_sections_need_titles_of_their_own():
    spec = read({"sections": [{"title": "Sweep, first"}, {"title": "Best α"}]})
    assert [section.slug for section in spec.sections] == ["sweep_first", "best"]
    with pytest.raises(MiaiError, match="title of its own"):
        read({"sections": [{"title": "A"}, {"title": "a"}]})


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"compre": "seat"}, "'compre'.*Did you mean 'compare'"),
        ({"sections": [{"figure": []}]}, r"sections\[0\].*'figure'"),
        ({"sections": [{}], "stages": ["a"]}, "'stages'"),
        ({"sections": []}, "list of sections"),
        ({"figures": "learning_curves"}, "figures: expected a list"),
        ({"figures": [{"a": 1, "b": 2}]}, "name or"),
        ({"statistic": "median"}, "'median'.*iqm, mean"),
        ({"tables": ["everything"]}, "'everything'"),
        ({"title": 7}, "title: expected a text"),
        ({"reference": {"eval/win": "high"}}, "reference.eval/win.*'high'"),
        ({"where": ["seat"]}, "where: expected keys"),
        ({"compare": []}, "compare: name a parameter"),
        (["title"], "expected keys"),
    ],
)
def test_mistakes_are_named(block, message):
    with pytest.raises(MiaiError, match=message):
        read(block)


def test_options_of_figures_are_checked():
    assert parse_options(CurveOptions, {"metrics": "eval/win", "x": "log"}, "here") == CurveOptions(
        ("eval/win",), "log"
    )
    assert parse_options(MapOptions, {"after": [4, 0]}, "here") == MapOptions((4, 0))
    with pytest.raises(MiaiError, match=r"here: no such choice 'metric'.*Did you mean 'metrics'"):
        parse_options(CurveOptions, {"metric": "eval/win"}, "here")
    with pytest.raises(MiaiError, match=r"here.x: no such choice 'cubic'"):
        parse_options(CurveOptions, {"x": "cubic"}, "here")
    with pytest.raises(MiaiError, match=r"here.after: expected int, got 'centre'"):
        parse_options(MapOptions, {"after": ["centre"]}, "here")
