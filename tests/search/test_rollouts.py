"""Playouts by a linear policy: kept weights are exact, moves are drawn by their probabilities, games keep the rules."""

from __future__ import annotations

import numpy as np
import pytest

from miai.games.go import GoGame
from miai.games.go.board import (
    BLACK,
    BOTH,
    COLOUR,
    EMPTY,
    KO,
    PASS_POINT,
    POINTS,
    WHITE,
    flat_to_point,
    is_sensible,
    new_board,
    point_to_flat,
)
from miai.rng import stream
from miai.search.playouts import MOVES_PER_POINT
from miai.search.rollout_features import NUM_WEIGHTS, SECTIONS, SELF_ATARI
from miai.search.rollouts import (
    RolloutPolicy,
    first_weight,
    new_policy,
    new_state,
    rollout_move,
    rollout_play,
    rollout_playout,
    rollout_probabilities,
    run_rollouts,
    start_rollout,
)

from .plain_rollouts import plain_probabilities


def random_weights(seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    weights = generator.normal(0.0, 1.0, NUM_WEIGHTS)
    weights[SELF_ATARI : SELF_ATARI + SECTIONS["self_atari"]] = generator.uniform(-2.0, 0.0, SECTIONS["self_atari"])
    return weights


@pytest.fixture(scope="module")
def policy() -> RolloutPolicy:
    return new_policy(random_weights(1))


def boards(game: GoGame) -> tuple[np.ndarray, np.ndarray, np.uint64]:
    cells, liberties = game.state
    return cells.copy(), liberties.copy(), BLACK if game.to_play == 1 else WHITE


@pytest.mark.parametrize("size", [2, 3, 5, 9, 13, 19])
def test_kept_weights_equal_those_from_scratch_after_every_move(size: int, policy: RolloutPolicy) -> None:
    for seed in range(12 if size < 13 else 3):
        cells, liberties = new_board(size)
        kept, fresh = new_state(), new_state()
        rng = stream(seed, "test")
        colour = BLACK
        start_rollout(cells, liberties, policy, kept)
        passes = 0
        for _ in range(MOVES_PER_POINT * size * size):
            v = rollout_move(cells, liberties, colour, rng, policy, kept)
            assert v == PASS_POINT or (v != cells[KO] and is_sensible(cells, liberties, v, colour))
            rollout_play(cells, liberties, v, colour, policy, kept)
            start_rollout(cells, liberties, policy, fresh)
            np.testing.assert_array_equal(kept.weights, fresh.weights)
            np.testing.assert_array_equal(kept.rows, fresh.rows)
            passes = passes + 1 if v == PASS_POINT else 0
            colour = BOTH - colour
            if passes == 2:
                break


def test_weights_are_positive_exactly_where_a_move_is_sensible(policy: RolloutPolicy) -> None:
    for seed in range(10):
        cells, liberties = new_board(7)
        state = new_state()
        rng = stream(seed, "test")
        colour = BLACK
        start_rollout(cells, liberties, policy, state)
        for _ in range(60):
            for side in (BLACK, WHITE):
                begin = int(first_weight(side))
                sensible = {
                    v
                    for v in map(np.uint64, range(22, POINTS - 22))
                    if cells[COLOUR + v] == EMPTY and is_sensible(cells, liberties, v, side)
                }
                assert set(np.flatnonzero(state.weights[begin : begin + POINTS])) == sensible
            v = rollout_move(cells, liberties, colour, rng, policy, state)
            rollout_play(cells, liberties, v, colour, policy, state)
            colour = BOTH - colour


@pytest.mark.parametrize("size", [2, 3, 5, 9])
def test_a_rollout_is_a_game_by_the_rules(size: int, policy: RolloutPolicy) -> None:
    for seed in range(30):
        cells, liberties = new_board(size)
        trace = np.zeros(MOVES_PER_POINT * size * size, np.uint16)
        length = rollout_playout(cells, liberties, BLACK, stream(seed, "test"), trace, 0, policy, new_state())
        game = GoGame(size, superko="none")
        for point in trace[:length]:
            game.play(point_to_flat(point, size))
        assert game.is_over or length == MOVES_PER_POINT * size * size
        frame = cells[:441].reshape(21, 21)[1 : size + 1, 1 : size + 1]
        assert (frame == np.array([0, 1, 2])[game.board]).all()


@pytest.mark.parametrize("size", [2, 5, 9, 19])
def test_probabilities_are_those_of_a_plain_softmax(size: int) -> None:
    weights = random_weights(2)
    policy, state = new_policy(weights), new_state()
    out = np.zeros(POINTS, np.float32)
    for seed in range(3):
        game = GoGame(size, superko="none")
        cells, liberties, colour = boards(game)
        rng = stream(seed, "test")
        start_rollout(cells, liberties, policy, state)
        for turn in range(min(120, 2 * size * size)):
            if turn % 7 == 0 or size < 9:
                cells, liberties, colour = boards(game)
                rollout_probabilities(cells, liberties, colour, policy, state, out)
                expected = plain_probabilities(game, weights)
                found = {flat: float(out[int(flat_to_point(flat, size))]) for flat in range(size * size)}
                assert {flat for flat, share in found.items() if share > 0} == set(expected)
                for flat, share in expected.items():
                    assert found[flat] == pytest.approx(share, rel=1e-3, abs=1e-6)
                assert sum(found.values()) == pytest.approx(1.0 if expected else 0.0, abs=1e-5)
            cells, liberties, colour = boards(game)
            start_rollout(cells, liberties, policy, state)
            game.play(point_to_flat(rollout_move(cells, liberties, colour, rng, policy, state), size))
            if game.is_over:
                break


def test_moves_are_drawn_by_their_probabilities(policy: RolloutPolicy) -> None:
    """χ² over the moves of a position with a ko, self-atari and captures; p = 0.001."""
    game = GoGame.from_diagram(
        """
        . X O . .
        X O . O .
        . X O . .
        O . X . X
        . O . X .
        """
    )
    game.play(game.parse_move("C4"))  # takes the stone at B4, and White may not take back
    cells, liberties, colour = boards(game)
    assert cells[KO] != 0
    state, out = new_state(), np.zeros(POINTS, np.float32)
    rollout_probabilities(cells, liberties, colour, policy, state, out)
    start_rollout(cells, liberties, policy, state)
    rng = stream(3, "test")
    draws = 20000
    counts = np.bincount(
        [int(rollout_move(cells, liberties, colour, rng, policy, state)) for _ in range(draws)], minlength=POINTS
    )
    likely = out * draws >= 5
    expected = out[likely] * draws
    assert counts[out == 0].sum() == 0
    statistic = ((counts[likely] - expected) ** 2 / expected).sum()
    from scipy.stats import chi2

    assert likely.sum() > 5
    assert statistic < chi2.ppf(0.999, likely.sum() - 1)


def test_without_a_sensible_move_it_is_a_pass(policy: RolloutPolicy) -> None:
    game = GoGame.from_diagram(". X .\nX X X\n. X .")
    cells, liberties, colour = boards(game)
    state, out = new_state(), np.ones(POINTS, np.float32)
    start_rollout(cells, liberties, policy, state)
    assert rollout_move(cells, liberties, colour, stream(1, "test"), policy, state) == PASS_POINT
    rollout_probabilities(cells, liberties, colour, policy, state, out)
    assert not out.any()


def test_with_weights_of_zero_moves_are_uniform() -> None:
    game = GoGame.from_diagram(
        """
        . X . X .
        X X X X O
        . . . O O
        O O O O O
        . O . O .
        """
    )
    cells, liberties, colour = boards(game)
    out = np.zeros(POINTS, np.float32)
    rollout_probabilities(cells, liberties, colour, new_policy(np.zeros(NUM_WEIGHTS)), new_state(), out)
    points = {game.move_name(point_to_flat(v, 5)): out[v] for v in np.flatnonzero(out)}
    assert points == pytest.approx({"A3": 0.25, "B3": 0.25, "C3": 0.25, "E5": 0.25})


def test_the_same_stream_plays_the_same_games(policy: RolloutPolicy) -> None:
    cells, liberties = new_board(9)
    results = {run_rollouts(cells, liberties, BLACK, stream(5, "test"), 50, policy, new_state()) for _ in range(2)}
    assert len(results) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda w: w[:-1], "weights, not"),
        (lambda w: np.where(np.arange(NUM_WEIGHTS) == 60, np.nan, w), "must be from -30 to 30"),
        (lambda w: np.where(np.arange(NUM_WEIGHTS) == 60, 31.0, w), "must be from -30 to 30"),
        (lambda w: np.where(np.arange(NUM_WEIGHTS) == SELF_ATARI, 0.1, w), "self_atari must be from -4 to 0"),
    ],
)
def test_weights_that_make_no_policy_are_refused(change, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        new_policy(change(np.zeros(NUM_WEIGHTS)))
