from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

from miai.errors import MiaiError
from miai.report.build import build_report
from miai.report.spec import ReportSpec

from .invented import study

COMMAND = "miai report invented num_games=100 'title=<a & b>'"
SMALL = {"num_seeds": 6, "num_checkpoints": 10}


def spec(**block) -> ReportSpec:
    return ReportSpec.from_mapping(block, "invented")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    out = tmp_path_factory.mktemp("reports") / "invented"
    data = study({}, drop=frozenset({("mc", 2)}), **SMALL)
    data.notes.append("1 run FAILED and not drawn: sarsa-s9 (no memory).")
    result = build_report(
        data, spec(title="Four <algorithms>", question="Which is best?", finding="None."), out, COMMAND, processes=2
    )
    return data, out, result


class Resources(HTMLParser):
    """Collects whatever a browser would load for a page."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.loaded += [value for name, value in attrs if name in ("src", "srcset", "data") and value]
        self.loaded += [value for name, value in attrs if tag == "link" and name == "href" and value]


def test_all_files_are_there_and_nothing_else(built):
    _, out, result = built
    assert {path.name for path in result.files} | {"report.json"} == {path.name for path in out.iterdir()}
    names = {path.name for path in result.files}
    for figure in ("learning_curves", "table_size", "final_results", "unbeatable", "improvement", "trade_off"):
        assert {f"{figure}.png", f"{figure}.pdf"} <= names
    for table in ("overview", "results", "differences"):
        assert {f"{table}.csv", f"{table}.md", f"{table}.tex"} <= names
    assert result.page == out / "report.html"
    assert not result.up_to_date


def test_pictures_are_not_blank(built):
    _, out, _ = built
    for path in out.glob("*.png"):
        with Image.open(path) as image:
            pixels = np.asarray(image.convert("RGB"))
        assert pixels.shape[1] > 800
        assert pixels.std() > 10, path.name
    for path in out.glob("*.pdf"):
        assert path.read_bytes().startswith(b"%PDF")
        assert path.stat().st_size > 5_000


def test_the_page_is_whole_in_itself(built):
    _, out, _ = built
    text = (out / "report.html").read_text(encoding="utf-8")
    page = Resources()
    page.feed(text)
    assert len(page.loaded) == len(list(out.glob("*.png")))
    assert all(source.startswith("data:image/png;base64,") for source in page.loaded)
    assert not {"script", "link", "iframe"} & set(page.tags)
    assert not re.search(r"https?://|@import|url\(", text)
    for target in re.findall(r'href="([^"#]+)"', text):
        assert (out / target).is_file(), target


def test_the_page_says_question_command_notes_and_versions(built):
    _, out, result = built
    text = (out / "report.html").read_text(encoding="utf-8")
    assert "<h1>Four &lt;algorithms&gt;</h1>" in text
    assert "Which is best?" in text
    assert "miai report invented num_games=100 &#39;title=&lt;a &amp; b&gt;&#39;" in text
    for note in ("sarsa-s9 (no memory)", "Unbalanced seeds: Monte Carlo has 5 of 6; missing: 2."):
        assert note in text
        assert any(note in own for own in result.notes)
        assert note in (out / "report.md").read_text(encoding="utf-8")
    assert "matplotlib" in text
    assert "5 to 6 seeds" in text


def test_markdown_refers_to_the_pictures(built):
    _, out, _ = built
    text = (out / "report.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", text)
    assert set(pictures) == {path.name for path in out.glob("*.png")}
    assert f"`{COMMAND}`" in text


def test_nothing_is_done_twice_unless_forced(built):
    data, out, result = built
    same = spec(title="Four <algorithms>", question="Which is best?", finding="None.")
    before = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    again = build_report(data, same, out, COMMAND)
    assert again.up_to_date
    assert again.files == result.files
    assert again.notes == result.notes
    assert {path: path.stat().st_mtime_ns for path in out.iterdir()} == before
    (out / "overview.csv").unlink()
    assert not build_report(data, same, out, COMMAND, processes=1).up_to_date
    assert (out / "overview.csv").is_file()


def test_new_runs_and_a_new_spec_make_a_new_report_and_old_files_go(tmp_path):
    only = {"figures": ["table_size"], "tables": ["overview"]}
    first = build_report(study({}, **SMALL), spec(**only), tmp_path, COMMAND)
    assert (tmp_path / "table_size.png").is_file()
    (tmp_path / "mine.txt").write_text("not the report's")
    second = build_report(study({}, num_seeds=7, num_checkpoints=10), spec(**only), tmp_path, COMMAND)
    assert not second.up_to_date
    third = build_report(study({}, **SMALL), spec(figures=["unbeatable"], tables=["overview"]), tmp_path, COMMAND)
    assert not third.up_to_date
    assert not (tmp_path / "table_size.png").exists()
    assert (tmp_path / "unbeatable.png").is_file()
    assert (tmp_path / "mine.txt").is_file()
    assert set(first.files) != set(third.files)


def test_the_same_runs_give_the_same_bytes(tmp_path):
    only = spec(figures=["table_size"], tables=["results"])
    for name in ("one", "two"):
        build_report(study({}, **SMALL), only, tmp_path / name, COMMAND)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_sections_have_files_of_their_own_and_say_what_is_missing(tmp_path):
    data = study({"alpha": (0.03, 0.3)}, num_seeds=3, num_checkpoints=4)
    sections = [
        {"title": "Over α", "sweep": "alpha", "figures": ["sensitivity", "improvement"]},
        {"title": "Best α", "where": {"alpha": 0.3}, "figures": ["final_results"]},
        {"title": "Later", "stages": ["confirm"]},
    ]
    result = build_report(data, spec(sections=sections), tmp_path, COMMAND)
    names = {path.name for path in result.files}
    assert {"over-sensitivity.png", "best-final_results.png", "best-overview.csv"} <= names
    assert "No finished run belongs to this section yet." in result.notes
    assert "Probability of improvement: step size α is swept: see the figure over it." in result.notes


def test_a_figure_asked_for_twice_has_two_names(tmp_path):
    wanted = [{"improvement": {"metrics": "eval/win"}}, {"improvement": {"metrics": "eval/exploitability"}}]
    build_report(study({}, **SMALL), spec(figures=wanted, tables=[]), tmp_path, COMMAND)
    assert (tmp_path / "improvement.png").is_file()
    assert (tmp_path / "improvement-2.png").is_file()


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"figures": ["learning_curve"]}, "no such choice 'learning_curve'.*Did you mean 'learning_curves'"),
        ({"figures": [{"table_size": {"steps": "games"}}]}, "table_size: no such choice 'steps'"),
        ({"facet": "opponent"}, "parameter: no such choice 'opponent'.*'opponent.name'"),
        ({"stages": ["confirm"]}, "none of its 24 runs.*`miai sweep invented`"),
    ],
)
def test_mistakes_are_one_line_and_leave_an_old_report_alone(tmp_path, block, message):
    with pytest.raises(MiaiError, match=message) as caught:
        build_report(study({}, **SMALL), spec(**block), tmp_path / "new", COMMAND)
    assert "\n" not in str(caught.value)


def test_metrics_that_no_run_holds_are_said(tmp_path):
    data = study({}, **SMALL)
    data.runs = data.runs.drop(columns=["eval/rms_error"])
    data.__dict__["history"] = data.history.drop(columns=["eval/rms_error"])
    block = {"metrics": ["eval/win", "eval/rms_error"], "figures": ["learning_curves"], "tables": []}
    result = build_report(data, spec(**block), tmp_path, COMMAND)
    assert "No run holds the metric eval/rms_error: left out." in result.notes
    assert (tmp_path / "learning_curves.png").is_file()


def test_a_broken_stamp_is_no_obstacle(tmp_path):
    only = spec(figures=[], tables=["overview"])
    build_report(study({}, **SMALL), only, tmp_path, COMMAND)
    (tmp_path / "report.json").write_text("{")
    assert not build_report(study({}, **SMALL), only, tmp_path, COMMAND).up_to_date
    assert json.loads((tmp_path / "report.json").read_text())["files"]


def test_no_pyplot_state_and_few_imports_at_start():
    import subprocess
    import sys

    code = "import sys, miai.report.build; print([m for m in ('matplotlib', 'seaborn', 'jinja2') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
