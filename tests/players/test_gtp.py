"""Engines outside as players: fake ones that misbehave in every way, and GNU Go."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from miai.arena import End, Match, MatchSummary, play_game, play_match
from miai.errors import MiaiError
from miai.games.game import PASS, RESIGN
from miai.games.go import GoGame
from miai.games.start import start_game
from miai.gtp.client import EngineFault, FaultKind
from miai.players import Budget, build_player
from miai.players.gnugo import find_gnugo

ENGINE = Path(__file__).parents[1] / "gtp" / "fake_engine.py"
needs_gnugo = pytest.mark.skipif(find_gnugo() is None, reason="gnugo is not installed (Debian: apt install gnugo)")


def options(kind, **more):
    return {"name": "gtp", "command": f"{sys.executable} {ENGINE} {kind}", "label": kind, **more}


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.fixture
def player(request):
    made = build_player(options(request.param))
    yield made
    made.close()


@pytest.mark.parametrize("player", ["good"], indirect=True)
def test_the_engine_is_told_what_was_played(player, rng):
    game = GoGame(size=9, komi=5.5)
    game.play(game.parse_move("E5"))
    player.new_game(game)
    assert game.move_name(player.select_move(game, rng).move) == "C4"
    game.play(game.parse_move("C4"))
    game.play(game.parse_move("A1"))
    assert game.move_name(player.select_move(game, rng).move) == "D4"
    sent = [line[2:].split(" ", 1)[1] for line in player.transcript.splitlines() if line.startswith(">")]
    assert sent == ["boardsize 9", "clear_board", "komi 5.5", "play b E5", "genmove w", "play b A1", "genmove w"]


@pytest.mark.parametrize("player", ["good"], indirect=True)
def test_a_position_that_is_not_what_the_engine_has_is_told_anew(player, rng):
    game = GoGame(size=9)
    player.new_game(game)
    game.play(player.select_move(game, rng).move)
    game.undo()
    game.play(game.parse_move("G7"))
    player.select_move(game, rng)
    sent = [line[2:].split(" ", 1)[1] for line in player.transcript.splitlines() if line.startswith(">")]
    assert sent == [
        *("boardsize 9", "clear_board", "komi 7.5", "genmove b"),
        *("boardsize 9", "clear_board", "komi 7.5", "play b G7", "genmove w"),
    ]


@pytest.mark.parametrize("player", ["good"], indirect=True)
def test_handicap_and_set_up_stones_are_told(player, rng):
    player.new_game(GoGame(size=9))
    player.select_move(GoGame(size=9, handicap=[0, 80]), rng)
    assert "set_free_handicap A9 J1" in player.transcript
    diagram = """
        . . . . .
        . X . . .
        . . O . .
        . . . . .
        . . . . .
        """
    player.new_game(GoGame(size=5))
    player.select_move(GoGame.from_diagram(diagram, to_play=-1), rng)
    assert [line.split(" ", 2)[2] for line in player.transcript.splitlines() if "play" in line] == [
        "play b B4",
        "play w C3",
    ]


@pytest.mark.parametrize("player", ["good"], indirect=True)
def test_seconds_become_time_settings(player, rng):
    player.new_game(GoGame(size=9))
    player.select_move(GoGame(size=9), rng, Budget(seconds=2.6))
    player.select_move(GoGame(size=9), rng, Budget(seconds=2.6))
    assert player.transcript.count("time_settings 0 3 1") == 1


@pytest.mark.parametrize(("player", "move"), [("resigning", RESIGN), ("passing", PASS)], indirect=["player"])
def test_answers_that_are_no_points(player, move, rng):
    player.new_game(GoGame(size=9))
    assert player.select_move(GoGame(size=9), rng).move == move


@pytest.mark.parametrize(
    ("kind", "fault", "message"),
    [
        ("occupied", FaultKind.ILLEGAL, "at move 2 the engine answered illegal move C3: the point is occupied"),
        ("offboard", FaultKind.ILLEGAL, "the engine answered 'Z99', which is no move"),
        ("nonsense", FaultKind.ILLEGAL, "'I would rather not', which is no move"),
        ("refusing", FaultKind.REFUSED, "the engine refused `play b C3`: illegal move"),
        ("dying", FaultKind.DIED, "ended by signal 9 at `genmove w`"),
        ("hung", FaultKind.TIMEOUT, "no answer to `genmove w` in 0.5 s"),
    ],
)
def test_faults(kind, fault, message, rng):
    player = build_player(options(kind, timeout=0.5 if fault is FaultKind.TIMEOUT else 60.0))
    game = GoGame(size=9)
    player.new_game(game)
    game.play(game.parse_move("C3"))
    with pytest.raises(EngineFault, match=message) as caught:
        player.select_move(game, rng)
    assert caught.value.kind is fault
    assert caught.value.transcript.count("boardsize 9") == 1
    player.close()


def test_a_broken_engine_is_started_anew_for_the_next_game(rng):
    player = build_player(options("crashing"))
    for _ in range(2):
        game = GoGame(size=9)
        player.new_game(game)
        game.play(player.select_move(game, rng).move)
        game.play(game.parse_move("J9"))
        with pytest.raises(EngineFault, match="segfault, or so"):
            player.select_move(game, rng)
    player.close()


@pytest.mark.parametrize(
    ("kind", "fault"), [("crashing", "died"), ("slow", "timeout"), ("occupied", "illegal"), ("refusing", "refused")]
)
def test_a_game_with_a_fault_is_lost_and_counted_apart(kind, fault):
    patience = 0.5 if fault == "timeout" else 60.0
    match = Match((options(kind, timeout=patience), {"name": "random"}), {"name": "go", "size": 5}, 2, seed=3)
    games = play_match(match)
    summary = MatchSummary.of(games)
    assert summary.total.losses == 2
    assert (summary.faults, summary.opponent_faults, summary.without_faults.num_games) == (2, 0, 0)
    assert summary.ends == {"fault": 2}
    for game in games:
        assert game.end is End.FAULT
        assert game.fault.kind == fault
        assert "boardsize 5" in game.fault.transcript
        assert game.result == ("W+F" if game.number == 0 else "B+F")
        assert f"RE[{game.result}]" in game.sgf
    assert f"ended by a fault: 2 of {kind}, 0 of random" in str(summary)


def test_engines_play_go_only():
    player = build_player(options("good"))
    with pytest.raises(MiaiError, match="GTP engines play Go, not tictactoe"):
        player.new_game(start_game({"name": "tictactoe"}))


def test_an_engine_that_is_not_there(rng):
    player = build_player({"name": "gtp", "command": "/no/such/engine --gtp"})
    player.new_game(GoGame(size=9))
    with pytest.raises(MiaiError, match=r"/no/such/engine: the engine cannot be started"):
        player.select_move(GoGame(size=9), rng)


def test_a_missing_gnu_go_is_one_clear_line(monkeypatch):
    with pytest.raises(MiaiError, match=r"no program gnugo at '/nowhere/gnugo'; install it .*apt install gnugo"):
        build_player({"name": "gnugo", "path": "/nowhere/gnugo"})
    monkeypatch.setattr("miai.players.gnugo.DEBIAN_GAMES", "/nowhere")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(MiaiError, match="apt install gnugo"):
        build_player({"name": "gnugo"})


@needs_gnugo
def test_gnu_go_is_found_beside_the_path(monkeypatch):
    if not os.access("/usr/games/gnugo", os.X_OK):
        pytest.skip("gnugo is not where Debian puts it")
    monkeypatch.setenv("PATH", "/nowhere")
    assert find_gnugo() == "/usr/games/gnugo"


@needs_gnugo
def test_gnu_go_beats_random_on_the_board_as_it_stands(rng):
    gnugo, random = build_player({"name": "gnugo", "level": 1}), build_player({"name": "random"})
    played = play_game((gnugo, random), GoGame(size=7, komi=7.5), rng)
    transcript = gnugo.transcript
    gnugo.close()
    assert played.end is End.RULES
    # Every dead stone has been taken: all but the two eyes' points is black, and komi is 7.5.
    assert played.result == "B+41.5"
    assert "komi 7.5" in transcript


@needs_gnugo
def test_a_match_with_gnu_go_can_be_repeated():
    match = Match(({"name": "gnugo", "level": 1}, {"name": "random"}), {"name": "go", "size": 5}, 2, seed=8)
    assert [game.moves for game in play_match(match)] == [game.moves for game in play_match(match)]
