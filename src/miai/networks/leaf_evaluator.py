"""The networks of a search: leaves of its tree go in by the batch, priors and values come out."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from miai.errors import MiaiError, choose
from miai.games.go.boards import Boards
from miai.games.go.symmetry import NUM_SYMMETRIES, permutation
from miai.networks.evaluator import FULL_PRECISION, Evaluator, Inference, load_evaluator
from miai.networks.features import encode_boards, new_scratch
from miai.networks.weights import check_head
from miai.search.puct import ASK_PRIORS, ASK_VALUE

SYMMETRIES = ("random", "average", "none")


class NetworkLeaves:
    """A policy network, a value network, or both, as `search.puct_config.LeafEvaluator` wants them.

    Silver et al. (2016), Methods, "Symmetries": a network is asked about a position turned by one of the eight
    symmetries, drawn anew each time (`random`), or about all eight (`average`): values are averaged then, and so are
    logits, which makes the priors the geometric mean of the eight. `none` asks about the position as it is.

    Args:
        policy, value: at least one.
        symmetry: one of `SYMMETRIES`.

    Raises:
        ValueError: there is no network, or one has the other's head.
        MiaiError: no such symmetry, or the networks are for boards of two sizes.
    """

    def __init__(self, policy: Evaluator | None, value: Evaluator | None, symmetry: str = "random") -> None:
        networks = [network for network in (policy, value) if network is not None]
        if not networks:
            raise ValueError("a policy network or a value network is needed")
        for network, head in ((policy, "policy"), (value, "value")):
            if network is not None and network.spec.head != head:
                raise ValueError(f"{head}: a network with that head is needed, not with {network.spec.head!r}")
        sizes = {network.spec.board_size for network in networks}
        if len(sizes) > 1:
            assert policy is not None
            assert value is not None
            raise MiaiError(
                f"value: this network is for boards of size {value.spec.board_size}, "
                f"but the policy network for size {policy.spec.board_size}."
            )
        self.symmetry = choose(symmetry, SYMMETRIES, "symmetry")
        self.board_size = sizes.pop()
        self.gives_priors = policy is not None
        self.gives_values = value is not None
        self._policy = policy
        self._value = value
        # A smaller set of planes is the beginning of a larger one, so one encoding serves both networks.
        self._num_planes = max(network.spec.planes for network in networks)
        self._scratch = new_scratch(self.board_size)
        self._back = np.stack([permutation(self.board_size, k) for k in range(NUM_SYMMETRIES)])
        self._planes = np.empty((0, self._num_planes, self.board_size, self.board_size), np.float32)

    def evaluate(
        self,
        boards: Boards,
        count: int,
        asks: np.ndarray,
        rng: np.random.Generator,
        logits: np.ndarray,
        values: np.ndarray,
    ) -> None:
        """Look at the first `count` boards, as `LeafEvaluator` says."""
        turns = self._draw(count, rng)
        planes = self._encode(boards, count, turns)
        if self._policy is not None:
            rows = np.flatnonzero(asks & ASK_PRIORS)
            if len(rows):
                answers = self._policy(self._of(planes, rows, count, self._policy)).reshape(len(turns), len(rows), -1)
                # The point i of the board is the point back[i] of the turned one.
                back = self._back[turns[:, rows]]
                logits[rows] = np.take_along_axis(answers, back, axis=2).mean(axis=0)
        if self._value is not None:
            rows = np.flatnonzero(asks & ASK_VALUE)
            if len(rows):
                found = self._value(self._of(planes, rows, count, self._value)).reshape(len(turns), len(rows))
                values[rows] = found.mean(axis=0)

    def _draw(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Return the symmetries to ask with, uint8[1 or 8, count]."""
        if self.symmetry == "average":
            return np.repeat(np.arange(NUM_SYMMETRIES, dtype=np.uint8)[:, None], count, axis=1)
        if self.symmetry == "random":
            return rng.integers(0, NUM_SYMMETRIES, (1, count), np.uint8)
        return np.zeros((1, count), np.uint8)

    def _encode(self, boards: Boards, count: int, turns: np.ndarray) -> np.ndarray:
        """Return the planes of every board under each of its symmetries, float32[T, count, P, N, N]."""
        if len(self._planes) < turns.size:
            self._planes = np.empty((turns.size, *self._planes.shape[1:]), np.float32)
        planes = self._planes[: turns.size].reshape(len(turns), count, *self._planes.shape[1:])
        for out, symmetries in zip(planes, turns, strict=True):
            encode_boards(boards, count, self._num_planes, symmetries, out, scratch=self._scratch)
        return planes

    @staticmethod
    def _of(planes: np.ndarray, rows: np.ndarray, count: int, network: Evaluator) -> np.ndarray:
        """Return what a network is to see, float32[T · rows, P, N, N], contiguous."""
        asked = planes if len(rows) == count else planes[:, rows]
        asked = asked[:, :, : network.spec.planes]
        return np.ascontiguousarray(asked.reshape(-1, *asked.shape[2:]))


def load_leaves(
    policy: str | Path | None,
    value: str | Path | None,
    symmetry: str = "random",
    inference: Inference = FULL_PRECISION,
) -> NetworkLeaves | None:
    """Load the networks of a search from their files; without any, return `None`.

    Raises:
        MiaiError: a file is not the network that is needed, the two do not fit together, or the runtime is not there.
    """
    loaded: dict[str, Evaluator | None] = {"policy": None, "value": None}
    for head, path in (("policy", policy), ("value", value)):
        if path is not None:
            network = load_evaluator(path, inference)
            check_head(path, network.spec, head)
            loaded[head] = network
    if policy is None and value is None:
        return None
    return NetworkLeaves(loaded["policy"], loaded["value"], symmetry)
