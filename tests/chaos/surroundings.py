"""Hostile surroundings: a full disk, a read-only store, a cache or a home that cannot be written, a clock that is set
back, an odd folder. `SCENES` is the table.

Each scene is a program in a mount namespace of its own, where a small or a read-only file system can be mounted without
touching the machine's: `play` starts it, and needs Linux's `unshare`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from chaos.projects import STUDY, Project, check_one_line, kill_all, seeds, sweep

Scene = Callable[[Path], str]

UNSHARE = ("unshare", "--map-root-user", "--mount")
NO_CACHE = {"NUMBA_CACHE_DIR": None, "XDG_CACHE_HOME": None, "MPLCONFIGDIR": None}
BACK = """
import os, time

_real, _real_ns, _moved = time.time, time.time_ns, os.environ["CLOCK_MOVED"]
_set = lambda: 7200.0 if os.path.exists(_moved) else 0.0
time.time = lambda: _real() - _set()
time.time_ns = lambda: _real_ns() - int(_set() * 1e9)
"""
"""A `sitecustomize` by which the clock of every process of a project is two hours slow once a file is there."""


def disk_full(folder: Path) -> str:
    """The disk fills up in the middle of a sweep; when there is room, the same command goes on."""
    disk = folder / "disk"
    _mount(disk, "size=100k")
    project = Project(disk)
    check_one_line(project.run("train", "num_games=100"), "space")
    _mount(disk, "remount,size=3m")
    said = project.run(*sweep(24))
    assert said.code == 1, said.all
    assert "No space left on device" in said.out or "disk is full" in said.out, said.all
    _mount(disk, "remount,size=200m")
    before = {run.run_id for run in project.store().runs(STUDY) if run.status == "FINISHED"}
    said = project.run(*sweep(24))
    assert said.code == 0, said.all
    said = project.run("sync")
    assert said.code == 0, said.all
    assert project.tables().keys() == seeds(24)
    after = {run.run_id for run in project.store().runs(STUDY) if run.status == "FINISHED"}
    assert before <= after, "a finished run was lost"
    assert not project.leftovers(), project.leftovers()
    return f"{len(before)} of 24 runs were finished before the disk was full, 24 afterwards"


def read_only_store(folder: Path) -> str:
    """A project on a file system that has become read-only: what writes is refused in one line."""
    disk = folder / "disk"
    _mount(disk, "size=100m")
    project = Project(disk)
    said = project.run(*sweep(2))
    assert said.code == 0, said.all
    _mount(disk, "remount,ro")
    for command in (["train", "num_games=100"], sweep(4), ["sync"], ["sweep", "td_comparison"], ["report", STUDY]):
        said = project.run(*command)
        if command != ["sync"]:  # Which has nothing to do.
            check_one_line(said)
    _mount(disk, "remount,rw")
    assert project.tables().keys() == seeds(2)
    return "5 commands"


def unwritable_cache(folder: Path) -> str:
    """`NUMBA_CACHE_DIR` names a place that cannot be written to: one line, and the run is made."""
    _mount(folder / "cache", "ro")
    project = Project(folder / "project", environment={"NUMBA_CACHE_DIR": str(folder / "cache" / "numba")})
    said = project.run("train", "num_games=200", f"study={STUDY}")
    assert said.code == 0, said.all
    [line] = said.err.splitlines()
    assert "NUMBA_CACHE_DIR" in line, said.all
    assert project.tables().keys() == {"0"}
    return "1 run"


def read_only_home(folder: Path) -> str:
    """A user whose home is read-only: runs are made, and a report is drawn, without a word about it."""
    home = folder / "home"
    _mount(home, "ro")
    project = Project(folder / "project", environment={**NO_CACHE, "HOME": str(home)})
    small = ("seed=0,1", "num_games=200", "num_checkpoints=2", "test.games=5")
    for command in (("sweep", "td_comparison", *small), ("report", "td_comparison", *small), ("gtp", "--help")):
        said = project.run(*command)
        assert (said.code, said.err) == (0, ""), said.all
    return "a sweep and its report"


def clock_set_back(folder: Path) -> str:
    """The clock is set back by two hours in the middle of a sweep, while another sweep makes the same runs."""
    patch = folder / "patch"
    patch.mkdir()
    (patch / "sitecustomize.py").write_text(BACK)
    moved = folder / "moved"
    project = Project(folder / "project", environment={"PYTHONPATH": str(patch), "CLOCK_MOVED": str(moved)})
    programs = [project.start(*sweep(16)) for _ in range(2)]
    try:
        while project.num_finished() < 4 and any(program.poll() is None for program in programs):
            pass
        moved.touch()
        for program in programs:
            out, err = program.communicate(timeout=600)
            assert program.returncode == 0, out + err
    finally:
        for program in programs:
            kill_all(program)
    assert "16 already there, nothing to do" in project.run(*sweep(16)).out
    assert project.tables().keys() == seeds(16)
    assert not project.leftovers(), project.leftovers()
    return "2 sweeps of the same 16 runs"


def odd_folder(folder: Path) -> str:
    """A folder with spaces, signs and letters of several scripts, where two sweeps begin in the same moment."""
    project = Project(folder / "ein Ordner – über 100% #1 & 'Go' 日本 (囲碁)")
    programs = [project.start(*sweep(8)) for _ in range(2)]
    try:
        for program in programs:
            out, err = program.communicate(timeout=600)
            assert program.returncode == 0, out + err
            assert "Traceback" not in out + err, out + err
    finally:
        for program in programs:
            kill_all(program)
    assert project.tables().keys() == seeds(8)
    assert not project.leftovers(), project.leftovers()
    [run, *_] = project.store().runs(STUDY)
    for command in (("evaluate", run.run_id), ("reproduce", run.run_id), ("sync",)):
        said = project.run(*command)
        assert said.code == 0, said.all
    away = Project(project.root, "http://127.0.0.1:9")
    said = away.run("train", "num_games=200", "seed=100", f"study={STUDY}")
    assert said.code == 0, said.all
    said = project.run("sync", "adopt=true")
    assert "1 runs uploaded." in said.out, said.all
    assert project.tables().keys() == {*seeds(8), "100"}
    return "2 sweeps of the same 8 runs, an upload"


SCENES: dict[str, Scene] = {
    scene.__name__: scene
    for scene in (disk_full, read_only_store, unwritable_cache, read_only_home, clock_set_back, odd_folder)
}


def _mount(folder: Path, options: str) -> None:
    """Mount a file system in memory, or change the one that is there. It goes with the process."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(folder)], check=True, capture_output=True)


@cache
def why_not() -> str:
    """Why scenes cannot be played here, or nothing."""
    if shutil.which("unshare") is None:
        return "there is no `unshare`, which keeps mounts apart"
    done = subprocess.run([*UNSHARE, "true"], capture_output=True, text=True, check=False)
    return f"`unshare` is not allowed: {done.stderr.strip()}" if done.returncode else ""


def play(name: str, folder: Path) -> str:
    """Play a scene; return what was done, in a few words.

    Raises:
        AssertionError: something did not hold; with what was seen.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tests = str(Path(__file__).parents[1])
    program = (
        f"import sys; sys.path.insert(0, {tests!r}); from chaos import surroundings as s; from pathlib import Path\n"
    )
    program += f"print(s.SCENES[{name!r}](Path({str(folder)!r})))"
    done = subprocess.run([*UNSHARE, sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
