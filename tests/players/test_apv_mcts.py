"""APV-MCTS as a player: its options, its networks, and whole games."""

from __future__ import annotations

import dataclasses
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from miai.arena import Match, MatchSummary, play_match
from miai.errors import MiaiError
from miai.games.go import GoGame
from miai.games.start import start_game
from miai.networks.rollout_weights import save_rollout
from miai.networks.spec import NetworkSpec
from miai.networks.weights import initial_weights, save_network
from miai.players import Analyst, Budget, build_player, players
from miai.search.puct_config import PuctConfig
from miai.search.rollout_features import NUM_WEIGHTS

GO = {"name": "go", "size": 5}
RUNTIMES = [
    pytest.param(name, marks=pytest.mark.skipif(importlib.util.find_spec(name) is None, reason=f"{name} is missing"))
    for name in ("torch", "openvino")
]


def network(folder: Path, head: str, size: int = 5, **options: object) -> str:
    """Write a tiny network with random weights, and return its path."""
    plain = {"planes": 48 if head == "policy" else 49, "layers": 2, "filters": 4, "value_hidden": 8}
    spec = NetworkSpec(head=head, board_size=size, **{**plain, **options})  # type: ignore[arg-type]
    path = folder / f"{head}{size}.safetensors"
    save_network(path, spec, initial_weights(spec, np.random.default_rng(1)), {})
    return str(path)


def test_defaults_are_the_searchs_own() -> None:
    kind = players.build({"name": "apv_mcts"})
    assert kind.config() == PuctConfig()  # type: ignore[attr-defined]
    own = {field.name for field in dataclasses.fields(kind)}
    assert {field.name for field in dataclasses.fields(PuctConfig)} <= own


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("used", [("policy",), ("value",), ("policy", "value")])
def test_a_game_with_networks(tmp_path: Path, runtime: str, used: tuple[str, ...]) -> None:
    options = {
        "name": "apv_mcts",
        "num_simulations": 20,
        "runtime": runtime,
        "resign_threshold": 0.0,
        **{head: network(tmp_path, head) for head in used},
    }
    match = Match((options, {"name": "random"}), GO, 2, seed=3)
    games = list(play_match(match))
    assert MatchSummary.of(games).faults == 0
    assert all(len(game.moves) <= 75 for game in games)
    assert [game.moves for game in play_match(match)] == [game.moves for game in games]


def test_a_game_with_a_rollout_policy(tmp_path: Path) -> None:
    """It gives the priors where there is no policy network, and draws playouts if it is told to."""
    path = tmp_path / "rollout.safetensors"
    save_rollout(path, np.zeros(NUM_WEIGHTS, np.float32), {})
    for extra in ({}, {"playout": "learned"}):
        options = {"name": "apv_mcts", "num_simulations": 20, "rollout": str(path), **extra}
        kind = players.build(options)
        assert tuple(kind.files()["rollout"])[:2] == (str(path), "rollout.safetensors")
        name = kind.describe_files()
        assert name is not None
        assert name.startswith("apv_mcts rollout=fitted")
        match = Match((options, {"name": "random"}), GO, 2, seed=3)
        assert MatchSummary.of(play_match(match)).faults == 0


def test_playouts_alone_beat_playing_at_random() -> None:
    match = Match(({"name": "apv_mcts", "num_simulations": 100}, {"name": "random"}), GO, 6)
    summary = MatchSummary.of(play_match(match))
    assert summary.total.wins == 6
    assert summary.faults == summary.opponent_faults == 0


def test_budgets_and_what_it_says() -> None:
    player = build_player({"name": "apv_mcts", "num_simulations": 200})
    game, rng = GoGame(size=5), np.random.default_rng(1)
    player.new_game(game)
    assert player.own_budget == Budget(simulations=200)
    decision = player.select_move(game, rng)
    assert decision.info["simulations"] == 200
    assert decision.info["pv"][0] == decision.move
    assert set(decision.info["priors"]) == set(decision.info["visits"])
    assert sum(decision.info["priors"].values()) == pytest.approx(1)
    assert player.select_move(game, rng, Budget(simulations=50)).info["simulations"] == 50
    assert player.select_move(game, rng, Budget(seconds=0.05)).info["seconds"] >= 0.05
    player.close()


def test_analysis_ends_when_it_is_told() -> None:
    player = build_player({"name": "apv_mcts"})
    assert isinstance(player, Analyst)
    seen = []

    def on_progress(decision):
        seen.append(decision.info["simulations"])
        return len(seen) < 3

    decision = player.analyse(GoGame(size=5), np.random.default_rng(1), None, on_progress)
    assert len(seen) == 3
    assert decision.info["simulations"] == seen[-1]


def test_its_networks_are_files_of_runs() -> None:
    files = players.build({"name": "apv_mcts", "policy": "mine/sl", "value": "value"}).files()
    assert {option: (reference.name, reference.artifact) for option, reference in files.items()} == {
        "policy": ("mine/sl", "network.safetensors"),
        "value": ("value", "network.safetensors"),
    }
    assert players.build({"name": "apv_mcts"}).files() == {}


def test_it_is_named_by_its_networks(tmp_path: Path) -> None:
    paths = {head: network(tmp_path, head) for head in ("policy", "value")}
    kind = players.build({"name": "apv_mcts", "seconds": 0.5, "mixing": 0.0, **paths})
    name = kind.describe_files()
    assert name is not None
    assert name.startswith("apv_mcts policy=2×4, 48 planes")
    assert name.endswith("seconds=0.5 mixing=0.0")
    assert str(tmp_path) not in name


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_simulations": None}, "one of them has to be given"),
        ({"playout": "magic"}, "player.playout: .*'pattern' or 'learned', not 'magic'"),
        (
            {"playout": "learned"},
            "player: playout: learned needs rollout, a run of rollout_policy or the path of its file",
        ),
        ({"policy": "a", "rollout": "b"}, "player: rollout: with policy and playout=pattern it has no use"),
        ({"rollout": "/nowhere/rollout.safetensors"}, "no such file"),
        ({"mixing": 2.0}, "player.mixing: "),
        ({"mixing": 0.5}, "mixing: 0.5 needs a value network"),
        ({"policy": "/nowhere/network.safetensors"}, "no such file"),
        ({"symmetry": "all"}, "player.symmetry"),
        ({"c_uct": 0.3}, "player.c_uct: there is no such option"),
    ],
)
def test_options_are_checked(options: dict, message: str) -> None:
    with pytest.raises(MiaiError, match=message):
        build_player({"name": "apv_mcts", **options})


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_networks_that_do_not_fit_are_refused(tmp_path: Path, runtime: str) -> None:
    with pytest.raises(MiaiError, match="it is a value network; a policy network is needed"):
        build_player({"name": "apv_mcts", "runtime": runtime, "policy": network(tmp_path, "value")})
    player = build_player({"name": "apv_mcts", "runtime": runtime, "policy": network(tmp_path, "policy")})
    with pytest.raises(MiaiError, match="its networks are for 5×5 boards, not for 9×9"):
        player.new_game(GoGame(9))
    with pytest.raises(MiaiError, match="it plays Go, not tictactoe"):
        player.new_game(start_game({"name": "tictactoe"}))
