from __future__ import annotations

import csv
import io

import pandas as pd
import pytest

from miai.report.tables import Table, escape_markdown

TABLE = Table(
    "t",
    "T",
    ("name", "α", "share"),
    (("a_b & c|d", "−0.1", "50 %"), ("–", "2 · 10⁻¹²", "< 1 %")),
    pd.DataFrame({"name": ["a_b & c|d", None], "α": [-0.1, 2e-12]}),
    "A note.",
)


def test_markdown():
    assert TABLE.markdown().splitlines() == [
        "| name | α | share |",
        "| --- | ---: | ---: |",
        r"| a_b & c\|d | −0.1 | 50 % |",
        "| – | 2 · 10⁻¹² | < 1 % |",
        "",
        "A note.",
    ]


def test_latex_escapes_what_it_has_to():
    lines = TABLE.latex().splitlines()
    assert lines[:3] == ["% A note.", r"\begin{tabular}{lrr}", r"\toprule"]
    assert lines[3] == r"name & $\alpha$ & share \\"
    assert lines[5] == r"a\_b \& c|d & $-$0.1 & 50 \% \\"
    assert lines[6] == r"-- & 2 $\cdot$ 10$^{-12}$ & $<$ 1 \% \\"


def test_csv_comes_back_as_it_went():
    back = pd.read_csv(io.StringIO(TABLE.csv()))
    pd.testing.assert_frame_equal(back, TABLE.frame, check_dtype=False)


# ---- attacks ----


def evil(text: str, note: str = "") -> Table:
    return Table("t", "T", ("name", "value"), ((text, "1.5"),), pd.DataFrame({"name": [text], "value": [-1.5]}), note)


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_spreadsheet_sees_no_formula(text):
    [row] = list(csv.reader(io.StringIO(evil(text).csv(), newline="")))[1:]
    assert row == ["'" + text.replace("\r", " "), "-1.5"]


def test_plain_texts_and_numbers_in_csv_stay():
    assert evil("sarsa α=0.1").csv() == "name,value\nsarsa α=0.1,-1.5\n"


def test_markdown_holds_no_tag_no_link_and_no_second_line():
    text = "<script>x</script> [a](javascript:b) | c\n\n# d"
    lines = evil(text).markdown().splitlines()
    assert lines[2] == r"| &lt;script>x&lt;/script> [a]\(javascript:b) \| c # d | 1.5 |"
    assert len(lines) == 3
    assert escape_markdown("p < 0.05, [0.1, 0.2] (a) < b") == "p < 0.05, [0.1, 0.2] (a) < b"


def test_latex_commands_are_text():
    latex = evil(r"\input{/etc/passwd} % $x", note="a\n\\input{b}\n\nc").latex()
    assert r"\input" not in latex.removeprefix("% a \\input{b} c\n")
    assert latex.splitlines()[0] == r"% a \input{b} c"
