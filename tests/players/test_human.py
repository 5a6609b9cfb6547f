"""A person at the terminal."""

from __future__ import annotations

import io

import numpy as np
import pytest

from miai.games.game import PASS, RESIGN
from miai.games.start import start_game
from miai.players import Player, build_player
from miai.players.human import HumanPlayer

RNG = np.random.default_rng(0)


def person(*answers: str) -> tuple[HumanPlayer, list[str]]:
    """Return a player who gives these answers, then ends the input; and what it is shown."""
    said: list[str] = []
    waiting = list(answers)
    return HumanPlayer(lambda prompt: waiting.pop(0) if waiting else None, said.append), said


def test_a_move_is_asked_for_until_it_is_legal():
    game = start_game({"name": "tictactoe"})
    game.play(4)
    player, said = person("", "centre", "1,1", "9,9", "0,2")
    player.new_game(game)
    assert player.select_move(game, RNG).move == 2
    assert "X played 1,1." in said
    assert game.render() in said
    assert any("a move as row,column, or: resign, help, quit" in line for line in said)
    assert any("'centre' is not a move" in line for line in said)
    assert any("1,1 is taken; free: 0,0, 0,1" in line for line in said)
    assert any("off the board" in line for line in said)


def test_go_is_played_in_its_own_words():
    game = start_game({"name": "go", "size": 5})
    assert person("c3")[0].select_move(game, RNG).move == 12
    assert person("pass")[0].select_move(game, RNG).move == PASS
    game.play(12)
    player, said = person("C3", "d3")
    assert player.select_move(game, RNG).move == 13
    assert any("illegal move C3: the point is occupied" in line for line in said)
    assert "Black played C3." in said


def test_a_person_may_resign():
    assert person("resign")[0].select_move(start_game({"name": "tictactoe"}), RNG).move == RESIGN


@pytest.mark.parametrize("answers", [("quit",), ("exit",), ()])
def test_who_leaves_stops_the_match(answers):
    with pytest.raises(KeyboardInterrupt):
        person(*answers)[0].select_move(start_game({"name": "tictactoe"}), RNG)


def test_it_reads_standard_input(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("1,2\n"))
    player = build_player({"name": "human"})
    assert isinstance(player, Player)
    assert player.select_move(start_game({"name": "tictactoe"}), RNG).move == 5
    assert "X> " in capsys.readouterr().out
    player.close()
