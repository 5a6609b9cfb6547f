"""Where a run comes from: host, process, commit and versions; and whether that process still lives."""

from __future__ import annotations

import contextlib
import functools
import getpass
import hashlib
import os
import platform
import socket
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from miai import __version__, project

HOST_TAG = "miai.host"
MACHINE_TAG = "miai.machine"
PID_TAG = "miai.pid"
PID_STARTED_TAG = "miai.pid_started"
PACKAGES = ("numpy", "numba", "mlflow", "torch")
CLOCK_TOLERANCE = 2.0
"""Seconds by which the start of one process may differ between two readings, where it is known by the clock alone."""

_START_TICKS = 19
"""Of the fields behind the program's name in Linux's /proc/PID/stat; of all, the 22nd (proc(5))."""


def host() -> str:
    return socket.gethostname()


@functools.cache
def machine() -> str:
    """Tells apart machines and containers that have one host name: on a shared store, process ids of the one mean
    nothing on the other. Made of the system's machine id and of what namespace process ids are counted in (Linux)."""
    parts = [host()]
    with contextlib.suppress(OSError):
        parts.append(Path("/etc/machine-id").read_text(encoding="ascii").strip())
    with contextlib.suppress(OSError):
        parts.append(str(Path("/proc/self/ns/pid").stat().st_ino))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def process_tags() -> dict[str, str]:
    """Tags that name this very process, so that a later start can see whether it still lives."""
    pid = os.getpid()
    return {HOST_TAG: host(), MACHINE_TAG: machine(), PID_TAG: str(pid), PID_STARTED_TAG: start_of(pid)}


def start_of(pid: int) -> str:
    """When a process started, as a text that stays the same as long as it lives, whatever becomes of the clock.

    On Linux, `BOOT:TICKS`: which start of the machine, and clock ticks since. Seconds since 1970 would not do: Linux
    works them out anew at each reading, so that setting the clock would make every process look like another one.
    Elsewhere, seconds since 1970, as the system noted them down.

    Raises:
        psutil.NoSuchProcess: there is none.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")[:8]
        return f"{boot}:{int(fields[_START_TICKS])}"
    except (OSError, ValueError, IndexError):
        return f"{psutil.Process(pid).create_time():.2f}"


def is_alive(pid: int, started: str | None) -> bool:
    """Whether process `pid` of this host runs, and is the one that started then (see `start_of`; `None`: any)."""
    try:
        if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return False
        if started is None:
            return True
        if ":" in started:
            return start_of(pid) == started
        return abs(psutil.Process(pid).create_time() - float(started)) <= CLOCK_TOLERANCE
    except psutil.NoSuchProcess:
        return False
    except (psutil.AccessDenied, ValueError):
        return True


@functools.lru_cache(maxsize=1)
def code_tags() -> dict[str, str]:
    """Tags for the code's state: commit, whether there were edits on top, and versions. Read once a process."""
    tags = {"miai.version": __version__, "miai.version.python": platform.python_version()}
    for package in PACKAGES:
        try:
            tags[f"miai.version.{package}"] = version(package)
        except PackageNotFoundError:
            continue
    tags["mlflow.source.name"] = "miai"
    try:
        tags["mlflow.user"] = getpass.getuser()
    except (KeyError, OSError):
        tags["mlflow.user"] = str(os.getuid())
    commit = _git("rev-parse", "HEAD")
    if commit:
        tags["miai.git_commit"] = tags["mlflow.source.git.commit"] = commit
        tags["miai.git_dirty"] = "true" if _git("status", "--porcelain", "--untracked-files=no") else "false"
    return tags


def _git(*arguments: str) -> str:
    """The output of git in the checkout that the package runs from; "" where there is none."""
    checkout = project.PACKAGE.parent.parent
    if not (project.is_checkout(checkout) and (checkout / ".git").exists()):
        return ""
    command = ["git", "-C", str(checkout), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
