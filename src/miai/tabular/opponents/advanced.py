"""The course's stronger opponent: it takes a win, else blocks one, most of the time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.errors import MiaiError
from miai.games.graph import GameGraph
from miai.kinds import STRICT
from miai.tabular.opponents.kind import Opponent
from miai.tabular.policies import uniform_policy

NO_CELL = -1


@dataclass(config=STRICT, kw_only=True)
class Advanced(Opponent):
    """With probability p (one coin a move) the first winning cell, else the first blocking cell; otherwise uniform.

    First means the first line, of rows, columns, then diagonals, in which one cell is missing.
    """

    p: Annotated[float, Field(ge=0, le=1)] = 0.8

    def policy(self, graph: GameGraph, tables: Mapping[str, Path]) -> np.ndarray:
        lines = getattr(graph.rules, "lines", None)
        if lines is None:
            raise MiaiError(
                f"opponent: advanced needs a game with lines, such as tictactoe or mnk, not {graph.rules.name}."
            )
        policy = uniform_policy(graph)
        mine = graph.boards * graph.arrays.to_play[:, None]
        winning = _completing_cell(mine, lines)
        cell = np.where(winning != NO_CELL, winning, _completing_cell(-mine, lines))
        state = graph.edge_state
        sees = cell[state] != NO_CELL
        policy[sees] *= 1 - self.p
        policy[cell[state] == graph.edge_action] += self.p
        return policy


def _completing_cell(boards: np.ndarray, lines: tuple[tuple[int, ...], ...]) -> np.ndarray:
    """Return, for boards seen from one player's side, int64[n].

    The cell that completes the first line, or `NO_CELL`.
    """
    found = np.full(len(boards), NO_CELL)
    for line in reversed(lines):
        cells = boards[:, line]
        threatened = ((cells == 1).sum(axis=1) == len(line) - 1) & ((cells == 0).sum(axis=1) == 1)
        found[threatened] = np.array(line)[(cells[threatened] == 0).argmax(axis=1)]
    return found


KIND = Advanced
