"""Configurations of tabular trainings for the tests, as plain mappings."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic.dataclasses import dataclass

from miai.games.graph import GameGraph
from miai.games.small import game_graph
from miai.kinds import STRICT
from miai.tabular.opponents import Opponent
from miai.tabular.policies import uniform_policy
from miai.tabular.settings import TrainSettings
from miai.tabular.training import Trainer

ALGORITHMS: dict[str, tuple[str, str, int | str]] = {
    "mc": ("state_action", "return", 1),
    "sarsa": ("state_action", "chosen", 1),
    "q_learning": ("state_action", "best", 1),
    "afterstate": ("afterstate", "chosen", 1),
    "expected_sarsa": ("state_action", "expected", 1),
    "afterstate_q": ("afterstate", "best", 1),
    "afterstate_mc": ("afterstate", "return", 1),
    "double_q": ("state_action", "double", 1),
    "n_step_sarsa": ("state_action", "chosen", 2),
    "n_step_inf": ("state_action", "chosen", "inf"),
    "afterstate_2": ("afterstate", "chosen", 2),
}
"""Entry, target, turns to the bootstrap."""


def algorithm(name: str) -> dict[str, Any]:
    entry, target, n_step = ALGORITHMS[name]
    return {"name": name, "entry": entry, "target": target, "n_step": n_step}


def constant(value: float) -> dict[str, Any]:
    return {"name": "constant", "value": value}


def config(**changes: Any) -> dict[str, Any]:
    """The fair setting, with changes; an algorithm or an opponent may be just a name."""
    whole: dict[str, Any] = {
        "game": {"name": "tictactoe"},
        "algorithm": "sarsa",
        "opponent": "random",
        "evaluation": {"opponent": {"name": "random"}},
        "schedule": {"name": "exponential", "start": 1.0, "end": 0.01, "decay": 10_000.0},
        "alpha_schedule": constant(0.1),
        "seed": 0,
        "seat": "first",
        "num_games": 2_000,
        "num_checkpoints": 4,
        "gamma": 0.9,
        "alpha": 0.1,
        "initial_value": 0.0,
        "tie_breaking": "first",
        "test": {"games": 200},
        "init": None,
        **changes,
    }
    if isinstance(whole["algorithm"], str):
        whole["algorithm"] = algorithm(whole["algorithm"])
    if isinstance(whole["opponent"], str):
        whole["opponent"] = {"name": whole["opponent"]}
    return whole


def trainer(tables: Mapping[str, Path] | None = None, **changes: Any) -> Trainer:
    return Trainer(TrainSettings.of(config(**changes)), tables)


def trained(tables: Mapping[str, Path] | None = None, **changes: Any) -> Trainer:
    """A trainer after its run."""
    result = trainer(tables, **changes)
    for _ in result.run():
        pass
    return result


def tictactoe() -> GameGraph:
    return game_graph({"name": "tictactoe"})


@dataclass(config=STRICT, kw_only=True)
class Scripted(Opponent):
    """Plays given cells, by the number of marks on the board; where that cell is taken, or none is given, any move."""

    cells: dict[int, int]

    def policy(self, graph: GameGraph, tables: Mapping[str, Path]) -> np.ndarray:
        told = np.full(graph.boards.shape[1] + 1, -1)
        told[list(self.cells)] = list(self.cells.values())
        marks = np.count_nonzero(graph.boards, axis=1)
        is_told = graph.edge_action == told[marks][graph.edge_state]
        has_told = np.bincount(graph.edge_state, is_told, graph.num_states) > 0
        return np.where(has_told[graph.edge_state], is_told, uniform_policy(graph))


def scripted_trainer(cells: dict[int, int], **changes: Any) -> Trainer:
    """A trainer whose opponent plays by a script."""
    settings = TrainSettings.of(config(**changes))
    return Trainer(dataclasses.replace(settings, opponent=Scripted(cells=cells)))
