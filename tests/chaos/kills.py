"""`kill -9` at random moments: of workers, of the parent, of the fork server, of everything, of uploads.

Start reading at `sweep_under_kills`.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import multiprocessing
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import psutil

from chaos.projects import STUDY, Project, kill_all, seeds, sweep
from miai.runner import start_early
from miai.tracking import FINISHED, Store, locate, read_history, spool, sync
from miai.tracking.record import KEY_TAG, UPLOADED_TAG

WORKER, PARENT, EVERYTHING, FORK_SERVER = "a worker", "the parent", "everything", "the fork server"
VICTIMS = (WORKER, PARENT, EVERYTHING, FORK_SERVER, WORKER, WORKER, PARENT, WORKER)
"""Whom the kills hit, in these shares."""

Service = Callable[[], None]
"""Kills a service outside of Miai and starts it again on the same address and data."""


def sweep_under_kills(
    runs: int,
    kills: int,
    seed: int,
    folder: Path,
    deadline: float = float("inf"),
    uri: str | None = None,
    services: Mapping[str, Service] | None = None,
    games: int = 20_000,
) -> str:
    """Make a sweep of `runs` runs while something is killed `kills` times, spread over it; then the same command again.

    Args:
        uri: of the store; `None` is SQLite.
        services: killed too, by their names.
        games: of a run, so that the runs last long enough to be hit.

    Returns:
        what was done, in a few words.

    Raises:
        AssertionError: a run is missing, there twice or RUNNING; a table is not valid or not that of an undisturbed
            sweep; something was left behind.
    """
    rng = Random(f"kills {seed}")
    undisturbed = Project(folder / "undisturbed")
    command = sweep(runs, games)
    reference = undisturbed.start(*command)
    project = Project(folder / "disturbed", uri)
    victims = [kind for kind, _ in zip(itertools.cycle((*(services or {}), *VICTIMS)), range(kills), strict=False)]
    rng.shuffle(victims)
    program = project.start(*command)
    done: dict[str, int] = {}
    try:
        for number, victim in enumerate(victims):
            program = _wait(project, program, command, runs * number // kills, runs, rng)
            if time.monotonic() > deadline:
                break
            if services and victim in services:
                services[victim]()
                done[victim] = done.get(victim, 0) + 1
            else:
                while not _kill(victim, project, program, rng):
                    time.sleep(0.01)
                    if program.poll() == 0 or time.monotonic() > deadline:
                        break
                    program = _under_way(project, program, command)
                else:
                    done[victim] = done.get(victim, 0) + 1
            program = _under_way(project, program, command)
        out, err = program.communicate()
        assert "Traceback" not in out + err, out + err
        said, again = project.run(*command), ""
        if project.location.mlruns.joinpath("unsynced").is_dir():  # Of a store that was killed meanwhile.
            again = project.run("sync").out.strip()
        assert said.code == 0, said.all
        assert f"{runs} finished" in said.out or "already there" in said.out, said.all
        out, err = reference.communicate()
        assert reference.returncode == 0, out + err
    finally:
        kill_all(program)
        kill_all(reference)
    tables = project.tables()
    assert tables.keys() == seeds(runs), f"{len(tables)} of {runs} runs are finished"
    assert tables == undisturbed.tables(), "a table is not that of an undisturbed sweep"
    assert not project.leftovers(), f"left behind: {project.leftovers()}"
    killed = ", ".join(f"{victim} {count}" for victim, count in sorted(done.items()))
    return f"{runs} runs, {sum(done.values())} kills ({killed}){'; ' + again if again else ''}"


def _wait(
    project: Project, program: subprocess.Popen[str], command: list[str], finished: int, runs: int, rng: Random
) -> subprocess.Popen[str]:
    """Wait until so many runs are finished, and a moment more. A sweep that ends without them is begun again.

    One that says it is complete is believed: the claim of a run that was killed just before its last word never says
    that it is finished, though the store does.
    """
    while project.num_finished() < min(finished, runs - 1):
        complete = program.poll() == 0
        program = _under_way(project, program, command)
        if complete:
            break
        time.sleep(0.02)
    time.sleep(rng.expovariate(4.0))
    return program


def _under_way(project: Project, program: subprocess.Popen[str], command: list[str]) -> subprocess.Popen[str]:
    """The program, or the same begun again if it has ended."""
    if program.poll() is None:
        return program
    program.communicate()
    return project.start(*command)


def _kill(victim: str, project: Project, program: subprocess.Popen[str], rng: Random) -> bool:
    """Kill; say whether there was anyone."""
    if victim == PARENT:
        program.kill()
        return True
    if victim == EVERYTHING:
        kill_all(program)
        return True
    if victim == FORK_SERVER:
        # Workers are forked from it, so their command lines are the same: it is the one that they come from.
        children = _children(program.pid).items()
        found = [pid for pid, (parent, command) in children if parent == program.pid and "forkserver" in command]
    else:  # A worker is named by the work folder of its run. It outlives the fork server that it came from.
        names = [path.name for path in (project.location.mlruns / "work").glob("*.*.*")]
        found = [pid for name in sorted(names) if _is_worker(pid := int(name.rsplit(".", 2)[1]))]
    if not found:
        return False
    os.kill(rng.choice(found), signal.SIGKILL)
    return True


def _is_worker(pid: int) -> bool:
    """Whether a process lives, and is one of Python's that were forked to work."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return "forkserver" in " ".join(psutil.Process(pid).cmdline())
    return False


def _children(pid: int) -> dict[int, tuple[int, str]]:
    """Parent and command line of each living process below one, by its number."""
    living = {}
    with contextlib.suppress(psutil.NoSuchProcess):
        for child in psutil.Process(pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):  # Those that are dead, and not buried yet, have none.
                living[child.pid] = (child.ppid(), " ".join(child.cmdline()))
    return living


# ---- uploads ----


def sync_under_kills(
    runs: int, kills: int, seed: int, folder: Path, deadline: float = float("inf"), uri: str | None = None
) -> str:
    """Make a sweep while no store can be reached, then upload its runs while the upload is killed again and again.

    Returns:
        what was done, in a few words.

    Raises:
        AssertionError: a run is missing, there twice, or not whole; or something was left behind.
    """
    rng = Random(f"sync {seed}")
    project = Project(folder / "away", f"http://127.0.0.1:{_closed_port()}")
    said = project.run(*sweep(runs))
    assert said.code == 0, said.all
    assert (said.out + said.err).count("cannot be reached") == 1, said.all
    mlruns = project.location.mlruns
    expected = {path.name: _content(path) for path in (mlruns / spool.FOLDER).iterdir() if (path / "run.json").exists()}
    assert len(expected) == runs
    project.uri = uri or f"sqlite:///{folder}/back.db"
    start_early()
    Store(project.location).experiments()
    done, began = 0, time.monotonic()
    for number in range(kills):
        left = len(_waiting(mlruns))
        if not left or time.monotonic() > deadline:
            break
        a_run = (time.monotonic() - began) / max(1, runs - left)
        process = _start_sync(project)
        # So that the kills are spread over the uploads, and fall on any part of one.
        time.sleep(rng.uniform(0, 2 * min(a_run, 5.0) * left / (kills - number)))
        if process.is_alive():
            process.kill()
            done += 1
        process.join()
    last = project.run("sync", "adopt=true")
    assert last.code == 0, last.all
    _check_uploaded(project, expected)
    assert project.run("sync", "adopt=true").out == "0 runs uploaded.\n"
    assert not project.leftovers(), f"left behind: {project.leftovers()}"
    return f"{runs} runs, {done} kills of an upload"


def _closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _waiting(mlruns: Path) -> list[Path]:
    return [path for path in (mlruns / spool.FOLDER).glob("[!.]*") if path.is_dir()]


def _start_sync(project: Project) -> multiprocessing.Process:
    """Start an upload in a process that has MLflow loaded, and return when it is about to begin."""
    context = multiprocessing.get_context("forkserver")
    here, there = context.Pipe()
    process = context.Process(target=_sync, args=(str(project.root), project.uri, there))
    process.start()
    there.close()
    here.recv()
    here.close()
    return process  # type: ignore[return-value]


def _sync(root: str, uri: str, ready: object) -> None:
    store = Store(locate(uri, root=Path(root)))
    store.experiments()
    ready.send(None)  # type: ignore[attr-defined]
    sync(store, adopt=True)


def _content(folder: Path) -> dict:
    """A kept run, and its artifacts."""
    artifacts = folder / spool.ARTIFACTS
    files = {
        path.relative_to(artifacts).as_posix(): path.read_bytes() for path in artifacts.rglob("*") if path.is_file()
    }
    return {**json.loads((folder / "run.json").read_text()), "files": files}


def _check_uploaded(project: Project, expected: Mapping[str, dict]) -> None:
    store = project.store()
    runs = store.runs(STUDY)
    by_key = {run.tags[KEY_TAG]: run for run in runs}
    assert len(runs) == len(by_key) == len(expected), f"{len(runs)} runs in the store, {len(expected)} were kept"
    for key, kept in expected.items():
        run = by_key[key]
        assert (run.status, run.name, run.params) == (FINISHED, kept["name"], kept["params"])
        assert run.tags[UPLOADED_TAG] == "true"
        assert sorted(store.artifacts(run)) == sorted(kept["files"])
        for name, content in kept["files"].items():
            assert store.artifact(run, name).read_bytes() == content, f"{run.name}: {name}"
        read_history(store.artifact(run, "history.parquet"))
        rows = [(step, name, value) for _, step, values in kept["rows"] for name, value in values.items()]
        for metric in {name for _, name, _ in rows}:
            logged = store.client.get_metric_history(run.run_id, metric)
            assert sorted((m.step, m.value) for m in logged) == sorted((s, v) for s, name, v in rows if name == metric)
