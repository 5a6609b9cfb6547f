"""Play a tournament: matches among several players, and their ratings.

Players are named as for miai match. Ratings are Bradley and Terry's on Elo's scale, with 95 % intervals, relative to
the anchor. With pairing=adaptive each round plays the matches that narrow the intervals most, given the games so far.
"""

from __future__ import annotations

from miai.cli.hydra_run import run_hydra

CONFIG = "tournament"
EXAMPLES = (
    "miai tournament players=[random,flat_mc@100,ucb@100,uct@100] games_per_pairing=40 game.size=7",
    "miai tournament players=[uct@100,uct@200,uct@400,uct@800] pairing=adaptive rounds=8",
    "miai tournament 'players=[random,uct@100,{player: uct, c_uct: 1.0},perfect]' game=tictactoe",
)


def run(arguments: list[str]) -> int:
    return run_hydra(CONFIG, arguments)
