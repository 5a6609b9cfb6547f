"""The networks of a search: which positions they are asked about, and how symmetries are undone."""

from __future__ import annotations

import numpy as np
import pytest

from miai.errors import MiaiError
from miai.games.go import GoGame
from miai.games.go.boards import Boards, from_game, new_boards
from miai.games.go.symmetry import NUM_SYMMETRIES, transform
from miai.networks.features import encode_boards
from miai.networks.leaf_evaluator import NetworkLeaves, load_leaves
from miai.networks.spec import NetworkSpec
from miai.search.puct import ASK_PRIORS, ASK_VALUE


class Recorder:
    """A network of one layer in NumPy, that keeps what it was shown. Its answers do not respect symmetries."""

    runtime = "numpy"

    def __init__(self, head: str, planes: int, size: int = 5) -> None:
        self.spec = NetworkSpec(head=head, board_size=size, planes=planes, layers=1, filters=1)  # type: ignore[arg-type]
        rng = np.random.default_rng(planes)
        self.weights = rng.standard_normal((planes * size**2, size**2 if head == "policy" else 1)).astype(np.float32)
        self.shown: list[np.ndarray] = []

    def __call__(self, planes: np.ndarray) -> np.ndarray:
        assert planes.dtype == np.float32
        assert planes.flags.c_contiguous
        self.shown.append(planes.copy())
        answers = planes.reshape(len(planes), -1) @ self.weights
        return answers if self.spec.head == "policy" else np.tanh(answers[:, 0])


def positions(count: int = 4) -> Boards:
    """Return positions with 1, 2, … moves of a game on 5 × 5."""
    boards = new_boards(count, 5)
    game = GoGame(5)
    for row, move in zip(range(count), (6, 7, 18, 2, 11, 12), strict=False):
        game.play(move)
        from_game(boards, row, game)
    return boards


def planes_of(boards: Boards, num_planes: int, turn: int = 0) -> np.ndarray:
    count = len(boards.ply)
    out = np.zeros((count, num_planes, 5, 5), np.float32)
    encode_boards(boards, count, num_planes, np.full(count, turn, np.uint8), out)
    return out


def ask(leaves: NetworkLeaves, boards: Boards, asks: list[int], seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return (logits, values); NaN where nothing was answered."""
    count = len(asks)
    logits, values = np.full((count, 25), np.nan, np.float32), np.full(count, np.nan, np.float32)
    leaves.evaluate(boards, count, np.array(asks, np.uint8), np.random.default_rng(seed), logits, values)
    return logits, values


def test_each_network_is_asked_only_what_it_is_to_say() -> None:
    policy, value, boards = Recorder("policy", 12), Recorder("value", 49), positions()
    leaves = NetworkLeaves(policy, value, "none")
    asks = [ASK_PRIORS | ASK_VALUE, ASK_PRIORS, ASK_VALUE]
    logits, values = ask(leaves, boards, asks)
    assert np.array_equal(policy.shown[0], planes_of(boards, 12)[[0, 1]])
    assert np.array_equal(value.shown[0], planes_of(boards, 49)[[0, 2]])
    assert np.isnan(logits).all(axis=1).tolist() == [False, False, True]
    assert np.isnan(values).tolist() == [False, True, False]
    assert np.allclose(logits[:2], policy(planes_of(boards, 12)[:2]))
    ask(leaves, boards, [ASK_VALUE])
    assert [len(policy.shown), len(value.shown)] == [2, 2]


@pytest.mark.parametrize("num_planes", [4, 48])
def test_all_eight_symmetries_are_averaged(num_planes: int) -> None:
    """The mean over the turned boards, turned back, is the same whichever way the board lies."""
    policy, value, boards = Recorder("policy", num_planes), Recorder("value", 49), positions()
    logits, values = ask(NetworkLeaves(policy, value, "average"), boards, [ASK_PRIORS | ASK_VALUE] * 4)
    expected_logits, expected_values = np.zeros((4, 5, 5)), np.zeros(4)
    for turn in range(NUM_SYMMETRIES):
        turned = policy(planes_of(boards, num_planes, turn)).reshape(4, 5, 5)
        back = next(k for k in range(NUM_SYMMETRIES) if np.array_equal(transform(transform(MARKED, turn), k), MARKED))
        expected_logits += transform(turned, back) / NUM_SYMMETRIES
        expected_values += value(planes_of(boards, 49, turn)) / NUM_SYMMETRIES
    assert np.allclose(logits, expected_logits.reshape(4, 25), atol=1e-4)
    assert np.allclose(values, expected_values, atol=1e-5)


MARKED = np.arange(25).reshape(5, 5)


def test_random_symmetries_are_drawn_for_each_position_and_undone() -> None:
    """A network that answers with one of its planes answers the same, however the board was turned."""
    policy, boards = Recorder("policy", 4), positions()
    policy.weights = np.vstack([np.zeros((25, 25)), np.eye(25), np.zeros((50, 25))]).astype(np.float32)
    leaves = NetworkLeaves(policy, None, "random")
    stones = planes_of(boards, 4)[:, 1].reshape(4, 25)
    shown = set()
    for seed in range(20):
        logits, _ = ask(leaves, boards, [ASK_PRIORS] * 4, seed)
        assert np.array_equal(logits, stones)
        shown.add(policy.shown[-1].tobytes())
    assert len(shown) > 10


def test_one_network_is_enough() -> None:
    leaves = NetworkLeaves(None, Recorder("value", 49))
    assert (leaves.gives_priors, leaves.gives_values, leaves.board_size) == (False, True, 5)
    assert not np.isnan(ask(leaves, positions(), [ASK_VALUE])[1]).any()
    assert load_leaves(None, None) is None


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="is needed"):
        NetworkLeaves(None, None)
    with pytest.raises(ValueError, match="policy: a network with that head is needed, not with 'value'"):
        NetworkLeaves(Recorder("value", 49), None)
    with pytest.raises(MiaiError, match="value: this network is for boards of size 7, but the policy network for size"):
        NetworkLeaves(Recorder("policy", 48), Recorder("value", 49, size=7))
    with pytest.raises(MiaiError, match="symmetry"):
        NetworkLeaves(Recorder("policy", 48), None, "all")
