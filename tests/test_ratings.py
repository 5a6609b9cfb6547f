"""Bradley–Terry against numbers that can be worked by hand, and against players whose strength is known."""

import math

import numpy as np
import pytest

from miai.errors import MiaiError
from miai.ratings import PairScore, elo_difference, fit_ratings, next_pairings, win_matrix, win_probability


def test_two_players_by_hand():
    # 15 of 20 points: odds 3, so 400·log10(3) = 190.85 Elo. Information 20·(3/4)·(1/4) = 3.75 in nats.
    ratings = fit_ratings([PairScore("a", "b", 15, 0, 5)], anchor="b", prior_draws=0)
    half = 1.959964 * 400 / math.log(10) / math.sqrt(3.75)
    assert ratings["a"].elo == pytest.approx(400 * math.log10(3), abs=1e-6)
    assert (ratings["a"].high - ratings["a"].low) / 2 == pytest.approx(half, rel=1e-6)
    assert (ratings["b"].elo, ratings["b"].low, ratings["b"].high) == (0, 0, 0)
    assert (ratings["a"].num_games, ratings["a"].score) == (20, 0.75)
    assert ratings.notes == ()


def test_a_draw_is_half_a_win():
    wins = fit_ratings([PairScore("a", "b", 15, 0, 5)], prior_draws=0)
    draws = fit_ratings([PairScore("a", "b", 12, 6, 2)], prior_draws=0)
    assert draws["b"].elo == pytest.approx(wins["b"].elo, abs=1e-6)


def test_the_model():
    assert win_probability(0) == 0.5
    assert win_probability(400) == pytest.approx(10 / 11)
    assert win_probability(-400) == pytest.approx(1 / 11)


def test_a_chain_of_three():
    # In a chain without a cycle each link is fitted exactly: odds 3, then odds 4.
    ratings = fit_ratings([PairScore("a", "b", 30, 0, 10), PairScore("c", "b", 4, 0, 16)], anchor="c", prior_draws=0)
    assert ratings["b"].elo == pytest.approx(400 * math.log10(4), abs=1e-6)
    assert ratings["a"].elo == pytest.approx(400 * math.log10(12), abs=1e-6)
    assert [rating.player for rating in ratings.ratings] == ["a", "b", "c"]
    elo, low, high = ratings.difference("a", "b")
    assert elo == pytest.approx(400 * math.log10(3), abs=1e-6)
    assert high - elo == pytest.approx(1.959964 * 400 / math.log(10) / math.sqrt(40 * 3 / 16), rel=1e-6)
    assert low == pytest.approx(2 * elo - high)
    assert ratings.probability_stronger("a", "b") > 0.99
    assert ratings.probability_stronger("b", "a") == pytest.approx(1 - ratings.probability_stronger("a", "b"))


def test_the_anchor_moves_all_ratings_alike():
    scores = [PairScore("a", "b", 15, 0, 5), PairScore("b", "c", 9, 2, 9)]
    one, other = fit_ratings(scores), fit_ratings(scores, anchor="c", anchor_elo=1500)
    assert other["c"].elo == 1500
    assert other["a"].elo - other["b"].elo == pytest.approx(one["a"].elo - one["b"].elo, abs=1e-6)
    assert one.difference("a", "c") == pytest.approx(other.difference("a", "c"), abs=1e-5)


def test_the_order_of_the_results_does_not_matter():
    one = fit_ratings([PairScore("a", "b", 3, 1, 2), PairScore("a", "b", 1, 0, 1)])
    other = fit_ratings([PairScore("b", "a", 3, 1, 4)])
    assert one["b"].elo == pytest.approx(other["b"].elo)


def test_who_never_lost_has_a_finite_rating_and_a_note():
    ratings = fit_ratings([PairScore("strong", "weak", 20, 0, 0)], anchor="weak")
    # One virtual draw for either player is, with the single opponent, (1 + 1) / 4 = half a point a side.
    assert ratings["strong"].elo == pytest.approx(400 * math.log10(20.5 / 0.5), abs=1e-6)
    assert any("strong won every game" in note for note in ratings.notes)
    assert any("weak lost every game" in note for note in ratings.notes)
    with pytest.raises(MiaiError, match=r"only won or only lost.*strong, weak"):
        fit_ratings([PairScore("strong", "weak", 20, 0, 0)], prior_draws=0)


def test_groups_that_never_met_are_said():
    ratings = fit_ratings([PairScore("a", "b", 3, 0, 1), PairScore("x", "y", 1, 0, 3)], anchor="x", anchor_elo=100)
    assert ratings["x"].elo == 100
    assert ratings["a"].elo == 100, "the first of the other group, which has no anchor"
    assert {ratings["a"].group, ratings["b"].group} == {0}
    assert {ratings["x"].group, ratings["y"].group} == {1}
    assert ratings.notes == ("2 groups of players have not been compared with each other: a, b; x, y",)
    with pytest.raises(MiaiError, match=r"'a' and 'x' cannot be compared"):
        ratings.difference("a", "x")


def test_what_cannot_be_rated():
    with pytest.raises(MiaiError, match="no games"):
        fit_ratings([PairScore("a", "b")])
    with pytest.raises(MiaiError, match="anchor 'z' has played no game; players: a, b"):
        fit_ratings([PairScore("a", "b", 1)], anchor="z")
    with pytest.raises(ValueError, match="itself"):
        PairScore("a", "a", 1)
    with pytest.raises(ValueError, match="0 or more"):
        PairScore("a", "b", -1)
    with pytest.raises(ValueError, match="level"):
        fit_ratings([PairScore("a", "b", 1)], level=1)
    with pytest.raises(ValueError, match="prior_draws"):
        fit_ratings([PairScore("a", "b", 1)], prior_draws=math.nan)


def simulate(elo, games, rng):
    """A round robin of players whose ratings are known."""
    names = [f"p{i}" for i in range(len(elo))]
    scores = []
    for i in range(len(elo)):
        for j in range(i + 1, len(elo)):
            wins = int(rng.binomial(games, win_probability(elo[i] - elo[j])))
            scores.append(PairScore(names[i], names[j], wins, 0, games - wins))
    return scores


def test_strengths_are_recovered():
    elo = [0.0, 120.0, 300.0, 450.0, 700.0]
    ratings = fit_ratings(simulate(elo, 20_000, np.random.default_rng(1)), anchor="p0")
    assert [ratings[f"p{i}"].elo for i in range(5)] == pytest.approx(elo, abs=15)


def test_intervals_cover_as_often_as_they_say():
    elo = np.array([0.0, 80.0, 160.0, 320.0])
    rng = np.random.default_rng(7)
    covered = total = 0
    for _ in range(300):
        ratings = fit_ratings(simulate(elo, 40, rng), anchor="p0", prior_draws=0.5)
        for i in range(1, 4):
            rating = ratings[f"p{i}"]
            covered += rating.low <= elo[i] <= rating.high
            total += 1
    assert 0.92 <= covered / total <= 0.97


def test_new_players_are_joined_before_intervals_are_narrowed():
    assert next_pairings([], ["a", "b"]) == [("a", "b")]
    pairs = next_pairings([], ["a", "b", "c", "d"], num_pairings=3)
    joined = {"a"}
    for _ in pairs:
        joined |= {name for pair in pairs if joined & set(pair) for name in pair}
    assert joined == {"a", "b", "c", "d"}
    assert "new" in next_pairings([PairScore("a", "b", 500, 0, 500)], ["a", "b", "new"])[0]


def test_the_next_pair_is_the_one_that_narrows_most():
    # a and b have met often, c only a little: another game of a and b would teach nothing.
    scores = [PairScore("a", "b", 200, 0, 200), PairScore("b", "c", 5, 0, 5)]
    assert "c" in next_pairings(scores, ["a", "b", "c"])[0]
    # Games against somebody hopelessly weaker say little: equals are paired.
    lopsided = [PairScore("a", "weak", 60, 0, 1), PairScore("b", "weak", 60, 0, 1), PairScore("a", "b", 3, 0, 3)]
    assert next_pairings(lopsided, ["a", "b", "weak"])[0] == ("a", "b")


def test_choosing_pairs_narrows_faster_than_a_round_robin():
    rng = np.random.default_rng(3)
    elo = {"a": 0.0, "b": 100.0, "c": 900.0, "d": 1000.0}
    names = list(elo)

    def play(pair):
        wins = int(rng.binomial(10, win_probability(elo[pair[0]] - elo[pair[1]])))
        return PairScore(*pair, wins, 0, 10 - wins)

    robin = [play((x, y)) for _ in range(10) for i, x in enumerate(names) for y in names[i + 1 :]]
    chosen: list[PairScore] = []
    for _ in range(60):
        chosen.append(play(next_pairings(chosen, names, games_per_pairing=10)[0]))
    assert sum(score.num_games for score in chosen) == sum(score.num_games for score in robin)

    def spread(scores):
        ratings = fit_ratings(scores)
        covariance = ratings.covariance
        return sum(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j] for i in range(4) for j in range(i))

    assert spread(chosen) < 0.9 * spread(robin)


def test_pairings_refuse_nonsense():
    with pytest.raises(ValueError, match="distinct"):
        next_pairings([], ["a", "a"])
    with pytest.raises(ValueError, match="1 or more"):
        next_pairings([], ["a", "b"], num_pairings=0)


def test_the_matrix_of_points():
    players, wins = win_matrix([PairScore("b", "a", 2, 1, 0), PairScore("a", "c"), PairScore("a", "b", 1, 0, 0)])
    assert players == ["a", "b"]
    assert wins.tolist() == [[0, 1.5], [2.5, 0]]


def test_a_score_is_a_difference_in_elo():
    assert elo_difference(0.5) == 0
    assert elo_difference(0.75) == pytest.approx(400 * math.log10(3))
    assert elo_difference(1) == math.inf
    assert elo_difference(0) == -math.inf
    for difference in (-300, 12.5, 800):
        assert elo_difference(win_probability(difference)) == pytest.approx(difference)
    with pytest.raises(ValueError, match="score must be from 0 to 1, got"):
        elo_difference(1.5)
