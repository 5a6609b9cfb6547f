import pytest

from miai.records.result import How, Result


@pytest.mark.parametrize(
    ("text", "winner", "how", "margin"),
    [
        ("B+R", 1, How.RESIGNATION, None),
        ("W+3.5", -1, How.SCORE, 3.5),
        ("B+T", 1, How.TIME, None),
        ("W+Time", -1, How.TIME, None),
        ("W+F", -1, How.FORFEIT, None),
        ("B+Resign", 1, How.RESIGNATION, None),
        ("b+r", 1, How.RESIGNATION, None),
        ("B+", 1, How.WIN, None),
        ("White + 12 points", -1, How.SCORE, 12.0),
        ("W+0,5", -1, How.SCORE, 0.5),
        ("B+.5", 1, How.SCORE, 0.5),
        ("W+2.5.", -1, How.SCORE, 2.5),
        ("B+somehow", 1, How.WIN, None),
        ("B+0", 0, How.DRAW, None),
        ("0", 0, How.DRAW, None),
        ("Draw", 0, How.DRAW, None),
        ("Jigo", 0, How.DRAW, None),
        ("Void", None, How.VOID, None),
        ("?", None, How.UNKNOWN, None),
        ("", None, How.UNKNOWN, None),
        ("Black wins", None, How.UNKNOWN, None),
        ("B+١", 1, How.WIN, None),  # a digit, but not one of SGF's
    ],
)
def test_what_the_re_property_says(text, winner, how, margin):
    assert Result.parse(text) == Result(winner, how, margin)


@pytest.mark.parametrize("text", ["B+R", "W+3.5", "B+T", "W+F", "B+", "W+361", "0", "Void", "?"])
def test_text_comes_back(text):
    assert str(Result.parse(text)) == text


@pytest.mark.parametrize(
    ("winner", "how", "margin"),
    [(1, How.DRAW, None), (0, How.RESIGNATION, None), (1, How.SCORE, None), (1, How.TIME, 3.0), (1, How.SCORE, -2.0)],
)
def test_contradictions_are_refused(winner, how, margin):
    with pytest.raises(ValueError, match=r"margin|winner"):
        Result(winner, how, margin)
