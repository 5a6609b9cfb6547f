"""Run a study of experiments/: all its runs that the store does not have yet.

Overrides behind the name hold for every stage. One of a key that the study sweeps, or of seed, takes its place, and may
sweep in turn: alpha=0.1,0.2. A stage whose settings are chosen by another's results keeps to its own, fresh seeds and
takes only how many. miai sweep STUDY --help shows the study.
"""

from __future__ import annotations

import shlex

CONFIG = None
EXAMPLES = (
    "miai sweep td_comparison",
    "miai sweep td_comparison 'seed=range(5)' num_games=20000",
    "miai sweep td_comparison resume=false launcher=serial",
    "miai sweep td_comparison --help",
)


def run(arguments: list[str]) -> int:
    from miai.cli.arguments import with_study
    from miai.cli.terminal import console, say
    from miai.runner import start_early
    from miai.runner.studies import load_study_file
    from miai.runner.task import tasks

    name, further = with_study(arguments)
    study = load_study_file(name)
    known = tasks()
    start_early(sorted({m for stage in study.stages if stage.task in known for m in known[stage.task].preload}))
    from miai.runner.sweep_study import sweep_study

    out = console()
    code = sweep_study(study, further, out)
    if code == 0:
        say(out, f"Complete. Figures and tables: {shlex.join(['miai', 'report', study.name, *further])}")
    return code
