"""Ask players what they think of a position.

The position is what moves= lead to from the start of the game. For each player the store keeps which move it would
play, and of every move, where the player says so, its prior probability, how often the search tried it, and the chance
to win that it found (analysis.json). A report draws these on the board. Players are named as for miai match.
"""

from __future__ import annotations

from miai.cli.hydra_run import run_hydra

CONFIG = "analyse"
EXAMPLES = (
    "miai analyse players=[uct@2000] moves=[E5,C3,G3]",
    "miai analyse 'players=[uct@1000,{player: rave@1000, priors: true}]' game.size=5",
    'miai analyse players=[uct@1000] game=tictactoe \'moves=["1,1","0,1"]\'',
)


def run(arguments: list[str]) -> int:
    return run_hydra(CONFIG, arguments)
