"""What a run leaves on disk so that it can go on after it was killed: checkpoints, and finished units of work.

All of it is in one folder a fingerprint, `mlruns/checkpoints/<fingerprint>/`, which is removed when the run finishes.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from miai.npz import load_npz
from miai.tracking.spool import Row

CHECKPOINT_FILE = "checkpoint.npz"
ROWS = "__rows__"
"""Name, in a checkpoint, of the metric rows that the run had logged (JSON as bytes)."""


class Checkpoints:
    """The folder of one fingerprint. Nothing is written to it before there is something to keep."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, arrays: Mapping[str, np.ndarray], rows: list[Row]) -> None:
        """Write arrays by name, with the metric rows so far, to a temporary name, and move them.

        Raises:
            ValueError: an array holds Python objects, or bears the name `__rows__`.
        """
        plain = {name: np.asarray(array) for name, array in arrays.items()}
        for name, array in plain.items():
            if array.dtype.hasobject or name == ROWS:
                raise ValueError(f"checkpoint: array {name!r} ({array.dtype}): only arrays of plain values are saved")
        plain[ROWS] = np.frombuffer(json.dumps(rows).encode(), np.uint8)
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self.folder / f".{CHECKPOINT_FILE}.{os.getpid()}.part"
        with temporary.open("wb") as file:
            np.savez(file, **plain)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.folder / CHECKPOINT_FILE)

    def load(self) -> tuple[dict[str, np.ndarray], list[Row]] | None:
        """Return the arrays and rows of the last checkpoint, or `None` if there is none that can be read."""
        for half in self.folder.rglob(".*.part"):
            half.unlink(missing_ok=True)
        path = self.folder / CHECKPOINT_FILE
        if not path.is_file():
            return None
        try:
            arrays = load_npz(path)
            rows = _rows_adapter().validate_json(arrays.pop(ROWS).tobytes(), strict=True)
        except (ValueError, KeyError):
            return None  # Files are moved when whole, so this one is another program's, or the disk's fault.
        return arrays, rows

    def save_unit(self, key: str, result: Mapping[str, Any]) -> dict[str, Any]:
        """Keep the result of a unit of work, and return it as `load_unit` will.

        Raises:
            ValueError: JSON cannot hold the result.
        """
        try:
            plain: dict[str, Any] = json.loads(json.dumps(result))
        except TypeError as error:
            raise ValueError(f"the result of unit {key} is not plain: {error}") from error
        text = json.dumps({"key": key, "result": plain, "check": _check(plain)})
        path = self._unit(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
        return plain

    def load_unit(self, key: str) -> dict[str, Any] | None:
        """Return the result of a unit that is done, or `None`; one whose file is damaged is not done."""
        try:
            data = json.loads(self._unit(key).read_text(encoding="utf-8"))
            sound = data["key"] == key and data["check"] == _check(data["result"])
            return data["result"] if sound and isinstance(data["result"], dict) else None
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return None

    def remove(self) -> None:
        """Remove all of it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _unit(self, key: str) -> Path:
        return self.folder / "units" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"


def _check(result: Any) -> str:
    """A checksum of a unit's result: JSON has none of its own, as archives have."""
    return hashlib.sha256(json.dumps(result).encode()).hexdigest()[:16]


@functools.cache
def _rows_adapter() -> TypeAdapter[list[Row]]:
    return TypeAdapter(list[Row])
