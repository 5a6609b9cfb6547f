"""Where a run comes from: host, process, commit and versions; and whether that process still lives."""

from __future__ import annotations

import functools
import getpass
import os
import platform
import socket
import subprocess
from importlib.metadata import PackageNotFoundError, version

import psutil

from miai import __version__, project

HOST_TAG = "miai.host"
PID_TAG = "miai.pid"
PID_STARTED_TAG = "miai.pid_started"
PACKAGES = ("numpy", "numba", "mlflow", "torch")
CLOCK_TOLERANCE = 2.0
"""Seconds by which the start of one process may differ between two readings (the system's clock is corrected)."""


def host() -> str:
    return socket.gethostname()


def process_tags() -> dict[str, str]:
    """Tags that name this very process, so that a later start can see whether it still lives."""
    pid = os.getpid()
    return {HOST_TAG: host(), PID_TAG: str(pid), PID_STARTED_TAG: f"{psutil.Process(pid).create_time():.2f}"}


def is_alive(pid: int, started: float | None) -> bool:
    """Whether process `pid` of this host runs, and is the one that started at `started` (seconds since 1970)."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return started is None or abs(process.create_time() - started) <= CLOCK_TOLERANCE
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
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
