"""A page shows what a store says, and does nothing that it says."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pandas as pd

from miai.report import page
from miai.report.spec import ReportSpec
from miai.report.tables import Table

EVIL = """"><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7 * 7 }}' onload='x"""


def evil_page(folder: Path) -> page.Page:
    (folder / "curves.png").write_bytes(b"PNG")
    table = Table("t", EVIL, (EVIL, "n"), ((EVIL, "1"),), pd.DataFrame({"n": [1]}), EVIL)
    figure = page.FigureOnPage(EVIL, EVIL, "curves", table)
    section = page.SectionOnPage(EVIL, EVIL, (EVIL,), (figure,), (table,), (EVIL,), (EVIL,))
    spec = ReportSpec(title=EVIL, question=EVIL, finding=EVIL)
    return page.Page(spec, EVIL, EVIL, 1, (EVIL,), (EVIL,), (section, section))


class Tags(HTMLParser):
    """The tags of a page with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data) -> None:
        self.text += data


def test_names_are_text_in_html(tmp_path):
    found = Tags(page.html(evil_page(tmp_path), tmp_path))
    assert found.text.count(EVIL) > 10
    assert not {tag for tag, _ in found.tags} & {"script", "iframe", "object", "embed", "link", "form", "base"}
    assert not [name for _, attributes in found.tags for name in attributes if name.startswith("on")]


def test_a_page_asks_nobody_for_anything(tmp_path):
    found = Tags(page.html(evil_page(tmp_path), tmp_path))
    places = {
        str(value) for _, attributes in found.tags for name, value in attributes.items() if name in ("src", "href")
    }
    assert {place.partition(",")[0].partition(".")[0] for place in places} == {
        "#section-1",
        "#section-2",
        "curves",
        "data:image/png;base64",
        "t",
    }


def test_names_are_text_in_markdown(tmp_path):
    text = page.markdown(evil_page(tmp_path))
    below = text[text.index("**Notes**") :]
    from_the_store = [line for line in below.splitlines() if line.startswith(("- ", "| "))]
    assert from_the_store
    assert not [line for line in from_the_store if "<script" in line or "<img" in line]
