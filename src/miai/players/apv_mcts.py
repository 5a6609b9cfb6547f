"""APV-MCTS, the search of AlphaGo: PUCT with a policy network, a value network and playouts, or any of them alone."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.kinds import STRICT
from miai.players.player import PlayerKind, name_player
from miai.players.searching import SearchPlayer
from miai.references import Reference

if TYPE_CHECKING:
    from miai.search.puct_config import PuctConfig
    from miai.search.rollouts import RolloutPolicy


@dataclass(config=STRICT, kw_only=True)
class ApvMcts(PlayerKind):
    """Options of the search; `miai.search.puct_config.PuctConfig` says what they mean and which go together."""

    policy: str | None = None
    """The policy network that gives the priors: a run, or the path of a file; none takes `rollout`, or all as equal."""
    value: str | None = None
    """The value network: a run, or the path of a file."""
    rollout: str | None = None
    """The fitted policy of learned playouts, and of priors without a policy network: a run, or the path of a file."""
    num_simulations: Annotated[int, Field(ge=1)] | None = 400
    """Simulations a move."""
    seconds: Annotated[float, Field(gt=0)] | None = None
    """Seconds a move; with `num_simulations` too, whichever ends first."""
    mixing: Annotated[float, Field(ge=0, le=1)] | None = None
    """λ: 0 is the value network alone, 1 playouts alone; none is 0.5 with a value network, 1 without."""
    playout: Literal["uniform", "pattern", "learned"] = "pattern"
    """How games are played to their end: at random; by patterns, captures and escapes; by the fitted policy."""
    num_playouts: Annotated[int, Field(ge=1, le=1000)] = 1
    """Playouts from a leaf."""
    c_puct: Annotated[float, Field(ge=0)] = 5.0
    """Weight of the priors."""
    prior_temperature: Annotated[float, Field(ge=0.01, le=100)] = 1.0
    """Of the softmax that makes priors; above 1 is flatter."""
    fpu: Annotated[float, Field(ge=-1, le=1)] | None = 0.0
    """Q of a move never tried; none is the mean of its node."""
    expand_after: Annotated[int, Field(ge=1)] = 1
    """A leaf gets children with its visit of this number."""
    batch_size: Annotated[int, Field(ge=1, le=1024)] = 8
    """Descents whose leaves are evaluated together."""
    virtual_loss: Annotated[int, Field(ge=0, le=1000)] = 3
    """Lost games that a descent under way counts for."""
    symmetry: Literal["random", "average", "none"] = "random"
    """How networks are asked: turned at random, in all eight turns, or as it is."""
    resign_threshold: Annotated[float, Field(ge=0, lt=1)] = 0.1
    """Resign when the best move wins less often than that; 0 is never."""
    reuse_tree: bool = True
    """Keep what was learnt about the moves that were then played."""
    max_edges: Annotated[int, Field(ge=1000, lt=2**32)] = 4_000_000
    """Bound on the tree."""
    runtime: Literal["auto", "torch", "openvino"] = "auto"
    """What evaluates the networks."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Of the convolutions."""
    threads: Annotated[int, Field(ge=1, le=256)] = 1
    """Of the processor, for the networks."""

    def __post_init__(self) -> None:
        if self.playout == "learned" and self.rollout is None:
            raise ValueError("playout: learned needs rollout, a run of rollout_policy or the path of its file")
        if self.rollout is not None and self.policy is not None and self.playout != "learned":
            raise ValueError(f"rollout: with policy and playout={self.playout} it has no use; playout=learned has")

    def files(self) -> dict[str, Reference]:
        from miai.networks.rollout_weights import ROLLOUT_FILE
        from miai.networks.weights import NETWORK_FILE

        artifacts = {"policy": NETWORK_FILE, "value": NETWORK_FILE, "rollout": ROLLOUT_FILE}
        return {
            option: Reference(name, artifact)
            for option, artifact in artifacts.items()
            if (name := getattr(self, option)) is not None
        }

    def describe_files(self) -> str | None:
        """Name the player by what it is made of, such as `policy=6×64, 48 planes`, and by its options."""
        if not self.files():
            return None
        from miai.networks.rollout_weights import load_rollout
        from miai.networks.weights import load_network

        made_of = {}
        for option in self.files():
            path = getattr(self, option)
            if option == "rollout":
                load_rollout(path)
                made_of[option] = "fitted"
            else:
                made_of[option] = load_network(path).spec.describe()
        return name_player({"name": "apv_mcts", **dataclasses.asdict(self), **made_of})

    def build(self) -> SearchPlayer:
        """Load what the player is made of; the options are paths by now."""
        from miai.networks.evaluator import Inference
        from miai.networks.leaf_evaluator import load_leaves
        from miai.networks.rollout_weights import load_rollout
        from miai.search.puct_searcher import PuctSearcher  # its kernels take a moment to load

        rollout = None if self.rollout is None else load_rollout(self.rollout).policy()
        inference = Inference(self.runtime, self.device, self.precision, self.threads)
        leaves = load_leaves(self.policy, self.value, self.symmetry, inference)
        return SearchPlayer("apv_mcts", PuctSearcher(self.config(rollout), leaves))

    def config(self, rollout: RolloutPolicy | None = None) -> PuctConfig:
        """Return the options of the search itself, with the policy that `rollout` names."""
        from miai.search.puct_config import PuctConfig

        return PuctConfig(
            num_simulations=self.num_simulations,
            seconds=self.seconds,
            batch_size=self.batch_size,
            c_puct=self.c_puct,
            mixing=self.mixing,
            playout=self.playout,
            num_playouts=self.num_playouts,
            rollout=rollout,
            prior_temperature=self.prior_temperature,
            virtual_loss=self.virtual_loss,
            expand_after=self.expand_after,
            fpu=self.fpu,
            resign_threshold=self.resign_threshold,
            reuse_tree=self.reuse_tree,
            max_edges=self.max_edges,
        )


KIND = ApvMcts
