"""Train a table; with -m, many.

A single run is always made. With -m every list of values (alpha=0.1,0.2) and every range is swept, over all cores, and
what the store has already is left out; so the same command goes on where it was stopped.
"""

from __future__ import annotations

from miai.cli.hydra_run import run_hydra

CONFIG = "train"
EXAMPLES = (
    "miai train algorithm=sarsa opponent=random schedule=exponential seed=7",
    "miai train -m algorithm=mc,sarsa,q_learning,afterstate 'seed=range(30)'",
    "miai train +experiment=td_comparison",
    "miai train seat=both opponent=self num_games=500000",
    "miai train game=mnk game.rows=3 game.cols=4 game.k=3",
    "miai train --cfg job opponent=mixture",
)


def run(arguments: list[str]) -> int:
    return run_hydra(CONFIG, arguments)
