"""NumPy's archives (`.npz`) as plain data: loading one runs no code, and none unfolds to more than a bound."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

MOST_UNFOLDED = 64 * 1024 * 1024
"""Bytes that an archive may unfold to if that is more than the archive itself has. Those that Miai writes are not
compressed, so none of them comes near."""
MOST_MEMBERS = 100_000


class BadArchiveError(ValueError):
    """What is wrong with an archive, as the second half of a line that begins with its name."""


def load_npz(path: str | Path) -> dict[str, np.ndarray]:
    """Return all arrays of an archive, by name.

    Raises:
        BadArchiveError: it is none, is damaged, holds something else than arrays of plain values (a pickle, say), one
            name twice, or unfolds to more than its size allows.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            _check_sizes(members, Path(path).stat().st_size)
            return {member.filename.removesuffix(".npy"): _read(archive, member) for member in members}
    except BadArchiveError:
        raise
    except Exception as error:
        # Damaged archives raise almost anything: BadZipFile, ValueError, EOFError, zlib.error, …
        raise BadArchiveError(f"it cannot be read as a NumPy archive ({type(error).__name__})") from None


def _check_sizes(members: Sequence[zipfile.ZipInfo], size: int) -> None:
    """Refuse an archive by what its directory claims: no member yields more bytes than are claimed for it."""
    if len(members) > MOST_MEMBERS:
        raise BadArchiveError(f"it holds {len(members):,} arrays; {MOST_MEMBERS:,} are allowed")
    if len({member.filename for member in members}) < len(members):
        raise BadArchiveError("it holds an array twice")
    unfolded = sum(member.file_size for member in members)
    if unfolded > max(size, MOST_UNFOLDED):
        raise BadArchiveError(f"it unfolds from {size:,} to {unfolded:,} bytes; {MOST_UNFOLDED:,} are allowed")


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    with archive.open(member) as file:
        array: np.ndarray = np.lib.format.read_array(file, allow_pickle=False)
    if array.dtype.kind == "U" and array.dtype.itemsize:
        codes = np.frombuffer(array.tobytes(), np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
        if codes.size and codes.max() > sys.maxunicode:  # Python would make a text of it that crashes where it is read.
            raise BadArchiveError(f"{member.filename} holds characters that there are not")
    return array
