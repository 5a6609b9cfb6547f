"""A policy network that plays without a search: the most probable move, or one drawn by the probabilities."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.errors import MiaiError
from miai.games.game import PASS, Game
from miai.games.go import GoGame
from miai.kinds import STRICT
from miai.players.player import OWN_BUDGET, Budget, Decision, PlayerKind, name_player
from miai.references import Reference

if TYPE_CHECKING:
    from miai.networks.leaf_evaluator import NetworkLeaves


class PolicyNetworkPlayer:
    """Plays by the probabilities of a policy network over the sensible points: legal, and no eye of its own filled.

    It passes where `search.passing.must_pass` says so, and where no sensible point is left; the network knows no pass.

    Args:
        network: with a policy.
        temperature: from 0. At 0 the most probable move is played, else one is drawn, with chances ∝ p^(1/temperature).
    """

    def __init__(self, network: NetworkLeaves, temperature: float = 0.0) -> None:
        from miai.games.go.boards import new_boards

        self.name = "policy"
        self.own_budget = OWN_BUDGET
        self._network = network
        self._temperature = temperature
        self._boards = new_boards(1, network.board_size)
        self._logits = np.zeros((1, network.board_size**2), np.float32)

    def new_game(self, game: Game) -> None:
        if not isinstance(game, GoGame):
            raise MiaiError(f"player {self.name}: it plays go, not {game.name}.")
        if game.size != self._network.board_size:
            side = self._network.board_size
            raise MiaiError(f"player {self.name}: its network plays on {side}×{side}, not on {game.size}×{game.size}.")

    def select_move(self, game: Game, rng: np.random.Generator, budget: Budget = OWN_BUDGET) -> Decision:
        from miai.networks.policy import masked_softmax, sample, sensible_points
        from miai.search.passing import must_pass

        assert isinstance(game, GoGame)
        if must_pass(game):
            return Decision(PASS)
        allowed = sensible_points(game)[None]
        if not allowed.any():
            return Decision(PASS)
        logits = self._ask(game, rng)
        move = sample(masked_softmax(logits, allowed, self._temperature), rng.random(1))[0]
        probabilities = masked_softmax(logits, allowed)[0]
        priors = {int(point): float(probabilities[point]) for point in np.flatnonzero(allowed[0])}
        return Decision(int(move), {"priors": priors})

    def _ask(self, game: GoGame, rng: np.random.Generator) -> np.ndarray:
        from miai.games.go.boards import from_game
        from miai.search.puct import ASK_PRIORS

        from_game(self._boards, 0, game)
        asks = np.array([ASK_PRIORS], np.uint8)
        self._network.evaluate(self._boards, 1, asks, rng, self._logits, np.zeros(1, np.float32))
        return self._logits

    def close(self) -> None:
        """Hold nothing outside."""


@dataclass(config=STRICT, kw_only=True)
class Policy(PlayerKind):
    """A policy network, without a search."""

    network: str | None = None
    """A run, or the path of a `network.safetensors`."""
    temperature: Annotated[float, Field(ge=0, le=100)] = 0.0
    """0 plays the most probable move; 1 draws by the network's probabilities."""
    symmetry: Literal["random", "average", "none"] = "random"
    """How the network is asked: turned at random, in all eight turns, or as it is."""
    runtime: Literal["auto", "torch", "openvino"] = "auto"
    """What evaluates it."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Of the convolutions."""
    threads: Annotated[int, Field(ge=1, le=256)] = 1
    """Of the processor."""

    def __post_init__(self) -> None:
        if self.network is None:
            raise ValueError("network: a policy network is needed, a run of the store or the path of its file")

    def files(self) -> dict[str, Reference]:
        from miai.networks.weights import NETWORK_FILE

        assert self.network is not None
        return {"network": Reference(self.network, NETWORK_FILE)}

    def describe_files(self) -> str:
        """Name the player by what made its network and by its options, such as `policy network=sl_policy 6×64, …`."""
        from miai.networks.weights import load_network

        assert self.network is not None
        network = load_network(self.network)
        made_by = str(network.meta.get("task", "")).strip()
        described = f"{made_by} {network.spec.describe()}".strip()
        return name_player({"name": "policy", **dataclasses.asdict(self), "network": described})

    def build(self) -> PolicyNetworkPlayer:
        """Load the network; the option is a path by now."""
        from miai.networks.evaluator import Inference
        from miai.networks.leaf_evaluator import load_leaves

        inference = Inference(self.runtime, self.device, self.precision, self.threads)
        network = load_leaves(self.network, None, self.symmetry, inference)
        assert network is not None
        return PolicyNetworkPlayer(network, self.temperature)


KIND = Policy
