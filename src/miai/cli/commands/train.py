"""Train one table, or many with -m.

A single run always runs. With -m every comma-separated value and every range is swept, and what the store has already
is left out.
"""

from __future__ import annotations

from miai.cli.hydra_run import run_hydra

CONFIG = "train"
EXAMPLES = (
    "miai train algorithm=sarsa opponent=random schedule=exponential seed=7",
    "miai train -m algorithm=mc,sarsa,q_learning,afterstate 'seed=range(30)'",
    "miai train seat=both opponent=self num_games=500000",
    "miai train game=mnk game.rows=3 game.cols=4 game.k=3",
)


def run(arguments: list[str]) -> int:
    return run_hydra(CONFIG, arguments)
