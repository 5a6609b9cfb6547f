"""The files of a folder, a zip or a tar archive, one after the other, never unpacked to disk.

Archives are read as streams: nothing is written, so a member named `../../etc/passwd` is only an odd name. What is
held in memory at a time is bounded by `max_bytes`, whatever an archive claims about its sizes; how much an archive may
unfold to is bounded by its own size (`most_unfolded`), so that a bomb goes off in a moment, and small.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from miai.errors import MiaiError
from miai.plain_text import visible

ARCHIVE_SUFFIXES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2")
MOST_MEMBERS = 2_000_000
"""Of an archive; the largest collection of games that is known has some hundred thousand."""
UNFOLDS = 200
"""How many times its own size an archive may unfold to. Game records shrink to a tenth at best."""
ALWAYS_UNFOLDED = 64 * 1024 * 1024
"""Bytes that even the smallest archive may unfold to."""

READ_ERRORS = (
    OSError,
    EOFError,
    RuntimeError,  # an encrypted member of a zip; a tar that is nested without end
    NotImplementedError,  # a compression that Python does not know
    UnicodeError,
    ValueError,
    LookupError,  # a sparse tar header that is cut off
    OverflowError,
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What reading a damaged file or archive raises."""

Wanted = Callable[[str], bool]
Found = tuple[str, "bytes | Exception"]
"""A file's name, as people know it, and its bytes or why there are none."""

_OPENERS: dict[bytes, Callable] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open, b"BZh": bz2.open}
"""By the first bytes of the file: what it is counts, not what it is called."""


class TooLargeError(ValueError):
    """A file above the bound, or an archive that unfolds to more than its own size allows."""


def most_unfolded(size: int) -> int:
    """Return how many bytes an archive of `size` bytes may unfold to."""
    return ALWAYS_UNFOLDED + UNFOLDS * size


def is_archive(name: str) -> bool:
    return name.lower().endswith(ARCHIVE_SUFFIXES)


def read_files(place: Path, wanted: Wanted, max_bytes: int) -> Iterator[Found]:
    """Yield the wanted files of a place, in a stable order.

    A folder is walked in the order of names, and its archives are entered where they stand; an archive is read in its
    own order; an archive inside an archive is not opened. Names start with the place's own name unless it is a folder.

    Args:
        place: a folder, an archive, or one file (which is read whatever its name).
        wanted: says by its name whether a file is to be read.
        max_bytes: files above this are not read but yielded as a `TooLargeError`.

    Raises:
        MiaiError: there is no such place.
    """
    if place.is_dir():
        yield from _read_folder(place, wanted, max_bytes)
    elif is_archive(place.name) and place.is_file():
        yield from _read_archive(place, place.name, wanted, max_bytes)
    elif place.is_file():
        yield place.name, _read_file(place, max_bytes)
    else:
        raise MiaiError(f"{place}: no such file or folder; a folder, zip, tar or SGF file is needed.")


def _read_folder(folder: Path, wanted: Wanted, max_bytes: int) -> Iterator[Found]:
    for parent, folders, names in os.walk(folder):
        folders.sort()  # os.walk goes on in this order
        for name in sorted(names):
            path = Path(parent) / name
            label = path.relative_to(folder).as_posix()
            if not path.is_file():
                continue  # a pipe, a device, a link to nowhere
            if is_archive(name):
                yield from _read_archive(path, label, wanted, max_bytes)
            elif wanted(label):
                yield label, _read_file(path, max_bytes)


def _read_file(path: Path, max_bytes: int) -> bytes | Exception:
    try:
        with path.open("rb") as file:
            return _read_bounded(file, max_bytes)
    except READ_ERRORS as error:
        return error


def _read_bounded(file: BinaryIO, max_bytes: int) -> bytes:
    data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise TooLargeError(f"more than {max_bytes:,} bytes")
    return data


def _read_archive(path: Path, label: str, wanted: Wanted, max_bytes: int) -> Iterator[Found]:
    members = _zip_members if path.name.lower().endswith(".zip") else _tar_members
    try:
        for name, data in members(path, wanted, max_bytes):
            yield f"{label}/{_printable(name)}", data
    except READ_ERRORS as error:
        # The archive itself is damaged from here on: what came before it counts.
        yield label, error


def _zip_members(path: Path, wanted: Wanted, max_bytes: int) -> Iterator[Found]:
    most = most_unfolded(path.stat().st_size)
    unfolded = 0
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        _check_count(len(members))
        for member in members:
            if member.is_dir() or not wanted(member.filename):
                continue
            # Members may lie over each other in the file, so that each is small and all together are not.
            unfolded += min(member.file_size, max_bytes)
            if unfolded > most:
                raise _bomb(most)
            try:
                with archive.open(member) as file:
                    yield member.filename, _read_bounded(cast(BinaryIO, file), max_bytes)
            except READ_ERRORS as error:
                yield member.filename, error


def _tar_members(path: Path, wanted: Wanted, max_bytes: int) -> Iterator[Found]:
    with path.open("rb") as file:
        start = file.read(6)
    opener = next((opener for magic, opener in _OPENERS.items() if start.startswith(magic)), None)
    with opener(path) if opener else path.open("rb") as stream:
        reads = _BoundedReads(stream, max_bytes, most_unfolded(path.stat().st_size))
        with tarfile.open(fileobj=cast(BinaryIO, reads), mode="r:") as archive:
            count, behind = 0, 0
            while (member := archive.next()) is not None:
                archive.members = []  # type: ignore[attr-defined]  # tarfile would keep every header it has seen
                count += 1
                _check_count(count)
                if archive.offset <= behind:
                    raise tarfile.ReadError("a header of a negative size")  # which would lead back, round and round
                behind = archive.offset
                if not member.isfile() or not wanted(member.name):
                    continue
                if member.size > max_bytes:
                    yield member.name, TooLargeError(f"{member.size:,} bytes")
                    continue
                content = archive.extractfile(member)
                yield member.name, content.read() if content else b""
        if reads.last != bytes(tarfile.BLOCKSIZE):
            # After the first member, tarfile takes any header that it cannot read for the end.
            raise tarfile.ReadError("a damaged header, or an end that is missing")


def _check_count(count: int) -> None:
    if count > MOST_MEMBERS:
        raise TooLargeError(f"more than {MOST_MEMBERS:,} files")


def _bomb(most: int) -> TooLargeError:
    return TooLargeError(f"it unfolds to more than {most:,} bytes")


class _BoundedReads(io.RawIOBase):
    """A stream that refuses to be asked for too much at once: tarfile reads a header whole, however long it claims.

    `last` is what the last read gave. Nothing behind the first `most` bytes is read, or passed over.
    """

    def __init__(self, stream: BinaryIO, max_bytes: int, most: int) -> None:
        self._stream = stream
        self._most_at_once = max_bytes + tarfile.RECORDSIZE
        self._most = most
        self.last = b""

    def read(self, size: int = -1) -> bytes:
        if size < 0 or size > self._most_at_once:
            raise TooLargeError(f"a header of {size:,} bytes")
        self.last = self._stream.read(size)
        if self._stream.tell() > self._most:
            raise _bomb(self._most)
        return self.last

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if offset > self._most:
            raise _bomb(self._most)
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()


def _printable(name: str) -> str:
    return visible(name.encode("utf-8", "backslashreplace").decode("utf-8"))
