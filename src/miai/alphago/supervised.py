"""The first stage: a policy network learns to predict experts' moves. Needs PyTorch.

Silver et al. (2016), Methods, "Supervised learning of policy networks".

Start reading at `SupervisedTraining.epochs`. Cross-entropy under a softmax over the legal points; passes are left out;
each position comes under a random one of the eight symmetries. An epoch ends with a measurement on the valid split; the
weights of the best one are what the training gives.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import torch

from miai import rng
from miai.alphago.accuracy import predict, predict_both
from miai.alphago.examples import Examples, ShuffledBatches
from miai.alphago.prefetch import prefetched
from miai.alphago.supervised_settings import SupervisedTask
from miai.alphago.training import Learner, policy_loss, with_prefix
from miai.errors import MiaiError
from miai.networks.evaluator import Inference, make_evaluator
from miai.networks.torch_network import find_device
from miai.networks.weights import Network, Weights, check_head, initial_weights
from miai.records.game_set import GameSet

Row = dict[str, float]

BEST = "best/"
COUNTERS = "counters"
"""Names in `SupervisedTraining.state`: the best weights; and, float64[5], steps, epochs, epochs since the best, its
loss, seconds."""
SECONDS_A_MINUTE = 60.0


class SupervisedTraining:
    """A training under way.

    Args:
        game_set: the data.
        init: a network to start from, of the same spec; with `None`, weights are drawn by the seed.
        threads: of the processor, where the settings leave it open.
        clock: seconds from any moment on; only a budget in minutes and the measured speed depend on it.

    Raises:
        MiaiError: the data has no moves of a split, the network to start from is another, or the device is not there.
    """

    def __init__(
        self,
        task: SupervisedTask,
        game_set: GameSet,
        init: Network | None = None,
        threads: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        settings = task.settings
        self.settings = settings
        self.game_set = game_set
        self.spec = task.spec(game_set.board_size)
        self.train = Examples.of(game_set, "train", settings.collections)
        if settings.num_positions is not None:
            self.train = self.train.games_up_to(settings.num_positions, settings.seed)
        self.valid = Examples.of(game_set, "valid", settings.collections).spread(settings.valid_positions)
        self.test_set = Examples.of(game_set, "test").spread(settings.test_positions)
        self._threads = settings.threads or threads
        self._device = find_device(settings.device)
        self.learner = Learner(
            self.spec,
            self._first_weights(init),
            task.optimisation,
            self._device,
            settings.precision,
            self._threads,
        )
        self.best: Weights = self.learner.weights()
        self.best_loss = np.inf
        self.steps = 0
        """Batches learnt."""
        self.num_epochs = 0
        self.since_best = 0
        self.seconds = 0.0
        self._clock = clock
        positions = settings.epoch_positions or len(self.train)
        self.epoch_steps = -(-positions // settings.batch_size)

    def _first_weights(self, init: Network | None) -> Weights:
        if init is None:
            return initial_weights(self.spec, rng.generator(self.settings.seed, "initial weights"))
        check_head("init", init.spec, "policy")
        if init.spec != self.spec:
            raise MiaiError(f"init: it is a network of {init.spec}; the training's is {self.spec}.")
        return init.weights

    @property
    def positions(self) -> int:
        """Positions learnt so far, each as often as it came."""
        return self.steps * self.settings.batch_size

    @property
    def progress(self) -> float:
        """The share of the budget that is used up, 0 to 1."""
        shares = [0.0]
        if self.settings.num_epochs is not None:
            shares.append(self.steps / (self.settings.num_epochs * self.epoch_steps))
        if self.settings.max_minutes is not None:
            shares.append(self.seconds / (self.settings.max_minutes * SECONDS_A_MINUTE))
        return min(max(shares), 1.0)

    @property
    def is_over(self) -> bool:
        return self.progress >= 1.0 or (
            self.settings.patience is not None and self.since_best >= self.settings.patience
        )

    def epochs(self, on_step: Callable[[], None] = lambda: None) -> Iterator[tuple[int, Row]]:
        """Train to the end. After each epoch, yield the positions learnt so far and a row of metrics.

        Args:
            on_step: called after every step.
        """
        while not self.is_over:
            row = self._train_epoch(on_step)
            began = self._clock()
            measured = predict(self._logits, self.valid, self.spec.planes).metrics("valid")
            self.num_epochs += 1
            self.since_best += 1
            if measured["valid/loss"] < self.best_loss:
                self.best_loss, self.best, self.since_best = measured["valid/loss"], self.learner.weights(), 0
            self.seconds += self._clock() - began
            yield self.positions, {**row, **measured}

    def _train_epoch(self, on_step: Callable[[], None]) -> Row:
        settings = self.settings
        batches = ShuffledBatches(self.train, settings.batch_size, self.spec.planes, settings.seed)
        first = self.steps
        before, start = self.seconds, self._clock()
        sums = torch.zeros(3, dtype=torch.float64)
        feed = prefetched(batches.__getitem__, range(first, first + self.epoch_steps))
        try:
            for batch in feed:
                moves = torch.from_numpy(batch.moves).to(self._device)
                logits = self.learner.forward(batch.planes)
                legal = torch.from_numpy(batch.legal).to(self._device)
                loss = policy_loss(logits, moves, legal)
                self.learner.update(loss, self.progress)
                sums += batch_sums(loss, logits, moves, legal)
                self.steps += 1
                self.seconds = before + self._clock() - start
                on_step()
                if self.progress >= 1.0:
                    break
        finally:
            feed.close()
        count = (self.steps - first) * settings.batch_size
        loss, top1, top5 = (sums / count).tolist()
        if not np.isfinite(loss):
            raise MiaiError(
                f"optimisation: the loss is no longer a number after {self.positions:,} positions; "
                "a smaller learning_rate may help."
            )
        return {
            "train/loss": loss,
            "train/top1": top1,
            "train/top5": top5,
            "train/learning_rate": self.learner.optimisation.learning_rate_at(self.progress),
            "train/positions_per_s": count / max(self.seconds - before, 1e-9),
        }

    def _logits(self, planes: np.ndarray) -> np.ndarray:
        return self.learner.forward(planes, training=False).cpu().numpy()

    def test(self, on_positions: Callable[[int], None] = lambda done: None) -> Row:
        """Measure the best weights on the test split: from the board as it is, and averaged over the symmetries."""
        network = Network(self.spec, self.best, {})
        evaluator = make_evaluator(network, Inference(device=self.settings.device, threads=self._threads))
        single, averaged = predict_both(evaluator, self.test_set, self.spec.planes, on_positions=on_positions)
        found = {**single.metrics("test"), **averaged.metrics("test/averaged")}
        collection = self.game_set.collection[self.test_set.game]
        for code, name in enumerate(self.game_set.collections):
            own = np.flatnonzero(collection == code)
            if len(own):
                found |= single.take(own).metrics(f"test/collection/{name}")
                found |= averaged.take(own).metrics(f"test/collection/{name}/averaged")
        return found

    def state(self) -> dict[str, np.ndarray]:
        """Return all that the rest of the training depends on, as arrays by name, between two epochs."""
        counters = (self.steps, self.num_epochs, self.since_best, self.best_loss, self.seconds)
        best = {BEST + name: array for name, array in self.best.items()}
        return {**self.learner.state(), **best, COUNTERS: np.array(counters, np.float64)}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Go on from a state, exactly."""
        self.learner.restore(arrays)
        self.best = with_prefix(arrays, BEST)
        steps, epochs, since_best, self.best_loss, self.seconds = arrays[COUNTERS].tolist()
        self.steps, self.num_epochs, self.since_best = int(steps), int(epochs), int(since_best)


def batch_sums(loss: torch.Tensor, logits: torch.Tensor, moves: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """Return a batch's sums of loss, of moves predicted, and of moves among the first five legal points: float64[3].

    Args:
        loss: the mean over the batch; the others as for `training.policy_loss`.
    """
    count = len(moves)
    with torch.no_grad():
        # What a network says of illegal points is never corrected by the loss, and may be anything.
        ranked = logits.masked_fill(~legal, -torch.inf)
        best = ranked.topk(min(5, logits.shape[1])).indices == moves[:, None]
        return torch.stack([loss.detach() * count, best[:, 0].sum(), best.sum()]).double().cpu()
