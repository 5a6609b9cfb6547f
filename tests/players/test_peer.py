"""Miai as an engine against GNU Go: two programs, two implementations of the rules, one protocol."""

import sys

import pytest

from miai.arena import End, Match, build_players, play_numbered
from miai.players.gnugo import find_gnugo

PROGRAM = (
    "import sys, numpy as np; from miai.gtp.engine import GtpEngine; from miai.players import build_player; "
    "player = lambda: build_player(dict(name=str('uct'), num_simulations=100)); "
    "GtpEngine(player, np.random.default_rng(1)).run(sys.stdin.buffer, sys.stdout.buffer)"
)


@pytest.mark.skipif(find_gnugo() is None, reason="gnugo is not installed (Debian: apt install gnugo)")
def test_both_programs_agree_on_moves_and_score():
    ours = {"name": "gtp", "command": f'{sys.executable} -c "{PROGRAM}"', "label": "ours"}
    match = Match((ours, {"name": "gnugo", "level": 1}), {"name": "go", "size": 7, "komi": 4.5}, 2, opening_moves=2)
    players = build_players(match)
    try:
        for number in range(2):
            played = play_numbered(match, number, players)
            assert played.fault is None
            assert played.end is End.RULES
            # The arena, our engine in its process and GNU Go have each kept the board by themselves.
            for player in players:
                assert player._client.send("final_score") == played.result
    finally:
        for player in players:
            player.close()
