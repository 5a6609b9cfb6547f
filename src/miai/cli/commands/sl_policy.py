"""Train a policy network to predict experts' moves.

The data is a set of recorded games. After each epoch the network is measured on the valid split; the weights that were
best there are kept (network.safetensors) and measured, once, on the test split: overall and by collection, from the
board as it is and averaged over its eight symmetries. A run that was killed goes on from its last epoch when the same
command is given again.
"""

from __future__ import annotations

from miai.cli.hydra_run import run_hydra

CONFIG = "sl_policy"
EXAMPLES = (
    "miai sl_policy data=games.safetensors network=small max_minutes=30 num_epochs=null",
    "miai sl_policy data=games.safetensors network=tiny num_positions=10000",
    "miai sl_policy -m data=games.safetensors network.planes=4,12,48 'seed=range(3)'",
    "miai sl_policy --cfg job network=paper optimisation.optimiser=sgd",
)


def run(arguments: list[str]) -> int:
    return run_hydra(CONFIG, arguments)
