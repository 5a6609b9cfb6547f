"""The report as one page: HTML that needs no network, and Markdown beside the figures' files."""

from __future__ import annotations

import base64
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from miai.report.spec import ReportSpec
from miai.report.tables import Table, escape_markdown

TEMPLATE = Path(__file__).with_name("page.html")
PACKAGES = ("miai", "numpy", "scipy", "pandas", "matplotlib", "seaborn")


@dataclass(frozen=True)
class FigureOnPage:
    """A figure that was drawn: its heading, its caption, and its files `<stem>.png` and `<stem>.pdf`."""

    title: str
    caption: str
    stem: str
    table: Table | None = None


@dataclass(frozen=True)
class SectionOnPage:
    """A section as it is printed. `skipped`: figures that were asked for and cannot be drawn, with the reason."""

    title: str
    text: str
    findings: tuple[str, ...]
    figures: tuple[FigureOnPage, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    skipped: tuple[str, ...]


@dataclass(frozen=True)
class Page:
    """All that a report says."""

    spec: ReportSpec
    study: str
    command: str
    num_runs: int
    notes: tuple[str, ...]
    provenance: tuple[str, ...]
    sections: tuple[SectionOnPage, ...]


def html(page: Page, folder: Path) -> str:
    """Return the page with the PNG files of `folder` inside it. No script, no style sheet, no font from elsewhere."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)

    def image(stem: str) -> str:
        return "data:image/png;base64," + base64.b64encode((folder / f"{stem}.png").read_bytes()).decode("ascii")

    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(page=page, image=image, versions=versions())


def markdown(page: Page) -> str:
    """Return the page as Markdown that refers to the figures' files by name."""
    lines = [f"# {page.spec.title}", ""]
    lines += [page.spec.question, ""] if page.spec.question else []
    lines += [page.spec.finding, ""] if page.spec.finding else []
    lines += [f"Made by `{page.command}` from {page.num_runs:,} runs of the study `{page.study}`.", ""]
    lines += _bullets("Notes", page.notes)
    for section in page.sections:
        lines += [f"## {section.title}", ""] if section.title else []
        lines += [section.text, ""] if section.text else []
        lines += _bullets("Findings", section.findings)
        lines += _bullets("Notes", (*section.notes, *section.skipped))
        for table in section.tables:
            lines += [f"### {table.title}", "", table.markdown()]
        for figure in section.figures:
            lines += [f"### {figure.title}", "", f"![{figure.title}]({figure.stem}.png)", ""]
            lines += [escape_markdown(figure.caption), ""]
            lines += [figure.table.markdown()] if figure.table else []
    lines += ["## Made with", "", ", ".join(versions())]
    lines += ["", f"Runs made at commit {', '.join(page.provenance)}."] if page.provenance else []
    return "\n".join(lines).rstrip() + "\n"


def versions() -> list[str]:
    return [f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in PACKAGES)]


def _bullets(heading: str, entries: Sequence[str]) -> list[str]:
    return [f"**{heading}**", "", *(f"- {escape_markdown(entry)}" for entry in entries), ""] if entries else []
