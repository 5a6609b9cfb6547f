"""What a person sees of a sweep: a progress bar on a terminal, a plain line now and then elsewhere, and at the end
every failure with its reason."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from miai.runner.execute import Outcome
    from miai.runner.sweep import SweepResult

LINE_SECONDS = 5.0
LINE_SHARE = 0.02
"""Without a terminal a line comes no more often than after those seconds, or this share of the time so far."""
REDRAW_SECONDS = 0.1
KNOWN_SHARE = 0.02
KNOWN_SECONDS = 60.0
"""A speed is shown once that share of a sweep, or one run, is done; or after that time, if anything is."""

MAX_SHOWN = 40
"""Failures in the closing table; the others are counted."""


class SweepDisplay:
    """Shows a sweep on `console`; with `None`, nothing. A context manager while the runs are being made."""

    def __init__(self, console: Console | None, title: str) -> None:
        self._console = console
        self._title = title
        self._bar: Any = None
        self._task: Any = None
        self._total = 0
        self._there = 0
        self._began = time.monotonic()
        self._shown = 0.0

    def notice(self, line: str) -> None:
        """Print a line for the user, above the bar."""
        if self._console is not None:
            self._console.print(line, highlight=False, markup=False)

    def begin(self, total: int, there: int, same: int) -> None:
        """Say what there is to do."""
        self._total, self._there = total, there + same
        todo = total - there - same
        parts = [f"{total} {_runs(total)}"]
        if there:
            parts.append(f"{there} already there")
        if same:
            parts.append(f"{same} the same as another")
        self.notice(f"{self._title}: {', '.join(parts)}{f', {todo} to do' if todo else ', nothing to do'}.")

    def __enter__(self) -> SweepDisplay:
        self._began = time.monotonic()
        if self._console is not None and self._console.is_terminal and self._total > self._there:
            from rich import progress

            self._bar = progress.Progress(
                progress.TextColumn("{task.description}"),
                progress.BarColumn(),
                progress.TextColumn("{task.fields[runs]}"),
                progress.TextColumn("[red]{task.fields[failed]}"),
                progress.TextColumn("{task.fields[rate]}"),
                progress.TextColumn("{task.fields[left]}"),
                progress.TimeElapsedColumn(),
                console=self._console,
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(self._title, total=self._total, runs="", failed="", rate="", left="")
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def update(self, outcomes: Collection[Outcome], partly: float) -> None:
        """Show how far it is: the jobs that have ended, and the parts of those under way, in whole runs."""
        if self._console is None:
            return
        now = time.monotonic()
        took = now - self._began
        pause = REDRAW_SECONDS if self._bar is not None else max(LINE_SECONDS, LINE_SHARE * took)
        if now - max(self._shown, self._began) < pause:
            return
        self._shown = now
        ended = len(outcomes)
        failed = sum(outcome.status == "failed" for outcome in outcomes)
        made = max(0.0, ended - self._there + partly)
        rate = made / max(took, 1e-9)
        # The first moments go into starting workers: a speed that is drawn from them says nothing of the runs.
        known = made >= min(1.0, KNOWN_SHARE * self._total) or (took >= KNOWN_SECONDS and made > 0)
        speed, left = (_rate(rate), _left((self._total - ended - partly) / rate)) if known else ("starting", "")
        runs = f"{ended}/{self._total} {_runs(self._total)}"
        if self._bar is None:
            runs += f" ({100 * (ended + partly) / self._total:.0f} %)" if partly >= 0.01 else ""
            self.notice(f"{self._title}: {', '.join(filter(None, [runs, f'{failed} failed', speed, left]))}")
            return
        self._bar.update(
            self._task,
            completed=ended + partly,
            runs=runs,
            failed=f"{failed} failed" if failed else "",
            rate=speed,
            left=left,
        )

    def close(self, result: SweepResult) -> None:
        """Print the closing line, and a table of failures if there are any."""
        if self._console is None:
            return
        counts = [
            (result.count("finished"), "finished"),
            (result.count("there"), "already there"),
            (result.count("failed"), "failed"),
            (result.count("killed"), "killed"),
            (result.count("cancelled"), "not begun"),
        ]
        text = ", ".join(f"{number} {word}" for number, word in counts if number) or "no runs"
        stopped = " Stopped; the same command goes on from here." if result.stopped_by is not None else ""
        self.notice(f"{self._title}: {text}; {result.seconds:.1f} s.{stopped}")
        if result.failures:
            self._failure_table(result.failures)

    def _failure_table(self, failures: list[Outcome]) -> None:
        from rich.markup import escape
        from rich.table import Table

        assert self._console is not None
        table = Table(title=f"{len(failures)} failed", title_justify="left")
        for column in ("run", "reason", "log"):
            table.add_column(column, overflow="fold")
        for outcome in failures[:MAX_SHOWN]:
            table.add_row(escape(outcome.name), escape(outcome.reason), escape(outcome.log))
        self._console.print(table)
        if len(failures) > MAX_SHOWN:
            self.notice(f"… and {len(failures) - MAX_SHOWN} more.")


def _rate(runs_per_second: float) -> str:
    if runs_per_second >= 0.1:
        return f"{runs_per_second:.1f} runs/s"
    return (
        f"{runs_per_second * 60:.1f} runs/min"
        if runs_per_second >= 0.1 / 60
        else f"{runs_per_second * 3600:.1f} runs/h"
    )


def _runs(number: int) -> str:
    return "run" if number == 1 else "runs"


def _left(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d} left" if hours else f"{minutes}:{seconds:02d} left"
