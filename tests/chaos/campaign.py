"""Everything that may go wrong, on purpose: kills, outages, full disks, odd clocks, damaged files.

    python -m chaos.campaign [--seed N] [--minutes N] [--only NAME,…] [--folder PATH]

`FAULTS` is the table: a name, what must hold, and the function that sees to it. Each prints a line with what was done;
one that finds something prints that, and the command to have it again. The exit code says whether anything was found.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from chaos import fuzzing, inputs, kills, surroundings

INPUTS = 10_000
"""Damaged inputs of each kind."""
AT_ONCE = 2
"""Kinds of input that are fuzzed side by side."""
RUNS, KILLS, GAMES = 200, 52, 5_000_000
"""Now and then the last kill finds nobody left."""


class SkippedError(Exception):
    """It cannot be tried here; why."""


@dataclass(frozen=True)
class Chance:
    """What a fault is given: a seed, a folder of its own, and when it has to be over (of `time.monotonic`)."""

    seed: int
    folder: Path
    deadline: float


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong.

    Attributes:
        holds: what must hold.
        share: of the campaign's time.
        see: makes it go wrong and checks; returns what was done, in a few words.
    """

    name: str
    holds: str
    share: float
    see: Callable[[Chance], str]


def kill_sweep(chance: Chance) -> str:
    return kills.sweep_under_kills(RUNS, KILLS, chance.seed, chance.folder, chance.deadline, games=GAMES)


def kill_services(chance: Chance) -> str:
    """The same on a real server with PostgreSQL behind it, both of which are killed too."""
    with _services(chance.folder) as (address, services):
        return kills.sweep_under_kills(
            RUNS, KILLS, chance.seed, chance.folder, chance.deadline, address, services, GAMES
        )


def kill_sync(chance: Chance) -> str:
    return kills.sync_under_kills(40, 40, chance.seed, chance.folder, chance.deadline)


def kill_sync_to_server(chance: Chance) -> str:
    with _services(chance.folder) as (address, _):
        return kills.sync_under_kills(20, 20, chance.seed, chance.folder, chance.deadline, address)


def scene(name: str, chance: Chance) -> str:
    if surroundings.why_not():
        raise SkippedError(surroundings.why_not())
    return surroundings.play(name, chance.folder)


def fuzz(chance: Chance) -> str:
    """All targets, two at a time. Each has its part of the time that is left, so that none has nothing."""
    waiting = len(inputs.TARGETS)

    def one(target: inputs.Target) -> fuzzing.Findings:
        nonlocal waiting
        now = time.monotonic()
        part = now + (chance.deadline - now) * min(1.0, AT_ONCE / waiting)
        waiting -= 1
        found = fuzzing.fuzz(target.name, INPUTS, chance.seed, chance.folder, part)
        cut = "" if found.tried >= INPUTS else " (out of time)"
        sys.stdout.write(
            f"  {target.name:14} {found.tried:6,} inputs{cut}: {found.refused:,} refused, {found.read:,} read\n"
        )
        sys.stdout.flush()
        return found

    # The quickest first: what they leave of their time goes to the slow ones.
    order = sorted(inputs.TARGETS, key=lambda target: target.name in inputs.SLOW)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        findings = list(pool.map(one, order))
    faults = [f"{what}\n    {path}\n    {_again(path)}" for found in findings for path, what in found.faults.items()]
    assert not faults, "\n".join(faults)
    return f"{len(order)} kinds of input, {sum(found.tried for found in findings):,} inputs"


def _again(path: str) -> str:
    name, seed, number = Path(path).name.rsplit("-", 2)
    return f"python -m chaos.fuzzing {name} {seed} {number}"


@contextlib.contextmanager
def _services(folder: Path) -> Iterator[tuple[str, dict[str, kills.Service]]]:
    """A real PostgreSQL and a real MLflow server: the server's address, and how each is killed and started again."""
    sys.path.append(str(Path(__file__).parents[2]))
    from benchmarks.services import PostgreSQL, Service, TrackingServer, missing_for_postgresql

    if reason := missing_for_postgresql():
        raise SkippedError(reason)

    def restart(service: Service) -> None:
        service.kill()
        time.sleep(1.0)
        service.start()

    with PostgreSQL(durable=False) as database, TrackingServer(database.create("miai"), folder / "server") as server:
        yield (
            server.address,
            {"the server": functools.partial(restart, server), "PostgreSQL": functools.partial(restart, database)},
        )


ALL_THERE = "all runs are finished, none twice, none RUNNING; every table is that of an undisturbed sweep"
FAULTS = (
    Fault("kill_sweep", f"kill -9 of workers, parent, fork server, everything: {ALL_THERE}", 0.25, kill_sweep),
    Fault("kill_services", f"kill -9 of tracking server and PostgreSQL too: {ALL_THERE}", 0.25, kill_services),
    Fault(
        "kill_sync", "no store for a whole sweep, then uploads that are killed: each run arrives once", 0.1, kill_sync
    ),
    Fault("kill_sync_to_server", "the same, to a server with PostgreSQL", 0.1, kill_sync_to_server),
    *(
        Fault(name, " ".join((play.__doc__ or "").split()), 0.1, functools.partial(scene, name))
        for name, play in surroundings.SCENES.items()
    ),
    Fault(
        "fuzz", "damaged inputs are refused in one line, or read rightly; no traceback, hang, or code run", 0.5, fuzz
    ),
)


def run(names: list[str], seed: int, minutes: float, folder: Path) -> int:
    """Let faults happen, one after the other; return how many found something."""
    bad = 0
    end = time.monotonic() + 60 * minutes
    chosen = [fault for fault in FAULTS if fault.name in names]
    for index, fault in enumerate(chosen):
        began = time.monotonic()
        own = folder / fault.name
        own.mkdir(parents=True)
        # What others have left of their time is shared.
        shares = sum(other.share for other in chosen[index:])
        deadline = began + max(10.0, (end - began) * fault.share / shares)
        sys.stdout.write(f"{fault.name}: {fault.holds.rstrip('.')}.\n")
        sys.stdout.flush()
        try:
            said = fault.see(Chance(seed, own, deadline))
        except SkippedError as skipped:
            said = f"SKIPPED: {skipped}"
        except Exception as error:
            bad += 1
            said = f"FAULT: {type(error).__name__}: {error}"
        sys.stdout.write(f"  {said} ({time.monotonic() - began:.0f} s)\n")
        sys.stdout.flush()
        if not said.startswith("FAULT"):
            shutil.rmtree(own, ignore_errors=True)
    return bad


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make chaos ARGS='…'", description="Everything that may go wrong, on purpose."
    )
    names = [fault.name for fault in FAULTS]
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000, help="by default another each time")
    parser.add_argument("--minutes", type=float, default=20.0, help="for all of it, about (20)")
    parser.add_argument("--only", default=",".join(names), help=f"some of: {', '.join(names)}")
    parser.add_argument("--folder", type=Path, help="where to work; what is left there is what was found")
    given = parser.parse_args()
    only = given.only.split(",")
    if unknown := set(only) - set(names):
        parser.error(f"--only: there is no {', '.join(sorted(unknown))}; allowed: {', '.join(names)}")
    folder = given.folder or Path(tempfile.mkdtemp(prefix="miai-chaos-"))
    sys.stdout.write(f"seed {given.seed}, {given.minutes:g} minutes, in {folder}\n")
    sys.stdout.flush()
    bad = run(only, given.seed, given.minutes, folder)
    sys.stdout.write(
        f"{bad} of {len(only)} found something. What they left is in {folder}\n" if bad else "Nothing found.\n"
    )
    if not bad:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
