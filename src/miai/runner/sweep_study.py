"""Runs a study, stage after stage."""

from __future__ import annotations

import re
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
    plans = {stage.name: plans[stage.name] for stage in study.stages if stage.name in plans and not stage.used}
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
        store: where the results of earlier stages are, for a stage with `select`. Without it, what stands for the run
            of an earlier stage is left as it is.

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
    jobs = expand(stage, own, selected)
    if store is not None and stage.used:
        runs = {name: runs_by_seed(study, name, further, store) for name in stage.used}
        jobs = [put_runs(job, runs) for job in jobs]
    with composing(stage.task) as composer:
        return jobs_of([composer.compose([*job, *named]) for job in jobs], [" ".join(job) for job in jobs])


def runs_by_seed(study: Study, name: str, further: Sequence[str], store: Store) -> dict[str, str]:
    """Return the ids of a stage's runs by their seed, as overrides spell it.

    Raises:
        MiaiError: a run is missing, or the stage has several of one seed, so that its name does not say which is meant.
    """
    stage = next(stage for stage in study.stages if stage.name == name)
    jobs = stage_jobs(study, stage, further, store)
    records = finished_runs(study.name, jobs, store)
    runs: dict[str, str] = {}
    for job, record in zip(jobs, records, strict=True):
        seed = str(job.config["seed"])
        if seed in runs:
            raise MiaiError(
                f"study {study.name}: @{name} could be any of {len(jobs)} runs; only a stage with one a seed can be "
                "used."
            )
        if record is None:
            raise _missing(study.name, name, records)
        runs[seed] = record.run_id
    return runs


def put_runs(job: Sequence[str], runs: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return a job's overrides with the ids of runs in place of `@STAGE`.

    Args:
        runs: for each stage that is used, its runs by seed. One that has a single run gives that to every seed.

    Raises:
        MiaiError: a stage has no run of the job's seed.
    """
    seed = next(text.partition("=")[2] for text in job if text.startswith("seed="))
    ids = {}
    for name, found in runs.items():
        if len(found) > 1 and seed not in found:
            raise MiaiError(f"@{name}: that stage has no run of seed {seed}; it has seeds {', '.join(found)}.")
        ids[name] = found[seed] if len(found) > 1 else next(iter(found.values()))
    # Overrides spell such a value with quotes around it.
    return [re.sub(r"'@(\w+)'", lambda found: ids.get(found[1], found[0]), text) for text in job]


def finished_runs(study: str, jobs: Sequence[Job], store: Store) -> list[RunRecord | None]:
    """Return the finished run of each job in the study's experiment, `None` where there is none."""
    finished = {record.fingerprint: record for record in store.runs(study) if record.status == FINISHED}
    inputs = Inputs(store)
    return [finished.get(prepare(job, inputs).fingerprint) for job in jobs]


def _missing(study: str, stage: str, records: Sequence[RunRecord | None]) -> MiaiError:
    return MiaiError(
        f"study {study}: {records.count(None)} of {len(records)} runs of stage {stage}, which a later stage needs, are "
        f"missing. Run: miai sweep {study}"
    )


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
    records = finished_runs(study, jobs, store)
    scores: dict[tuple[str, str], list[float]] = {}
    settings: dict[str, Any] = {}
    for job, record in zip(jobs, records, strict=True):
        if record is None:
            raise _missing(study, select.of, records)
        row = [_setting(job, key, study) for key in (select.by, select.choose)]
        by, choice = map(spell_value, row)
        settings |= {by: row[0], choice: row[1]}
        scores.setdefault((by, choice), []).append(_final(record, select.metric))
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
