"""A policy network as a player."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miai.arena import Match, MatchSummary, play_match
from miai.errors import MiaiError
from miai.games.game import PASS
from miai.games.go import GoGame
from miai.games.go.symmetry import transform
from miai.games.start import start_game
from miai.networks.leaf_evaluator import NetworkLeaves
from miai.networks.policy import sensible_points
from miai.networks.spec import NetworkSpec
from miai.networks.weights import initial_weights, save_network
from miai.players import build_player, players
from miai.players.policy import PolicyNetworkPlayer

SPEC = NetworkSpec(head="policy", board_size=5, planes=4, layers=1, filters=2)
LIKES = np.random.default_rng(0).normal(size=25).astype(np.float32)


class Liking:
    """Stands in for a network: it likes points as `LIKES` says, and stones next to nothing."""

    spec = SPEC
    runtime = "none"
    precision = "float32"

    def __call__(self, planes: np.ndarray) -> np.ndarray:
        return np.tile(LIKES, (len(planes), 1)) - 0.1 * planes[:, 1].reshape(-1, 25)


def player(temperature: float = 0.0, symmetry: str = "none") -> PolicyNetworkPlayer:
    return PolicyNetworkPlayer(NetworkLeaves(Liking(), None, symmetry), temperature)


def test_the_most_probable_move_is_played() -> None:
    decision = player().select_move(GoGame(5), np.random.default_rng(0))
    assert decision.move == LIKES.argmax()
    expected = np.exp(LIKES) / np.exp(LIKES).sum()
    assert [decision.info["priors"][point] for point in range(25)] == pytest.approx(expected.tolist())


def test_moves_are_drawn_by_the_probabilities() -> None:
    mover, rng, game = player(1.0), np.random.default_rng(0), GoGame(5)
    drawn = np.bincount([mover.select_move(game, rng).move for _ in range(2_000)], minlength=25) / 2_000
    expected = np.exp(LIKES) / np.exp(LIKES).sum()
    assert np.abs(drawn - expected).max() < 4 * np.sqrt(0.25 / 2_000)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), temperature=st.sampled_from([0.0, 1.0, 10.0]))
def test_every_move_is_sensible_and_every_game_ends(seed: int, temperature: float) -> None:
    game, mover, rng = GoGame(5), player(temperature, "random"), np.random.default_rng(seed)
    while not game.is_over:
        move = mover.select_move(game, rng).move
        assert move == PASS or sensible_points(game)[move]
        game.play(move)
    assert len(game.moves) <= 3 * 25


def test_a_symmetry_asks_about_the_board_turned() -> None:
    # The points that a network likes most turn with the board: all eight are played, and no other.
    rng = np.random.default_rng(0)
    mover = player(symmetry="random")
    seen = {mover.select_move(GoGame(5), rng).move for _ in range(200)}
    best = np.zeros(25)
    best[LIKES.argmax()] = 1
    assert seen == {int(transform(best.reshape(5, 5), k).argmax()) for k in range(8)}


def test_it_passes_when_nothing_sensible_is_left() -> None:
    game = GoGame.from_diagram(
        """
        . X X X X
        X X X X X
        X X . X X
        X X X X X
        X X X X X
        """
    )
    assert player().select_move(game, np.random.default_rng(0)).move == PASS


def test_it_answers_a_pass_by_a_pass_if_that_wins_and_plays_on_if_not() -> None:
    won = GoGame.from_diagram(
        """
        . . X . .
        . . X . .
        . . X . .
        . . X . .
        . . X . .
        """,
        -1,
    )
    won.play(PASS)
    assert player().select_move(won, np.random.default_rng(0)).move == PASS
    lost = GoGame(5, komi=-7.5)  # White is behind on the empty board
    lost.play(PASS)
    assert player().select_move(lost, np.random.default_rng(0)).move != PASS


def test_games_that_it_does_not_play_are_refused() -> None:
    with pytest.raises(MiaiError, match="player policy: its network plays on 5×5, not on 7×7"):
        player().new_game(GoGame(7))
    with pytest.raises(MiaiError, match="player policy: it plays go, not tictactoe"):
        player().new_game(start_game({"name": "tictactoe"}))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "network.safetensors"
    save_network(path, SPEC, initial_weights(SPEC, np.random.default_rng(0)), {"task": "sl_policy"})
    return path


@pytest.mark.skipif(not importlib.util.find_spec("openvino"), reason="openvino is missing")
def test_a_file_is_a_player_of_matches(file: Path) -> None:
    options: dict[str, Any] = {"name": "policy", "network": str(file), "temperature": 1.0, "device": "cpu"}
    match = Match((options, {"name": "random"}), {"name": "go", "size": 5, "komi": 0.5}, 4, seed=1)
    summary = MatchSummary.of(play_match(match))
    assert summary.total.num_games == 4
    assert summary.faults == 0
    again = MatchSummary.of(play_match(match))
    assert str(again.total) == str(summary.total)
    build_player(options).close()


def test_it_is_named_after_its_network(file: Path) -> None:
    kind = players.build({"name": "policy", "network": str(file), "temperature": 0.5})
    assert kind.describe_files() == "policy network=sl_policy 1×2, 4 planes temperature=0.5"


def test_a_value_network_is_no_policy(tmp_path: Path) -> None:
    spec = SPEC.with_value_head()
    path = tmp_path / "value.safetensors"
    save_network(path, spec, initial_weights(spec, np.random.default_rng(0)), {})
    if importlib.util.find_spec("torch") or importlib.util.find_spec("openvino"):
        with pytest.raises(MiaiError, match="it is a value network; a policy network is needed"):
            build_player({"name": "policy", "network": str(path)})


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({}, "network: a policy network is needed"),
        ({"network": "x", "temperature": -1.0}, r"player\.temperature: .* not -1.0"),
        ({"network": "x", "symmetry": "some"}, r"player\.symmetry: Input should be"),
        ({"network": "x", "argmax": True}, r"player\.argmax: there is no such option"),
    ],
)
def test_options_that_there_are_not_are_refused(options: dict, complaint: str) -> None:
    with pytest.raises(MiaiError, match=complaint):
        players.build({"name": "policy", **options})
