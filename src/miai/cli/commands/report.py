"""Draw a study's figures, tables and page, into reports/STUDY/.

The overrides that the sweep was given are given to the report too: it takes the runs of exactly those settings from the
store, and says which are missing.
"""

from __future__ import annotations

import shlex
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from miai import project
from miai.errors import MiaiError

if TYPE_CHECKING:
    from rich.console import Console

    from miai.report.build import ReportResult
    from miai.report.load import StudyData
    from miai.runner.studies import Study
    from miai.tracking import Store

CONFIG = "report"
REPORTS = "reports"
EXAMPLES = ("miai report td_comparison", "miai report td_comparison num_games=20000 force=true")


def run(arguments: list[str]) -> int:
    from miai.cli.arguments import flag, with_study
    from miai.cli.exact_values import exact_values
    from miai.cli.terminal import console, say
    from miai.report.build import build_report
    from miai.report.spec import ReportSpec
    from miai.runner.compose import compose_one
    from miai.runner.configured import location_of
    from miai.runner.studies import load_study_file
    from miai.tracking import Store

    name, overrides = with_study(arguments)
    study = load_study_file(name)
    own = [override for override in overrides if override.startswith(("force=", "tracking."))]
    further = [override for override in overrides if not override.startswith("force=")]
    config = compose_one(CONFIG, own)
    force = flag(config, "force")
    spec = ReportSpec.from_mapping({"question": study.question, **study.report}, study.name)
    store = Store(location_of(config))
    data = _load(study, further, store)
    command = " && ".join(shlex.join(["miai", verb, study.name, *further]) for verb in ("sweep", "report"))
    result = build_report(data, spec, project.reports() / study.name, command, exact=exact_values, force=force)
    out = console()
    for note in result.notes:
        say(out, f"note: {note}")
    state = "up to date" if result.up_to_date else "drawn"
    _show_first_table(result, out)
    runs = "1 run" if len(data.runs) == 1 else f"{len(data.runs):,} runs"
    say(out, f"{study.name}: {runs}, {len(result.files)} files {state}.")
    say(out, f"{result.page}")
    if not result.up_to_date:
        _track(store, study.name, result)
    return 0


def _show_first_table(result: ReportResult, out: Console) -> None:
    """Print what the report has first of all; the page has the rest."""
    from rich.markdown import Markdown

    tables = (file for file in result.files if file.suffix == ".md" and file.stem != result.page.stem)
    first = next(tables, None)
    if first is not None:
        out.print(Markdown(first.read_text(encoding="utf-8")))


def _load(study: Study, further: list[str], store: Store) -> StudyData:
    """Load the runs that the study asks for now; where an edit of the sources left none of them, all that are there."""
    from miai.report.load import load_study

    plan = _plan(study, further, store)
    try:
        data = load_study(store, study.name, plan.names, plan.stages)
    except MiaiError:
        if further:
            raise
        data = load_study(store, study.name)
        plan.notes = [
            "All runs were made with other settings or an earlier version of the sources; "
            f"miai sweep {study.name} makes them anew."
        ]
    data.notes[:0] = plan.notes
    return data


@dataclass
class _Plan:
    """The runs that a study asks for now: names and stages by fingerprint, and what cannot be planned yet."""

    names: dict[str, str] = field(default_factory=dict)
    stages: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def _plan(study: Study, further: list[str], store: Store) -> _Plan:
    from miai.runner.resume import Inputs, prepare
    from miai.runner.sweep_study import stage_jobs

    inputs = Inputs(store)
    plan = _Plan()
    for stage in study.stages:
        try:
            jobs = stage_jobs(study, stage, further, store)
            found = {prepare(job, inputs).fingerprint: job.name for job in jobs}
        except MiaiError as error:
            if not stage.needed:
                raise
            plan.notes.append(f"Stage {stage.name} is left out. {error}")
            continue
        plan.names |= found
        for fingerprint in found:
            plan.stages.setdefault(fingerprint, []).append(stage.name)
    return plan


def _track(store: Store, study: str, result: ReportResult) -> None:
    """Keep the report's files in the store too: a run named after the study, in the experiment `reports`."""
    with tempfile.TemporaryDirectory(prefix="miai-report-") as work:
        log = store.start(REPORTS, study, {"study": study}, {}, Path(work))
        for file in result.files:
            log.artifact(file)
        log.finish()
