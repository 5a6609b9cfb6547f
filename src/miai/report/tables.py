"""A table, for people (Markdown, LaTeX, the page) and for programs (CSV)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

NUMBER = re.compile(r"[<>+−-]?\s?[\d∞\[]")
"""How a number begins, or an interval."""
FORMULAS = ("=", "+", "-", "@")
"""How a spreadsheet's formula may begin."""
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
"""Where a tag of HTML begins."""


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
        """All numbers. A text that a spreadsheet would take for a formula has an apostrophe in front of it."""
        texts = self.frame.select_dtypes(exclude=["number", "bool"]).columns
        plain = self.frame.assign(**{str(name): self.frame[name].map(_no_formula) for name in texts})
        return plain.to_csv(index=False, lineterminator="\n")

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
        note = f"% {' '.join(self.note.split())}\n" if self.note else ""  # of one line, as comments are
        return note + "\n".join(lines) + "\n"

    @property
    def aligned_right(self) -> tuple[bool, ...]:
        """Which columns hold numbers: those whose first filled cell begins like one."""
        firsts = [next((row[i] for row in self.rows if row[i] not in ("", "–")), "") for i in range(len(self.columns))]
        return tuple(not first or NUMBER.match(first) is not None for first in firsts)


def _no_formula(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = value.replace("\r", " ")  # pandas leaves it bare, and readers take it for the end of a row
    return f"'{text}" if text.lstrip().startswith(FORMULAS) else text


def escape_markdown(text: str) -> str:
    """Return a text from a store as one line of Markdown, in which it can be neither a tag nor a link."""
    return _TAG.sub("&lt;", " ".join(text.split())).replace("](", r"]\(")


def _markdown_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(escape_markdown(str(cell)).replace("|", r"\|") for cell in cells) + " |"


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
