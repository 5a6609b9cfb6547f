"""Play against a trained table in the terminal.

RUN is a run's id (or its beginning); its name, where only one has it; STUDY/NAME, the newest of that name in a study;
or the path of a table.npz. Without RUN, a table is trained first, which takes some seconds.

During the game: a move as row,column; undo; hint; values; help; quit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from miai.errors import MiaiError, choose

if TYPE_CHECKING:
    from pathlib import Path

    from miai.tracking import Store

CONFIG = "play"
EXAMPLES = ("miai play", "miai play RUN_ID human_seat=second", "miai play RUN_ID human_seat=first")
TRAINED_FOR_PLAY = ("algorithm=afterstate", "opponent=mixture", "num_games=200000", "study=play")


def run(arguments: list[str]) -> int:
    from miai.cli.arguments import table_path, text, whole_number, with_run
    from miai.cli.playing import TerminalGame
    from miai.cli.terminal import console, say
    from miai.players.human import ask_on_terminal
    from miai.runner.compose import compose_one
    from miai.runner.configured import location_of
    from miai.tabular.table import ValueTable
    from miai.tracking import Store

    config = compose_one(CONFIG, with_run(arguments))
    human = choose(str(config["human_seat"]), ("first", "second"), "human_seat")
    agent = "first" if human == "second" else "second"
    seed = whole_number(config, "seed", 0)
    out = console()
    store = Store(location_of(config))
    path = _train(store, config, agent, out) if config["run"] is None else table_path(store, text(config, "run"))
    table = ValueTable.load(path)
    if table.meta.seat not in (agent, "both"):
        raise MiaiError(
            f"human_seat: this table has learnt the {table.meta.seat} seat, so you take the other: human_seat={agent}."
        )
    return TerminalGame(table, human, seed, lambda line: say(out, line), ask_on_terminal).play()


def _train(store: Store, config: dict[str, Any], agent: str, out: Any) -> Path:
    """Train a table for this seat, or find the one that was trained for an earlier game."""
    from miai.cli.terminal import say
    from miai.runner import run_jobs
    from miai.runner.compose import compose_one
    from miai.runner.configured import job_of

    say(out, f"No run was named, so a table is trained for the {agent} seat.")
    settings = compose_one("train", [*TRAINED_FOR_PLAY, f"seat={agent}"])
    settings["tracking"] = config["tracking"]
    result = run_jobs([job_of(settings)], store.location, launcher="serial", console=None)
    [outcome] = result.outcomes
    if not outcome.run_id:
        raise MiaiError(f"training failed: {outcome.reason}")
    return store.artifact(outcome.run_id, "table.npz")
