"""A trained table as a player: it plays its greedy policy, with the tie-breaking that it was trained with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic.dataclasses import dataclass

from miai.errors import MiaiError
from miai.games.game import FIRST, SECOND, Game
from miai.kinds import STRICT
from miai.players.perfect import PolicyPlayer
from miai.players.player import PlayerKind
from miai.references import Reference

if TYPE_CHECKING:
    from miai.games.graph import GameGraph
    from miai.tabular.table import ValueTable

TABLE_FILE = "table.npz"
SEATS = {"first": (FIRST,), "second": (SECOND,), "both": (FIRST, SECOND)}
SEAT_NAMES = {FIRST: "first", SECOND: "second"}


class TablePlayer(PolicyPlayer):
    """Plays from one table for both seats, or from one for each."""

    def __init__(self, tables: dict[int, ValueTable]) -> None:
        """Args:
        tables: by seat, +1 and −1.
        """
        super().__init__("table")
        self.tables = tables
        self._policies: dict[int, np.ndarray] = {}

    def new_game(self, game: Game) -> None:
        before = self._graph
        super().new_game(game)
        if self._graph is before:
            return
        from miai.games.small import game_graph
        from miai.tabular.policies import greedy_policy

        assert self._graph is not None
        self._policies = {}
        for seat, table in self.tables.items():
            if game_graph(table.meta.game).rules != self._graph.rules:
                self._graph = None
                raise MiaiError(f"player {self.name}: its table has learnt {table.meta.game['name']}, not {game.name}.")
            self._policies[seat] = greedy_policy(self._graph, table.entry_kind, table.values, table.tie_breaking)

    def policy(self, graph: GameGraph, player: int) -> np.ndarray:
        """Return the greedy policy. Raises `MiaiError` for a seat that no table has learnt."""
        if player not in self._policies:
            raise MiaiError(
                f"player {self.name}: it has no table of the {SEAT_NAMES[player]} seat; give one that has learnt both, "
                "or one for each by run and second."
            )
        return self._policies[player]


def load_tables(run: Path, second: Path | None) -> dict[int, ValueTable]:
    """Return the table of each seat, +1 and −1; of one seat alone if `run` has learnt no more and there is no `second`.

    Raises:
        MiaiError: a file that is no table, or `second` has not learnt the second seat, or `run` not the first.
    """
    from miai.tabular.table import ValueTable

    table = ValueTable.load(run)
    if second is None:
        return dict.fromkeys(SEATS[table.meta.seat], table)
    other = ValueTable.load(second)
    for option, learnt, seat in (("run", table, FIRST), ("second", other, SECOND)):
        if seat not in SEATS[learnt.meta.seat]:
            raise MiaiError(
                f"player table: {option}: this table has learnt the {learnt.meta.seat} seat; "
                f"the {SEAT_NAMES[seat]} or both is needed."
            )
    return {FIRST: table, SECOND: other}


@dataclass(config=STRICT, kw_only=True)
class Table(PlayerKind):
    """The greedy policy of a saved table."""

    run: str | None
    """A run of the store, or the path of a `table.npz`."""
    second: str | None = None
    """Another for the second seat, where `run` has learnt the first seat alone."""

    def __post_init__(self) -> None:
        if self.run is None:
            raise ValueError("run: a table is needed, a run of the store or the path of a table.npz")

    def _names(self) -> dict[str, str]:
        assert self.run is not None
        return {"run": self.run} if self.second is None else {"run": self.run, "second": self.second}

    def files(self) -> dict[str, Reference]:
        return {option: Reference(name, TABLE_FILE) for option, name in self._names().items()}

    def describe_files(self) -> str:
        """Name the tables by their training, such as `sarsa against mixture, first seat, seed 3`."""
        from miai.tabular.table import ValueTable

        metas = [ValueTable.load(Path(path)).meta for path in self._names().values()]
        names = dict.fromkeys(f"{meta.algorithm['name']} against {meta.opponent['name']}" for meta in metas)
        seats = "both" if len(metas) > 1 else metas[0].seat
        seeds = dict.fromkeys(str(meta.seed) for meta in metas)
        return f"{' and '.join(names)}, {seats} seat{'s' if seats == 'both' else ''}, seed {' and '.join(seeds)}"

    def build(self) -> TablePlayer:
        """Load the tables; the options are paths by now."""
        assert self.run is not None
        return TablePlayer(load_tables(Path(self.run), None if self.second is None else Path(self.second)))


KIND = Table
