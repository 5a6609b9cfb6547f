from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miai.games.game import PASS
from miai.games.go import GoGame
from miai.games.go.symmetry import NUM_SYMMETRIES, inverse, permutation, transform, transform_move

SYMMETRIES = range(NUM_SYMMETRIES)


def test_the_eight_by_hand() -> None:
    board = np.array([[1, 2], [3, 4]])
    drawn = [transform(board, k).ravel().tolist() for k in SYMMETRIES]
    assert drawn == [
        [1, 2, 3, 4],
        [2, 1, 4, 3],
        [3, 4, 1, 2],
        [4, 3, 2, 1],
        [1, 3, 2, 4],
        [3, 1, 4, 2],
        [2, 4, 1, 3],
        [4, 2, 3, 1],
    ]


@pytest.mark.parametrize("k", SYMMETRIES)
def test_permutation_and_inverse_agree_with_transform(k: int) -> None:
    board = np.arange(25).reshape(5, 5)
    turned = transform(board, k)
    assert (turned.ravel()[permutation(5, k)] == board.ravel()).all()
    assert (transform(turned, inverse(k)) == board).all()
    assert transform_move(PASS, 5, k) == PASS
    assert turned.ravel()[transform_move(7, 5, k)] == 7


def test_planes_keep_their_leading_axes() -> None:
    planes = np.arange(2 * 3 * 9).reshape(2, 3, 3, 3)
    for k in SYMMETRIES:
        assert (transform(planes, k)[1, 2] == transform(planes[1, 2], k)).all()


def test_numbers_are_checked() -> None:
    with pytest.raises(ValueError, match="symmetry"):
        transform(np.zeros((3, 3)), 8)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(0, 7))
def test_go_does_not_know_directions(seed: int, k: int) -> None:
    """A game and its mirror image have mirrored boards, legal moves and equal scores all the way."""
    dice = np.random.default_rng(seed)
    game, mirrored = GoGame(5), GoGame(5)
    for _ in range(60):
        if game.is_over:
            break
        moves = game.legal_moves()
        assert sorted(transform_move(move, 5, k) for move in moves) == sorted(mirrored.legal_moves())
        move = moves[dice.integers(len(moves))]
        game.play(move)
        mirrored.play(transform_move(move, 5, k))
        assert (transform(game.board, k) == mirrored.board).all()
        assert game.score() == mirrored.score()
