"""What a search may be told, and what it answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from miai.errors import MiaiError, choose
from miai.search.rollouts import RolloutPolicy
from miai.search.selection import BY_UCB, EVENLY, Rule
from miai.search.tree import BYTES_PER_EDGE

ALGORITHMS = ("flat_mc", "ucb", "uct")
PLAYOUTS = ("uniform", "pattern", "learned")
C_UCT = 0.3


def _require(holds: bool, option: str, value: object, allowed: str) -> None:
    if not holds:
        raise MiaiError(f"{option}: {value!r} is not allowed; allowed: {allowed}.")


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """Options of a search.

    Attributes:
        algorithm: `flat_mc` gives every move the same number of playouts and plays the best mean; `ucb` chooses the
            move to sample by UCB and plays the most visited; `uct` does so at every node of a growing tree.
        num_simulations: simulations a move, over all threads together. The result depends on nothing else then: the
            same seed gives the same search, bit for bit.
        seconds: time a move, if `num_simulations` is `None`; the first of the two if both are given.
        c_uct: C in µ_i + C·√(ln p / p_i), of `ucb` and `uct`; `None` is 0.3, or 0 with `rave`, which explores by itself
            (with both, UCT is much weaker).
        rave: mix in the means of all moves as first (`uct` only).
        rave_equivalence: visits at which a move's own mean begins to outweigh a well-founded RAVE mean.
        priors: begin each move with virtual playouts from patterns, captures and the distance to the last move (`uct`
            on Go only).
        fpu: value of a move never tried (first-play urgency); `None` tries every move once before any a second time.
        playout: `uniform`; `pattern`: answers to atari and 3×3 patterns near the last move first; `learned`: drawn from
            the policy `rollout` (the last two on Go only).
        rollout: the policy of learned playouts.
        threads: trees that grow side by side and are added up at the end (root parallelism).
        expand_after: visits after which a leaf gets children.
        reuse_tree: keep the part of the tree that the game went into.
        resign_threshold: resign if the best move's value is below; 0 never does (Go only).
        max_edges: bound on the edges of each thread's tree, 36 bytes each.

    Raises:
        MiaiError: a value is not allowed, or two do not go together.
    """

    algorithm: str = "uct"
    num_simulations: int | None = 1000
    seconds: float | None = None
    c_uct: float | None = None
    rave: bool = False
    rave_equivalence: float = 1000.0
    priors: bool = False
    fpu: float | None = None
    playout: str = "uniform"
    rollout: RolloutPolicy | None = field(default=None, repr=False, compare=False)
    threads: int = 1
    expand_after: int = 1
    reuse_tree: bool = True
    resign_threshold: float = 0.0
    max_edges: int = 4_000_000

    def __post_init__(self) -> None:
        choose(self.algorithm, ALGORITHMS, "algorithm")
        choose(self.playout, PLAYOUTS, "playout")
        if (self.playout == "learned") != (self.rollout is not None):
            raise MiaiError("playout: learned needs a rollout policy, and no other takes one.")
        if self.num_simulations is None and self.seconds is None:
            raise MiaiError("num_simulations and seconds: one of them has to be given.")
        if self.num_simulations is not None:
            _require(self.num_simulations >= 1, "num_simulations", self.num_simulations, "1 or more")
        if self.seconds is not None:
            _require(0 < self.seconds < math.inf, "seconds", self.seconds, "more than 0")
        if self.c_uct is not None:
            _require(0 <= self.c_uct < math.inf, "c_uct", self.c_uct, "0 or more")
        _require(0 < self.rave_equivalence < math.inf, "rave_equivalence", self.rave_equivalence, "more than 0")
        if self.fpu is not None:
            _require(math.isfinite(self.fpu), "fpu", self.fpu, "a finite number, or none")
        _require(1 <= self.threads <= 256, "threads", self.threads, "1 to 256")
        _require(self.expand_after >= 1, "expand_after", self.expand_after, "1 or more")
        _require(0 <= self.resign_threshold < 1, "resign_threshold", self.resign_threshold, "from 0, below 1")
        _require(1000 <= self.max_edges < 2**32, "max_edges", self.max_edges, "1000 to 4294967295")
        for option in ("rave", "priors"):
            if getattr(self, option) and self.algorithm != "uct":
                raise MiaiError(f"{option}: needs algorithm=uct, not {self.algorithm}.")

    @property
    def exploration(self) -> float:
        """C, with its default filled in."""
        if self.c_uct is None:
            return 0.0 if self.rave else C_UCT
        return float(self.c_uct)

    @property
    def max_bytes(self) -> int:
        """The most memory that the trees of this search take."""
        return self.threads * self.max_edges * BYTES_PER_EDGE

    def rule(self) -> Rule:
        """Return the options that selection works with."""
        return Rule(
            code=EVENLY if self.algorithm == "flat_mc" else BY_UCB,
            max_depth=2**31 if self.algorithm == "uct" else 1,
            expand_after=self.expand_after,
            c_uct=self.exploration,
            fpu=math.inf if self.fpu is None else float(self.fpu),
            rave=bool(self.rave),
            rave_equivalence=float(self.rave_equivalence),
            priors=bool(self.priors),
        )


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    Attributes:
        move: the move to play, `PASS` or `RESIGN`.
        value: the mover's win rate (draws count half) after the best move, in [0, 1]; ½ if nothing was searched.
        visits: simulations through each move of the root (with those kept from earlier searches).
        values: the mover's win rate of each move that was visited.
        pv: the principal variation: the moves expected to follow, the best first.
        simulations: simulations run by this search.
        seconds: how long it took.
    """

    move: int
    value: float = 0.5
    visits: dict[int, int] = field(default_factory=dict)
    values: dict[int, float] = field(default_factory=dict)
    pv: tuple[int, ...] = ()
    simulations: int = 0
    seconds: float = 0.0
