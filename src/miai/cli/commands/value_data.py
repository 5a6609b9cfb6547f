"""Make positions for a value network: one a game, so that no two share a result.

Of each game, the policy sl plays the moves before a random move U, U itself is any legal move, and the policy rl plays
on to the end. The position after U is kept with the result, in positions.safetensors. The games are spread over all
cores; a run that was stopped goes on where it was when the same command is given again.
"""

from __future__ import annotations

from miai.cli.hydra_run import run_hydra

CONFIG = "value_data"
EXAMPLES = (
    "miai value_data sl=RUN_ID rl=RUN_ID positions=20000",
    "miai value_data sl=sl/network.safetensors rl=rl/network.safetensors last_move=60",
)


def run(arguments: list[str]) -> int:
    return run_hydra(CONFIG, arguments)
