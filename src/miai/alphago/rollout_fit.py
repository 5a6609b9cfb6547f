"""The fit of the rollout policy to recorded moves: maximum likelihood, by mini-batches of whole games.

Start reading at `RolloutFit`. The loss is −log p(the move that was played), a mean over positions, plus half of `l2`
times the squared weights; it is convex. Steps are Adam's (Kingma and Ba, 2015), their size falls linearly to 0 over the
epochs. The weights kept are those of the epoch with the smallest loss on the valid split.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.compiled import Index, Number, kernel
from miai.errors import MiaiError
from miai.games.game import FIRST
from miai.games.go.board import (
    BEFORE_LAST,
    BLACK,
    BOTH,
    CELLS,
    COLOUR,
    EMPTY,
    KO,
    LAST,
    NO_POINT,
    PASS_POINT,
    POINTS,
    WHITE,
    clear,
    is_sensible,
    play,
    point_of,
)
from miai.kinds import STRICT, validate
from miai.records.game_set import TEST, TRAIN, VALID, GameSet
from miai.rng import generator
from miai.search.rollout_features import (
    MAX_ANSWERS,
    MAX_FEATURES,
    MAX_SELF_ATARI,
    MIN_SELF_ATARI,
    NUM_WEIGHTS,
    SECTIONS,
    SELF_ATARI,
    find_answers,
    is_answerable,
    list_features,
    pattern_classes,
    response_classes,
)
from miai.search.rollouts import MAX_SCORE

FIRST_DECAY, SECOND_DECAY, TINY = 0.9, 0.999, 1e-8
"""β1, β2 and ε of Adam."""

POSITIONS, LOSS, CANDIDATES, HITS = 0, 1, 2, 3
"""What `_go_through` counts: positions with a move to learn, the sum of −log p over those where that move is sensible,
their number, and the positions whose likeliest move (of equals the first in the board's order) was played."""

_SOUND = -1


@dataclass(config=STRICT, kw_only=True)
class RolloutSettings:
    """Options of the task `rollout_policy`; `conf/rollout_policy.yaml` says what they mean."""

    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    data: Annotated[str, Field(min_length=1)]
    collections: tuple[str, ...] | None = None
    num_epochs: Annotated[int, Field(ge=1)] = 5
    epoch_games: Annotated[int, Field(ge=1)] | None = None
    batch_games: Annotated[int, Field(ge=1)] = 16
    learning_rate: Annotated[float, Field(gt=0, le=1)] = 0.02
    l2: Annotated[float, Field(ge=0)] = 1e-6
    patience: Annotated[int, Field(ge=1)] | None = 2

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> RolloutSettings:
        """Take the options from a run's configuration. Raises `MiaiError` for what is not allowed."""
        own = {name: config[name] for name in cls.__dataclass_fields__}
        if isinstance(own["collections"], list):
            own["collections"] = tuple(own["collections"])
        return validate(cls, own, "")


class Measured(NamedTuple):
    """How well a policy predicts."""

    loss: float
    """Mean of −log p in nats, over positions where the move that was played is a sensible one; others have no p."""
    top1: float
    """Share of all positions whose likeliest move was played."""
    positions: int

    @classmethod
    def of(cls, counts: np.ndarray) -> Measured:
        """Make it of what `_go_through` counted."""
        return cls(
            float(counts[LOSS] / max(counts[CANDIDATES], 1)),
            float(counts[HITS] / max(counts[POSITIONS], 1)),
            int(counts[POSITIONS]),
        )

    def metrics(self, prefix: str) -> dict[str, float]:
        """Return them by their paths."""
        return {f"{prefix}/loss": self.loss, f"{prefix}/top1": self.top1}


class RolloutFit:
    """A fit under way. All that it will do follows from its settings and its state.

    Args:
        settings: see there.
        games: the set; positions of openings and passes are not learnt.

    Attributes:
        weights: float64[NUM_WEIGHTS], as they are now.
        best: those of the epoch with the smallest loss on the valid split; of the last one if that split is empty.
        best_loss: that loss.
        epoch: epochs done.
        positions: positions learnt from.
        seconds: time that the epochs took, measurements aside.

    Raises:
        MiaiError: there are no games to learn from, or no such collection.
    """

    def __init__(self, settings: RolloutSettings, games: GameSet) -> None:
        self.settings = settings
        self.games = games
        self.numbers = games.games(TRAIN, settings.collections)
        if not len(self.numbers):
            raise MiaiError("data: there are no games to learn from in its train split.")
        self.valid = games.games(VALID, settings.collections)
        self._reader = _Reader(games)
        self.weights = np.zeros(NUM_WEIGHTS)
        self.best = self.weights
        self.best_loss = np.inf
        self.epoch, self.positions, self.seconds = 0, 0, 0.0
        self._since_best = 0
        self._mean = np.zeros(NUM_WEIGHTS)
        self._square = np.zeros(NUM_WEIGHTS)
        self._steps = 0

    def state(self) -> dict[str, np.ndarray]:
        """Return all that changes, by name."""
        return {
            "weights": self.weights,
            "best": self.best,
            "mean": self._mean,
            "square": self._square,
            "counters": np.array([self.epoch, self.positions, self._since_best, self._steps]),
            "numbers": np.array([self.best_loss, self.seconds]),
        }

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from what `state` returned."""
        self.weights, self.best = state["weights"].copy(), state["best"].copy()
        self._mean, self._square = state["mean"].copy(), state["square"].copy()
        self.epoch, self.positions, self._since_best, self._steps = state["counters"].tolist()
        self.best_loss, self.seconds = state["numbers"].tolist()

    @property
    def is_done(self) -> bool:
        patience = self.settings.patience
        return self.epoch >= self.settings.num_epochs or (patience is not None and self._since_best >= patience)

    def epochs(self, on_step: Callable[[float], object] = lambda done: None) -> Iterator[dict[str, float]]:
        """Fit, and give the metrics of each epoch.

        Args:
            on_step: told, after each step, how many epochs are done, as a fraction.
        """
        while not self.is_done:
            size = self._step_size(0.0)
            began = time.perf_counter()
            learnt = self._run_epoch(on_step)
            took = time.perf_counter() - began
            self.epoch += 1
            self.positions += learnt.positions
            self.seconds += took
            row = {**learnt.metrics("train"), "train/learning_rate": size}
            row["train/positions_per_s"] = learnt.positions / max(took, 1e-9)
            loss = -np.inf
            if len(self.valid):
                measured = self.measure(self.valid)
                row |= measured.metrics("valid")
                loss = measured.loss
            self._since_best += 1
            if loss < self.best_loss or not len(self.valid):
                self.best, self.best_loss, self._since_best = self.weights.copy(), loss, 0
            yield row

    def test(self) -> dict[str, float]:
        """Measure the best weights on the test split: as a whole, and by collection; nothing if it is empty."""
        numbers = self.games.games(TEST)
        if not len(numbers):
            return {}
        found = self.measure(numbers, self.best).metrics("test")
        for name in self.games.collections:
            own = self.games.games(TEST, [name])
            if len(own):
                found |= self.measure(own, self.best).metrics(f"test/collection/{name}")
        return found

    def measure(self, numbers: np.ndarray, weights: np.ndarray | None = None) -> Measured:
        """Return how well weights (by default those of now) predict the moves of some games."""
        return Measured.of(self._reader.read(numbers, self.weights if weights is None else weights, None))

    def gradient(self, numbers: np.ndarray) -> tuple[np.ndarray, Measured]:
        """Return the gradient, float64[NUM_WEIGHTS], of the mean loss over some games, without `l2`."""
        gradient = np.zeros(NUM_WEIGHTS)
        counts = self._reader.read(numbers, self.weights, gradient)
        return gradient / max(counts[CANDIDATES], 1), Measured.of(counts)

    def _run_epoch(self, on_step: Callable[[float], object]) -> Measured:
        """Learn from an epoch's games, drawn anew; return how well they were predicted on the way."""
        order = generator(self.settings.seed, f"rollout epoch {self.epoch}").permutation(self.numbers)
        order = order[: self.settings.epoch_games]
        total = np.zeros(4)
        gradient = np.zeros(NUM_WEIGHTS)
        for first in range(0, len(order), self.settings.batch_games):
            gradient[:] = 0.0
            counts = self._reader.read(order[first : first + self.settings.batch_games], self.weights, gradient)
            total += counts
            if counts[CANDIDATES] > 0:
                self._step(gradient / counts[CANDIDATES], self._step_size(first / len(order)))
            on_step(self.epoch + min(first + self.settings.batch_games, len(order)) / len(order))
        return Measured.of(total)

    def _step_size(self, share: float) -> float:
        """Return the size of a step, after a share of the present epoch."""
        return self.settings.learning_rate * (1.0 - (self.epoch + share) / self.settings.num_epochs)

    def _step(self, gradient: np.ndarray, size: float) -> None:
        gradient = gradient + self.settings.l2 * self.weights
        self._steps += 1
        self._mean += (1.0 - FIRST_DECAY) * (gradient - self._mean)
        self._square += (1.0 - SECOND_DECAY) * (gradient * gradient - self._square)
        mean = self._mean / (1.0 - FIRST_DECAY**self._steps)
        square = self._square / (1.0 - SECOND_DECAY**self._steps)
        self.weights -= size * mean / (np.sqrt(square) + TINY)
        np.clip(self.weights, -MAX_SCORE, MAX_SCORE, out=self.weights)
        exposed = self.weights[SELF_ATARI : SELF_ATARI + SECTIONS["self_atari"]]
        np.clip(exposed, MIN_SELF_ATARI, MAX_SELF_ATARI, out=exposed)


class _Reader:
    """Goes through games of a set, with the room that this takes."""

    def __init__(self, games: GameSet) -> None:
        self._games = games
        # np.asarray: a mapped array is of a subclass that kernels do not take.
        self._arrays = _Games(*(np.asarray(getattr(games, name)) for name in _Games._fields))
        self._room = _Room(
            cells=np.zeros(CELLS, np.uint16),
            liberties=np.zeros(POINTS, np.uint64),
            patterns=pattern_classes(),
            responses=response_classes(),
            points=np.zeros(MAX_ANSWERS, np.uint16),
            kinds=np.zeros(MAX_ANSWERS, np.uint16),
            features=np.zeros((POINTS, MAX_FEATURES), np.int64),
            lengths=np.zeros(POINTS, np.int64),
            scores=np.zeros(POINTS),
        )

    def read(self, numbers: np.ndarray, weights: np.ndarray, gradient: np.ndarray | None) -> np.ndarray:
        """Return float64[4], see `POSITIONS`; the sum of the loss's gradient is added to `gradient` if there is one.

        Raises:
            MiaiError: a game puts a stone on another.
        """
        counts = np.zeros(4)
        numbers = np.ascontiguousarray(numbers, np.int64)
        wrong = _go_through(self._arrays, numbers, self._games.board_size, weights, gradient, counts, self._room)
        if wrong != _SOUND:
            raise MiaiError(f"data: game {wrong} puts a stone on another.")
        return counts


class _Games(NamedTuple):
    """The arrays of a `GameSet` that are read."""

    start: np.ndarray
    moves: np.ndarray
    first_to_play: np.ndarray
    opening: np.ndarray
    black_setup_start: np.ndarray
    black_setup: np.ndarray
    white_setup_start: np.ndarray
    white_setup: np.ndarray


class _Room(NamedTuple):
    """Arrays that `_go_through` works in, and tables that it reads."""

    cells: np.ndarray
    liberties: np.ndarray
    patterns: np.ndarray
    responses: np.ndarray
    points: np.ndarray
    kinds: np.ndarray
    features: np.ndarray
    """int64[POINTS, MAX_FEATURES]: of each candidate, in the board's order."""
    lengths: np.ndarray
    """int64[POINTS]: how many features each has."""
    scores: np.ndarray
    """float64[POINTS]."""


@kernel
def _go_through(
    games: _Games,
    numbers: np.ndarray,
    size: Index,
    weights: np.ndarray,
    gradient: np.ndarray | None,
    counts: np.ndarray,
    room: _Room,
) -> Index:
    """Replay games and look at every position with a move to learn; return a game that is wrong, or `_SOUND`."""
    cells, liberties = room.cells, room.liberties
    for k in range(len(numbers)):
        game = numbers[k]
        clear(cells, liberties, size)
        for i in range(games.black_setup_start[game], games.black_setup_start[game + 1]):
            if not _set_up(cells, liberties, point_of(np.int64(games.black_setup[i]), size), BLACK):
                return game
        for i in range(games.white_setup_start[game], games.white_setup_start[game + 1]):
            if not _set_up(cells, liberties, point_of(np.int64(games.white_setup[i]), size), WHITE):
                return game
        colour = BLACK if games.first_to_play[game] == FIRST else WHITE
        for place in range(games.start[game], games.start[game + 1]):
            v = point_of(np.int64(games.moves[place]), size)
            if v != PASS_POINT:
                if cells[COLOUR + v] != EMPTY:
                    return game
                if place - games.start[game] >= games.opening[game]:
                    _learn(v, colour, size, weights, gradient, counts, room)
            play(cells, liberties, v, colour)
            colour = BOTH - colour
    return _SOUND


@kernel
def _learn(
    played: np.uint64,
    colour: np.uint64,
    size: Index,
    weights: np.ndarray,
    gradient: np.ndarray | None,
    counts: np.ndarray,
    room: _Room,
) -> None:
    """Count one position, and add its part of the gradient."""
    cells, liberties = room.cells, room.liberties
    num_answers = 0
    if is_answerable(cells, colour):
        num_answers = find_answers(cells, liberties, colour, room.points, room.kinds)
    ko = np.uint64(cells[KO])
    chosen, best, count = -1, -1, 0
    most: Number = -np.inf
    for row in range(1, size + 1):
        for column in range(1, size + 1):
            v = np.uint64(row * 21 + column)
            if cells[COLOUR + v] != EMPTY or v == ko or not is_sensible(cells, liberties, v, colour):
                continue
            features = room.features[count]
            length = list_features(
                cells,
                liberties,
                v,
                colour,
                room.patterns,
                room.responses,
                room.points,
                room.kinds,
                num_answers,
                features,
            )
            score = 0.0
            for i in range(length):
                score += weights[features[i]]
            if score > most:
                most, best = score, count
            if v == played:
                chosen = count
            room.lengths[count] = length
            room.scores[count] = score
            count += 1
    counts[POSITIONS] += 1.0
    if chosen < 0:
        return
    total = 0.0
    for i in range(count):
        total += np.exp(room.scores[i] - most)
    counts[LOSS] += most + np.log(total) - room.scores[chosen]
    counts[CANDIDATES] += 1.0
    if chosen == best:
        counts[HITS] += 1.0
    if gradient is not None:
        for i in range(count):
            share = np.exp(room.scores[i] - most) / total
            if i == chosen:
                share -= 1.0
            for j in range(room.lengths[i]):
                gradient[room.features[i, j]] += share


@kernel
def _set_up(cells: np.ndarray, liberties: np.ndarray, v: np.uint64, colour: np.uint64) -> bool:
    """Put a stone on the board before the first move, if the point is free."""
    if cells[COLOUR + v] != EMPTY:
        return False
    play(cells, liberties, v, colour)
    cells[KO] = NO_POINT
    cells[LAST] = PASS_POINT
    cells[BEFORE_LAST] = PASS_POINT
    return True
