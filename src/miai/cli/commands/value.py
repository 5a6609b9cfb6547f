"""Train a value network: what a position is worth, from the results of games.

It learns from the positions of miai value_data, one a game; or, with data=, from experts' games. With
positions_per_game=all it learns from every position of the games, the naive way: its error on training positions falls
far below that on others, as value/gap shows. All errors are means of (z − v)² with z = ±1 from the mover's side.

At the end the network is measured once on the test split, in mse_by_move.csv by move number, beside the mean result of
playouts from the same positions. A run that was stopped goes on where it was when the same command is given again.
"""

from __future__ import annotations

from miai.cli.hydra_run import run_hydra

CONFIG = "value"
EXAMPLES = (
    "miai value value_data=RUN_ID init=RUN_ID",
    "miai value value_data=RUN_ID network=tiny num_epochs=5",
    "miai value value_data=null data=games.safetensors positions_per_game=all patience=null",
)


def run(arguments: list[str]) -> int:
    return run_hydra(CONFIG, arguments)
