"""How well a policy network predicts the experts' moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from miai.alphago.examples import Batch, Examples
from miai.alphago.prefetch import prefetched
from miai.games.go.symmetry import NUM_SYMMETRIES
from miai.networks.policy import masked_softmax, turn_points_back

LogitsOf = Callable[[np.ndarray], np.ndarray]
"""float32[B, P, N, N] planes to float32[B, N²] logits: an `Evaluator`, or a network that is learning."""

BATCH = 256


class Predictions(NamedTuple):
    """What was thought of the expert's move, for each of E positions."""

    probability: np.ndarray
    """float64[E]: of the expert's move, among the legal points."""
    rank: np.ndarray
    """int64[E]: points that were thought more probable (of equals, those before it); 0 is a move predicted."""

    def take(self, chosen: np.ndarray) -> Predictions:
        return Predictions(self.probability[chosen], self.rank[chosen])

    def metrics(self, prefix: str) -> dict[str, float]:
        """Return `<prefix>/loss` (mean of −ln p), `<prefix>/top1` and `<prefix>/top5` (shares of moves)."""
        least = np.finfo(np.float64).tiny  # so that the loss stays finite where p is 0 to the machine
        return {
            f"{prefix}/loss": float(-np.log(np.maximum(self.probability, least)).mean()),
            f"{prefix}/top1": float((self.rank < 1).mean()),
            f"{prefix}/top5": float((self.rank < 5).mean()),
        }


def predict(logits_of: LogitsOf, examples: Examples, num_planes: int) -> Predictions:
    """Predict each expert's move from the board as it is."""
    return predict_both(logits_of, examples, num_planes, (0,))[0]


def predict_both(
    logits_of: LogitsOf,
    examples: Examples,
    num_planes: int,
    symmetries: tuple[int, ...] = tuple(range(NUM_SYMMETRIES)),
    on_positions: Callable[[int], None] = lambda done: None,
) -> tuple[Predictions, Predictions]:
    """Predict each expert's move from the board as it is, and by the mean of the probabilities over symmetries.

    Args:
        symmetries: the first is that of the board as it is, 0.
        on_positions: told after each batch how many positions are done.
    """
    count = len(symmetries)
    size = examples.game_set.board_size
    step = max(BATCH // count, 1)

    def make(start: int) -> Batch:
        chosen = np.repeat(np.arange(start, min(start + step, len(examples))), count)
        turns = np.tile(np.array(symmetries, np.uint8), len(chosen) // count)
        return examples.batch(chosen, turns, num_planes)

    single, averaged = [], []
    for batch in prefetched(make, range(0, len(examples), step)):
        probabilities = masked_softmax(logits_of(batch.planes), batch.legal).reshape(-1, count, size * size)
        moves = batch.moves[::count]
        single.append(_judge(probabilities[:, 0], moves))
        mean = np.mean(
            [turn_points_back(probabilities[:, i], size, symmetry) for i, symmetry in enumerate(symmetries)], axis=0
        )
        averaged.append(_judge(mean, moves))
        on_positions(sum(len(part.rank) for part in single))
    return _join(single), _join(averaged)


def _judge(probabilities: np.ndarray, moves: np.ndarray) -> Predictions:
    """Judge float64[B, N²] by the moves played, int64[B]."""
    own = np.take_along_axis(probabilities, moves[:, None], axis=1)
    before = np.arange(probabilities.shape[1]) < moves[:, None]
    rank = ((probabilities > own) | ((probabilities == own) & before)).sum(axis=1)
    return Predictions(own[:, 0], rank)


def _join(parts: list[Predictions]) -> Predictions:
    return Predictions(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
