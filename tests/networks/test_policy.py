from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from miai.games.game import FIRST, PASS, SECOND
from miai.games.go import GoGame
from miai.games.go.symmetry import transform
from miai.networks.policy import (
    masked_softmax,
    policy_moves,
    sample,
    sensible_points,
    turn_points,
    turn_points_back,
)

LOGITS = hnp.arrays(np.float32, (3, 9), elements=st.floats(-1e4, 1e4, width=32))
MASKS = hnp.arrays(np.bool_, (3, 9))
TEMPERATURES = st.sampled_from([0.0, 0.01, 1.0, 5.0])


def test_probabilities_by_hand() -> None:
    logits = np.log([[1.0, 2.0, 5.0, 4.0]])
    allowed = np.array([[True, True, False, True]])
    assert masked_softmax(logits, allowed)[0] == pytest.approx([1 / 7, 2 / 7, 0, 4 / 7])
    # At temperature 1/2 probabilities are as the squares: 1, 4, 16.
    assert masked_softmax(logits, allowed, 0.5)[0] == pytest.approx([1 / 21, 4 / 21, 0, 16 / 21])
    assert masked_softmax(logits, allowed, 0)[0].tolist() == [0, 0, 0, 1]


def test_greed_takes_the_first_of_equals() -> None:
    assert masked_softmax(np.array([1.0, 3.0, 3.0]), np.ones(3, bool), 0).tolist() == [0, 1, 0]


@given(LOGITS, MASKS, TEMPERATURES)
def test_probabilities_sum_to_one_over_what_is_allowed(logits, allowed, temperature) -> None:
    found = masked_softmax(logits, allowed, temperature)
    assert (found >= 0).all()
    assert (found[~allowed] == 0).all()
    for row, mask in zip(found, allowed, strict=True):
        assert row.sum() == pytest.approx(1.0 if mask.any() else 0.0)


@given(LOGITS, MASKS, TEMPERATURES, st.floats(0, 1, exclude_max=True))
def test_a_move_that_is_not_allowed_is_never_chosen(logits, allowed, temperature, uniform) -> None:
    moves = policy_moves(logits, allowed, temperature, np.full(3, uniform))
    for move, mask in zip(moves, allowed, strict=True):
        assert move == PASS if not mask.any() else mask[move]


@given(LOGITS, MASKS)
def test_the_largest_draw_is_still_allowed(logits, allowed) -> None:
    moves = policy_moves(logits, allowed, 1.0, np.full(3, math.nextafter(1.0, 0.0)))
    assert all(mask[move] for move, mask in zip(moves, allowed, strict=True) if mask.any())


def test_draws_follow_the_probabilities() -> None:
    row = np.array([0.25, 0.0, 0.5, 0.25])
    uniforms = np.array([0.0, 0.24, 0.25, 0.5, 0.74, 0.75, 0.99])
    assert sample(np.tile(row, (7, 1)), uniforms).tolist() == [0, 0, 2, 2, 2, 3, 3]


@pytest.mark.parametrize("temperature", [-1.0, math.nan, math.inf])
def test_temperatures_that_there_are_not(temperature: float) -> None:
    with pytest.raises(ValueError, match="temperature must be from 0"):
        masked_softmax(np.zeros(3), np.ones(3, bool), temperature)


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match="one shape"):
        masked_softmax(np.zeros((2, 3)), np.ones(3, bool))


def marked(game: GoGame) -> str:
    marks = np.where(sensible_points(game).reshape(game.size, game.size), "+", "-")
    return "\n".join("".join(row) for row in marks)


def test_eyes_and_suicide_are_not_sensible() -> None:
    game = GoGame.from_diagram(
        """
        . X . X O
        X X X X O
        O O O O O
        . . . O .
        . . . O O
        """
    )
    # Black's two eyes; and White's in the corner, where Black would have no liberty.
    assert marked(game) == "-----\n-----\n-----\n+++--\n+++--"
    white = GoGame.from_diagram(
        """
        . X . X O
        X X X X O
        O O O O O
        . . . O .
        . . . O O
        """,
        SECOND,
    )
    assert marked(white) == "-----\n-----\n-----\n+++--\n+++--"


def test_ko_is_not_sensible() -> None:
    game = GoGame.from_diagram(
        """
        . X O . .
        X . X O .
        . X O . .
        . . . . .
        . . . . .
        """,
        SECOND,
    )
    game.play(6)  # takes the stone at 7
    assert game.to_play == FIRST
    assert not sensible_points(game)[7]
    assert sensible_points(game)[3]


@pytest.mark.parametrize("symmetry", range(8))
def test_points_are_turned_as_boards_are_and_back(symmetry: int) -> None:
    values = np.arange(50.0).reshape(2, 25)
    turned = turn_points(values, 5, symmetry)
    assert (turned.reshape(2, 5, 5) == transform(values.reshape(2, 5, 5), symmetry)).all()
    assert (turn_points_back(turned, 5, symmetry) == values).all()
