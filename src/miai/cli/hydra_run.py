"""A command that is a Hydra application: `miai train`, and every other task that has a primary YAML."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from miai import project
from miai.errors import MiaiError

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from miai.runner import Outcome
    from miai.runner.task import Job


def run_hydra(config_name: str, arguments: Sequence[str], program: str | None = None) -> int:
    """Run a task's command line through Hydra: single runs, `-m`, `--cfg job`, `--info` and the rest.

    Args:
        config_name: of the primary YAML, and of the task.
        program: what Hydra calls the program, `miai <config_name>` by default.

    Returns:
        the exit code.

    Raises:
        MiaiError: what Hydra refuses, in one line.
    """
    import hydra

    from miai.runner.compose import VERSION_BASE, prepare_hydra
    from miai.runner.compose_errors import one_line_errors

    _check_arguments(arguments)
    prepare_hydra()
    _register_studies(config_name, arguments)
    composed = _Composed(config_name)
    run = hydra.main(config_path=str(project.shipped_conf()), config_name=config_name, version_base=VERSION_BASE)
    try:
        with one_line_errors(config_name):
            with _as_hydra_expects([program or f"miai {config_name}", *arguments]):
                run(composed)()
            composed.resolve()
        return composed.make_runs()
    except MiaiError:
        composed.remove_outputs()
        raise


def _register_studies(config_name: str, arguments: Sequence[str]) -> None:
    """Let Hydra know the studies where it needs to: reading them takes a moment."""
    from miai.runner.options import STUDIES
    from miai.runner.study_configs import choose_experiment, register_studies

    for argument in arguments:
        key, _, value = argument.partition("=")
        if key == f"+{STUDIES}":
            register_studies(config_name, choose_experiment(value.strip("'\""), config_name))
        elif key in ("-sc", "--shell-completion", "--shell_completion", "--info", "-i"):
            register_studies(config_name)


def _check_arguments(arguments: Sequence[str]) -> None:
    """Refuse, in one line, what Hydra would refuse with a page."""
    from hydra._internal.utils import get_args_parser

    from miai.runner.overrides import check_multirun, unreadable

    def refuse(message: str) -> NoReturn:
        raise MiaiError(f"{message}; see --help.")

    parser = get_args_parser()
    parser.error = refuse  # type: ignore[method-assign]
    flags = parser.parse_args(list(arguments))
    modes = [flags.run, flags.multirun, flags.cfg is not None, flags.info is not None, flags.shell_completion]
    if sum(map(bool, modes)) > 1:
        refuse("of --run, --multirun, --cfg, --info and --shell-completion, one may be given")
    if flags.resolve and flags.cfg is None:
        refuse("--resolve goes with --cfg")
    if flags.experimental_rerun is not None:
        refuse("--experimental-rerun reads a file that may run code; miai reproduce RUN_ID does not")
    for override in flags.overrides:
        if override.startswith("="):
            raise unreadable(override)
    if flags.multirun:
        check_multirun(flags.overrides)


@contextmanager
def _as_hydra_expects(argv: list[str]) -> Iterator[None]:
    """Give Hydra its command line, and let it raise errors instead of printing them and leaving."""
    own_argv, sys.argv = sys.argv, argv
    own_setting = os.environ.get("HYDRA_FULL_ERROR")
    os.environ["HYDRA_FULL_ERROR"] = "1"
    said = io.StringIO()
    try:
        with redirect_stderr(said):
            yield
    except SystemExit as stop:
        if stop.code not in (0, None):
            raise MiaiError(said.getvalue() or f"{' '.join(argv[1:])}: not understood; see --help.") from None
    finally:
        sys.argv = own_argv
        if own_setting is None:
            del os.environ["HYDRA_FULL_ERROR"]
        else:
            os.environ["HYDRA_FULL_ERROR"] = own_setting
    sys.stderr.write(said.getvalue())


class _Composed:
    """What Hydra calls: by itself with the configuration of one run, or through the launcher with all of a multirun.

    It keeps them, and the runs are made when Hydra is done: what goes wrong is then ours to report.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self._composed: list[DictConfig] = []
        self._configs: list[dict[str, Any]] = []
        self._overrides: list[str] = []
        self.outputs: str | None = None

    def __call__(self, config: DictConfig) -> None:
        from hydra.core.hydra_config import HydraConfig

        self._composed.append(config)
        self.outputs = HydraConfig.get().runtime.output_dir

    def take(self, config: dict[str, Any], overrides: str) -> None:
        """Take one job of a multirun."""
        self._configs.append(config)
        self._overrides.append(overrides)

    def resolve(self) -> None:
        """Make plain what Hydra gave directly."""
        from miai.runner.compose import plain

        for config in self._composed:
            self.take(plain(config), "")

    def remove_outputs(self) -> None:
        """Remove what Hydra wrote about runs that are not made, if it is where Hydra's outputs are by default."""
        if self.outputs is None or project.mlruns() not in Path(self.outputs).parents:
            return
        folder = Path(self.outputs)
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # The day's folder, if nothing else is in it.
            folder.parent.rmdir()

    def make_runs(self) -> int:
        """Make the runs, if Hydra was asked for any. Returns the exit code."""
        if not self._configs:
            return 0
        from miai.cli.terminal import console
        from miai.runner.configured import jobs_of, run_configured

        for config in self._configs:
            if config.get("task") != self.__name__:
                raise MiaiError(f"task: it is {self.__name__} here, not {config.get('task')!r}.")
        jobs = jobs_of(self._configs, self._overrides)
        if len(self._composed) == len(jobs) == 1:
            return _run_single(jobs[0], console()).exit_code
        return run_configured(jobs, console(), self.__name__).exit_code


def _run_single(job: Job, console: Any) -> Outcome:
    """Make one run, with a live bar, and close with a table."""
    from rich import progress

    from miai.cli.terminal import say
    from miai.runner import run_one, send_one
    from miai.runner.configured import HowToRun, location_of

    how, location = HowToRun.of(job.config), location_of(job.config)
    launcher = how.build_launcher()
    if launcher.elsewhere and not job.task.spreads:
        outcome = send_one(job, location, launcher, console)
        _show(outcome, console)
        return outcome
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
        progress.TimeRemainingColumn(),
    )
    shown = console.is_terminal and not job.task.at_terminal(job.config)
    with progress.Progress(*columns, console=console, transient=True, disable=not shown) as bar:
        task = bar.add_task(job.name, total=1)
        outcome = run_one(
            job,
            location,
            launcher=launcher,
            workers=how.workers,
            tell=lambda line: say(console, line),
            on_progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    _show(outcome, console)
    return outcome


def _show(outcome: Outcome, console: Any) -> None:
    from rich.table import Table

    from miai.cli.terminal import say, show_metric

    if outcome.status != "finished":
        say(console, f"{outcome.name}: {outcome.status}. {outcome.reason}", style="red")
        if outcome.log:
            say(console, f"The log: {outcome.log}")
        return
    if outcome.conclusion:
        say(console, f"{outcome.name}  ({outcome.seconds:.1f} s)")
        say(console, outcome.conclusion)
        say(console, f"Run {outcome.run_id}")
        return
    table = Table("metric", "at the end", title=f"{outcome.name}  ({outcome.seconds:.1f} s)", title_justify="left")
    table.columns[1].justify = "right"
    for name, value in outcome.final.items():
        table.add_row(name, show_metric(name, value))
    console.print(table)
    say(console, f"Run {outcome.run_id}")
