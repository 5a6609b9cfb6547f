"""A learnt value table, in memory and in its file `table.npz`.

The file is a plain NumPy archive that `numpy.load(..., allow_pickle=False)` opens; nothing in it can run code.

| array | shape, type | meaning |
|---|---|---|
| `boards` | [n, cells] int8 | the board: +1 first player, −1 second, 0 empty, row-major |
| `actions` | [n] int16 | the move's cell; `AFTERSTATE_ACTION` in an after-state table |
| `values` | [n] float64 | the learnt value, from the side of the entry's owner |
| `visits` | [n] int64 | number of updates |
| `meta` | string, JSON | what was learnt, and how: see `TableMeta` |

Only entries that were updated are in it, in the order of the game graph. The same table is the same bytes.
"""

from __future__ import annotations

import dataclasses
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from miai.errors import MiaiError
from miai.games.game import FIRST, SECOND
from miai.games.graph import GameGraph
from miai.games.small import game_graph, games
from miai.npz import BadArchiveError, load_npz
from miai.tabular.targets import AFTERSTATE, STATE_ACTION

AFTERSTATE_ACTION = -1
FORMAT = 1
_ARRAYS = {"boards": np.int8, "actions": np.int16, "values": np.float64, "visits": np.int64}
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest date of a zip member. A real one would make equal tables differ."""


@dataclass(frozen=True, kw_only=True)
class TableMeta:
    """What a table is: enough to play by it, to check it, and to tell where it came from."""

    game: dict[str, Any]
    algorithm: dict[str, Any]
    seat: str
    seed: int
    gamma: float
    initial_value: float
    tie_breaking: str
    opponent: dict[str, Any]
    fingerprint: str
    format: int = FORMAT


@dataclass(frozen=True, eq=False)
class ValueTable:
    """A table over all entries of a game graph; entries without visits hold the initial value."""

    meta: TableMeta
    values: np.ndarray
    """float64[entries]."""
    visits: np.ndarray
    """int64[entries]."""

    @property
    def entry_kind(self) -> str:
        return self.meta.algorithm["entry"]

    @property
    def tie_breaking(self) -> str:
        return self.meta.tie_breaking

    @property
    def size(self) -> int:
        """Number of entries that were updated."""
        return int(np.count_nonzero(self.visits))

    def save(self, path: Path, graph: GameGraph) -> None:
        """Write the file, under a temporary name first."""
        entries = np.flatnonzero(self.visits)
        is_afterstate = self.entry_kind == AFTERSTATE
        states = entries if is_afterstate else graph.edge_state[entries]
        actions = np.full(len(entries), AFTERSTATE_ACTION) if is_afterstate else graph.edge_action[entries]
        arrays = {
            "boards": graph.boards[states],
            "actions": actions.astype(np.int16),
            "values": self.values[entries],
            "visits": self.visits[entries],
            "meta": np.array(json.dumps(dataclasses.asdict(self.meta), sort_keys=True, ensure_ascii=True)),
        }
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file, zipfile.ZipFile(file, "w") as archive:
                for name, array in arrays.items():
                    content = io.BytesIO()
                    np.lib.format.write_array(content, np.asarray(array, order="C"), allow_pickle=False)
                    archive.writestr(zipfile.ZipInfo(f"{name}.npy", _EPOCH), content.getvalue())
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    @classmethod
    def load(cls, path: Path, graph: GameGraph | None = None) -> ValueTable:
        """Read and check a file.

        Args:
            path: the file.
            graph: the game that the table has to belong to; by default the one that the file names.

        Raises:
            MiaiError: there is no such file, it is not a table, it is damaged, or it belongs to another game.
        """
        try:
            arrays = _read(path)
            meta = _parse_meta(arrays["meta"])
            if graph is None:
                graph = game_graph(meta.game)
            elif games.build(meta.game).rules() != graph.rules:
                raise _BadTableError(f"it belongs to {_named(meta.game)}, not to {graph.rules.name}")
            entries = _find_entries(arrays, meta, graph)
            _check(arrays, meta, graph, entries)
        except (_BadTableError, MiaiError) as error:
            raise MiaiError(f"{path}: not a table that can be used: {error}") from None
        num_entries = graph.num_states if meta.algorithm["entry"] == AFTERSTATE else graph.num_edges
        values = np.full(num_entries, meta.initial_value)
        visits = np.zeros(num_entries, np.int64)
        values[entries], visits[entries] = arrays["values"], arrays["visits"]
        return cls(meta, values, visits)


class _BadTableError(Exception):
    """What is wrong with a file, for the one line that `load` makes of it."""


def _read(path: Path) -> dict[str, np.ndarray]:
    if not path.is_file():
        raise _BadTableError("there is no such file")
    try:
        arrays = load_npz(path)
    except BadArchiveError as error:
        raise _BadTableError(str(error)) from None
    expected = {*_ARRAYS, "meta"}
    if set(arrays) != expected:
        raise _BadTableError(
            f"it holds {', '.join(sorted(arrays)) or 'nothing'}; expected {', '.join(sorted(expected))}"
        )
    for name, dtype in _ARRAYS.items():
        if arrays[name].dtype != dtype:
            raise _BadTableError(f"{name} is {arrays[name].dtype}, expected {np.dtype(dtype)}")
    return arrays


def _parse_meta(array: np.ndarray) -> TableMeta:
    try:
        fields = json.loads(str(array[()]))
    except (ValueError, RecursionError):
        raise _BadTableError("meta is not JSON") from None
    if not isinstance(fields, dict) or set(fields) != {field.name for field in dataclasses.fields(TableMeta)}:
        raise _BadTableError("meta does not hold the fields of a table")
    meta = TableMeta(**fields)
    if meta.format != FORMAT:
        raise _BadTableError(f"its format is {meta.format!r}; this version reads {FORMAT}")
    types = {
        "game": dict,
        "algorithm": dict,
        "opponent": dict,
        "seat": str,
        "seed": int,
        "tie_breaking": str,
        "fingerprint": str,
    }
    for name, kind in types.items():
        if not isinstance(getattr(meta, name), kind):
            raise _BadTableError(f"meta.{name} is {getattr(meta, name)!r}, expected {kind.__name__}")
    if not isinstance(meta.algorithm.get("name"), str):
        raise _BadTableError(f"meta.algorithm.name is {meta.algorithm.get('name')!r}, expected str")
    if meta.algorithm.get("entry") not in (STATE_ACTION, AFTERSTATE):
        raise _BadTableError(
            f"meta.algorithm.entry is {meta.algorithm.get('entry')!r}, expected {STATE_ACTION} or {AFTERSTATE}"
        )
    if meta.tie_breaking not in ("first", "random"):
        raise _BadTableError(f"meta.tie_breaking is {meta.tie_breaking!r}, expected first or random")
    if meta.seat not in ("first", "second", "both"):
        raise _BadTableError(f"meta.seat is {meta.seat!r}, expected first, second or both")
    for name in ("gamma", "initial_value"):
        value = getattr(meta, name)
        if not isinstance(value, float) or not np.isfinite(value):
            raise _BadTableError(f"meta.{name} is {value!r}, expected a finite float")
    return meta


def _find_entries(arrays: dict[str, np.ndarray], meta: TableMeta, graph: GameGraph) -> np.ndarray:
    """Return the entry of each row, int64[n]."""
    boards, actions = arrays["boards"], arrays["actions"]
    if boards.ndim != 2 or boards.shape[1] != graph.boards.shape[1]:
        raise _BadTableError(f"boards is {boards.shape}, expected [n, {graph.boards.shape[1]}] for {graph.rules.name}")
    for name in ("actions", "values", "visits"):
        if arrays[name].shape != boards.shape[:1]:
            raise _BadTableError(f"{name} is {arrays[name].shape}, expected {boards.shape[:1]} as boards")
    states = graph.find_all(boards)
    if (states < 0).any():
        row = int(np.argmax(states < 0))
        raise _BadTableError(f"row {row} is a board that cannot be reached in {graph.rules.name}")
    if meta.algorithm["entry"] == AFTERSTATE:
        if (actions != AFTERSTATE_ACTION).any() or (states == 0).any():
            raise _BadTableError("a row is not an after-state")
        return states
    entries = graph.find_edges(states, actions)
    if (entries < 0).any():
        row = int(np.argmax(entries < 0))
        raise _BadTableError(f"row {row} is an illegal move: {actions[row]} in {boards[row].tolist()}")
    return entries


def _check(arrays: dict[str, np.ndarray], meta: TableMeta, graph: GameGraph, entries: np.ndarray) -> None:
    if len(np.unique(entries)) != len(entries):
        raise _BadTableError("an entry stands in it twice")
    if not np.isfinite(arrays["values"]).all():
        raise _BadTableError("a value is not finite")
    if (arrays["visits"] < 1).any():
        raise _BadTableError("an entry without visits stands in it")
    # The owner of an after-state is the player who moved into it.
    owners = (
        -graph.arrays.to_play[entries]
        if meta.algorithm["entry"] == AFTERSTATE
        else graph.arrays.to_play[graph.edge_state[entries]]
    )
    if meta.seat != "both" and (owners != (FIRST if meta.seat == "first" else SECOND)).any():
        raise _BadTableError(f"an entry belongs to another seat than {meta.seat}")


def _named(game: Mapping[str, Any]) -> str:
    """Name a game with its options, in one line."""
    options = ", ".join(f"{key} {value}" for key, value in sorted(game.items()) if key != "name")
    return f"{game['name']} ({options})" if options else str(game["name"])
