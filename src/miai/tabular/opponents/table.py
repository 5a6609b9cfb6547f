"""A saved table as opponent: it plays its greedy policy, with the tie-breaking that it was trained with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from pydantic.dataclasses import dataclass

from miai.games.graph import GameGraph
from miai.kinds import STRICT
from miai.tabular.opponents.kind import Opponent
from miai.tabular.policies import greedy_policy
from miai.tabular.table import ValueTable


@dataclass(config=STRICT, kw_only=True)
class Table(Opponent):
    """The greedy policy of a saved run. In the seat that the table never learnt, it plays by the initial value."""

    run: str
    """A run of the tracking store, or the path of a `table.npz`."""

    def tables(self) -> dict[str, str]:
        return {"table": self.run}

    def policy(self, graph: GameGraph, tables: Mapping[str, Path]) -> np.ndarray:
        table = ValueTable.load(tables["table"], graph)
        return greedy_policy(graph, table.entry_kind, table.values, table.tie_breaking)


KIND = Table
