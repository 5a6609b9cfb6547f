from __future__ import annotations

import io

import pandas as pd

from miai.report.tables import Table

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
