"""How long a report over 1,000 runs of 100 checkpoints takes, and how much memory. The runs are short, but whole."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.commands import CommandError, Project
from benchmarks.measuring import Measure, Missing

STUDY = "td_comparison"
SEEDS = 250
"""Of four algorithms each."""
GAMES = 2_000


def measure_all() -> Iterator[Measure | Missing]:
    name = "report over 1,000 runs of 100 checkpoints"
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder))
        try:
            project.run("sweep", STUDY, f"seed=range({SEEDS})", f"num_games={GAMES}")
            done = project.run("report", STUDY)
        except CommandError as error:
            yield Missing(name, str(error))
            return
        yield Measure(name, "s", done.seconds, None, 20, at_least=False)
        yield Measure(f"{name}, memory", "GB", done.memory / 1e9, None, 1, at_least=False)
