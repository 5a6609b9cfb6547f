"""One file format for all arrays of Go: data sets of games, positions, weights of networks.

A file is in the safetensors format: a JSON header, then the arrays as plain bytes. Loading it runs no code, and its
arrays can be mapped from the disk instead of read. What an array means is the caller's: each file states a *kind* (such
as `network`), the version of that kind's layout, and metadata that JSON can hold.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from miai.errors import MiaiError

ABOUT = "miai"
"""The one key of the header's metadata; with several, the library would write them in a random order."""
HEADER_BYTES = 8
"""A safetensors file begins with its header's length, a little-endian number of so many bytes."""
MAX_HEADER = 4 * 1024 * 1024
"""Bytes. The format allows 100 MB, of which Python would make gigabytes; those that Miai writes have some kilobytes."""

# By the format's own names. Complex numbers, bfloat16 and the 8-bit floats have no use here.
DTYPES = {
    "BOOL": np.dtype(np.bool_),
    "U8": np.dtype("u1"),
    "I8": np.dtype("i1"),
    "U16": np.dtype("<u2"),
    "I16": np.dtype("<i2"),
    "U32": np.dtype("<u4"),
    "I32": np.dtype("<i4"),
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}


def save_tensors(
    path: str | Path, kind: str, version: int, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]
) -> None:
    """Write arrays by name, with metadata, to a temporary name beside `path`, and move them there.

    The same content gives the same bytes.

    Raises:
        ValueError: an array is of a type that the format has no name for, or JSON cannot hold the metadata.
    """
    from safetensors.numpy import save

    for name, array in arrays.items():
        if array.dtype not in DTYPES.values():
            raise ValueError(f"array {name!r} is {array.dtype}; allowed: {', '.join(map(str, DTYPES.values()))}")
    about = {"kind": kind, "version": version, "meta": dict(meta)}
    try:
        text = json.dumps(about, sort_keys=True, allow_nan=False)
    except TypeError as error:
        raise ValueError(f"the metadata is not plain: {error}") from error
    data = save({name: np.asarray(arrays[name], order="C") for name in sorted(arrays)}, metadata={ABOUT: text})
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def load_tensors(
    path: str | Path, kind: str, version: int, arrays: Mapping[str, str] | None = None, *, mapped: bool = False
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the arrays of a file, read only, and its metadata.

    Args:
        kind, version: what the file has to be.
        arrays: the type of each array that the file must hold, and no other, such as `{"moves": "int16"}`; `None` takes
            any. Shapes are for the caller to check.
        mapped: leave the arrays on the disk, and read what is looked at.

    Raises:
        MiaiError: there is no such file, or it is damaged, of another kind or version, or holds other arrays.
    """
    path = Path(path)
    header = _read_header(path)
    about = _parse_about(path, header.pop("__metadata__", None) or {}, kind)
    if about["kind"] != kind:
        raise MiaiError(f"{path}: it is of kind {about['kind']!r}; a file of kind {kind!r} is needed.")
    if about["version"] != version:
        raise MiaiError(f"{path}: its version is {about['version']!r}; this Miai reads {kind} of version {version}.")
    unknown = next((name for name, entry in header.items() if entry["dtype"] not in DTYPES), None)
    if unknown is not None:
        raise MiaiError(f"{path}: its array {unknown!r} is of a type that Miai does not use.")
    types = {name: DTYPES[entry["dtype"]] for name, entry in header.items()}
    if arrays is not None and {name: str(dtype) for name, dtype in types.items()} != dict(arrays):
        held = ", ".join(f"{name} {dtype}" for name, dtype in sorted(types.items())) or "nothing"
        raise MiaiError(
            f"{path}: it holds {held}; a {kind} holds {', '.join(f'{name} {arrays[name]}' for name in sorted(arrays))}."
        )
    whole = np.memmap(path, np.uint8, "r") if mapped else np.fromfile(path, np.uint8)
    start = HEADER_BYTES + int.from_bytes(whole[:HEADER_BYTES].tobytes(), "little")
    found = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        try:
            array = whole[start + first : start + last].view(types[name]).reshape(entry["shape"])
        except (ValueError, OverflowError):  # an array without elements may claim any length along another axis
            raise MiaiError(f"{path}: it is damaged: its array {name!r} has the shape {entry['shape']}.") from None
        array.flags.writeable = False
        found[name] = array
    return found, about["meta"]


def _parse_about(path: Path, metadata: Mapping[str, str], kind: str) -> dict[str, Any]:
    if ABOUT not in metadata:
        raise MiaiError(f"{path}: it was not written by Miai; a file of kind {kind!r} is needed.")
    try:
        about = json.loads(metadata[ABOUT])
    except (ValueError, RecursionError):
        about = None
    if not isinstance(about, dict) or set(about) != {"kind", "version", "meta"} or not isinstance(about["meta"], dict):
        raise MiaiError(f"{path}: its metadata cannot be read.")
    return about


def _read_header(path: Path) -> dict[str, Any]:
    """Return the header of a file that the library has found sound: types, shapes and offsets fit the file's size."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise MiaiError(f"{path}: no such file.")
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(HEADER_BYTES), "little")
            if length > path.stat().st_size:
                raise ValueError("it ends before its header does")
            if length > MAX_HEADER:
                raise MiaiError(f"{path}: its header has {length:,} bytes; at most {MAX_HEADER:,} are read.")
            with safe_open(path, framework="numpy"):
                pass
            header = json.loads(file.read(length))
    except (SafetensorError, ValueError, OverflowError, RecursionError) as error:
        raise MiaiError(f"{path}: it is damaged, or no safetensors file ({error}).") from None
    except OSError as error:
        raise MiaiError(f"{path}: it cannot be read ({error.strerror or error}).") from None
    return header
