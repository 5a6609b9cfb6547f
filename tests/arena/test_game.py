import json

import numpy as np
import pytest

from miai.arena import End, Fault, PlayedGame, play_game
from miai.games.game import PASS, RESIGN
from miai.games.go import GoGame
from miai.games.start import start_game
from miai.gtp.client import EngineFault, FaultKind
from miai.players import Budget, Decision, build_player
from miai.records import parse_sgf


class Scripted:
    """Plays moves from a list, over and over."""

    def __init__(self, name, moves):
        self.name = name
        self.moves = moves
        self.asked = []
        self.draws = []

    def new_game(self, game):
        self.asked = []

    def select_move(self, game, rng, budget):
        self.draws.append(int(rng.integers(1_000_000)))
        move = self.moves[len(self.asked) % len(self.moves)]
        self.asked.append(budget)
        if isinstance(move, Exception):
            raise move
        return Decision(move)

    def close(self):
        pass


def rng():
    return np.random.default_rng(1)


def tictactoe():
    return start_game({"name": "tictactoe"})


def test_a_win():
    played = play_game((Scripted("a", [0, 1, 2]), Scripted("b", [3, 4])), tictactoe(), rng())
    assert (played.outcome, played.end, played.result) == (1, End.RULES, "X+")
    assert played.moves == (0, 3, 1, 4, 2)
    assert played.decisions == (3, 2)
    assert played.players == ("a", "b")
    assert played.sgf == ""


def test_a_draw():
    # X O X / X O O / O X X
    played = play_game((Scripted("a", [0, 2, 3, 7, 8]), Scripted("b", [1, 4, 5, 6])), tictactoe(), rng())
    assert (played.outcome, played.result) == (0, "0")


def test_resignation():
    played = play_game((Scripted("a", [0]), Scripted("b", [RESIGN])), tictactoe(), rng())
    assert (played.outcome, played.end, played.result) == (1, End.RESIGNATION, "X+R")
    go = play_game((Scripted("a", [RESIGN]), Scripted("b", [0])), GoGame(size=5), rng())
    assert (go.outcome, go.result) == (-1, "W+R")
    assert parse_sgf(go.sgf)[0].result.how == "resignation"


def test_a_fault_of_either_seat():
    fault = EngineFault(FaultKind.TIMEOUT, "no answer", "> 1 genmove b")
    played = play_game((Scripted("a", [0]), Scripted("b", [fault])), tictactoe(), rng())
    assert (played.outcome, played.end, played.result) == (1, End.FAULT, "X+F")
    assert played.fault == Fault(-1, "timeout", "no answer", "> 1 genmove b")


def test_an_illegal_move_of_our_own_is_a_bug():
    with pytest.raises(ValueError, match="a answered 0, which is illegal"):
        play_game((Scripted("a", [0]), Scripted("b", [1])), tictactoe(), rng())


def test_the_limit_of_moves():
    drawn = play_game((Scripted("a", [0, 1]), Scripted("b", [4, 2])), tictactoe(), rng(), max_moves=3)
    assert (drawn.outcome, drawn.end, len(drawn.moves)) == (0, End.MOVE_LIMIT, 3)
    # One black stone on 5×5: all 25 points are Black's, less komi.
    scored = play_game((Scripted("a", [12]), Scripted("b", [PASS])), GoGame(size=5, komi=7.5), rng(), max_moves=1)
    assert (scored.outcome, scored.end, scored.result) == (1, End.MOVE_LIMIT, "B+17.5")


def test_go_ends_within_three_moves_a_point():
    random = build_player({"name": "random"})
    played = play_game((random, random), GoGame(size=5), rng())
    assert len(played.moves) <= 75


def test_go_is_recorded():
    played = play_game((Scripted("black", [12, PASS]), Scripted("white", [PASS])), GoGame(size=5, komi=0.5), rng())
    assert played.result == "B+24.5"
    (record,) = parse_sgf(played.sgf)
    assert record.players == ("black", "white")
    assert record.moves == ((1, 12), (-1, PASS), (1, PASS))
    assert (str(record.result), record.komi) == ("B+24.5", 0.5)


def test_an_opening_that_is_there_already():
    game = GoGame(size=5, handicap=[0, 4, 20])
    game.play(12)
    played = play_game((Scripted("a", [PASS]), Scripted("b", [PASS])), game, rng())
    assert (played.opening, played.decisions) == (1, (1, 1))
    (record,) = parse_sgf(played.sgf)
    assert (record.handicap, record.setup, record.to_play) == (3, ((0, 4, 20), ()), -1)


def test_the_budget_is_handed_on():
    player = Scripted("a", [0, 1, 2])
    play_game((player, Scripted("b", [3, 4])), tictactoe(), rng(), Budget(simulations=7))
    assert player.asked == [Budget(simulations=7)] * 3


def test_streams_are_the_players_own():
    quiet, noisy = Scripted("a", [0, 1, 2]), Scripted("a", [0, 1, 2])
    other = Scripted("b", [3, 4])
    play_game((quiet, other), tictactoe(), np.random.default_rng(9))
    draws_of_other, other.draws = other.draws, []

    class Thirsty(Scripted):
        def select_move(self, game, rng, budget):
            rng.random(100)
            return super().select_move(game, rng, budget)

    play_game((Thirsty("c", [0, 1, 2]), other), tictactoe(), np.random.default_rng(9))
    assert other.draws == draws_of_other
    assert quiet.draws[0] != draws_of_other[0]
    assert noisy.draws == []


def test_plain_values_and_back():
    fault = EngineFault(FaultKind.TIMEOUT, "no answer", "transcript")
    for second in (Scripted("b", [fault]), Scripted("b", [3, 4])):
        played = play_game((Scripted("a", [0, 1, 2]), second), tictactoe(), rng(), number=4)
        assert PlayedGame.from_dict(json.loads(json.dumps(played.to_dict()))) == played
