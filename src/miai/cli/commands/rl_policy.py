"""Make a policy network stronger by self-play: REINFORCE against its earlier versions.

It starts from a trained policy (sl=RUN_ID, or a file), and is measured against it after each block of updates, the
seats swapped, a draw being no win. The best of the versions that were measured is kept, as network.safetensors, and
measured anew at the end. A run that was stopped goes on where it was when the same command is given again.

learn_from=expert is the control of the paper: experts' moves, made likelier where the expert won and unlikelier where
it lost. What such a network learns is their games by heart, as rl/train_lean and rl/valid_lean show.
"""

from __future__ import annotations

from miai.cli.hydra_run import run_hydra

CONFIG = "rl_policy"
EXAMPLES = (
    "miai rl_policy sl=RUN_ID num_updates=200",
    "miai rl_policy sl=RUN_ID baseline=mean games_per_update=64",
    "miai rl_policy -m sl=RUN_ID learning_rate=0.0003,0.001,0.003",
    "miai rl_policy sl=RUN_ID learn_from=expert data=games.safetensors",
)


def run(arguments: list[str]) -> int:
    return run_hydra(CONFIG, arguments)
