"""The RL policy: self-play against earlier versions, reinforced by the results (Silver et al., 2016, Methods).

Start reading at `Reinforcement.block`. An update is a minibatch of games between the policy as it is now and one
earlier version, drawn from a pool that begins with the SL policy; then one step of REINFORCE
(`alphago.policy_gradient`). After a block of updates the policy meets the SL policy, and the version with the most wins
so far is the one that is kept.

A policy that plays as its probabilities say gains a good part of what there is to gain by making its likely moves
likelier still. To learn which moves are better, it can start out sharpened (`start_temperature` below 1).

The control of the paper's text is `learn_from=expert`: the moves of experts' games, reinforced by the results of those
games. There are only so many, so that the network learns them by heart.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field, field_validator
from pydantic.dataclasses import dataclass

from miai.alphago.expert_games import ExpertGames
from miai.alphago.game_batch import game_limit
from miai.alphago.self_play import (
    Decisions,
    PlayedGames,
    Policy,
    Results,
    decisions,
    game_streams,
    play_games,
    play_match,
    results_of,
    seat_turns,
)
from miai.errors import MiaiError
from miai.games.go.game import check_komi
from miai.kinds import STRICT, validate
from miai.networks.evaluator import Evaluator, Inference, load_evaluator, make_evaluator
from miai.networks.features import VALUE_PLANES
from miai.networks.weights import Network, Weights, check_board_size, check_head, load_network
from miai.rng import generator

if TYPE_CHECKING:
    from miai.alphago.policy_gradient import Weighted

LEARNER, OPPONENT = 0, 1
"""Of the two policies of a training game."""

LEAST_PROBABILITY = 1e-3
"""Experts' moves in lost games are not made unlikelier than this."""

CHUNK = 1024
"""Positions whose gradient is computed at once."""


@dataclass(config=STRICT, kw_only=True)
class ReinforceSettings:
    """The options of `conf/rl_policy.yaml`."""

    seed: Annotated[int, Field(ge=0, lt=2**63)]
    sl: str | None
    learn_from: Literal["self_play", "expert"]
    data: str | None
    start_temperature: Annotated[float, Field(ge=0.01, le=100)]
    baseline: Literal["none", "mean", "value"]
    value: str | None
    komi: float
    num_updates: Annotated[int, Field(ge=1)]
    games_per_update: Annotated[int, Field(ge=2)]
    learning_rate: Annotated[float, Field(gt=0)]
    pool_every: Annotated[int, Field(ge=1)]
    block_updates: Annotated[int, Field(ge=1)]
    keep_by: Literal["sampled", "argmax"]
    match_games: Annotated[int, Field(ge=2)]
    test_games: Annotated[int, Field(ge=2)]
    opening_moves: Annotated[int, Field(ge=0)]
    runtime: Literal["auto", "torch", "openvino"]
    device: Literal["auto", "cpu", "cuda"]
    precision: Literal["auto", "float32", "bfloat16"]
    threads: Annotated[int, Field(ge=1)] | None

    @field_validator("komi")
    @classmethod
    def _half_or_whole(cls, komi: float) -> float:
        return check_komi(komi)

    @field_validator("games_per_update", "match_games", "test_games")
    @classmethod
    def _even(cls, games: int) -> int:
        if games % 2:
            raise ValueError("an even number, as seats are swapped")
        return games

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> ReinforceSettings:
        """Take the settings from a configuration.

        Raises:
            MiaiError: one is of a wrong type or out of range, or two do not go together.
        """
        settings = validate(cls, {name: config[name] for name in cls.__dataclass_fields__}, "")
        if settings.sl is None:
            raise MiaiError("sl: a policy network to start from is needed: a run of sl_policy, or a file.")
        if (settings.learn_from == "expert") != (settings.data is not None):
            raise MiaiError("data: learn_from=expert needs a data set of games, and learn_from=self_play takes none.")
        if (settings.baseline == "value") != (settings.value is not None):
            raise MiaiError("value: baseline=value needs a value network, and no other baseline takes one.")
        if settings.learn_from == "expert" and settings.baseline == "mean":
            raise MiaiError("baseline: mean is of the games of an update; with learn_from=expert allowed: none, value.")
        return settings


class Reinforcement:
    """A training under way.

    Args:
        files: by role: `sl`, and `data` or `value` where the settings name them.
        workers: threads of the processor, where the settings leave it open.

    Attributes:
        updates: how many were made.
        games: how many were played in them.
        best_win_rate: of the version that is kept, in that match against the SL policy which chooses (`keep_by`).
        best_update: after how many updates it was.

    Raises:
        MiaiError: a file is not what is needed, or does not fit the others.
    """

    def __init__(self, settings: ReinforceSettings, files: Mapping[str, Path], workers: int = 1) -> None:
        import torch

        from miai.alphago.policy_gradient import Where
        from miai.networks.torch_network import build, find_device, find_precision, place

        self.settings = settings
        self._threads = workers if settings.threads is None else settings.threads
        self._inference = Inference(settings.runtime, settings.device, settings.precision, self._threads)
        self.sl = load_network(files["sl"])
        check_head(files["sl"], self.sl.spec, "policy")
        self.size = self.sl.spec.board_size
        if 2 * settings.opening_moves > self.size**2:
            raise MiaiError(f"opening_moves: at most {self.size**2 // 2} on {self.size}×{self.size}.")
        self._value = self._load_value(files["value"]) if settings.baseline == "value" else None
        self._expert = ExpertGames(files["data"], self.size, settings.seed) if settings.learn_from == "expert" else None
        device = find_device(settings.device)
        self._where = Where(device, find_precision(settings.precision, device))
        start = sharpened(self.sl.weights, settings.start_temperature)
        self._module = place(build(self.sl.spec, start), device)
        self._optimiser = torch.optim.SGD(self._module.parameters(), settings.learning_rate)
        self._row: dict[str, list[float]] = {}
        self.pool: list[Weights] = [start]
        self.updates = 0
        self.best: Weights = self.sl.weights
        self.best_update = 0
        self.best_win_rate = 0.0

    def _load_value(self, path: Path) -> Evaluator:
        evaluator = load_evaluator(path, self._inference)
        check_head(path, evaluator.spec, "value")
        check_board_size(path, evaluator.spec, self.size)
        return evaluator

    @property
    def games(self) -> int:
        return self.updates * self.settings.games_per_update

    @property
    def is_done(self) -> bool:
        return self.updates >= self.settings.num_updates

    def weights(self) -> Weights:
        """Return a copy of the weights as they are now."""
        from miai.networks.torch_network import get_weights

        return get_weights(self._module)

    def player(self, weights: Weights, temperature: float = 1.0) -> Policy:
        """Return a version of the policy as a player."""
        network = Network(self.sl.spec, weights, {})
        evaluator = make_evaluator(network, self._inference)
        return Policy(evaluator, self.sl.spec.planes, temperature)

    # ---- an update ----

    def update(self) -> None:
        """Make one update: a minibatch of games and a step."""
        import torch

        from miai.alphago.policy_gradient import reinforce_step

        torch.set_num_threads(self._threads)
        batches = self._self_play() if self._expert is None else self._expert_play()
        statistics = reinforce_step(
            self._module,
            self._optimiser,
            batches,
            self.settings.games_per_update,
            self._where,
            floor=0.0 if self._expert is None else LEAST_PROBABILITY,
        )
        self._note(entropy=statistics.entropy, gradient_norm=statistics.gradient_norm, positions=statistics.positions)
        self.updates += 1
        if self._expert is None and self.updates % self.settings.pool_every == 0:
            self.pool.append(self.weights())

    def _self_play(self) -> Iterator[Weighted]:
        """Play a minibatch of games against a member of the pool, drawn at random, and yield the learner's moves."""
        from miai.alphago.policy_gradient import Weighted

        s = self.settings
        member = int(generator(s.seed, f"opponent of update {self.updates}").integers(len(self.pool)))
        learner_is_black = np.arange(s.games_per_update) % 2 == 0
        played = play_games(
            (self.player(self.weights()), self.player(self.pool[member])),
            seat_turns(learner_is_black, game_limit(self.size)),
            self.size,
            s.komi,
            game_streams(s.seed, f"games of update {self.updates}", s.games_per_update),
        )
        self._note(pool_win_rate=results_of(played, learner_is_black).win_rate, moves_per_game=played.lengths.mean())
        returns = returns_of(played, learner_is_black)
        baseline = leave_one_out(returns, learner_is_black) if s.baseline == "mean" else np.zeros_like(returns)
        values = self._values(decisions(played, LEARNER, VALUE_PLANES, CHUNK)) if self._value else None
        for batch in decisions(played, LEARNER, self.sl.spec.planes, CHUNK):
            taken_off = baseline[batch.games] if values is None else next(values)
            yield Weighted(batch.planes, batch.allowed, batch.moves, returns[batch.games] - taken_off)

    def _values(self, batches: Iterator[Decisions]) -> Iterator[np.ndarray]:
        assert self._value is not None
        for batch in batches:
            yield self._value(batch.planes)

    def _expert_play(self) -> Iterator[Weighted]:
        """Yield the moves of a minibatch of experts' games, of both sides."""
        from miai.alphago.policy_gradient import Weighted

        assert self._expert is not None
        s = self.settings
        random = generator(s.seed, f"games of update {self.updates}")
        games = random.choice(self._expert.train, s.games_per_update, replace=False)
        num_planes = self.sl.spec.planes
        values = self._expert.batches(games, VALUE_PLANES, CHUNK) if self._value else None
        for batch in self._expert.batches(games, num_planes, CHUNK):
            taken_off = 0.0 if values is None or self._value is None else self._value(next(values).planes)
            yield Weighted(batch.planes, batch.allowed, batch.moves, batch.returns - np.float32(taken_off))

    def _note(self, **values: float) -> None:
        for name, value in values.items():
            self._row.setdefault(name, []).append(float(value))

    # ---- a block ----

    def block(self, on_update: Callable[[int], None] = lambda _: None) -> dict[str, float]:
        """Make a block of updates, then measure; return a row of metrics, means over the block's updates.

        Args:
            on_update: told the number of updates so far.
        """
        self._row = {}
        began = time.perf_counter()
        for _ in range(min(self.settings.block_updates, self.settings.num_updates - self.updates)):
            self.update()
            on_update(self.updates)
        seconds = time.perf_counter() - began
        positions = sum(self._row.pop("positions"))
        row = {f"rl/{name}": float(np.mean(values)) for name, values in self._row.items()}
        row |= {"rl/positions_per_s": positions / seconds, "rl/pool_size": len(self.pool)}
        weights = self.weights()
        sampled, greedy = self.measure(weights, self.settings.match_games, f"after {self.updates} updates")
        chosen_by = sampled if self.settings.keep_by == "sampled" else greedy
        if chosen_by.win_rate > self.best_win_rate:
            self.best, self.best_update, self.best_win_rate = weights, self.updates, chosen_by.win_rate
        row |= {
            "rl/win_rate": sampled.win_rate,
            "rl/argmax_win_rate": greedy.win_rate,
            "rl/best_win_rate": self.best_win_rate,
        }
        if self._expert is not None:
            lean = self._expert.lean(self.player(weights).evaluate, self.sl.spec.planes)
            row |= {f"rl/{name}": value for name, value in lean.items()}
        return row

    def measure(self, weights: Weights, num_games: int, role: str) -> tuple[Results, Results]:
        """Play two matches of a version against the SL policy: both sampled at temperature 1, and both argmax.

        Games between two that take the most probable move begin with random openings, or they would all be one.
        """
        s = self.settings
        sampled = play_match(
            self.player(weights), self.player(self.sl.weights), num_games, self.size, s.komi, s.seed, f"sampled {role}"
        )
        greedy = play_match(
            self.player(weights, 0.0),
            self.player(self.sl.weights, 0.0),
            num_games,
            self.size,
            s.komi,
            s.seed,
            f"argmax {role}",
            s.opening_moves,
        )
        return sampled, greedy

    def measure_control(self, num_games: int) -> Results:
        """Play the SL policy's most probable moves against the same policy sampled: what a lower temperature gains."""
        s = self.settings
        greedy, sampled = self.player(self.sl.weights, 0.0), self.player(self.sl.weights)
        return play_match(greedy, sampled, num_games, self.size, s.komi, s.seed, "control")

    # ---- where it stands ----

    def state(self) -> dict[str, np.ndarray]:
        """Return all that it takes to go on from here, as arrays by name."""
        arrays = {f"weights/{name}": array for name, array in self.weights().items()}
        arrays |= {f"best/{name}": array for name, array in self.best.items()}
        arrays |= {f"pool/{name}": np.stack([member[name] for member in self.pool]) for name in self.sl.weights}
        return arrays | {
            "updates": np.array(self.updates),
            "best_update": np.array(self.best_update),
            "best_win_rate": np.array(self.best_win_rate),
        }

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from what `state` returned. Plain gradient steps have no state of their own, streams are by update."""
        from miai.networks.torch_network import set_weights

        def part(prefix: str) -> Weights:
            return {name: state[f"{prefix}/{name}"] for name in self.sl.weights}

        set_weights(self._module, part("weights"))
        self.best = part("best")
        stacked = part("pool")
        self.pool = [
            {name: stacked[name][member] for name in self.sl.weights}
            for member in range(len(next(iter(stacked.values()))))
        ]
        self.updates = int(state["updates"])
        self.best_update = int(state["best_update"])
        self.best_win_rate = float(state["best_win_rate"])


def sharpened(weights: Weights, temperature: float) -> Weights:
    """Return the weights of a policy network whose logits are those of another, divided by a temperature."""
    factor = np.float32(1.0 / temperature)
    return {name: array * factor if name.startswith("policy.") else array for name, array in weights.items()}


def returns_of(played: PlayedGames, one_is_black: np.ndarray) -> np.ndarray:
    """Return z of each game, float32[B]: +1 won, −1 lost, 0 drawn, for who has Black in `one_is_black`, bool[B]."""
    return np.where(one_is_black, played.winners, -played.winners).astype(np.float32)


def leave_one_out(returns: np.ndarray, one_is_black: np.ndarray) -> np.ndarray:
    """Return, for each game, the mean z of the other games of the same seat, float32[B]; 0 where there is none.

    As it does not depend on the game itself, the gradient stays unbiased.
    """
    found = np.zeros(len(returns), np.float32)
    for seat in (True, False):
        chosen = one_is_black == seat
        count = int(chosen.sum())
        if count > 1:
            found[chosen] = (returns[chosen].sum() - returns[chosen]) / (count - 1)
    return found
