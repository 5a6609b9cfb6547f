"""Draw the figures, tables and page of a study from its runs in the store, into reports/<study>/.

The overrides that were given to the sweep are given to the report too: it takes the runs of exactly those settings,
and says which
are missing. force=true draws again although nothing has changed.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from miai import project
from miai.errors import MiaiError

if TYPE_CHECKING:
    from miai.report.build import ReportResult
    from miai.report.load import StudyData
    from miai.runner.studies import Study
    from miai.tracking import Store

CONFIG = None
REPORTS = "reports"
EXAMPLES = ("miai report td_comparison", "miai report td_comparison num_games=20000 force=true")


def run(arguments: list[str]) -> int:
    from miai.cli.exact_values import exact_values
    from miai.cli.terminal import console
    from miai.report.build import build_report
    from miai.report.spec import ReportSpec
    from miai.runner.studies import load_study_file, study_names
    from miai.runner.sweep_study import store_of

    if not arguments or "=" in arguments[0] or arguments[0].startswith("-"):
        raise MiaiError(f"name a study: {', '.join(study_names())}.")
    study = load_study_file(arguments[0])
    force = "force=true" in arguments
    further = [argument for argument in arguments[1:] if not argument.startswith("force=")]
    spec = ReportSpec.from_mapping({"question": study.question, **study.report}, study.name)
    out = console()
    store = store_of(further)
    data = _load(study, further, store)
    command = " && ".join(" ".join(["miai", verb, study.name, *further]) for verb in ("sweep", "report"))
    result = build_report(data, spec, project.reports() / study.name, command, exact=exact_values, force=force)
    for note in result.notes:
        out.print(f"note: {note}", markup=False)
    state = "up to date" if result.up_to_date else "drawn"
    out.print(f"{study.name}: {len(data.runs):,} runs, {len(result.files)} files {state}.", markup=False)
    out.print(f"{result.page}", markup=False, soft_wrap=True)
    if not result.up_to_date:
        _track(store, study.name, result)
    return 0


def _load(study: Study, further: list[str], store: Store) -> StudyData:
    """Load the runs that the study asks for now; where an edit of the sources left none of them, all that are there."""
    from miai.report.load import load_study

    planned = _planned(study, further, store)
    try:
        return load_study(store, study.name, planned)
    except MiaiError:
        if further:
            raise
        data = load_study(store, study.name)
        data.notes.insert(
            0,
            "All runs were made with other settings or an earlier version of the sources; "
            f"miai sweep {study.name} makes them anew.",
        )
        return data


def _planned(study: Study, further: list[str], store: Store) -> dict[str, str]:
    """Return the fingerprints of the study's runs, with their names."""
    import time

    from miai.runner.resume import Inputs, prepare
    from miai.runner.sweep_study import stage_jobs

    inputs = Inputs(store)
    jobs: list[Any] = [job for stage in study.stages for job in stage_jobs(study, stage, further, store)]
    return {prepare(job, inputs, time.time()).fingerprint: job.name for job in jobs}


def _track(store: Store, study: str, result: ReportResult) -> None:
    """Keep the report's files in the store too: a run named after the study, in the experiment `reports`."""
    with tempfile.TemporaryDirectory(prefix="miai-report-") as work:
        log = store.start(REPORTS, study, {"study": study}, {}, Path(work))
        for file in result.files:
            log.artifact(file)
        log.finish()
