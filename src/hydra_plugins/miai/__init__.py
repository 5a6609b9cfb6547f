"""Hydra's multirun on Miai's runner: the launcher that serves `-m`, and the sweeper before it.

They are here because Hydra takes plugins from the namespace `hydra_plugins` alone, which packages share. conf/base.yaml
chooses them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


class TakesMany(Protocol):
    """What a task function must offer to be launched many times."""

    __name__: str
    """The task's, and that of its primary configuration."""

    outputs: str | None
    """Hydra's own folder of this multirun."""

    def take(self, config: dict[str, Any], overrides: str) -> None:
        """Take the plain configuration of one job, and the overrides that make it."""
        ...


class MiaiLauncher(Launcher):
    """Composes all jobs and gives them to the task function, which hands them together to `runner.run_jobs`."""

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self._context = hydra_context
        self._task_function = task_function
        self._config = config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        from miai.runner.compose import Composer

        loader = self._context.config_loader
        function: TakesMany = self._task_function  # type: ignore[assignment]
        composer = Composer(function.__name__, lambda overrides: loader.load_sweep_config(self._config, overrides))
        function.outputs = self._config.hydra.sweep.dir
        for overrides in job_overrides:
            function.take(composer.compose(overrides), " ".join(overrides))
        # Failures are in the runner's closing table and exit code; Hydra would stop at the first.
        return [JobReturn(overrides=list(o), status=JobStatus.COMPLETED) for o in job_overrides]


class MiaiSweeper(BasicSweeper):
    """Hydra's basic sweeper. It composes each job to validate it, and the launcher does so again; once is enough."""

    def validate_batch_is_legal(self, batch: Sequence[Sequence[str]]) -> None:
        """Leave it to the launcher."""
