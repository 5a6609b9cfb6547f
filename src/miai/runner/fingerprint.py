"""The fingerprint of a run: a hash of everything that decides its results, and of nothing else.

Two runs of one fingerprint have the same results, so one of them is enough: this is how a sweep knows what is still
to be done.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from miai.kernel_cache import hash_sources
from miai.runner.task import Config, Task
from miai.tracking.record import IRRELEVANT


def fingerprint(
    task: Task,
    config: Config,
    input_hashes: Mapping[str, str] | None = None,
    references: Mapping[str, str] | None = None,
) -> str:
    """Return the fingerprint (sha256, hexadecimal).

    Args:
        input_hashes: the hash of each input's content, by role.
        references: how the configuration names each input, by role. A leaf of the configuration that is such a
            reference counts as the input's content: the same table has the same fingerprint under any run id or path.

    Raises:
        ValueError: the configuration holds a value that is not plain, or NaN.
    """
    hashes = dict(input_hashes or {})
    content = {reference: f"content {hashes[role]}" for role, reference in (references or {}).items()}
    ignored = {*IRRELEVANT, *task.irrelevant}
    settled = task.settle(config)
    whole = {
        "task": task.name,
        "config": {key: _canonical(value, content, key) for key, value in settled.items() if key not in ignored},
        "inputs": hashes,
        "sources": sources_hash(task.sources),
    }
    return hashlib.sha256(json.dumps(whole, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


@functools.lru_cache(maxsize=64)
def sources_hash(sources: tuple[str, ...]) -> str:
    """The hash of a task's sources, read once a process: a sweep belongs to the code that it started with."""
    return hash_sources(sources)


def hash_file(path: Path) -> str:
    """The sha256 of a file's content, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hash_content(path: Path) -> str:
    """The sha256 of a file's content; of a folder, that of the names and contents of all files in it.

    Raises:
        OSError: a file cannot be read.
    """
    if not path.is_dir():
        return hash_file(path)
    whole = hashlib.sha256()
    for folder, folders, names in os.walk(path):
        folders.sort()  # os.walk goes on in this order
        for name in sorted(names):
            file = Path(folder) / name
            if file.is_file():  # else a pipe, a device, a link to nowhere
                whole.update(
                    f"{file.relative_to(path).as_posix()}\0{hash_file(file)}\0".encode(errors="surrogateescape")
                )
    return whole.hexdigest()


def _canonical(value: Any, content: Mapping[str, str], where: str) -> Any:
    """One spelling for equal values: 1.0 as 1, tuples as lists; references as content. Strings stay strings."""
    if isinstance(value, str):
        return content.get(value, value)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        if math.isnan(value):
            raise ValueError(f"configuration: {where} is NaN, which equals nothing")
        return int(value) if value.is_integer() else value
    if isinstance(value, Mapping):
        return {str(key): _canonical(item, content, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_canonical(item, content, f"{where}[{index}]") for index, item in enumerate(value)]
    raise ValueError(f"configuration: {where} is {value!r}; dicts, lists, strings, numbers, booleans, None are allowed")
