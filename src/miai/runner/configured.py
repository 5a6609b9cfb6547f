"""From composed configurations to runs: the job, the store, and how a sweep is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.errors import MiaiError, choose
from miai.kinds import STRICT, validate
from miai.runner.compose import compose_one
from miai.runner.launchers import Launcher, launchers
from miai.runner.options import Primary, primary
from miai.runner.resume import Inputs
from miai.runner.sweep import SweepResult, run_jobs
from miai.runner.task import Job, tasks
from miai.tracking import Location, Store, locate

if TYPE_CHECKING:
    from rich.console import Console

RUNS = "runs"
"""The experiment of runs that belong to no study."""


@dataclass(config=STRICT, kw_only=True)
class _Tracking:
    uri: str | None
    artifacts: str | None


@dataclass(config=STRICT, kw_only=True)
class HowToRun:
    """How runs are made, as conf/base.yaml says it. Nothing here affects results."""

    launcher: dict[str, Any]
    workers: Annotated[int, Field(ge=1)] | None
    resume: bool
    fail_fast: bool

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> HowToRun:
        """Take it from a configuration.

        Raises:
            MiaiError: a value is not allowed.
        """
        return validate(cls, {key: config[key] for key in cls.__dataclass_fields__}, "")

    def build_launcher(self) -> Launcher:
        """Return the launcher with its options.

        Raises:
            MiaiError: an option is not allowed.
        """
        return launchers.build(self.launcher)


@dataclass(config=STRICT, kw_only=True)
class _Belonging:
    study: Annotated[str, Field(min_length=1)] | None
    stage: Annotated[str, Field(min_length=1)] | None


def job_of(config: Mapping[str, Any]) -> Job:
    """Make a job of a plain configuration, checked.

    Raises:
        MiaiError: the configuration cannot be run; what, and what is allowed.
    """
    return jobs_of([config])[0]


def jobs_of(configs: Sequence[Mapping[str, Any]], overrides: Sequence[str] | None = None) -> list[Job]:
    """Make the jobs of one sweep, checked.

    Args:
        overrides: what makes each of the configurations, for error messages.

    Raises:
        MiaiError: a configuration cannot be run, or two differ in how they are to be made.
    """
    offered = {name: primary(name) for name in {str(config.get("task")) for config in configs} & tasks().keys()}
    jobs: list[Job] = []
    for index, config in enumerate(configs):
        try:
            job = _job(config, offered)
            if differing := [key for key in _SHARED if jobs and config[key] != jobs[0].config[key]]:
                raise MiaiError(f"{differing[0]}: it is the same for all runs of a sweep, and cannot be swept.")
        except MiaiError as error:
            if overrides is None or not overrides[index]:
                raise
            raise MiaiError(f"{error} The run is: {overrides[index]}") from error
        jobs.append(job)
    return jobs


_SHARED = (*HowToRun.__dataclass_fields__, "tracking")


def _job(config: Mapping[str, Any], offered: Mapping[str, Primary]) -> Job:
    known = tasks()
    task = known[choose(str(config.get("task")), known, "task")]
    offered[task.name].check(config)
    HowToRun.of(config).build_launcher()
    location_of(config)
    belonging = validate(_Belonging, {"study": config["study"], "stage": config["stage"]}, "")
    task.check(config)
    return Job(task, config, experiment=belonging.study or RUNS, stage=belonging.stage or "")


def location_of(config: Mapping[str, Any]) -> Location:
    """Return where the store is that a configuration names.

    Raises:
        MiaiError: MLflow does not take the address.
    """
    tracking = validate(_Tracking, config["tracking"], "tracking")
    return locate(tracking.uri, tracking.artifacts)


def store_of(overrides: Sequence[str]) -> Store:
    """Return the store that some overrides name; those that are not of `tracking` do not matter."""
    return Store(location_of(compose_one("store", [o for o in overrides if o.lstrip("+").startswith("tracking.")])))


def run_configured(jobs: Sequence[Job], console: Console | None, title: str) -> SweepResult:
    """Make a sweep's runs as their configuration says: store, launcher, workers, resume, fail_fast.

    Raises:
        MiaiError: an input of a run is not there, or the launcher cannot be used here. Nothing has been run then.
    """
    config = jobs[0].config
    how = HowToRun.of(config)
    location = location_of(config)
    launcher = how.build_launcher()
    launcher.check(location)
    inputs = Inputs(Store(location))
    for job in jobs:
        for role, reference in job.task.inputs(job.config).items():
            inputs.find(role, reference)
    return run_jobs(
        jobs,
        location,
        launcher=launcher,
        workers=how.workers,
        resume=how.resume,
        fail_fast=how.fail_fast,
        console=console,
        title=title,
        preload=sorted({module for job in jobs for module in job.task.preload}),
    )
