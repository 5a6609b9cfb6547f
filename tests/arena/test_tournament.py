import pytest

from miai.arena import MatchSummary, Tournament, play_match, rate
from miai.errors import MiaiError

PLAYERS = (
    {"name": "random"},
    {"name": "flat_mc", "num_simulations": 20},
    {"name": "flat_mc", "num_simulations": 200, "label": "strong"},
)
NAMES = ("random", "flat_mc num_simulations=20", "strong")


def tournament(**options):
    return Tournament(PLAYERS, {"name": "tictactoe"}, **options)


def test_everybody_meets_everybody():
    matches = tournament(games_per_pairing=4, opening_moves=1).round_robin()
    assert [tuple(player["label"] for player in match.players) for match in matches] == [
        (NAMES[0], NAMES[1]),
        (NAMES[0], NAMES[2]),
        (NAMES[1], NAMES[2]),
    ]
    assert {match.num_games for match in matches} == {4}
    assert {match.opening_moves for match in matches} == {1}
    assert len({match.seed for match in matches}) == 3


def test_a_match_does_not_depend_on_who_else_takes_part():
    fewer = Tournament(PLAYERS[1:], {"name": "tictactoe"})
    assert fewer.match(*NAMES[1:]) == tournament().match(*NAMES[1:])
    assert tournament().match(*NAMES[1:], 1).seed != tournament().match(*NAMES[1:]).seed
    assert tournament(seed=1).match(*NAMES[1:]).seed != tournament().match(*NAMES[1:]).seed


def test_strength_shows_in_the_ratings():
    played = [MatchSummary.of(play_match(match)) for match in tournament(games_per_pairing=20).round_robin()]
    ratings = rate(played, anchor="random")
    assert [rating.player for rating in ratings.ratings][-1] == "random"
    assert ratings["random"].elo == 0
    assert ratings["strong"].low > 0
    assert ratings["strong"].num_games == 40


def test_rounds_that_narrow():
    contest = tournament(games_per_pairing=10)
    first = contest.narrowing_round([], 2, 0)
    met = {player["label"] for match in first for player in match.players}
    assert met == set(NAMES), "nobody is left out of the first round"
    played = [MatchSummary.of(play_match(match)) for match in first]
    again = contest.narrowing_round(played, 6, 1)
    assert len(again) == 6
    assert len({(match.players[0]["label"], match.players[1]["label"], match.seed) for match in [*first, *again]}) == 8


@pytest.mark.parametrize(
    ("players", "options", "message"),
    [
        (PLAYERS[:1], {}, "at least 2, not 1"),
        ((*PLAYERS, PLAYERS[0]), {}, "two of them are called 'random'; tell them apart by `label`"),
        ((PLAYERS[0], {"name": "nobody"}), {}, "players.1: no such choice 'nobody'"),
        (PLAYERS, {"games_per_pairing": 3}, "an even number from 2 is needed, not 3"),
    ],
)
def test_tournaments_are_checked(players, options, message):
    with pytest.raises(MiaiError, match=message):
        Tournament(players, {"name": "tictactoe"}, **options)


def test_strangers_do_not_play():
    with pytest.raises(ValueError, match="'x' does not take part"):
        tournament().match("x", "random")
