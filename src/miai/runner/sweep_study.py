"""Runs a study, stage after stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from miai.errors import MiaiError
from miai.runner.compose import compose_one, composing
from miai.runner.studies import Select, Stage, Study, expand
from miai.runner.sweep import SweepResult, run_jobs
from miai.runner.task import Job, tasks
from miai.tracking import Location, Store, locate

if TYPE_CHECKING:
    from rich.console import Console

RUNS = "runs"
"""The experiment of runs that belong to no study."""


def job_of(config: Mapping[str, Any]) -> Job:
    """Make a job of a plain configuration, checked.

    Raises:
        MiaiError: the configuration cannot be run.
    """
    task = tasks()[str(config["task"])]
    task.check(config)
    return Job(task, config, experiment=config.get("study") or RUNS, stage=config.get("stage") or "")


def location_of(config: Mapping[str, Any]) -> Location:
    return locate(config["tracking"]["uri"], config["tracking"]["artifacts"])


def store_of(overrides: Sequence[str]) -> Store:
    """Return the store that the `tracking.` ones of some overrides name."""
    return Store(location_of(compose_one("base", [o for o in overrides if o.startswith("tracking.")])))


def stage_jobs(study: Study, stage: Stage, further: Sequence[str], store: Store | None = None) -> list[Job]:
    """Return the jobs of a stage.

    Args:
        further: overrides from the command line.
        store: where the results of earlier stages are, for a stage with `select`.

    Raises:
        MiaiError: an override that does not compose, or an earlier stage without results.
    """
    selected: Sequence[Mapping[str, Any]] = ({},)
    if stage.select is not None:
        if store is None:
            raise MiaiError(f"study {study.name}: stage {stage.name} needs results of stage {stage.select.of}.")
        selected = select_best(study.name, stage.select, store)
    named = [f"study={study.name}", f"stage={stage.name}"]
    with composing(stage.task) as composer:
        return [job_of(composer.compose([*overrides, *named])) for overrides in expand(stage, further, selected)]


def select_best(study: str, select: Select, store: Store) -> list[dict[str, Any]]:
    """Return, for each value of `by`, the row with the best value of `choose`: the best mean over the stage's runs.

    Raises:
        MiaiError: the stage has no finished run with the metric.
    """
    values: dict[tuple[str, str], list[float]] = {}
    for run in store.runs(study):
        if run.status == "FINISHED" and run.tags.get("miai.stage") == select.of:
            by = run.params.get(f"{select.by}.name", run.params.get(select.by))
            choice = run.params.get(f"{select.choose}.name", run.params.get(select.choose))
            metric = run.metrics.get(f"final/{select.metric}")
            if by is not None and choice is not None and metric is not None:
                values.setdefault((by, choice), []).append(metric)
    if not values:
        raise MiaiError(f"study {study}: no finished run of stage {select.of} has the metric {select.metric!r}.")
    sign = 1 if select.goal == "max" else -1
    best: dict[str, tuple[float, str]] = {}
    for (by, choice), metrics in sorted(values.items()):
        score = sign * sum(metrics) / len(metrics)
        if by not in best or score > best[by][0]:
            best[by] = (score, choice)
    return [{select.by: by, select.choose: choice} for by, (_, choice) in best.items()]


def sweep_study(study: Study, further: Sequence[str], console: Console) -> int:
    """Run every stage of a study. Returns the exit code: that of the first stage that is not complete."""
    for stage in study.stages:
        store = store_of(further) if stage.select is not None else None
        result = run_configured(stage_jobs(study, stage, further, store), console, f"{study.name}, stage {stage.name}")
        if result.exit_code:
            return result.exit_code
    return 0


def run_configured(jobs: Sequence[Job], console: Console, title: str) -> SweepResult:
    """Run jobs as their configuration says: store, launcher, workers, resume, fail_fast (those of the first job)."""
    config = jobs[0].config
    return run_jobs(
        jobs,
        location_of(config),
        launcher=config["launcher"],
        workers=config["workers"],
        resume=config["resume"],
        fail_fast=config["fail_fast"],
        console=console,
        title=title,
        preload=("miai.tabular.training",),
    )
