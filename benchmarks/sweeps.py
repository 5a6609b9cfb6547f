"""How long the commands take, from a cold shell: each is a process of its own, in a project folder of its own.

Times are those of the wall clock: nothing else should run meanwhile. The first sweep also compiles every kernel, into a
cache of its own; whatever comes after it finds the caches warm.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.commands import CommandError, Project
from benchmarks.measuring import Measure, Missing
from miai.runner.compose import compose_one
from miai.tabular.settings import TrainSettings
from miai.tabular.training import Trainer

STUDY = "td_comparison"
RUNS = 120
"""Four algorithms, 30 seeds."""
REPEATS = 3


def sweep(project: Project) -> Iterator[Measure]:
    """The whole of `make sweep`: the study and its report, on an empty store; then both again."""
    first = project.run("sweep", STUDY).seconds
    drawn = project.run("report", STUDY).seconds
    yield Measure(f"{STUDY}: {RUNS} tracked runs and report, first time", "s", first + drawn, None, 45, at_least=False)
    again = project.run("sweep", STUDY).seconds
    drawn_again = project.run("report", STUDY).seconds
    yield Measure(f"{STUDY}: again, when all is there", "s", again + drawn_again, None, 10, at_least=False)
    # What a sweep takes to find nothing to do is its start-up; the rest is the runs'. Now kernels are compiled.
    project.run("sweep", STUDY, "resume=false")  # fills the disk's caches
    forced = project.run("sweep", STUDY, "resume=false").seconds
    kernel, evaluation = _parts_of_a_run()
    yield Measure(
        "one tracked run inside a sweep, 100,000 games, 100 checkpoints",
        "s",
        (forced - again) / RUNS,
        None,
        0.25,
        at_least=False,
        note=f"of it, kernel {kernel:.4f} s, exact evaluation {evaluation:.4f} s; tracking and process the rest",
    )


def _parts_of_a_run() -> tuple[float, float]:
    """Return the seconds that the games and the measurements of one default run take, in this process."""
    settings = TrainSettings.of(compose_one("train", []))
    kernel, evaluation = [], []
    for _ in range(REPEATS + 1):
        trainer = Trainer(settings)
        spent = 0.0

        def timed(measure=trainer.measure) -> dict[str, float]:
            nonlocal spent
            began = time.perf_counter()
            row = measure()
            spent += time.perf_counter() - began
            return row

        trainer.measure = timed
        began = time.perf_counter()
        for _ in trainer.run():
            pass
        evaluation.append(spent)
        kernel.append(time.perf_counter() - began - spent)
    return median(kernel[1:]), median(evaluation[1:])  # the first one loads the kernels


def train(project: Project) -> Iterator[Measure]:
    """One run by itself, from a cold shell."""
    project.run("train", "seed=1")
    seconds = [project.run("train", f"seed={seed}").seconds for seed in range(2, 2 + REPEATS)]
    yield Measure("miai train, one run from a cold shell, caches warm", "s", median(seconds), None, 4, at_least=False)


def measure_all() -> Iterator[Measure | Missing]:
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder))
        for part in (sweep, train):
            try:
                yield from part(project)
            except CommandError as error:
                yield Missing(f"{part.__name__} of the command line", str(error))
