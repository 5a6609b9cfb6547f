"""Be a Go engine: speak the Go Text Protocol on standard input and output.

A controller such as GoGui, Sabaki or Lizzie starts this command and draws the board. Give it the command line, with the
full path of miai:

  GoGui    Program > New Program, Command:  miai gtp player=rave player.num_simulations=3000
  Sabaki   Engines > Manage Engines, Path:  miai   Arguments:  gtp player=rave player.num_simulations=3000
  Lizzie   Settings > Engine:  miai gtp player=rave (the analysis is that of lz-analyze and kata-analyze)

Nothing but the protocol goes to standard output; warnings go to standard error. The controller may set the size of the
board, komi and clocks; on a clock, player.num_simulations still bounds a move.
"""

from __future__ import annotations

import sys
from typing import Any

from miai.cli.arguments import one_word, whole_number
from miai.errors import MiaiError

CONFIG = "gtp"
EXAMPLES = (
    "miai gtp",
    "miai gtp player=rave player.num_simulations=3000 game.size=9",
    "miai gtp player=uct player.num_simulations=null player.seconds=5 player.threads=2",
)


def run(arguments: list[str]) -> int:
    from miai.runner.compose import compose_one

    word, overrides = one_word(arguments, "nothing")
    if word is not None:
        raise MiaiError(f"{word!r} is not an override; write key=value, such as player=uct.")
    config = compose_one(CONFIG, overrides)
    options: dict[str, Any] = config["player"]
    if options["name"] == "human":
        raise MiaiError("player: a person cannot play over the protocol; start miai match players=[human,…].")
    _serve(options, config["game"], whole_number(config, "seed", 0))
    return 0


def _serve(options: dict[str, Any], board: dict[str, Any], seed: int) -> None:
    from miai.games.start import GO, start_game
    from miai.gtp.engine import GtpEngine
    from miai.players import build_player
    from miai.rng import generator

    start_game({"name": GO, **board})  # for its messages
    engine = GtpEngine(lambda: build_player(options), generator(seed, "gtp"), **board)
    engine.run(sys.stdin.buffer, sys.stdout.buffer)
