"""The value network: what a position is worth, learnt from results (Silver et al., 2016, Methods). Needs PyTorch.

Start reading at `ValueTraining.epochs`. The loss is (z − v)², with z = ±1 the result for the side to move. On this
scale a network that knows nothing has a loss of 1; for results in [0, 1] it would be a quarter of that.

An epoch ends with two measurements of one kind, on training positions and on others: their difference is what was
learnt by heart. The weights with the least error on the valid split are what the training gives.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import torch

from miai import rng
from miai.alphago.examples import ShuffledBatches
from miai.alphago.prefetch import prefetched
from miai.alphago.training import Learner, with_prefix
from miai.alphago.value_examples import ValueExamples
from miai.alphago.value_settings import ValueSettings, ValueTask
from miai.errors import MiaiError
from miai.networks.spec import NetworkSpec
from miai.networks.torch_network import find_device
from miai.networks.weights import Network, Weights, initial_weights

Row = dict[str, float]

BEST = "best/"
COUNTERS = "counters"
"""Names in `ValueTraining.state`: the best weights; and float64[4]: steps, epochs, epochs since the best, its error."""
CHUNK = 512
"""Positions that are evaluated at once."""


class ValueTraining:
    """A training under way.

    Args:
        examples: positions with results, by split.
        init: a network to start from: a policy, whose trunk is taken, or a value network.
        threads: of the processor, where the settings leave it open.

    Raises:
        MiaiError: the network to start from does not fit, or the device is not there.
    """

    def __init__(
        self, task: ValueTask, examples: Mapping[str, ValueExamples], init: Network | None = None, threads: int = 1
    ) -> None:
        settings: ValueSettings = task.settings
        self.settings = settings
        self.train = examples["train"]
        self.train_sample = self.train.spread(settings.valid_positions)
        self.valid = examples["valid"].spread(settings.valid_positions)
        self.test_set = examples["test"].spread(settings.test_positions)
        size = self.train.examples.game_set.board_size
        self.spec = value_spec(task.spec(size), init, size)
        self.threads = settings.threads or threads
        device = find_device(settings.device)
        weights = first_weights(self.spec, init, rng.generator(settings.seed, "initial weights"))
        self.learner = Learner(self.spec, weights, task.optimisation, device, settings.precision, self.threads)
        self.best: Weights = self.learner.weights()
        self.best_mse = np.inf
        self.steps = 0
        self.num_epochs = 0
        self.since_best = 0
        self.epoch_steps = -(-(settings.epoch_positions or len(self.train)) // settings.batch_size)

    @property
    def positions(self) -> int:
        """Positions learnt so far, each as often as it came."""
        return self.steps * self.settings.batch_size

    @property
    def progress(self) -> float:
        """The share of the budget that is used up, 0 to 1."""
        return self.steps / (self.settings.num_epochs * self.epoch_steps)

    @property
    def is_over(self) -> bool:
        patience = self.settings.patience
        return self.num_epochs >= self.settings.num_epochs or (patience is not None and self.since_best >= patience)

    def epochs(self, on_step: Callable[[], None] = lambda: None) -> Iterator[tuple[int, Row]]:
        """Train to the end. After each epoch, yield the positions learnt so far and a row of metrics.

        Args:
            on_step: called after every step.
        """
        while not self.is_over:
            row = self._train_epoch(on_step)
            row["value/mse_train"] = self.mse(self.train_sample)
            row["value/mse_valid"] = self.mse(self.valid)
            row["value/gap"] = row["value/mse_valid"] - row["value/mse_train"]
            self.num_epochs += 1
            self.since_best += 1
            if row["value/mse_valid"] < self.best_mse:
                self.best_mse, self.best, self.since_best = row["value/mse_valid"], self.learner.weights(), 0
            yield self.positions, row

    def _train_epoch(self, on_step: Callable[[], None]) -> Row:
        settings = self.settings
        batches = ShuffledBatches(self.train.examples, settings.batch_size, self.spec.planes, settings.seed)

        def make(k: int) -> tuple[np.ndarray, np.ndarray]:
            chosen, symmetries = batches.draw(k)
            return self.train.planes(chosen, symmetries, self.spec.planes), self.train.results[chosen]

        began, total = time.perf_counter(), 0.0
        feed = prefetched(make, range(self.steps, self.steps + self.epoch_steps))
        try:
            for planes, results in feed:
                values = self.learner.forward(planes)
                loss = (torch.from_numpy(results).to(values.device) - values).square().mean()
                self.learner.update(loss, self.progress)
                total += float(loss.detach())
                self.steps += 1
                on_step()
        finally:
            feed.close()
        loss_mean = total / self.epoch_steps
        if not np.isfinite(loss_mean):
            raise MiaiError(
                f"optimisation: the loss is no longer a number after {self.positions:,} positions; "
                "a smaller learning_rate may help."
            )
        seconds = time.perf_counter() - began
        return {
            "train/loss": loss_mean,
            "train/learning_rate": self.learner.optimisation.learning_rate_at(self.progress),
            "train/positions_per_s": self.epoch_steps * settings.batch_size / seconds,
        }

    def mse(self, examples: ValueExamples) -> float:
        """Return the mean of (z − v)² of the weights as they are now."""
        found = predict(lambda planes: self.learner.forward(planes, training=False).cpu().numpy(), examples, self.spec)
        return float(np.square(examples.results - found).mean())

    def state(self) -> dict[str, np.ndarray]:
        """Return all that the rest of the training depends on, as arrays by name, between two epochs."""
        counters = np.array((self.steps, self.num_epochs, self.since_best, self.best_mse), np.float64)
        return {**self.learner.state(), **{BEST + name: array for name, array in self.best.items()}, COUNTERS: counters}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Go on from a state, exactly."""
        self.learner.restore(arrays)
        self.best = with_prefix(arrays, BEST)
        steps, epochs, since_best, self.best_mse = arrays[COUNTERS].tolist()
        self.steps, self.num_epochs, self.since_best = int(steps), int(epochs), int(since_best)


def predict(evaluate: Callable[[np.ndarray], np.ndarray], examples: ValueExamples, spec: NetworkSpec) -> np.ndarray:
    """Return v of each position, float32[E], the board as it is."""
    found = np.empty(len(examples), np.float32)
    for start in range(0, len(examples), CHUNK):
        rows = slice(start, min(start + CHUNK, len(examples)))
        same = np.zeros(rows.stop - rows.start, np.uint8)
        found[rows] = evaluate(examples.planes(rows, same, spec.planes))
    return found


def value_spec(described: NetworkSpec, init: Network | None, size: int) -> NetworkSpec:
    """Return the value network's spec: as described, or with the trunk of the network to start from.

    Raises:
        MiaiError: the network to start from is of another board.
    """
    if init is None:
        return described
    if init.spec.board_size != size:
        side = init.spec.board_size
        raise MiaiError(f"init: it is a network of the {side}×{side} board; one of {size}×{size} is needed.")
    return init.spec if init.spec.head == "value" else init.spec.with_value_head()


def first_weights(spec: NetworkSpec, init: Network | None, random: np.random.Generator) -> Weights:
    """Return the weights to begin with: drawn, or with the trunk of a policy, or a value network's.

    The plane that a policy does not have, the colour to play, begins with weights of 0: the trunk sees what it saw.
    """
    weights = initial_weights(spec, random)
    if init is None:
        return weights
    for name, array in init.weights.items():
        if name not in weights:
            continue  # the policy's head
        if array.shape == weights[name].shape:
            weights[name] = np.array(array)
        else:
            weights[name][:] = 0
            weights[name][:, : array.shape[1]] = array
    return weights
