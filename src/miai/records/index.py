"""A collection's own table of contents: `index.tsv`, if it has one.

The first line names the columns; `path` is relative to the folder of the index. Collections that are meant for training
say in `split` which games are `train`, `valid` and `test`.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from miai.errors import MiaiError
from miai.records.files import read_files

INDEX = "index.tsv"
MAX_INDEX_BYTES = 256 * 1024 * 1024


def read_index(place: str | Path) -> dict[str, dict[str, str]]:
    """Return the rows of every index in a place, by `GameRecord.source` of the game; empty if there is no index.

    Raises:
        MiaiError: no such place, or an index that is damaged or has no column `path`.
    """
    rows: dict[str, dict[str, str]] = {}
    for name, data in read_files(Path(place), _is_index, MAX_INDEX_BYTES):
        if isinstance(data, Exception):
            raise _damaged(name, data)
        if _is_index(name):  # Else the place is one file, which is read whatever its name.
            for source, row in _read_rows(name, data):
                rows[source] = {key: value or "" for key, value in row.items() if key}
    return rows


class Survey(NamedTuple):
    """What a place holds, before its games are read.

    Attributes:
        num_files: files that look like records.
        rows: some columns of the indexes, by `GameRecord.source`.
    """

    num_files: int
    rows: dict[str, dict[str, str]]


def survey(place: str | Path, columns: Collection[str]) -> Survey:
    """Count the records of a place and read its indexes, in one go; of damaged archives, what can be read.

    Args:
        columns: which columns of the indexes are kept, where there are such.

    Raises:
        MiaiError: as `read_index`.
    """
    num_files = 0

    def wanted(name: str) -> bool:
        nonlocal num_files
        num_files += name.lower().endswith(".sgf")
        return _is_index(name)

    rows: dict[str, dict[str, str]] = {}
    for name, data in read_files(Path(place), wanted, MAX_INDEX_BYTES):
        if not _is_index(name):
            num_files += not isinstance(data, Exception)  # The place is one file; or an archive with a damaged end.
            continue
        if isinstance(data, Exception):
            raise _damaged(name, data)
        for source, row in _read_rows(name, data):
            # The same few words stand in every row.
            rows[source] = {column: sys.intern(row.get(column) or "") for column in columns if column in row}
    return Survey(num_files, rows)


def _read_rows(name: str, data: bytes) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield `GameRecord.source` and the row of each game of an index."""
    table = csv.DictReader(io.StringIO(data.decode("utf-8", "replace")), delimiter="\t", quoting=csv.QUOTE_NONE)
    if "path" not in (table.fieldnames or ()):
        raise MiaiError(f"{name}: the first line must name the columns, one of them `path`.")
    folder = PurePosixPath(name).parent
    for row in table:
        yield (folder / (row["path"] or "")).as_posix(), row


def _damaged(name: str, error: Exception) -> MiaiError:
    return MiaiError(f"{name}: {type(error).__name__}: {error}")


def _is_index(name: str) -> bool:
    return PurePosixPath(name).name == INDEX
