"""Play a match: two players, many games, the seats swapped.

Players are named in a list: players=[uct,gnugo]. NAME@N is the player with N simulations a move, so that
players=[uct@2000,uct@1000] sets UCT against itself with half the thought; {player: NAME, OPTION: VALUE} is the player
with other options. An option of a player for all its games: player.NAME.OPTION=VALUE.

The result is a table, and in the store: metrics, every game (games.jsonl, and games.zip as SGF), and what was said
between Miai and an engine that broke the rules. With budgets in simulations a seed gives the same games everywhere. A
match that was stopped goes on where it was when the same command is given again.
"""

from __future__ import annotations

from miai.cli.hydra_run import run_hydra

CONFIG = "match"
EXAMPLES = (
    "miai match players=[uct,gnugo] games=200",
    "miai match players=[uct,flat_mc] player.uct.num_simulations=2000 game.size=7",
    "miai match players=[uct@2000,uct@1000] opening_moves=2",
    "miai match 'players=[{player: uct, c_uct: 1.0},{player: uct, c_uct: 0.3}]' game=tictactoe",
    "miai match 'players=[{player: table, run: RUN_ID},perfect]' game=tictactoe",
    "miai match players=[human,rave@3000] games=2",
    "miai match players=[gtp,uct] \"player.gtp.command='my-engine --gtp --seed {seed}'\"",
    "miai match -m 'players=[uct@100,gnugo],[uct@1000,gnugo]' player.gnugo.level=1",
)


def run(arguments: list[str]) -> int:
    return run_hydra(CONFIG, arguments)
