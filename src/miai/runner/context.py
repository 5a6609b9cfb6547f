"""All that a task sees of the outside."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from miai.errors import MiaiError
from miai.runner import pool, stopping
from miai.runner.checkpoint import Checkpoints
from miai.tracking import RunLog
from miai.tracking.failures import first_line

if TYPE_CHECKING:
    from miai.runner.launchers import Workers

PROGRESS_SECONDS = 0.1
"""Progress is passed on no more often than this."""

Unit = Any
"""What a function that is mapped over units takes; it has to be picklable."""


class RunContext:
    """A run, as its task sees it. Made by `execute`.

    Attributes:
        seed: the run's seed, from the configuration's key `seed` (0 without one).
        work: a folder of the run's own, removed at its end. What is to stay goes to `artifact`.
        inputs: files by role, as the task's `inputs` named them.
        logger: goes to the run's log, an artifact.
        fingerprint: see `fingerprint.fingerprint`.
        workers: how many processes or threads of this machine the task may use.
        conclusion: what was given to `conclude`.

    Args:
        spread: opens workers for `map`; `None`: units are done in this process.
    """

    def __init__(
        self,
        run_log: RunLog,
        checkpoints: Checkpoints,
        *,
        seed: int,
        work: Path,
        inputs: Mapping[str, Path],
        fingerprint: str,
        workers: int,
        on_progress: Callable[[int, int], None] | None = None,
        spread: Callable[[pool.Setup], Workers] | None = None,
    ) -> None:
        self.seed = seed
        self.work = work
        self.inputs = inputs
        self.fingerprint = fingerprint
        self.workers = workers
        self.conclusion = ""
        self.logger = logging.getLogger("miai.run")
        self._run_log = run_log
        self._checkpoints = checkpoints
        self._on_progress = on_progress
        self._spread = spread
        self._progress_said = 0.0

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Log one row of metrics: names are paths (`eval/win`), values finite.

        Raises:
            ValueError: a value is not finite, or a name not legal; the message names the metric.
        """
        with stopping.shielded():
            self._run_log.log(step, metrics)

    def final(self, metrics: Mapping[str, float]) -> None:
        """Set the run's final values, logged as `final/<name>` at step 0."""
        self._run_log.final(metrics)

    def conclude(self, text: str) -> None:
        """Say to people what came out, in a few lines: shown at the end in place of the final metrics, and logged."""
        self.conclusion = text
        self.logger.info("%s", text)

    def artifact(self, path: Path, name: str | None = None) -> None:
        """Keep a copy of this file or folder with the run, under `name` (its own by default)."""
        with stopping.shielded():
            self._run_log.artifact(path, name)

    def tag(self, key: str, value: str) -> None:
        """Tag the run."""
        self._run_log.tag(key, value)

    def progress(self, done: int, total: int) -> None:
        """Say how far the run is. Cheap enough for every checkpoint."""
        now = time.monotonic()
        if now - self._progress_said < PROGRESS_SECONDS and done < total:
            return
        self._progress_said = now
        with stopping.shielded():
            self._run_log.tick()
            if self._on_progress is not None:
                self._on_progress(done, total)

    def save_checkpoint(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Save arrays by name, so that this run can go on from here if it is killed.

        The metric rows logged so far are saved with them.

        Raises:
            ValueError: an array holds Python objects.
        """
        with stopping.shielded():
            self._checkpoints.save(arrays, self._run_log.rows)

    def load_checkpoint(self) -> dict[str, np.ndarray] | None:
        """Load the arrays of the last checkpoint of a killed run of this fingerprint; `None` if there is none.

        The metric rows that the killed run had logged up to then are logged again, with their own times, so that
        the history is whole. To be called before anything is logged.
        """
        loaded = self._checkpoints.load()
        if loaded is None:
            return None
        arrays, rows = loaded
        for row in rows:
            self._run_log.add_row(row)
        self.logger.info("continued from a checkpoint with %d rows of metrics", len(rows))
        return arrays

    def map(
        self,
        function: Callable[[Unit], Mapping[str, Any]],
        units: Mapping[str, Unit],
        *,
        sizes: Mapping[str, int] | None = None,
        before: int = 0,
        total: int | None = None,
        here: bool = False,
    ) -> dict[str, dict[str, Any]]:
        """Do independent units of work, over all workers that the launcher has for this run.

        Args:
            function: module-level; takes a unit, returns a dict that JSON can hold. It must depend on the unit alone: a
                unit carries its own seed.
            units: units by key. A unit whose key was done by a killed run of this fingerprint is not done again.
            sizes: how much of the run each unit is, for the progress bar; by default 1.
            before, total: what was done before these units, and all that there is to do, if these are not all.
            here: do them in this process, whatever the launcher is.

        Returns:
            the results by key, in the order of `units`.

        Raises:
            MiaiError: a unit failed; the message names it.
        """
        results: dict[str, dict[str, Any]] = {}
        sizes = dict.fromkeys(units, 1) if sizes is None else sizes
        whole = before + sum(sizes.values()) if total is None else total

        def say_progress() -> None:
            self.progress(before + sum(sizes[key] for key in results), whole)

        for key in units:
            known = self._checkpoints.load_unit(key)
            if known is not None:
                results[key] = known
        missing = [key for key in units if key not in results]
        if results:
            self.logger.info("%d of %d units had been done before", len(results), len(units))
        say_progress()

        def keep(key: str, result: Mapping[str, Any]) -> None:
            with stopping.shielded():
                results[key] = self._checkpoints.save_unit(key, result)
            say_progress()

        if self._spread is not None and not here and len(missing) > 1:
            with self._spread(pool.Setup([function.__module__])) as workers:
                self._map_over(workers, function, {key: units[key] for key in missing}, keep)
        else:
            for key in missing:
                try:
                    result = function(units[key])
                except Exception as error:
                    raise MiaiError(f"unit {key}: {first_line(error)}") from error
                keep(key, result)
        return {key: results[key] for key in units}

    def _map_over(
        self,
        workers: Workers,
        function: Callable[[Unit], Mapping[str, Any]],
        units: Mapping[str, Unit],
        keep: Callable[[str, Mapping[str, Any]], None],
    ) -> None:
        for key, unit in units.items():
            workers.submit(key, function, unit)
        while workers.unfinished:
            for event in workers.events(timeout=1.0):
                if isinstance(event, pool.Done):
                    keep(event.key, event.value)
                elif isinstance(event, pool.Raised):
                    self.logger.error("unit %s failed\n%s", event.key, event.details)
                    raise MiaiError(f"unit {event.key}: {event.reason}")
                elif isinstance(event, pool.Died):
                    self.logger.warning("unit %s: its worker was %s", event.key, event.reason)
                    if event.given_up:
                        times = pool.MAX_DEATHS
                        raise MiaiError(f"unit {event.key}: its worker died {times} times, last {event.reason}.")
            self._run_log.tick()
