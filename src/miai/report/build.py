"""Everything of a study's report in one folder: figures, tables, `report.html`, `report.md`.

Start reading at `build_report`.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from miai import kernel_cache
from miai.errors import MiaiError
from miai.report import figures, page, style, summaries
from miai.report.load import StudyData
from miai.report.selection import ExactValues, Selection
from miai.report.spec import ReportSpec, Section, parse_options
from miai.report.tables import Table

STAMP = "report.json"
DOTS_PER_INCH = 200


@dataclass(frozen=True)
class ReportResult:
    """What `build_report` did: the folder's files, the page first; `up_to_date` if they were there already."""

    folder: Path
    files: tuple[Path, ...]
    notes: tuple[str, ...]
    up_to_date: bool

    @property
    def page(self) -> Path:
        return self.folder / "report.html"


@dataclass(frozen=True)
class _Job:
    """A figure to be drawn."""

    section: int
    kind: figures.FigureKind
    options: Any
    stem: str


def build_report(
    data: StudyData,
    spec: ReportSpec,
    out: Path,
    command: str,
    *,
    exact: ExactValues | None = None,
    force: bool = False,
    processes: int | None = None,
) -> ReportResult:
    """Draw a study's report into the folder `out`, unless it is there already.

    A report is up to date if its runs, its spec and the sources of this package are what they were. Files are written
    to a temporary name and moved; files of an earlier report that this one does not have are removed.

    Args:
        data: the runs, from `load.load_study`.
        spec: what to draw.
        out: `reports/<study>`; made if it is not there.
        command: the exact command that makes the report, printed on the page.
        exact: gives exact values of moves for the value map (see `selection.ExactValues`).
        force: draw even if the report is up to date.
        processes: how many draw at once; default: the machine's cores, at most four.

    Raises:
        MiaiError: if a section names a figure, parameter or option that there is not, or no section has a run.
    """
    key = _key(data, spec)
    stamp = out / STAMP
    if not force and (known := _stamp(stamp)).get("key") == key:
        paths = tuple(out / name for name in known["files"])
        if all(path.is_file() for path in paths):
            return ReportResult(out, paths, tuple(known["notes"]), up_to_date=True)
    selections = [Selection(data, section, spec.labels, exact) for section in spec.sections]
    if all(selection.runs.empty for selection in selections):
        raise MiaiError(
            f"report of {data.study!r}: none of its {len(data.runs)} runs belongs to a section. "
            f"Run `miai sweep {data.study}` first."
        )
    out.mkdir(parents=True, exist_ok=True)
    before = _stamp(stamp).get("files", [])
    stamp.unlink(missing_ok=True)
    jobs, skipped = _plan(selections, data.study)
    drawn = _draw_all(jobs, selections, out, processes)
    made_tables = [_tables(selection, _prefix(selections, i)) for i, selection in enumerate(selections)]
    sections = []
    for i, selection in enumerate(selections):
        own = [(job, *result) for job, result in zip(jobs, drawn, strict=True) if job.section == i]
        for *_, notes in own:
            for note in notes:
                selection.note(note)
        sections.append(
            page.SectionOnPage(
                title=selection.section.title,
                text=selection.section.text,
                findings=summaries.findings(selection) if not selection.runs.empty else (),
                figures=tuple(
                    page.FigureOnPage(job.kind.title, caption, job.stem, table) for job, caption, table, _ in own
                ),
                tables=tuple(made_tables[i]),
                notes=selection.notes,
                skipped=tuple(skipped[i]),
            )
        )
    whole = page.Page(spec, data.study, command, len(data.runs), tuple(data.notes), data.provenance, tuple(sections))
    names = ["report.html", "report.md"]
    _write(out / "report.html", page.html(whole, out).encode())
    _write(out / "report.md", page.markdown(whole).encode())
    for section in sections:
        for figure in section.figures:
            names += [f"{figure.stem}.png", f"{figure.stem}.pdf"]
        for table in (*section.tables, *(figure.table for figure in section.figures if figure.table)):
            for ending, text in (("csv", table.csv()), ("md", table.markdown()), ("tex", table.latex())):
                _write(out / f"{table.name}.{ending}", text.encode())
                names.append(f"{table.name}.{ending}")
    for stale in set(before) - set(names):
        (out / stale).unlink(missing_ok=True)
    notes = tuple(
        dict.fromkeys([*data.notes, *(note for section in sections for note in (*section.notes, *section.skipped))])
    )
    _write(stamp, json.dumps({"key": key, "files": names, "notes": notes}, indent=1, ensure_ascii=False).encode())
    return ReportResult(out, tuple(out / name for name in names), notes, up_to_date=False)


def _key(data: StudyData, spec: ReportSpec) -> str:
    """Hash what a report is made of: runs, notes, spec, and the sources of this package."""
    digest = hashlib.sha256()
    digest.update(kernel_cache.hash_sources(("report",)).encode())
    digest.update(page.TEMPLATE.read_bytes())
    digest.update(repr(page.versions()).encode())
    digest.update(repr(spec).encode())
    runs = data.runs.sort_values("run_id", ignore_index=True)
    digest.update("\0".join(map(str, runs.columns)).encode())
    digest.update(pd.util.hash_pandas_object(runs.astype(str), index=False).to_numpy().tobytes())
    digest.update(repr(sorted(note for note in data.notes)).encode())
    return digest.hexdigest()


def _stamp(path: Path) -> dict[str, Any]:
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) and {"key", "files", "notes"} <= known.keys() else {}


def _prefix(selections: list[Selection], i: int) -> str:
    return f"{selections[i].section.slug}-" if len(selections) > 1 else ""


def _plan(selections: list[Selection], study: str) -> tuple[list[_Job], list[list[str]]]:
    """Return the figures to draw, and for each section those that were asked for but cannot be, with the reason."""
    jobs: list[_Job] = []
    skipped: list[list[str]] = []
    for i, selection in enumerate(selections):
        own = selection.section
        where = f"report of {study!r}" + (f", section {own.title!r}" if own.title else "")
        left_out: list[str] = []
        taken: set[str] = set()
        for name, given, asked in _wanted(own):
            kind = figures.kind(name, where)
            options: Any = parse_options(kind.options, given, f"{where}.figures.{name}")
            reason = "there are no runs" if selection.runs.empty else kind.applies(selection, options)
            if reason is not None:
                left_out += [f"{kind.title}: {reason}."] if asked else []
                continue
            stem = f"{_prefix(selections, i)}{name}"
            stem = next(s for s in (stem, *(f"{stem}-{n}" for n in range(2, 99))) if s not in taken)
            taken.add(stem)
            jobs.append(_Job(i, kind, options, stem))
        if selection.runs.empty:
            selection.note("No finished run belongs to this section yet.")
        skipped.append(left_out)
    return jobs, skipped


def _wanted(section: Section) -> Iterable[tuple[str, Mapping[str, Any], bool]]:
    if section.figures is None:
        return [(name, {}, False) for name, kind in figures.kinds().items() if kind.by_default]
    return [(request.name, request.options, True) for request in section.figures]


def _tables(selection: Selection, prefix: str) -> list[Table]:
    if selection.runs.empty:
        return []
    made = [summaries.MAKERS[name](selection) for name in selection.section.tables]
    return [replace(table, name=f"{prefix}{table.name}") for table in made if table.rows]


Drawn = tuple[str, Table | None, tuple[str, ...]]
_draw: Callable[[int], Drawn] | None = None
"""What a forked process calls; it inherits the runs with the parent's memory, so nothing is sent to it."""


def _draw_all(jobs: list[_Job], selections: list[Selection], out: Path, processes: int | None) -> list[Drawn]:
    global _draw
    processes = min(processes or min(os.cpu_count() or 1, 4), len(jobs))
    import matplotlib.backends.backend_pdf  # noqa: F401 — imported once, before any fork
    import seaborn  # noqa: F401

    for selection in selections:
        selection.data.rows  # noqa: B018 — histories are read once, before any fork

    def draw(i: int) -> Drawn:
        return _draw_one(jobs[i], selections[jobs[i].section], out)

    # Forking is safe on Linux; on macOS system libraries forbid it.
    if processes < 2 or sys.platform != "linux":
        return [draw(i) for i in range(len(jobs))]
    _draw = draw
    try:
        with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("fork")) as pool:
            return list(pool.map(_call, range(len(jobs))))
    finally:
        _draw = None


def _call(i: int) -> Drawn:
    if _draw is None:
        raise RuntimeError("the process that draws was not forked from the one that plans")
    return _draw(i)


def _draw_one(job: _Job, selection: Selection, out: Path) -> Drawn:
    with style.drawing():
        drawing = job.kind.draw(selection, job.options)
        # Without a date the same runs give the same bytes.
        undated: dict[str, dict[str, Any]] = {"png": {}, "pdf": {"CreationDate": None}}
        for ending, metadata in undated.items():
            path = out / f"{job.stem}.{ending}"
            temporary = out / f".{job.stem}.{os.getpid()}.{ending}"
            drawing.figure.savefig(temporary, format=ending, dpi=DOTS_PER_INCH, metadata=metadata)
            temporary.replace(path)
    table = drawing.table and replace(drawing.table, name=f"{job.stem}-{drawing.table.name}")
    return drawing.caption, table, selection.notes


def _write(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(content)
    temporary.replace(path)
