"""Runs a study, stage after stage."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from miai.errors import MiaiError, choose
from miai.runner.compose import composing
from miai.runner.configured import jobs_of, run_configured, store_of
from miai.runner.options import primary
from miai.runner.overrides import spell, spell_value, split_sweeps
from miai.runner.resume import Inputs, prepare
from miai.runner.studies import Select, Stage, Study, expand
from miai.runner.task import Job, tasks
from miai.tracking import FINISHED, RunRecord, Store

if TYPE_CHECKING:
    from rich.console import Console

GIVEN = ("study", "stage", "task")
"""What the study's file says of its runs, and an override cannot."""


def sweep_study(study: Study, further: Sequence[str], console: Console) -> int:
    """Run the stages of a study, in order. A stage that fails stops only those that need it.

    Args:
        further: overrides from the command line.

    Returns:
        the exit code: that of the first stage that is not complete, else 0.

    Raises:
        MiaiError: an override that is not allowed, a stage that does not compose. Nothing has been run then.
    """
    store = store_of(further)
    store.location.mlruns.mkdir(parents=True, exist_ok=True)  # Where it cannot be, nothing can be kept either.
    plans = {stage.name: stage_jobs(study, stage, further) for stage in study.stages if stage.select is None}
    console.print(f"{study.name}: {study.question}", markup=False)
    incomplete: dict[str, int] = {}
    for stage in study.stages:
        waits_for = [name for name in stage.needed if name in incomplete]
        if waits_for:
            console.print(f"{study.name}: stage {stage.name} needs stage {waits_for[0]}, so it waits.", markup=False)
            incomplete[stage.name] = incomplete[waits_for[0]]
            continue
        jobs = plans[stage.name] if stage.name in plans else stage_jobs(study, stage, further, store)
        title = study.name if len(study.stages) == 1 else f"{study.name}, stage {stage.name}"
        result = run_configured(jobs, console, title)
        if result.exit_code:
            incomplete[stage.name] = result.exit_code
            if result.stopped_by is not None or jobs[0].config["fail_fast"]:
                break
    return next(iter(incomplete.values()), 0)


def stage_jobs(study: Study, stage: Stage, further: Sequence[str], store: Store | None = None) -> list[Job]:
    """Return the jobs of a stage.

    Args:
        further: overrides from the command line.
        store: where the results of earlier stages are, for a stage with `select`.

    Raises:
        MiaiError: an override that does not compose, or an earlier stage whose results are not complete.
    """
    for key in split_sweeps(further):
        if key in GIVEN:
            raise MiaiError(f"{key}: the study says it; it cannot be changed from the command line.")
    for other in study.stages:
        choose(other.task, tasks(), f"study {study.name}, stage {other.name}: task")
    own = _meant_for(stage, study, further)
    selected: Sequence[Mapping[str, Any]] = ({},)
    if stage.select is not None:
        if store is None:
            raise ValueError(f"stage {stage.name} of study {study.name} needs a store to select from")
        earlier = next(other for other in study.stages if other.name == stage.select.of)
        selected = select_best(study.name, stage.select, stage_jobs(study, earlier, further, store), store)
    named = [spell("study", study.name), spell("stage", stage.name)]
    with composing(stage.task) as composer:
        jobs = expand(stage, own, selected)
        return jobs_of([composer.compose([*job, *named]) for job in jobs], [" ".join(job) for job in jobs])


def _meant_for(stage: Stage, study: Study, further: Sequence[str]) -> list[str]:
    """Leave out what a stage's task has no option for, if another stage's task has: `num_games` in a tournament."""
    names = {other.task for other in study.stages}
    if len(names) == 1:
        return list(further)
    known = {name: primary(name).first_words() for name in names}
    elsewhere = set().union(*known.values()) - known[stage.task]
    return [text for text in further if re.split(r"[=.@]", text.lstrip("+~"), maxsplit=1)[0] not in elsewhere]


def select_best(study: str, select: Select, jobs: Sequence[Job], store: Store) -> list[dict[str, Any]]:
    """Return, for each value of `by`, the row with the best value of `choose`: the best mean over these jobs' runs.

    Only runs of exactly these jobs count, whatever else the study has in the store. Of equal means the first wins.

    Raises:
        MiaiError: a run is missing, or lacks the metric.
    """
    finished = {record.fingerprint: record for record in store.runs(study) if record.status == FINISHED}
    inputs = Inputs(store)
    scores: dict[tuple[str, str], list[float]] = {}
    settings: dict[str, Any] = {}
    missing = 0
    for job in jobs:
        record = finished.get(prepare(job, inputs, time.time()).fingerprint)
        if record is None:
            missing += 1
            continue
        row = [_setting(job, key, study) for key in (select.by, select.choose)]
        by, choice = map(spell_value, row)
        settings |= {by: row[0], choice: row[1]}
        scores.setdefault((by, choice), []).append(_final(record, select.metric))
    if missing:
        raise MiaiError(
            f"study {study}: {missing} of {len(jobs)} runs of stage {select.of}, which decides the settings of a later "
            f"stage, are missing. Run: miai sweep {study}"
        )
    sign = 1 if select.goal == "max" else -1
    best: dict[str, tuple[float, str]] = {}
    for (by, choice), values in scores.items():
        score = sign * sum(values) / len(values)
        if by not in best or score > best[by][0]:
            best[by] = (score, choice)
    return [{select.by: settings[by], select.choose: settings[choice]} for by, (_, choice) in best.items()]


def _setting(job: Job, key: str, study: str) -> Any:
    """Return what a job's configuration says of an override's key; of a group, the name of the choice."""
    value: Any = job.config
    for part in key.rpartition("@")[2].split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise MiaiError(f"study {study}: select: there is no option {key!r}.")
        value = value[part]
    return value.get("name", value) if isinstance(value, Mapping) else value


def _final(record: RunRecord, metric: str) -> float:
    try:
        return record.metrics[f"final/{metric}"]
    except KeyError:
        known = sorted(name.removeprefix("final/") for name in record.metrics if name.startswith("final/"))
        raise MiaiError(f"select: run {record.name} has no metric {metric!r}; it has: {', '.join(known)}.") from None
