import dataclasses

import pytest

from miai.games.game import PASS
from miai.games.go import GoGame
from miai.records import RecordError, finish_record, parse_sgf, record_game, replay, start_record, write_sgf


def only(text):
    return parse_sgf(text, "a.sgf")[0]


def test_a_record_is_played_out():
    game = finish_record(only("(;SZ[3]KM[0.5];B[bb];W[];B[tt])"))
    assert game.moves == (4, PASS, PASS)
    assert (game.is_over, game.result_text()) == (True, "B+8.5")


def test_replay_shows_each_position_before_its_move():
    seen = [(game.board.sum(), colour, move) for game, colour, move in replay(only("(;SZ[3]KM[0];B[bb];B[aa];W[cc])"))]
    assert seen == [(0, 1, 4), (1, 1, 0), (2, -1, 8)]


def test_handicap_and_set_up():
    handicap = start_record(only("(;SZ[9]KM[0.5]HA[2]AB[cg][gc];W[ee])"))
    assert (handicap.handicap, handicap.to_play) == ((24, 56), -1)
    position = start_record(only("(;SZ[9]KM[0.5]AB[aa]AW[bb]PL[W])"))
    assert (position.handicap, position.to_play) == ((), -1)
    assert position.board.ravel()[[0, 10]].tolist() == [1, -1]


def test_komi_has_to_be_there_and_to_be_playable():
    with pytest.raises(RecordError, match=r"a.sgf: the record has no komi"):
        start_record(only("(;SZ[9])"))
    assert start_record(only("(;SZ[9])"), komi=5.5).komi == 5.5
    with pytest.raises(RecordError, match="whole or half number"):
        start_record(only("(;SZ[9]KM[3.75])"))
    assert start_record(only("(;SZ[9]KM[3.75])"), komi=7.5).komi == 7.5


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(;SZ[3]KM[0];B[bb];W[bb])", r"a.sgf: move 2: illegal move B2: the point is occupied"),
        ("(;SZ[3]KM[0];B[];W[];B[bb])", r"move 3: .*the game is over"),
        ("(;SZ[3]KM[0]AB[ab][ba];W[aa])", r"move 1: .*suicide"),
        ("(;SZ[3]KM[0]AB[aa]AW[ab][ba])", r"without a liberty"),
    ],
)
def test_what_the_rules_forbid_is_named(text, reason):
    with pytest.raises(RecordError, match=reason):
        finish_record(only(text))


def test_rules_are_the_callers():
    text = "(;SZ[3]KM[0]AB[ab][ba];W[aa])"
    assert finish_record(only(text), suicide=True, superko="none").board.ravel()[0] == 0


def test_a_game_becomes_a_record_and_a_game_again():
    game = GoGame(size=5, komi=6.5, handicap=[0, 24])
    for move in (12, 13, PASS, 7):
        game.play(move)
    game.play_as(1, 8)
    record = record_game(game, players=("x", "y"))
    assert (record.handicap, record.setup, record.to_play) == (2, ((0, 24), ()), -1)
    assert record.moves == ((-1, 12), (1, 13), (-1, PASS), (1, 7), (1, 8))
    assert (record.players, str(record.result)) == (("x", "y"), "?")
    again = finish_record(parse_sgf(write_sgf(record))[0])
    assert (again.board == game.board).all()
    assert again.history == game.history
    assert len(game.moves) == 5, "the game itself is as it was"


def test_a_record_of_a_set_up_position_and_of_a_resignation():
    game = GoGame.from_diagram("X . .\n. O .\n. . .", to_play=-1, komi=0.5)
    record = record_game(game)
    assert (record.setup, record.to_play, record.moves) == (((0,), (4,)), -1, ())
    game.play(8)
    game.resign()
    record = record_game(game)
    assert (str(record.result), record.setup) == ("W+R", ((0,), (4,)))
    assert parse_sgf(write_sgf(record))[0] == dataclasses.replace(record, source="")
