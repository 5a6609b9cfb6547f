"""Run a study of experiments/: all its runs that the store does not have yet.

Further overrides behind the name hold for every stage; an override of a key of the grid, or of seed, takes its place.
"""

from __future__ import annotations

from miai.errors import MiaiError

CONFIG = None
EXAMPLES = (
    "miai sweep td_comparison",
    "miai sweep td_comparison 'seed=range(5)' num_games=20000",
    "miai sweep td_comparison resume=false launcher=serial",
)


def run(arguments: list[str]) -> int:
    from miai.runner import start_early

    start_early()
    from miai.cli.terminal import console
    from miai.runner.studies import load_study_file, study_names
    from miai.runner.sweep_study import sweep_study

    if not arguments or "=" in arguments[0] or arguments[0].startswith("-"):
        raise MiaiError(f"name a study: {', '.join(study_names())}.")
    study = load_study_file(arguments[0])
    out = console()
    out.print(f"[bold]{study.name}[/bold]: {study.question}")
    code = sweep_study(study, arguments[1:], out)
    if code == 0:
        out.print(f"Complete. Figures and tables: miai report {study.name}", markup=False)
    return code
