"""Where compiled kernels are kept between runs.

Numba notices when the file of a cached kernel changes, but not when a function that the kernel calls,
or a constant that it reads, lives in *another* file and changes there: the stale machine code is run without a
word. So the cache folder's name holds a hash of every source that kernels are built from, and of
Numba's version. An edit means a new folder, never a stale kernel.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import platformdirs

PACKAGE = Path(__file__).parent
KERNEL_SOURCES = (
    "compiled.py",
    "rng.py",
    "schedules.py",
    "games",
    "search",
    "tabular",
    "networks",
    "records",
    "alphago",
)
"""Files and folders of the package that hold kernels or the constants that kernels read."""

STALE_AFTER_DAYS = 30


def hash_sources(names: tuple[str, ...], package: Path = PACKAGE) -> str:
    """Hash the named files and folders of the package (sha256, hexadecimal): paths and contents, in a fixed order."""
    digest = hashlib.sha256()
    for name in sorted(names):
        place = package / name
        files = sorted(place.rglob("*.py")) if place.is_dir() else [place] if place.is_file() else []
        for file in files:
            digest.update(file.relative_to(package).as_posix().encode())
            digest.update(b"\0")
            digest.update(file.read_bytes().replace(b"\r\n", b"\n"))
            digest.update(b"\0")
    return digest.hexdigest()


complaint = ""
"""What is to be said to the user about the folder that they chose, in one line; the command line says it."""


def use_versioned_cache() -> None:
    """Set `NUMBA_CACHE_DIR`, unless the user has set it, and drop folders that nothing has used for a month.

    Where nothing can be written, be it to the user's own choice, kernels are compiled anew at each start: slow, but
    right. Left to itself, Numba would fail, or keep them beside the sources, where a stale callee goes unnoticed.
    """
    global complaint
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        if not _make(Path(chosen)):
            os.environ["NUMBA_CACHE_DIR"] = _passing_folder()
            complaint = f"NUMBA_CACHE_DIR: {chosen!r} cannot be written to; kernels are compiled anew, and not kept."
        return
    try:
        numba_version = version("numba")
    except PackageNotFoundError:
        return
    parent = Path(platformdirs.user_cache_dir("miai")) / "kernels"
    folder = parent / f"numba-{numba_version}-{hash_sources(KERNEL_SOURCES)[:16]}"
    if not _make(folder):
        os.environ["NUMBA_CACHE_DIR"] = _passing_folder()
        return
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    oldest = time.time() - STALE_AFTER_DAYS * 86_400
    for other in parent.iterdir():
        with contextlib.suppress(OSError):
            if other.stat().st_mtime < oldest:
                shutil.rmtree(other, ignore_errors=True)


def _make(folder: Path) -> bool:
    """Make the folder, if it is not there, and mark it as used now; say whether files can be written to it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _passing_folder() -> str:
    """Make a folder that goes when this process ends."""
    folder = tempfile.mkdtemp(prefix="miai-kernels-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
