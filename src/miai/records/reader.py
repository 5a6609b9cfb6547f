"""Whole collections of records: folders, zip and tar archives of SGF, read lazily, damage counted and named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from miai.records.files import READ_ERRORS, read_files
from miai.records.record import GameRecord, RecordError
from miai.records.sgf import MAX_FILE_BYTES, parse_sgf

NAMED_IN_SUMMARY = 5


@dataclass(frozen=True)
class Damage:
    """A file that could not be read, and why."""

    name: str
    reason: str


class RecordReader:
    """The games of any number of places, as an iterable that can be gone through again and again.

    The order is the same each time: places as given, a folder in the order of its names, an archive in its own. One
    file is in memory at a time. A damaged file never stops the reading: it is added to `damaged`. Example::

        reader = RecordReader("games/", "archive.tar.xz")
        for record in reader:
            ...
        print(reader.summary())

    Attributes:
        num_files, num_games, damaged: of the pass under way or of the last one.
    """

    def __init__(self, *places: str | Path, max_bytes: int = MAX_FILE_BYTES) -> None:
        """Args:
        places: folders, zip or tar archives, SGF files.
        max_bytes: files above this count as damaged; at most `MAX_FILE_BYTES`.
        """
        if not places:
            raise ValueError("at least one place to read from is needed")
        if not 0 < max_bytes <= MAX_FILE_BYTES:
            raise ValueError(f"max_bytes must be 1 to {MAX_FILE_BYTES}, got {max_bytes}")
        self.places = tuple(Path(place) for place in places)
        self.max_bytes = max_bytes
        self.num_files = 0
        self.num_games = 0
        self.damaged: list[Damage] = []

    def __iter__(self) -> Iterator[GameRecord]:
        """Yield the games. Raises `MiaiError` if a place does not exist."""
        self.num_files = self.num_games = 0
        self.damaged = []
        for place in self.places:
            for name, data in read_files(place, _is_sgf, self.max_bytes):
                self.num_files += 1
                if isinstance(data, Exception):
                    self.damaged.append(Damage(name, _reason(data)))
                    continue
                try:
                    records = parse_sgf(data, name)
                except RecordError as error:
                    self.damaged.append(Damage(name, str(error).removeprefix(f"{name}: ")))
                    continue
                self.num_games += len(records)
                yield from records

    def summary(self) -> str:
        """Say in a few lines what was read and which files were damaged."""
        lines = [f"{self.num_games:,} games from {self.num_files:,} files, {len(self.damaged):,} damaged"]
        lines += [f"  {damage.name}: {damage.reason}" for damage in self.damaged[:NAMED_IN_SUMMARY]]
        if len(self.damaged) > NAMED_IN_SUMMARY:
            lines.append(f"  and {len(self.damaged) - NAMED_IN_SUMMARY:,} more")
        return "\n".join(lines)


def _is_sgf(name: str) -> bool:
    return name.lower().endswith(".sgf")


def _reason(error: Exception) -> str:
    assert isinstance(error, READ_ERRORS)
    return f"{type(error).__name__}: {error}".splitlines()[0]
