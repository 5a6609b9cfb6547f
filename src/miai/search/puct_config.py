"""What a search by PUCT may be told, what it answers, and what it asks of networks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from miai.errors import MiaiError, choose
from miai.games.go.boards import Boards
from miai.search.config import PLAYOUTS, SearchResult
from miai.search.playouts import LEARNED, PATTERN, UNIFORM
from miai.search.puct import BY_NETWORK, BY_ROLLOUT, EVENLY, PuctRule
from miai.search.rollouts import RolloutPolicy

MIXING = 0.5


class LeafEvaluator(Protocol):
    """Networks, as a search sees them: both or one of them, for boards of one size.

    Attributes:
        board_size: of the networks.
        gives_priors: whether there is a policy network.
        gives_values: whether there is a value network.
    """

    board_size: int
    gives_priors: bool
    gives_values: bool

    def evaluate(
        self,
        boards: Boards,
        count: int,
        asks: np.ndarray,
        rng: np.random.Generator,
        logits: np.ndarray,
        values: np.ndarray,
    ) -> None:
        """Look at the first `count` boards, at least one; `logits` and `values` are modified in place.

        Args:
            boards: read only.
            asks: uint8[count]: `puct.ASK_PRIORS` and `puct.ASK_VALUE`, added up. What is not asked need not be written.
            rng: for random symmetries, and nothing else.
            logits: float32[count, N²], of the policy, by flat index; any number where a move is not legal.
            values: float32[count], in [−1, 1], from the side of whoever is to move.
        """
        ...


def _require(holds: bool, option: str, value: object, allowed: str) -> None:
    if not holds:
        raise MiaiError(f"{option}: {value!r} is not allowed; allowed: {allowed}.")


@dataclass(frozen=True, kw_only=True)
class PuctConfig:
    """Options of a search by PUCT. Results are counted from −1 to 1, as the paper does.

    Attributes:
        num_simulations: simulations a move. On one thread the result depends on nothing else: the same seed gives the
            same search, bit for bit.
        seconds: time a move, if `num_simulations` is `None`; the first of the two if both are given.
        batch_size: descents whose leaves are evaluated together.
        c_puct: weight of the priors.
        mixing: λ in (1 − λ)·v + λ·z: 0 is the value network alone, 1 playouts alone; `None` is 0.5 if there is a value
            network, else 1.
        playout: `uniform`; `pattern`: answers to atari and 3×3 patterns near the last move first; `learned`: drawn from
            the policy `rollout`.
        num_playouts: playouts from a leaf, whose mean is z. The paper has 1; next to a slow network, more cost little.
        rollout: the policy of learned playouts; where there is no policy network, priors come from it too.
        prior_temperature: of the softmax that makes priors of a policy's logits; above 1 is flatter.
        virtual_loss: lost games that a descent under way counts for.
        expand_after: with its visit of this number a leaf gets children.
        fpu: Q of a move never tried, from −1 to 1, for the mover; `None` is the mean of the node.
        resign_threshold: resign if the best move's chance to win is below (the paper's −0.8 is 0.1); 0 never does.
        reuse_tree: keep the part of the tree that the game went into.
        max_edges: bound on the edges of the tree, 32 bytes each.

    Raises:
        MiaiError: a value is not allowed.
    """

    num_simulations: int | None = 400
    seconds: float | None = None
    batch_size: int = 8
    c_puct: float = 5.0
    mixing: float | None = None
    playout: str = "pattern"
    num_playouts: int = 1
    rollout: RolloutPolicy | None = field(default=None, repr=False, compare=False)
    prior_temperature: float = 1.0
    virtual_loss: int = 3
    expand_after: int = 1
    fpu: float | None = 0.0
    resign_threshold: float = 0.1
    reuse_tree: bool = True
    max_edges: int = 4_000_000

    def __post_init__(self) -> None:
        choose(self.playout, PLAYOUTS, "playout")
        if self.playout == "learned" and self.rollout is None:
            raise MiaiError("playout: learned needs a rollout policy.")
        if self.num_simulations is None and self.seconds is None:
            raise MiaiError("num_simulations and seconds: one of them has to be given.")
        if self.num_simulations is not None:
            _require(self.num_simulations >= 1, "num_simulations", self.num_simulations, "1 or more")
        if self.seconds is not None:
            _require(0 < self.seconds < math.inf, "seconds", self.seconds, "more than 0")
        _require(1 <= self.batch_size <= 1024, "batch_size", self.batch_size, "1 to 1024")
        _require(0 <= self.c_puct < math.inf, "c_puct", self.c_puct, "0 or more")
        if self.mixing is not None:
            _require(0 <= self.mixing <= 1, "mixing", self.mixing, "0 to 1")
        _require(1 <= self.num_playouts <= 1000, "num_playouts", self.num_playouts, "1 to 1000")
        _require(0.01 <= self.prior_temperature <= 100, "prior_temperature", self.prior_temperature, "0.01 to 100")
        _require(0 <= self.virtual_loss <= 1000, "virtual_loss", self.virtual_loss, "0 to 1000")
        _require(self.expand_after >= 1, "expand_after", self.expand_after, "1 or more")
        if self.fpu is not None:
            _require(-1 <= self.fpu <= 1, "fpu", self.fpu, "-1 to 1, or none")
        _require(0 <= self.resign_threshold < 1, "resign_threshold", self.resign_threshold, "from 0, below 1")
        _require(1000 <= self.max_edges < 2**32, "max_edges", self.max_edges, "1000 to 4294967295")

    def rule(self, gives_priors: bool, gives_values: bool) -> PuctRule:
        """Return the options that the kernels work with, for the networks that there are.

        Raises:
            MiaiError: the value network is to be heard, and there is none; or nothing has a use for the rollout policy.
        """
        if self.rollout is not None and gives_priors and self.playout != "learned":
            raise MiaiError(
                f"rollout: with a policy network and playout={self.playout} it has no use; playout=learned has."
            )
        mixing = self.mixing
        if mixing is None:
            mixing = MIXING if gives_values else 1.0
        if mixing < 1 and not gives_values:
            raise MiaiError(f"mixing: {mixing!r} needs a value network; without one only 1 is allowed.")
        return PuctRule(
            c_puct=float(self.c_puct),
            fpu=0.0 if self.fpu is None else float(self.fpu),
            fpu_is_mean=self.fpu is None,
            virtual_loss=int(self.virtual_loss),
            mixing=float(mixing),
            expand_after=int(self.expand_after),
            priors=BY_NETWORK if gives_priors else EVENLY if self.rollout is None else BY_ROLLOUT,
            temperature=float(self.prior_temperature),
            playout={"uniform": UNIFORM, "pattern": PATTERN, "learned": LEARNED}[self.playout],
            num_playouts=int(self.num_playouts),
        )


@dataclass(frozen=True)
class PuctResult(SearchResult):
    """What a search by PUCT found; values are chances to win, (1 + Q) / 2.

    Attributes:
        priors: P of each move of the root.
        phases: seconds spent on the tree (descents, expansion, backup), on networks (with features), on playouts.
    """

    priors: dict[int, float] = field(default_factory=dict)
    phases: dict[str, float] = field(default_factory=dict)
