"""What a measure is, and how ours and a peer's are taken side by side.

A section of the benchmark is a module with `measure_all()`, which yields measures, and `Missing` for what this machine
cannot measure.
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Measure:
    """One line of the table: ours, the peer's, and what is compared with the goal."""

    name: str
    unit: str
    ours: float
    peer: float | None
    """`None` where the goal is an amount and not a ratio."""
    goal: float
    at_least: bool = True
    """Whether the goal is a lower bound; an upper one otherwise."""
    ratios: tuple[float, ...] = ()
    """Ours over the peer's, one for each time that both were taken side by side."""
    note: str = ""

    @property
    def ratio(self) -> float:
        """What is compared with the goal: the median ratio, or where there is no peer, ours."""
        if self.peer is None:
            return self.ours
        return median(self.ratios) if self.ratios else self.ours / self.peer

    @property
    def reached(self) -> bool:
        return self.ratio >= self.goal if self.at_least else self.ratio <= self.goal


@dataclass(frozen=True)
class Missing:
    """What could not be measured, and why."""

    name: str
    reason: str


def side_by_side(
    name: str,
    unit: str,
    ours: Callable[[], float],
    peer: Callable[[], float],
    goal: float,
    repeats: int,
    note: str = "",
) -> Measure:
    """Take ours and the peer's by turns, so that whatever else the machine does meets both alike.

    Both return a rate. The measure holds the median of each, and the ratio of every turn.
    """
    ours()
    peer()  # compiled, loaded, warm
    pairs = [(ours(), peer()) for _ in range(repeats)]
    return Measure(
        name,
        unit,
        median(mine for mine, _ in pairs),
        median(theirs for _, theirs in pairs),
        goal,
        ratios=tuple(mine / theirs for mine, theirs in pairs),
        note=note,
    )


def machine() -> dict[str, Any]:
    """Describe the machine and the versions that matter, without any name of the machine."""
    packages = ("numpy", "numba", "llvmlite", "pandas", "mlflow", "hydra-core", "open_spiel")
    return {
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "cc": _first_line(["cc", "--version"]),
        **{package: _version(package) for package in packages},
    }


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def _first_line(command: list[str]) -> str | None:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
