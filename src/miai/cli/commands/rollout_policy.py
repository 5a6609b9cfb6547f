"""Fit a linear softmax policy for playouts to experts' moves.

The data is a set of recorded games. After each epoch the policy is measured on the valid split; the weights that were
best there are kept (rollout.safetensors) and measured, once, on the test split. Searches play with them by
playout=learned and rollout=, the run or the file. A run that was killed goes on from its last epoch when the same
command is given again.
"""

from __future__ import annotations

from miai.cli.hydra_run import run_hydra

CONFIG = "rollout_policy"
EXAMPLES = (
    "miai rollout_policy data=games.safetensors",
    "miai rollout_policy data=games.safetensors num_epochs=3 epoch_games=10000",
    "miai rollout_policy -m data=games.safetensors l2=0,0.000001,0.0001",
)


def run(arguments: list[str]) -> int:
    return run_hydra(CONFIG, arguments)
