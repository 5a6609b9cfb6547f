import pytest

from miai.arena import Match, MatchSummary, PlayedGame, game_units, play_match, play_numbered, play_unit
from miai.arena.match import generator, play_opening
from miai.errors import MiaiError
from miai.games.start import start_game

RANDOM = {"name": "random", "label": "a"}, {"name": "random", "label": "b"}
TICTACTOE = {"name": "tictactoe"}
GO = {"name": "go", "size": 5}


def without_time(game: PlayedGame) -> dict:
    return {**game.to_dict(), "seconds": None}


def test_seats_are_swapped():
    games = play_match(Match(RANDOM, TICTACTOE, 4))
    assert [game.players for game in games] == [("a", "b"), ("b", "a"), ("a", "b"), ("b", "a")]
    assert [game.number for game in games] == [0, 1, 2, 3]


@pytest.mark.parametrize("game", [TICTACTOE, GO])
def test_a_game_is_determined_by_its_number(game):
    match = Match(RANDOM, game, 4, seed=11, opening_moves=2)
    in_order = [without_time(game) for game in play_match(match)]
    alone = [without_time(play_numbered(match, number)) for number in (3, 1, 2, 0)]
    assert alone == [in_order[number] for number in (3, 1, 2, 0)]
    units = game_units(match, games_per_unit=3)
    assert [unit.key for unit in units] == ["games-000000-000002", "games-000003-000003"]
    (alone,) = play_unit(units[1])["games"]
    assert {**alone, "seconds": None} == in_order[3]
    assert [game["number"] for game in play_unit(units[0])["games"]] == [0, 1, 2]
    assert len(game_units(match)) == 4


def test_games_and_seeds_differ():
    games = {game.moves for game in play_match(Match(RANDOM, GO, 4, seed=1))}
    others = {game.moves for game in play_match(Match(RANDOM, GO, 4, seed=2))}
    assert len(games | others) == 8


def test_a_pair_has_the_same_opening():
    games = play_match(Match(RANDOM, GO, 6, opening_moves=4))
    openings = [game.moves[: game.opening] for game in games]
    assert [len(opening) for opening in openings] == [4] * 6
    assert openings[0::2] == openings[1::2]
    assert len(set(openings)) == 3
    assert games[0].moves != games[1].moves


def test_an_opening_does_not_end_the_game():
    for seed in range(30):
        game = start_game(TICTACTOE)
        play_opening(game, 9, generator(seed, "opening", 0))
        assert not game.is_over
        assert len(game.moves) >= 5


def test_players_of_one_name_are_told_apart():
    games = play_match(Match(({"name": "random"}, {"name": "random"}), TICTACTOE, 2))
    assert games[0].players == ("random", "random (2)")
    assert MatchSummary.of(games).players == ("random", "random (2)")


def test_progress_is_told():
    seen = []
    games = play_match(Match(RANDOM, TICTACTOE, 3), seen.append)
    assert seen == games


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_games": 0}, "games: at least 1"),
        ({"num_games": 1, "seed": -1}, "seed: 0 or more"),
        ({"num_games": 1, "opening_moves": -1}, "opening_moves: 0 or more"),
        ({"num_games": 1, "opening_moves": 3, "max_moves": 3}, "max_moves: more than the 3"),
    ],
)
def test_matches_are_checked(options, message):
    with pytest.raises(MiaiError, match=message):
        Match(RANDOM, TICTACTOE, **options)


def test_what_makes_no_match():
    with pytest.raises(ValueError, match="from 0 to 1, got 2"):
        play_numbered(Match(RANDOM, TICTACTOE, 2), 2)
    with pytest.raises(ValueError, match="at least 1"):
        game_units(Match(RANDOM, TICTACTOE, 2), 0)
    with pytest.raises(MiaiError, match=r"players.1: no such choice 'nobody'"):
        play_numbered(Match((RANDOM[0], {"name": "nobody"}), TICTACTOE, 2), 0)
    with pytest.raises(MiaiError, match=r"game.size: .*less than or equal to 19, not 20"):
        play_numbered(Match(RANDOM, {"name": "go", "size": 20}, 2), 0)
    with pytest.raises(MiaiError, match=r"game: no such choice 'chess'; allowed: go, "):
        play_numbered(Match(RANDOM, {"name": "chess"}, 2), 0)
    with pytest.raises(MiaiError, match=r"game.komi: komi must be a whole or half number"):
        play_numbered(Match(RANDOM, {"name": "go", "komi": 0.3}, 2), 0)
    with pytest.raises(MiaiError, match=r"game: .*allowed 2 to 9, got 12"):
        play_numbered(Match(RANDOM, {"name": "go", "handicap": 12}, 2), 0)
