"""Play against a trained table in the terminal.

RUN is a run's id (or its beginning), its name where only one has it, or the path of a table.npz. Without one, a table
is trained
first, which takes a second or two. During the game: a move as row,column; undo; hint; values; help; quit.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from miai.errors import MiaiError

if TYPE_CHECKING:
    from pathlib import Path

    from miai.tracking import Store

CONFIG = "play"
EXAMPLES = ("miai play", "miai play RUN_ID human_seat=second", "miai play RUN_ID human_seat=first")
TRAINED_FOR_PLAY = ("algorithm=afterstate", "opponent=mixture", "num_games=200000", "study=play", "resume=true")


def run(arguments: list[str]) -> int:
    from miai.cli.playing import TerminalGame
    from miai.cli.positional import refuse_unknown, table_path, with_run
    from miai.cli.terminal import console
    from miai.runner.compose import compose_one
    from miai.runner.sweep_study import location_of
    from miai.tabular.table import ValueTable
    from miai.tracking import Store

    config = compose_one(CONFIG, with_run(arguments))
    human = refuse_unknown(config, "human_seat", ("first", "second"))
    agent = "first" if human == "second" else "second"
    out = console()
    store = Store(location_of(config))
    path = table_path(store, config["run"]) if config["run"] is not None else _train(store, config, agent, out)
    table = ValueTable.load(path)
    if table.meta.seat not in (agent, "both"):
        raise MiaiError(
            f"run: this table has learnt the {table.meta.seat} seat; "
            f"with human_seat={human} it would play the {agent} one. "
            f"Try human_seat={agent}."
        )
    return TerminalGame(table, human, config["seed"], out.print, _ask).play()


def _train(store: Store, config: dict[str, Any], agent: str, out: Any) -> Path:
    """Train a table for this seat, or find the one that was trained for an earlier game."""
    from miai.runner import run_jobs
    from miai.runner.compose import compose_one
    from miai.runner.sweep_study import job_of

    out.print(f"No run was named, so a table is trained for the {agent} seat.", markup=False)
    settings = compose_one("train", [*TRAINED_FOR_PLAY, f"seat={agent}"])
    settings["tracking"] = config["tracking"]
    result = run_jobs([job_of(settings)], store.location, launcher="serial", console=None)
    [outcome] = result.outcomes
    if not outcome.run_id:
        raise MiaiError(f"training failed: {outcome.reason}")
    return store.artifact(outcome.run_id, "table.npz")


def _ask(prompt: str) -> str | None:
    """Read a line; `None` at the end of the input."""
    sys.stdout.write(prompt)
    sys.stdout.flush()
    line = sys.stdin.readline()
    return line.strip() if line else None
