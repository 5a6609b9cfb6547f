"""A task is what a run does. Each file of `runner/tasks/` has one, as `TASK`; they are found by themselves."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from miai.errors import MiaiError
from miai.kernel_cache import PACKAGE
from miai.references import Reference

if TYPE_CHECKING:
    from miai.runner.context import RunContext

Config = Mapping[str, Any]
"""A resolved configuration: plain dicts, lists, strings, numbers, booleans, None."""

TASKS_PACKAGE = "miai.runner.tasks"


def no_check(config: Config) -> None:
    """Accept any configuration."""


def as_it_is(config: Config) -> Config:
    """Settle a configuration that needs no settling."""
    return config


def never(config: Config) -> bool:
    """Say no of any configuration."""
    return False


def no_inputs(config: Config) -> dict[str, Reference]:
    """The inputs of a task that needs none."""
    return {}


@dataclass(frozen=True)
class Task:
    """What a run does.

    Attributes:
        name: as in the configuration (`task: train`).
        sources: files and folders under `src/miai` that affect the results; their hash is in the fingerprint.
        run: does it. This and the other functions are module-level, so that a worker process can find them.
        name_of: the run's name for people.
        inputs: the files that the run needs, by role: given by path, or by the run that made them.
        check: raises a `MiaiError` for a configuration that cannot be run. Cheap: it is asked for every job of a
            sweep before the first one starts.
        irrelevant: top-level keys of the configuration that do not affect this task's results, beside those that
            never do (`tracking.record.IRRELEVANT`).
        settle: says what a configuration comes to, where it names things for `run` to look up: the form in which runs
            are compared, as parameters of the store and in the fingerprint. A `MiaiError` if it comes to nothing.
        at_terminal: whether a person takes part in the run, who would be disturbed by a progress bar.
        product: the artifact by which `miai reproduce` tells whether a run came out the same.
        preload: modules that `run` imports where it uses them; worker processes are forked with them.
        spreads: whether `run` hands out units of work (`RunContext.map`) that are most of what there is to do. A single
            run of another task is, as a whole, done by one worker where workers are on other machines.
    """

    name: str
    sources: tuple[str, ...]
    run: Callable[[Config, RunContext], None]
    name_of: Callable[[Config], str]
    inputs: Callable[[Config], Mapping[str, Reference]] = no_inputs
    check: Callable[[Config], None] = no_check
    irrelevant: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()
    settle: Callable[[Config], Config] = as_it_is
    at_terminal: Callable[[Config], bool] = never
    product: str = "table.npz"
    spreads: bool = False

    def __post_init__(self) -> None:
        missing = [source for source in self.sources if not (PACKAGE / source).exists()]
        if missing:
            raise ValueError(f"task {self.name!r}: no such source under {PACKAGE}: {', '.join(missing)}")
        for function in (self.run, self.name_of, self.inputs, self.settle, self.at_terminal):
            if "<" in function.__qualname__:
                raise ValueError(f"task {self.name!r}: {function.__qualname__} is not a module-level function")


@dataclass(frozen=True)
class Job:
    """A run to be made.

    Attributes:
        config: resolved and valid.
        experiment: the experiment of the store that the run goes into; for a study, its name.
        stage: the study's stage, "" outside one.
        tags: further tags of the run.
    """

    task: Task
    config: Config
    experiment: str
    stage: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.task.name_of(self.config)


def tasks(package: str = TASKS_PACKAGE) -> dict[str, Task]:
    """All tasks by name: every module of `package` has one.

    Raises:
        MiaiError: a module has none, or two have one name.
    """
    found: dict[str, Task] = {}
    where: dict[str, str] = {}
    for module in task_modules(package):
        task = getattr(importlib.import_module(module), "TASK", None)
        if not isinstance(task, Task):
            raise MiaiError(f"{module}: a file of tasks must define TASK, a miai.runner.Task.")
        if task.name in found:
            raise MiaiError(f"{module}: the task's name {task.name!r} is taken by {where[task.name]}.")
        found[task.name], where[task.name] = task, module
    return found


def task_modules(package: str = TASKS_PACKAGE) -> list[str]:
    """Names of the modules that hold tasks, without importing them."""
    folder = importlib.import_module(package)
    return sorted(
        f"{package}.{module.name}"
        for module in pkgutil.iter_modules(folder.__path__)
        if not module.name.startswith("_")
    )
