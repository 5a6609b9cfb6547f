"""Exact values beside learnt ones, for the report's value map."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np


def exact_values(parameters: Mapping[str, Any], path: tuple[int, ...]) -> dict[int, float] | None:
    """Return, by move, the best value that a learner can reach after the moves of `path`: its own turn, its own side.

    It is discounted by the run's γ and holds against the run's training opponent; in self-play, against a perfect one.
    `None` where that opponent cannot be rebuilt from the parameters alone (a saved table), or the moves are not legal.

    Args:
        parameters: a run's parameters by path, such as `opponent.name`.
    """
    nested = _nest(parameters)
    opponent = nested["opponent"]
    names = {opponent["name"], *(name for name, weight in (opponent.get("weights") or {}).items() if weight)}
    if "table" in names:
        return None
    graph, values = _solve(json.dumps(nested["game"]), json.dumps(opponent), float(nested["gamma"]))
    state = 0
    try:
        for move in path:
            state = int(graph.arrays.edge_child[graph.find_edge(state, move)])
    except KeyError:
        return None
    edges = slice(int(graph.arrays.edge_start[state]), int(graph.arrays.edge_start[state + 1]))
    children = graph.arrays.edge_child[edges]
    return dict(zip(graph.edge_action[edges].tolist(), values.after_move[children].tolist(), strict=True))


@lru_cache(maxsize=32)
def _solve(game: str, opponent: str, gamma: float) -> Any:
    """Solve a game against an opponent, both given as JSON."""
    from miai.games.small import game_graph
    from miai.tabular.evaluation import state_values
    from miai.tabular.opponents import opponents
    from miai.tabular.policies import minimax_policy

    graph = game_graph(json.loads(game))
    kind = opponents.build(json.loads(opponent))
    replies: np.ndarray = minimax_policy(graph) if kind.is_self else kind.policy(graph, {})
    return graph, state_values(graph, None, replies, gamma)


def _nest(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Turn paths into nested mappings: {"opponent.p": 0.8} becomes {"opponent": {"p": 0.8}}.

    Parameters come from a data frame, where a run without one has NaN, and whole numbers beside it are floats.
    """
    nested: dict[str, Any] = {}
    for path, value in parameters.items():
        if value is None or value != value:
            continue
        *parents, leaf = str(path).split(".")
        place = nested
        for parent in parents:
            place = place.setdefault(parent, {})
        value = value.item() if isinstance(value, np.generic) else value
        place[leaf] = int(value) if isinstance(value, float) and value.is_integer() else value
    return nested
