"""Running `miai` as people do: a process, a project folder, a clock."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

MIAI = Path(sys.executable).with_name("miai")
LIMIT_S = 1_200


class CommandError(Exception):
    """A command is not there, ended with an error, or took too long."""


@dataclass(frozen=True)
class Done:
    seconds: float
    """Of the wall clock."""
    busy: float
    """Seconds of CPU that it and its children used together: what they would take if nothing else ran."""
    memory: int
    """The most bytes that the process and its children held together, by samples. Shared pages count once, where the
    system can tell (Linux); elsewhere once for each.
    """


class Project:
    """A folder that commands take for the project's, with an empty store and no compiled kernels."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._environment = {
            **os.environ,
            "MIAI_HOME": str(folder),
            "NUMBA_CACHE_DIR": str(folder / "kernels"),
            "NO_COLOR": "1",
            "PYTHONPATH": str(Path(__file__).parents[1]),  # for modules of the benchmark
        }

    def run(self, *arguments: str) -> Done:
        """Run `miai` with these arguments.

        Raises:
            CommandError: with the last line of what it said.
        """
        if not MIAI.is_file():
            raise CommandError("the command miai is not installed")
        return self._run([str(MIAI), *arguments], f"miai {arguments[0]}")

    def run_module(self, module: str, *arguments: str) -> Done:
        """Run a module of the benchmark in a process of its own, as a command of this project; else as `run`."""
        return self._run([sys.executable, "-m", module, *arguments], module)

    def _run(self, command: list[str], name: str) -> Done:
        with tempfile.TemporaryFile("w+") as said:
            began, used = time.perf_counter(), _cpu_of_children()
            process = subprocess.Popen(
                command, cwd=self.folder, env=self._environment, stdout=said, stderr=subprocess.STDOUT
            )
            memory = _Memory(process.pid)
            memory.start()
            try:
                code = process.wait(LIMIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                raise CommandError(f"{name} took more than {LIMIT_S} s") from None
            finally:
                memory.stop()
            seconds, busy = time.perf_counter() - began, _cpu_of_children() - used
            if code:
                said.seek(0)
                lines = said.read().strip().splitlines() or ["it said nothing"]
                raise CommandError(f"{name} ended with {code}: {lines[-1]}")
        return Done(seconds, busy, memory.most)


class _Memory(threading.Thread):
    """Samples the memory of a process and its children ten times a second."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.most = 0
        self._pid = pid
        self._stopped = threading.Event()

    def run(self) -> None:
        while not self._stopped.wait(0.1):
            try:
                root = psutil.Process(self._pid)
                held = sum(_held(process) for process in (root, *root.children(recursive=True)))
            except psutil.Error:  # one of them has just ended
                continue
            self.most = max(self.most, held)

    def stop(self) -> None:
        self._stopped.set()
        self.join()


def _cpu_of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _held(process: psutil.Process) -> int:
    memory = process.memory_full_info()
    return getattr(memory, "pss", memory.rss)
