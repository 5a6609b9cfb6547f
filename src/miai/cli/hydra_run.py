"""A command that is a Hydra application: `miai train`, and every other task that has a primary YAML."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from miai import project
from miai.errors import MiaiError

if TYPE_CHECKING:
    from miai.runner import Outcome, SweepResult


def run_hydra(config_name: str, arguments: Sequence[str]) -> int:
    """Run a task's command line through Hydra: single runs, `-m`, `--cfg job`, shell completion and the rest.

    Raises:
        MiaiError: what Hydra refuses, in one line.
    """
    import hydra

    from miai.runner.compose import VERSION_BASE, one_line_errors, prepare_hydra
    from miai.runner.study_configs import register_studies

    prepare_hydra()
    if any("experiment=" in argument or argument.startswith("--shell") for argument in arguments):
        register_studies(config_name)
    application = _Application(config_name)
    own_argv, sys.argv = sys.argv, [f"miai {config_name}", *arguments]
    full_error = os.environ.get("HYDRA_FULL_ERROR")
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra raises instead of printing and exiting; the one line is ours to print.
    try:
        with one_line_errors():
            hydra.main(version_base=VERSION_BASE, config_path=str(project.shipped_conf()), config_name=config_name)(
                application
            )()
    except SystemExit as stop:
        if stop.code not in (0, None):
            raise MiaiError(f"{' '.join(arguments)}: not understood; see miai {config_name} --help.") from None
    finally:
        sys.argv = own_argv
        if full_error is None:
            del os.environ["HYDRA_FULL_ERROR"]
    return application.exit_code


class _Application:
    """What Hydra calls: with the composed configuration of one run, or through the launcher with all of a multirun."""

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self.exit_code = 0

    def __call__(self, config: Any) -> None:
        from miai.cli.terminal import console
        from miai.runner.compose import plain
        from miai.runner.sweep_study import job_of, location_of

        settings = plain(config)
        job = job_of(settings)
        outcome = _run_single(job, location_of(settings), settings["workers"], console())
        self.exit_code = outcome.exit_code

    def run_many(self, configs: list[dict[str, Any]]) -> None:
        from miai.cli.terminal import console
        from miai.runner.sweep_study import job_of, run_configured

        result: SweepResult = run_configured([job_of(config) for config in configs], console(), self.__name__)
        self.exit_code = self.exit_code or result.exit_code


def _run_single(job: Any, location: Any, workers: int | None, console: Any) -> Outcome:
    """Make one run, with a live bar, and close with a table."""
    from rich import progress

    from miai.runner import run_one

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(job.name, total=1)
        outcome = run_one(
            job,
            location,
            workers=workers,
            tell=lambda line: console.print(line, markup=False),
            on_progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    _show(outcome, console)
    return outcome


def _show(outcome: Outcome, console: Any) -> None:
    from rich.table import Table

    from miai.cli.terminal import show_number

    if outcome.status != "finished":
        console.print(f"{outcome.name}: {outcome.status}. {outcome.reason}", style="red", markup=False)
        if outcome.log:
            console.print(f"The log: {outcome.log}", markup=False)
        return
    table = Table("metric", "at the end", title=f"{outcome.name}  ({outcome.seconds:.1f} s)", title_justify="left")
    table.columns[1].justify = "right"
    for name, value in outcome.final.items():
        table.add_row(name, show_number(value))
    console.print(table)
    console.print(f"Run {outcome.run_id}", markup=False)
