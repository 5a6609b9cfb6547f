"""A collection's own table of contents: `index.tsv`, if it has one.

The first line names the columns; `path` is relative to the folder of the index. Collections that are meant for training
say in `split` which games are `train`, `valid` and `test`.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path, PurePosixPath

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
            raise MiaiError(f"{name}: {type(data).__name__}: {data}") from None
        if not _is_index(name):
            continue  # the place is one file, which is read whatever its name
        table = csv.DictReader(io.StringIO(data.decode("utf-8", "replace")), delimiter="\t", quoting=csv.QUOTE_NONE)
        if "path" not in (table.fieldnames or ()):
            raise MiaiError(f"{name}: the first line must name the columns, one of them `path`.")
        folder = PurePosixPath(name).parent
        for row in table:
            rows[(folder / (row["path"] or "")).as_posix()] = {key: value or "" for key, value in row.items() if key}
    return rows


def _is_index(name: str) -> bool:
    return PurePosixPath(name).name == INDEX
