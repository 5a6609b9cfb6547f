"""Games that networks play: legal, scored as `GoGame` scores, reproducible, seats as stated."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miai.alphago.game_batch import NO_MOVE, game_limit
from miai.alphago.self_play import (
    AFTER_THE_END,
    FORCED,
    OPENING,
    UNIFORM,
    PlayedGames,
    Policy,
    decisions,
    draw_openings,
    game_streams,
    play_games,
    play_match,
    seat_turns,
)
from miai.games.game import PASS
from miai.games.go import GoGame
from miai.games.go.boards import from_game, new_boards
from miai.networks.features import encode_boards
from miai.networks.policy import sensible_points

from .networks import likes, uniform


def replayed(played: PlayedGames, game: int, moves: int | None = None) -> GoGame:
    whole = GoGame(played.size, played.komi)
    for move in played.moves_of(game)[:moves]:
        whole.play(move)
    return whole


def random_games(size: int = 5, count: int = 6, komi: float = 2.5, seed: int = 0) -> PlayedGames:
    turns = seat_turns(np.arange(count) % 2 == 0, game_limit(size))
    random = np.random.default_rng(seed)
    policies = [likes(random.normal(0, 2, size * size)) for _ in range(2)]
    return play_games(policies, turns, size, komi, game_streams(seed, "games", count))


@settings(deadline=None, max_examples=15)
@given(st.integers(2, 6), st.integers(0, 10**6), st.integers(-6, 6))
def test_games_are_legal_end_by_two_passes_and_are_scored_as_the_rules_score(size, seed, half_points):
    played = random_games(size, 4, half_points / 2, seed)
    for game in range(4):
        whole = replayed(played, game)  # refuses what is illegal
        assert whole.is_over
        assert played.scores[game] == whole.score()
        assert played.winners[game] == whole.outcome()
        length = played.lengths[game]
        assert (played.moves[game, length:] == NO_MOVE).all()
        assert (played.deciders[game, length:] == AFTER_THE_END).all()


def test_who_decides_is_who_was_asked_but_for_forced_passes():
    played = random_games()
    for game in range(len(played.moves)):
        for ply, move in enumerate(played.moves_of(game)):
            asked = (ply + game) % 2  # Policy 0 has Black in the games of even number.
            expected = FORCED if move == PASS else asked
            assert played.deciders[game, ply] == expected


def test_the_same_seed_gives_the_same_games_and_another_others():
    first, again, other = random_games(seed=3), random_games(seed=3), random_games(seed=4)
    assert np.array_equal(first.moves, again.moves)
    assert not np.array_equal(first.moves[:, :5], other.moves[:, :5])
    assert first.distinct() == len(first.moves)


def test_a_position_is_asked_of_the_side_to_move():
    """Policies that only note what they are shown: own stones are the mover's, the numbers of stones fit the turn."""
    seen: dict[int, list[np.ndarray]] = {0: [], 1: []}

    def note(index: int) -> Policy:
        def evaluate(planes: np.ndarray) -> np.ndarray:
            seen[index].append(planes.copy())
            return np.zeros((len(planes), 9), np.float32)

        return Policy(evaluate, 4)

    turns = seat_turns(np.array([True, True]), game_limit(3))
    played = play_games((note(0), note(1)), turns, 3, 0.5, game_streams(0, "games", 2))
    assert [planes[:, :2].sum() for planes in seen[0][:2]] == [0, 4]  # Black sees empty boards, then 2 stones each.
    own, others = seen[1][0][:, 0].sum(), seen[1][0][:, 1].sum()
    assert (own, others) == (0, 2)
    assert (played.deciders[:, :4] == [0, 1, 0, 1]).all()


def test_decisions_are_the_positions_in_which_a_policy_decided():
    """Planes, allowed moves and the move itself, against games replayed one by one."""
    played = random_games(size=4, count=5)
    found = list(decisions(played, 1, 12, 7))
    assert all(len(batch.moves) == 7 for batch in found[:-1])
    rows = [
        (int(game), int(ply), batch.planes[row], batch.allowed[row], int(batch.moves[row]))
        for batch in found
        for row, (game, ply) in enumerate(zip(batch.games, batch.plies, strict=True))
    ]
    assert sorted([game, ply] for game, ply, *_ in rows) == np.argwhere(played.deciders == 1).tolist()
    for game, ply, planes, allowed, move in rows:
        position = replayed(played, game, ply)
        assert move == played.moves[game, ply]
        assert np.array_equal(allowed.astype(bool), sensible_points(position))
        boards = new_boards(1, 4)
        from_game(boards, 0, position)
        expected = np.empty((1, 12, 4, 4), np.float32)
        encode_boards(boards, 1, 12, np.zeros(1, np.uint8), expected)
        assert np.array_equal(planes, expected[0])


def test_openings_are_given_and_are_no_decisions():
    openings = draw_openings(5, 4, game_streams(0, "openings", 3))
    assert openings.shape == (3, 4)
    assert len(np.unique(openings, axis=0)) == 3
    turns = seat_turns(np.ones(3, bool), game_limit(5))
    played = play_games((uniform(5), uniform(5)), turns, 5, 0.5, game_streams(0, "games", 3), openings)
    assert np.array_equal(played.moves[:, :4], openings)
    assert (played.deciders[:, :4] == OPENING).all()
    assert not (played.deciders[:, 4:] == OPENING).any()
    with pytest.raises(ValueError, match="opening: from 0 to 12 moves on 5×5, got 13"):
        draw_openings(5, 13, game_streams(0, "openings", 1))


def test_a_uniform_turn_draws_among_all_legal_points():
    """On 2×2, the first move by the network is A2 (flat 0); the second is drawn: all three points, equally often."""
    count = 6_000
    turns = np.zeros((count, 12), np.int8)
    turns[:, 1] = UNIFORM
    played = play_games((likes([9, 0, 0, 0], 0.0),), turns, 2, 0.5, game_streams(0, "games", count))
    assert (played.moves[:, 0] == 0).all()
    shares = np.bincount(played.moves[:, 1], minlength=4) / count
    assert shares == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3], abs=0.03)
    assert (played.deciders[:, 1] == UNIFORM).all()


def test_a_match_swaps_seats_and_counts_from_the_first_players_side():
    """With a komi that decides every game for White, each player wins exactly the games in which it has White."""
    results = play_match(uniform(3), uniform(3), 20, 3, 20.5, seed=0, role="match")
    assert (results.wins, results.draws, results.losses) == (10, 0, 10)
    assert results.win_rate == 0.5
    assert results.games == 20
    with pytest.raises(ValueError, match="even number"):
        play_match(uniform(3), uniform(3), 3, 3, 0.5, seed=0, role="match")


def test_draws_are_not_wins():
    """On 2×2 with komi 4, Black draws where the whole board is its own, and can never win."""
    results = play_match(uniform(2), uniform(2), 200, 2, 4.0, seed=0, role="match")
    assert results.draws > 0
    assert results.wins + results.losses + results.draws == 200
    assert results.win_rate == results.wins / 200


def test_a_pair_shares_its_opening_and_goes_its_own_ways_after_it():
    greedy = likes(np.arange(25.0), 0.0)
    results = play_match(greedy, greedy, 10, 5, 0.5, seed=1, role="match", opening=4)
    assert results.distinct_games == 5, "equal players that take the most probable move repeat a pair's game"
    sampled = play_match(uniform(5), uniform(5), 10, 5, 0.5, seed=1, role="match", opening=4)
    assert sampled.distinct_games == 10


@pytest.mark.parametrize(
    ("turns", "streams", "message"),
    [
        (np.zeros((2, 9), np.int8), np.ones((3, 4), np.uint64), "streams"),
        (np.full((2, 9), 1, np.int8), np.ones((2, 4), np.uint64), "turns: from -1 to 0, got 1 to 1"),
        (np.full((2, 9), -2, np.int8), np.ones((2, 4), np.uint64), "turns: from -1 to 0, got -2"),
    ],
)
def test_what_does_not_fit_is_refused(turns, streams, message):
    with pytest.raises(ValueError, match=message):
        play_games((uniform(3),), turns, 3, 0.5, streams)
