"""A table, for people (Markdown, LaTeX, the page) and for programs (CSV)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

NUMBER = re.compile(r"[<>+−-]?\s?[\d∞\[]")
"""How a number begins, or an interval."""


@dataclass(frozen=True)
class Table:
    """`rows` as people read them under `columns`, and `frame` with all numbers for the CSV.

    `name` becomes the file's name, `note` is printed below it.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    frame: pd.DataFrame
    note: str = ""

    def csv(self) -> str:
        return self.frame.to_csv(index=False, lineterminator="\n")

    def markdown(self) -> str:
        """GitHub's table syntax, numbers to the right."""
        lines = [
            _markdown_row(self.columns),
            _markdown_row(["---:" if right else "---" for right in self.aligned_right]),
        ]
        lines += [_markdown_row(row) for row in self.rows]
        return "\n".join(lines) + (f"\n\n{self.note}" if self.note else "") + "\n"

    def latex(self) -> str:
        """A `tabular` for the package booktabs; what LaTeX reserves is escaped, symbols become commands."""
        layout = "".join("r" if right else "l" for right in self.aligned_right)
        body = "\n".join(" & ".join(map(_latex, row)) + r" \\" for row in self.rows)
        head = " & ".join(map(_latex, self.columns))
        lines = [
            rf"\begin{{tabular}}{{{layout}}}",
            r"\toprule",
            rf"{head} \\",
            r"\midrule",
            body,
            r"\bottomrule",
            r"\end{tabular}",
        ]
        note = f"% {self.note}\n" if self.note else ""
        return note + "\n".join(lines) + "\n"

    @property
    def aligned_right(self) -> tuple[bool, ...]:
        """Which columns hold numbers: those whose first filled cell begins like one."""
        firsts = [next((row[i] for row in self.rows if row[i] not in ("", "–")), "") for i in range(len(self.columns))]
        return tuple(not first or NUMBER.match(first) is not None for first in firsts)


def _markdown_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(str(cell).replace("|", r"\|") for cell in cells) + " |"


LATEX = {
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "−": "$-$",
    "–": "--",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "∞": r"$\infty$",
    "<": "$<$",
    ">": "$>$",
    "ε": r"$\varepsilon$",
    "α": r"$\alpha$",
    "γ": r"$\gamma$",
    "η": r"$\eta$",
    "ω": r"$\omega$",
}
SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def _latex(text: str) -> str:
    written = "".join(LATEX.get(character, character) for character in text)
    return re.sub("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda found: f"$^{{{found[0].translate(SUPERSCRIPTS)}}}$", written)
