"""From records to one data set: filters, legality, duplicates, the split; and a list of what was left out, and why.

Start reading at `Gatherer`. Games are looked at one by one as they come (`Gatherer.add`), as far as that can be done
alone; what needs all of them, or compiled code, is done at the end (`Gatherer.finish`).
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass as options

from miai.errors import MiaiError
from miai.kinds import STRICT
from miai.records.files import is_archive
from miai.records.filters import Filters, Reason
from miai.records.game_set import SPLITS, TEST, TRAIN, VALID, GameSet, GameSetBuilder
from miai.records.index import survey
from miai.records.legality import LEGAL, judge_games
from miai.records.reader import RecordReader
from miai.records.record import GameRecord
from miai.records.sameness import find_beginnings, find_repeats, game_keys

COLUMNS = ("set", "split", "black_rank", "white_rank")
"""What is taken from a collection's index: the name of the collection, the split, the players' ranks."""

UNNAMED = "games"
"""What a collection without a name is called."""

LEFT_OUT_FILE = "left_out.csv"
_UNIT = 2.0**-64


@options(config=STRICT, kw_only=True)
class SplitOptions:
    """How games are divided into those to learn from, those to steer by, and those to measure with."""

    by: Literal["index", "hash"] = "index"
    """`index`: as the collection's index.tsv says, and by hash where it says nothing. `hash`: by a hash of the game's
    moves, the same for its eight images, so that a game is on one side in every data set."""
    valid: Annotated[float, Field(ge=0, lt=1)] = 0.05
    """The share of games to steer by, of those that are divided by hash."""
    test: Annotated[float, Field(ge=0, lt=1)] = 0.05
    """The share of games to measure with, likewise."""

    def __post_init__(self) -> None:
        if self.valid + self.test >= 1:
            raise ValueError(f"valid and test together leave nothing to learn from: {self.valid} + {self.test}")

    def by_hash(self, keys: np.ndarray) -> np.ndarray:
        """Return the split, uint8[G], of games with these keys, as `sameness.game_keys` makes them."""
        drawn = keys * _UNIT
        return np.where(drawn < self.test, TEST, np.where(drawn < self.test + self.valid, VALID, TRAIN)).astype(
            np.uint8
        )


class LeftOut(NamedTuple):
    """A game or file that is not in the set."""

    name: str
    reason: Reason
    detail: str


@dataclass(frozen=True)
class Gathered:
    """A data set, and what is not in it."""

    games: GameSet
    left_out: list[LeftOut]

    def counts(self) -> dict[Reason, int]:
        """Return how many were left out, by reason."""
        found = Counter(left.reason for left in self.left_out)
        return {reason: found[reason] for reason in Reason if found[reason]}

    def write_left_out(self, path: Path) -> None:
        """Write the list of what was left out."""
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(LeftOut._fields)
            writer.writerows(self.left_out)


class Gatherer:
    """Takes records one after the other and makes a data set of those that are wanted."""

    def __init__(
        self,
        size: int,
        filters: Filters,
        splits: SplitOptions,
        *,
        superko: str = "positional",
        suicide: bool = False,
        keep_beginnings: bool = True,
    ) -> None:
        """Args:
        size: of the board.
        superko, suicide: by which rules moves have to be legal, as in `GoGame`.
        keep_beginnings: keep games that are the beginning of a longer one.
        """
        self.size = size
        self._filters = filters
        self._splits = splits
        self._superko, self._suicide = superko, suicide
        self._keep_beginnings = keep_beginnings
        self._builder = GameSetBuilder(size)
        self._names: list[str] = []
        self._is_given: list[bool] = []
        self._left_out: list[LeftOut] = []

    def leave_out(self, name: str, reason: Reason, detail: str) -> None:
        """Note a game or file that is not taken."""
        self._left_out.append(LeftOut(name, reason, detail))

    def add(self, record: GameRecord, collection: str, row: Mapping[str, str] | None = None, opening: int = 0) -> None:
        """Look at a game, and take it if it is wanted.

        Args:
            collection: where it comes from.
            row: what an index says of it (`COLUMNS`).
            opening: how many moves at its beginning were drawn at random.

        Raises:
            MiaiError: the index names a split that there is not, or the collections are too many.
        """
        row = row or {}
        refusal = self._filters.refusal(record, self.size, row)
        if refusal is not None:
            self.leave_out(record.source, *refusal)
            return
        given = row.get("split", "") if self._splits.by == "index" else ""
        if given and given not in SPLITS:
            raise MiaiError(f"{record.source}: the index says split {given!r}; allowed: {', '.join(SPLITS)}.")
        self._builder.add(record, SPLITS.index(given) if given else TRAIN, row.get("set") or collection, opening)
        self._names.append(record.source)
        self._is_given.append(bool(given))

    def finish(self) -> Gathered:
        """Return the games that are legal and no copies of each other, divided into splits.

        Raises:
            MiaiError: no game is left.
        """
        games = self._builder.build()
        keys = game_keys(games)
        verdicts = judge_games(games, self._superko, self._suicide)
        is_kept = verdicts.faults == LEGAL
        for game in np.flatnonzero(~is_kept).tolist():
            self.leave_out(self._names[game], Reason.ILLEGAL, verdicts.describe(game))
        legal = np.flatnonzero(is_kept)
        originals = legal[find_repeats(keys[legal])]
        for game, original in zip(legal.tolist(), originals.tolist(), strict=True):
            if game != original:
                is_kept[game] = False
                self.leave_out(self._names[game], Reason.DUPLICATE, f"as {self._names[original]}")
        if not self._keep_beginnings:
            kept = np.flatnonzero(is_kept)
            chosen = games.take(kept)
            for game in kept[find_beginnings(chosen, keys[kept])].tolist():
                is_kept[game] = False
                self.leave_out(self._names[game], Reason.BEGINNING, "")
        kept = np.flatnonzero(is_kept)
        if not len(kept):
            raise MiaiError(f"no game is left for the data set; left out: {self._why()}.")
        split = np.where(self._is_given, games.split, self._splits.by_hash(keys))[kept].astype(np.uint8)
        chosen = games if len(kept) == len(games) else games.take(kept)
        return Gathered(replace(chosen, split=split), self._left_out)

    def _why(self) -> str:
        counts = Counter(left.reason for left in self._left_out)
        sizes = sorted({left.detail for left in self._left_out if left.reason is Reason.BOARD_SIZE}, key=int)
        remarks = {Reason.BOARD_SIZE: f" ({', '.join(sizes)} where {self.size} is asked for)"}
        named = (f"{count:,} {reason.value}{remarks.get(reason, '')}" for reason, count in counts.most_common())
        return ", ".join(named) or "nothing, there was none"


def gather_place(
    gatherer: Gatherer, place: Path, on_progress: Callable[[int, int], None] = lambda done, total: None
) -> None:
    """Add all games of a folder, an archive or a file; a damaged file is noted, and never stops the reading.

    Args:
        on_progress: is given (files read, all files) now and then.

    Raises:
        MiaiError: there is no such place, or its index is damaged.
    """
    num_files, rows = survey(place, COLUMNS)
    reader = RecordReader(place)
    for record in reader:
        row = rows.get(record.source)
        gatherer.add(record, collection_of(record.source, place), row)
        on_progress(reader.num_files - 1, num_files)
    for damage in reader.damaged:
        gatherer.leave_out(damage.name, Reason.DAMAGED, damage.reason)
    on_progress(num_files, num_files)


def collection_of(source: str, place: Path) -> str:
    """Name the collection of a game that no index names: its outermost folder below the place, else `UNNAMED`.

    The place's own name does not count, so that a copy under another name makes the same set.
    """
    parts = PurePosixPath(source).parts
    if is_archive(place.name):
        parts = parts[1:]
    return parts[0] if len(parts) > 1 else UNNAMED


def count_by_collection(games: GameSet) -> Iterable[tuple[str, list[int]]]:
    """Yield each collection's name, and its games by split with its moves last: [train, valid, test, moves]."""
    lengths = games.lengths
    for code, name in enumerate(games.collections):
        own = games.collection == code
        if own.any():
            counts = np.bincount(games.split[own], minlength=len(SPLITS)).tolist()
            yield name, [*counts, int(lengths[own].sum())]
