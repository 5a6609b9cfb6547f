import math

import pytest

from miai.arena import End, Fault, MatchSummary, PlayedGame, Tally, wilson_interval


def game(number, outcome, *, moves=(0, 1, 2), fault=None):
    """A game of a against b; `outcome` is the first player's, and a is the first player of even games."""
    return PlayedGame(
        players=("a", "b") if number % 2 == 0 else ("b", "a"),
        outcome=outcome,
        end=End.FAULT if fault else End.RULES,
        moves=moves,
        opening=1,
        result="",
        decisions=(1, 1),
        seconds=(0.5, 2.0),
        fault=fault,
        number=number,
    )


def test_wins_are_counted_from_one_players_side():
    games = [game(0, 1), game(1, 1, moves=(3,)), game(2, 0), game(3, -1), game(4, 1, moves=(4,))]
    summary = MatchSummary.of(reversed(games))
    assert summary.players == ("a", "b")
    assert summary.total == Tally(wins=3, draws=1, losses=1)
    assert summary.as_first == Tally(wins=2, draws=1, losses=0)
    assert summary.as_second == Tally(wins=1, draws=0, losses=1)
    assert summary.distinct_games == 3
    assert summary.mean_moves == pytest.approx(11 / 5)
    # a thought 0.5 s in three games and 2 s in two, one move in each.
    assert summary.seconds_per_move == pytest.approx((5.5 / 5, 7.0 / 5))
    assert "3 distinct games of 5" in str(summary)
    pair = summary.pair_score()
    assert (pair.first, pair.second, pair.wins, pair.draws, pair.losses) == ("a", "b", 3, 1, 1)


def test_faults_are_counted_apart():
    mine, theirs = Fault(-1, "timeout", ""), Fault(-1, "illegal", "")
    # In game 1 a sits second and is at fault; in game 2 b does and is.
    summary = MatchSummary.of([game(0, 1), game(1, 1, fault=mine), game(2, 1, fault=theirs)])
    assert summary.total == Tally(wins=2, losses=1)
    assert summary.without_faults == Tally(wins=1)
    assert (summary.faults, summary.opponent_faults) == (1, 1)
    assert summary.ends == {"rules": 1, "fault": 2}
    assert summary.pair_score(faults=False).num_games == 1


def test_metrics_are_finite_numbers():
    metrics = MatchSummary.of([game(0, 1, fault=Fault(-1, "died", ""))]).metrics()
    assert metrics["opponent_faults"] == 1
    assert metrics["score"] == 1
    assert "without_faults/score" not in metrics, "there is none"
    assert "as_second/score" not in metrics
    assert all(math.isfinite(value) for value in metrics.values())
    assert MatchSummary.of([game(0, 0)]).metrics()["score"] == 0.5


def test_no_games():
    with pytest.raises(ValueError, match="no games"):
        MatchSummary.of([])
    assert str(Tally()) == "no games"


# Wilson (1927), worked by hand: n = 10, p = 0.5, z = 1.96: centre 0.5, half √(0.025 + 0.0960) · 1.96 / 1.38416.
def test_wilson_by_hand():
    low, high = wilson_interval(5, 10)
    assert (low, high) == pytest.approx((0.236593, 0.763407), abs=1e-5)
    assert wilson_interval(0, 10)[0] == 0
    assert wilson_interval(0, 10)[1] == pytest.approx(0.277533, abs=1e-5)
    assert wilson_interval(10, 10) == pytest.approx((1 - 0.277533, 1), abs=1e-5)
    assert wilson_interval(0, 0) == (0, 1)


def test_draws_are_half_a_win():
    assert Tally(4, 2, 4).score == 0.5
    assert Tally(4, 2, 4).interval() == Tally(5, 0, 5).interval()
    assert math.isnan(Tally().score)


def test_wilson_covers():
    """The exact coverage over the binomial distribution, averaged over proportions, is near the level."""
    n = 50
    intervals = [wilson_interval(k, n) for k in range(n + 1)]
    coverage = []
    for p in [i / 40 for i in range(2, 39)]:
        mass = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
        coverage.append(sum(m for m, (low, high) in zip(mass, intervals, strict=True) if low <= p <= high))
    assert 0.94 < sum(coverage) / len(coverage) < 0.965


@pytest.mark.parametrize(("points", "games", "level"), [(-1, 10, 0.95), (11, 10, 0.95), (1, 10, 0), (1, 10, 1)])
def test_nonsense_is_refused(points, games, level):
    with pytest.raises(ValueError, match="must be"):
        wilson_interval(points, games, level)


def test_simulations_are_counted_for_each_player():
    played = [
        PlayedGame(**{**vars(game(0, 1)), "simulations": (100, 0), "seconds": (0.5, 2.0)}),
        PlayedGame(**{**vars(game(1, 1)), "simulations": (40, 200), "seconds": (1.0, 0.5)}),
    ]
    # a sits first in game 0 and second in game 1: 300 simulations in 1 s; b: 40 in 3 s.
    assert MatchSummary.of(played).simulations_per_second == pytest.approx((300.0, 40 / 3))
    assert MatchSummary.of(played).metrics()["opponent_simulations_per_second"] == pytest.approx(40 / 3)


def test_a_tally_from_the_other_side():
    assert Tally(3, 2, 1).reversed() == Tally(1, 2, 3)
