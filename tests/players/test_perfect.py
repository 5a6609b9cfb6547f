"""Perfect play."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from miai.arena import Match, MatchSummary, play_match
from miai.errors import MiaiError
from miai.games.start import start_game
from miai.players import Player, build_player

TICTACTOE = {"name": "tictactoe"}


def choices(moves: list[int], times: int = 60) -> Counter:
    """Ask for a move again and again in the position after `moves`."""
    game = start_game(TICTACTOE)
    player = build_player({"name": "perfect"})
    player.new_game(game)
    for move in moves:
        game.play(move)
    rng = np.random.default_rng(0)
    return Counter(player.select_move(game, rng).move for _ in range(times))


def test_every_opening_draws_so_all_nine_are_played():
    assert set(choices([], 200)) == set(range(9))


def test_it_takes_a_win():
    # X X .
    # O O .
    # . . .
    assert set(choices([0, 3, 1, 4])) == {2}


def test_it_blocks():
    # X X .
    # . O .
    # . . .
    assert set(choices([0, 4, 1])) == {2}


def test_against_a_corner_the_centre_alone_draws():
    assert set(choices([0])) == {4}


def test_it_is_never_beaten():
    players = {"name": "perfect"}, {"name": "random"}
    summary = MatchSummary.of(play_match(Match(players, TICTACTOE, 100)))
    assert summary.total.losses == 0
    assert summary.total.wins > 60


def test_it_goes_from_one_small_game_to_another():
    player = build_player({"name": "perfect"})
    for game in (start_game(TICTACTOE), start_game({"name": "mnk", "rows": 2, "cols": 3, "k": 2})):
        player.new_game(game)
        assert player.select_move(game, np.random.default_rng(0)).move in game.legal_moves()
    assert isinstance(player, Player)
    player.close()
    player.close()


def test_go_is_refused():
    with pytest.raises(MiaiError, match="player perfect: plays small games, given by their rules, not go"):
        build_player({"name": "perfect"}).new_game(start_game({"name": "go", "size": 5}))
