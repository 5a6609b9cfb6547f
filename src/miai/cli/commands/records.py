"""Make a data set of games of Go: from records on disk, or from games of our own players.

source=PATH imports a folder, a zip, a tar archive or a single file of SGF, or the games of an earlier run of match. All
games have one board size (game.size), their moves are legal, and none is there twice, rotated or mirrored. What
is left out is counted and listed in left_out.csv, with the reason. Where an index.tsv names splits, those are kept.

source=selfplay makes games where there are none: players=[rave@400] plays itself, players=[rave@400,uct@1000] play each
other; source=gtp is the same with GNU Go, or with the engine that players names. Games begin with random
moves, which are not learnt later. Stopped runs go on where they were.

The result, games.safetensors, is what networks learn from.
"""

from __future__ import annotations

from miai.cli.hydra_run import run_hydra

CONFIG = "records"
EXAMPLES = (
    "miai records source=my-games.tar.xz",
    "miai records source=my-games/ game.size=19 filter.min_rank=1d filter.min_moves=50",
    "miai records source=my-games.zip 'filter.results=[score,resignation]' split.by=hash split.test=0.1",
    "miai records games=1000",
    "miai records source=selfplay players=[rave@400] games=200 game.size=7 opening_moves=3",
    "miai records source=gtp games=100 player.gnugo.level=1",
    "miai records source=gtp players=[gtp] \"player.gtp.command='my-engine --gtp --seed {seed}'\"",
)


def run(arguments: list[str]) -> int:
    return run_hydra(CONFIG, arguments)
