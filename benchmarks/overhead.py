"""What a sweep costs beside its runs: wall time over (the time inside its runs, divided by the cores).

The time inside a run is what its worker spends on it, kernel and tracking. What is above 1 is the start of the
programs, planning, handing out, waiting at the end. `MIAI_BENCH_LAUNCHERS` names the launchers, by commas: `local`
alone unless it says otherwise, since the others need something to be launched on.

    python -m benchmarks.overhead LAUNCHER SEED RUNS GAMES FILE     (one sweep of the measure; it writes to FILE)
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.commands import CommandError, Project
from benchmarks.measuring import Measure, Missing

LAUNCHERS = "MIAI_BENCH_LAUNCHERS"
RUNS = 1_000
SECONDS = 0.1
"""Of each run, kernel and tracking."""
TRIED = (100_000, 1_000_000)
"""Games of the runs that tell how many take so long."""
GOAL = 1.3


def measure_all() -> Iterator[Measure | Missing]:
    for launcher in os.environ.get(LAUNCHERS, "local").split(","):
        name = f"a sweep's wall time over that of its {RUNS:,} runs, {launcher}"
        try:
            yield measure(name, launcher)
        except CommandError as error:
            yield Missing(name, str(error))


def measure(name: str, launcher: str) -> Measure:
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder))
        sweep(project, launcher, 0, 8, 1_000)  # kernels are compiled, the store is there
        few, many = (
            sweep(project, launcher, 100 * place, 8, games)["seconds"] / 8 for place, games in enumerate(TRIED, 1)
        )
        slope = max((many - few) / (TRIED[1] - TRIED[0]), 1e-9)
        games = max(1_000, round(TRIED[0] + (SECONDS - few) / slope))
        found = sweep(project, launcher, 1_000, RUNS, games)
    ideal = found["seconds"] / found["cores"]
    return Measure(
        name,
        "ratio",
        found["wall"] / ideal,
        None,
        GOAL,
        at_least=False,
        note=f"{found['wall']:.1f} s; a run {found['seconds'] / RUNS:.3f} s, {games:,} games; {found['cores']} cores",
    )


def sweep(project: Project, launcher: str, seed: int, runs: int, games: int) -> dict[str, Any]:
    """Make a sweep of seeds from `seed` on, in a process of its own.

    Returns:
        its wall time, the seconds inside its runs together, the cores.
    """
    file = project.folder / "found.json"
    file.unlink(missing_ok=True)
    done = project.run_module("benchmarks.overhead", launcher, str(seed), str(runs), str(games), str(file))
    return {"wall": done.seconds, **json.loads(file.read_text(encoding="utf-8"))}


def main(launcher: str, first: str, runs: str, games: str, file: str) -> int:
    """Make the sweep, as `miai train -m` does."""
    from miai.cli.terminal import console
    from miai.runner import start_early
    from miai.runner.task import tasks

    start_early(tasks()["train"].preload)
    from miai.runner.compose import composing
    from miai.runner.configured import jobs_of, run_configured
    from miai.runner.pool import available_cores

    fixed = [f"launcher={launcher}", f"num_games={games}", "num_checkpoints=20", "study=overhead"]
    with composing("train") as composer:
        configs = [composer.compose([*fixed, f"seed={seed}"]) for seed in range(int(first), int(first) + int(runs))]
    result = run_configured(jobs_of(configs), console(), "overhead")
    found = {"seconds": sum(outcome.seconds for outcome in result.outcomes), "cores": available_cores()}
    Path(file).write_text(json.dumps(found), encoding="utf-8")
    return 0 if result.count("finished") == int(runs) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
