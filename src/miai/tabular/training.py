"""A training: games between checkpoints, and exact measurements at each. Start reading at `Trainer.run`."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from miai import rng
from miai.errors import MiaiError
from miai.games.game import FIRST, SECOND
from miai.games.graph import GameGraph
from miai.games.small import game_graph
from miai.schedules import InverseVisits
from miai.tabular import kernels
from miai.tabular.measure import SeatMeasure
from miai.tabular.policies import greedy_policy
from miai.tabular.sampling import alias_table
from miai.tabular.settings import TrainSettings
from miai.tabular.table import TableMeta, ValueTable
from miai.tabular.targets import AFTERSTATE, RETURN, TARGETS

Row = dict[str, float]

SEATS = {"first": (FIRST,), "second": (SECOND,), "both": (FIRST, SECOND)}
SEAT_NAMES = {FIRST: "first", SECOND: "second"}
_LEARNERS = {"first": kernels.LEARN_FIRST, "second": kernels.LEARN_SECOND, "both": kernels.LEARN_ALTERNATING}


def checkpoint_steps(num_games: int, num_checkpoints: int) -> list[int]:
    """Return the numbers of games after which a run is measured: round(i · num_games / num_checkpoints), each once."""
    steps = (round(i * num_games / num_checkpoints) for i in range(1, num_checkpoints + 1))
    return sorted({step for step in steps if step > 0})


class Trainer:
    """One learner on one game graph.

    Args:
        settings: what to train, and how.
        tables: files of saved tables by role: `init`, and what the opponents ask for under `opponent.` and
            `evaluation.opponent.`.

    Raises:
        MiaiError: a game that is too large, an opponent that cannot play it, a table that does not belong to it.
    """

    def __init__(self, settings: TrainSettings, tables: Mapping[str, Path] | None = None) -> None:
        self.settings = settings
        numbers = settings.numbers
        self.graph: GameGraph = game_graph(settings.game)
        self.players = SEATS[numbers.seat]
        tables = tables or {}
        if numbers.init is not None and "init" not in tables:
            raise ValueError(f"no file was given for init={numbers.init}")
        num_entries = self.graph.num_states if settings.algorithm.entry == AFTERSTATE else self.graph.num_edges
        self.values = np.full(num_entries, numbers.initial_value)
        self.visits = np.zeros(num_entries, np.int64)
        if "init" in tables:
            self._continue_from(tables["init"])
        is_double = settings.algorithm.target == "double"
        # The second table of double Q-learning starts as the first. Of a table that goes on, each has half the visits.
        self._other = self.values.copy() if is_double else None
        self._other_visits = self.visits // 2 if is_double else None
        if self._other_visits is not None:
            self.visits -= self._other_visits
        self._opponent = (
            None if settings.opponent.is_self else _policy_of(settings.opponent, self.graph, tables, "opponent.")
        )
        evaluation = _policy_of(settings.evaluation_opponent, self.graph, tables, "evaluation.opponent.")
        self._measures = {player: SeatMeasure(self.graph, player, evaluation) for player in self.players}
        self._tables = tables
        self.bound = sum(
            self.graph.num_afterstates(player)
            if settings.algorithm.entry == AFTERSTATE
            else self.graph.num_state_actions(player)
            for player in self.players
        )

    def _continue_from(self, path: Path) -> None:
        table = ValueTable.load(path, self.graph)
        entry, seat = self.settings.algorithm.entry, self.settings.numbers.seat
        if table.entry_kind != entry:
            raise MiaiError(f"init: a table of {table.entry_kind} entries cannot go on as one of {entry} entries.")
        if table.meta.seat not in (seat, *(("first", "second") if seat == "both" else ())):
            raise MiaiError(f"init: a table of seat {table.meta.seat} cannot go on with seat={seat}.")
        learnt = table.visits > 0
        self.values[learnt] = table.values[learnt]
        self.visits[:] = table.visits

    # The table as it stands ------------------------------------------------------------------------

    def table_values(self) -> np.ndarray:
        """Return the values, float64[entries]; of double Q-learning, the mean of both tables."""
        return self.values if self._other is None else (self.values + self._other) / 2

    def table_visits(self) -> np.ndarray:
        return self.visits if self._other_visits is None else self.visits + self._other_visits

    def table(self, fingerprint: str = "") -> ValueTable:
        numbers, algorithm = self.settings.numbers, self.settings.algorithm
        meta = TableMeta(
            game={key: value for key, value in self.settings.game.items() if key != "max_states"},
            algorithm={
                "name": algorithm.name,
                "entry": algorithm.entry,
                "target": algorithm.target,
                "n_step": algorithm.n_step,
            },
            seat=numbers.seat,
            seed=numbers.seed,
            gamma=numbers.gamma,
            initial_value=numbers.initial_value,
            tie_breaking=numbers.tie_breaking,
            opponent=self._describe_opponent(),
            fingerprint=fingerprint,
        )
        return ValueTable(meta, self.table_values(), self.table_visits())

    def _describe_opponent(self) -> dict[str, Any]:
        """Return the name and the options of the training opponent.

        A saved table stands there by the hash of its content: what the table of a run holds must not depend on the
        path or the number under which its opponent was found.
        """
        opponent = self.settings.opponent
        name = type(opponent).__module__.rsplit(".", 1)[1].rstrip("_")
        contents = {}
        for role, reference in opponent.tables().items():
            with self._tables[f"opponent.{role}"].open("rb") as file:
                contents[reference] = f"sha256 {hashlib.file_digest(file, 'sha256').hexdigest()}"
        return {"name": name, **_replace_leaves(dataclasses.asdict(opponent), contents)}

    # Running ------------------------------------------------------------------------------------------

    def run(self, on_games: Callable[[int], None] | None = None) -> Iterator[tuple[int, Row]]:
        """Train, and yield `(games so far, metrics)` at each checkpoint.

        Args:
            on_games: called with the number of games so far, at checkpoints and, in long runs, between them.
        """
        numbers, algorithm = self.settings.numbers, self.settings.algorithm
        epsilons = self.settings.epsilon.values(numbers.num_games)
        by_visits = isinstance(self.settings.alpha_schedule, InverseVisits)
        alphas = None if by_visits else self.settings.alpha_schedule.values(numbers.num_games)
        target = TARGETS[algorithm.target]
        max_plies = self.graph.max_plies
        n_step = max_plies + 1 if target == RETURN or algorithm.n_step == "inf" else int(algorithm.n_step)
        rule = kernels.Rule(
            target=target,
            n_step=n_step,
            gamma=float(numbers.gamma),
            gamma_n=float(numbers.gamma) ** n_step,
            learners=_LEARNERS[numbers.seat],
        )
        opponent = None if self._opponent is None else alias_table(self.graph.arrays.edge_start, self._opponent)
        afterstates = self.graph.arrays.edge_child if algorithm.entry == AFTERSTATE else None
        ties = rng.stream(numbers.seed, "ties") if numbers.tie_breaking == "random" else None
        learner, other = rng.stream(numbers.seed, "learner"), rng.stream(numbers.seed, "opponent")
        scratch = np.empty((2, max_plies), np.int64)
        done = 0
        for step in checkpoint_steps(numbers.num_games, numbers.num_checkpoints):
            results = np.zeros(3, np.int64)
            since = done
            while done < step:
                games = slice(done, min(step, done + GAMES_AT_ONCE))
                common = (
                    done,
                    epsilons[games],
                    None if alphas is None else alphas[games],
                    learner,
                    other,
                    ties,
                )
                if n_step == 1:
                    kernels.train_one_step(
                        self.graph.arrays,
                        opponent,
                        afterstates,
                        rule,
                        self.values,
                        self.visits,
                        self._other,
                        self._other_visits,
                        *common,
                        results,
                    )
                else:
                    kernels.train_n_step(
                        self.graph.arrays,
                        opponent,
                        afterstates,
                        rule,
                        self.values,
                        self.visits,
                        *common,
                        scratch,
                        results,
                    )
                done = games.stop
                if on_games is not None:
                    on_games(done)
            rates = results / (step - since)
            row = {
                "train/epsilon": float(epsilons[step - 1]),
                **({} if alphas is None else {"train/alpha": float(alphas[step - 1])}),
                **dict(zip(("train/win_rate", "train/draw_rate", "train/loss_rate"), rates.tolist(), strict=True)),
            }
            yield step, {**row, **self.measure()}

    def measure(self) -> Row:
        """Measure the table as it stands: its size, and exactly, its greedy policy."""
        numbers, entry = self.settings.numbers, self.settings.algorithm.entry
        values, visits = self.table_values(), self.table_visits()
        size = int(np.count_nonzero(visits))
        if size > self.bound:
            raise AssertionError(f"a table of {size} entries passes the exact bound of {self.bound}")
        greedy = greedy_policy(self.graph, entry, values, numbers.tie_breaking)
        row: Row = {"table/size": size}
        for player in self.players:
            prefix = f"eval/{SEAT_NAMES[player]}/" if numbers.seat == "both" else "eval/"
            row |= {f"{prefix}{name}": value for name, value in self._measures[player].policy(greedy).items()}
            row[f"{prefix}rms_error"] = self._measures[player].rms_error(
                entry,
                values,
                visits,
                greedy,
                greedy if self._opponent is None else self._opponent,
                float(numbers.gamma),
            )
        return row

    def test(self) -> Row:
        """Sample what `measure` computes, in games without exploration against the evaluation opponent.

        Nothing is returned if no games are asked for.
        """
        numbers = self.settings.numbers
        if numbers.test_games == 0:
            return {}
        greedy = greedy_policy(self.graph, self.settings.algorithm.entry, self.table_values(), numbers.tie_breaking)
        row: Row = {}
        for player in self.players:
            prefix = f"test/{SEAT_NAMES[player]}/" if numbers.seat == "both" else "test/"
            stream = rng.stream(numbers.seed, f"test {SEAT_NAMES[player]}")
            sample = self._measures[player].sample(greedy, numbers.test_games, stream)
            row |= {f"{prefix}{name}": value for name, value in sample._asdict().items()}
        return row


GAMES_AT_ONCE = 1_000_000
"""Games between two reports of progress: a fraction of a second."""


def _policy_of(opponent: Any, graph: GameGraph, tables: Mapping[str, Path], prefix: str) -> np.ndarray:
    own = {role.removeprefix(prefix): path for role, path in tables.items() if role.startswith(prefix)}
    return opponent.policy(graph, own)


def _replace_leaves(tree: Any, names: Mapping[str, str]) -> Any:
    if isinstance(tree, dict):
        return {key: _replace_leaves(value, names) for key, value in tree.items()}
    return names.get(tree, tree) if isinstance(tree, str) else tree
