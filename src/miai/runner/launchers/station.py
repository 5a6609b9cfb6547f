"""Workers away from home: in a process of Ray's, or in a job of Slurm's, maybe on another machine.

Such a process makes itself like the one that sends it calls (`Home.enter`), looks whether it can work at all, and then
has a pool of its own. So a worker is the same everywhere: what it does, how it is stopped, and what its death costs.
"""

from __future__ import annotations

import contextlib
import os
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path

import psutil

from miai import project
from miai.errors import MiaiError
from miai.runner.pool import Setup, WorkerPool
from miai.runner.resume import clean_up, work_folder
from miai.tracking import Store, StoreUnreachableError, origin
from miai.tracking.location import Location

GUIDE = "docs/howto/run-on-a-cluster.md"
TAKEN_ALONG = ("MIAI_", "MLFLOW_", "NUMBA_")
"""Environment variables that go with the calls, by how their names begin."""

NETWORK_FILE_SYSTEMS = frozenset(
    (
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "fuse.glusterfs",
        "fuse.sshfs",
        "glusterfs",
        "gpfs",
        "lustre",
        "nfs",
        "nfs4",
        "panfs",
        "pvfs2",
        "smb3",
        "smbfs",
        "wekafs",
    )
)


def refuse_shared_file(location: Location) -> None:
    """Refuse a store that several machines cannot write to.

    Raises:
        MiaiError: it is a SQLite file on a network's file system.
    """
    if location.database is None:
        return
    kind = file_system(location.database)
    if kind in NETWORK_FILE_SYSTEMS:
        raise MiaiError(
            f"tracking.uri: {location.database} is a SQLite file on a network's file system ({kind}), which several "
            f"machines would damage; start an MLflow server, and set tracking.uri to its address. See {GUIDE}."
        )


def file_system(path: Path) -> str:
    """The kind of file system that a path is on, as the system calls it; "" where it does not say."""
    path = path.resolve()
    mounts = {Path(part.mountpoint): part.fstype for part in psutil.disk_partitions(all=True)}
    return next((mounts[place] for place in (path, *path.parents) if place in mounts), "")


@dataclass(frozen=True)
class Home:
    """What a process that sends calls has, and those that do them need too.

    Attributes:
        host: the machine's name.
        root: of the project.
        folder: the current one.
        location: of the store.
        mark: a folder that is there while the sender lives: who does not see it has another file system.
    """

    host: str
    root: Path
    folder: Path
    environ: dict[str, str]
    modules: tuple[str, ...]
    location: Location
    mark: Path

    @classmethod
    def here(cls, location: Location) -> Home:
        """This process's. Its mark is to be removed by whoever asks (see `leave`)."""
        return cls(
            host=origin.host(),
            root=project.root(),
            folder=Path.cwd(),
            environ={name: value for name, value in os.environ.items() if name.startswith(TAKEN_ALONG)},
            modules=tuple(str(Path(folder).resolve()) for folder in sys.path),
            location=location,
            mark=work_folder(location, uuid.uuid4().hex[:12]),
        )

    def leave(self) -> None:
        """Remove the mark."""
        with contextlib.suppress(OSError):
            self.mark.rmdir()

    def enter(self) -> None:
        """Make this process like the sender's.

        Raises:
            MiaiError: the machines do not share what they have to.
        """
        here = origin.host()
        if not self.root.is_dir() or not self.location.mlruns.is_dir():
            raise MiaiError(
                f"launcher: {here} has no {self.root}. The machines of a cluster share the project's folder "
                f"(MIAI_HOME), under one path. See {GUIDE}."
            )
        if here != self.host and self.location.database is not None:
            raise MiaiError(
                f"tracking.uri: {self.location.database} is a SQLite file, which {self.host} and {here} cannot both "
                f"write to; start an MLflow server, and set tracking.uri to its address. See {GUIDE}."
            )
        if here != self.host and not self.mark.is_dir():
            raise MiaiError(
                f"launcher: the folder {self.root} of {here} is not that of {self.host}. The machines of a cluster "
                f"share the project's folder (MIAI_HOME). See {GUIDE}."
            )
        os.environ.update({**self.environ, "MIAI_HOME": str(self.root)})
        sys.path += [folder for folder in self.modules if folder not in sys.path]
        with contextlib.suppress(OSError):
            os.chdir(self.folder)


@dataclass(frozen=True)
class Station:
    """A pool to be opened away from home; it can be sent.

    Attributes:
        workers: processes of the pool.
        threads: that each may use.
        setup: of each worker; what `_begin` does comes before it.
    """

    home: Home
    workers: int
    threads: int
    setup: Setup

    def open(self) -> WorkerPool:
        """Return a pool in which a call whose worker dies is given up: the sender counts deaths, and sends it again.

        Raises:
            MiaiError: see `Home.enter`.
        """
        self.home.enter()
        setup = Setup(self.setup.preload, _begin, (self.home.location, self.setup))
        return WorkerPool(self.workers, setup, max_deaths=1, threads=self.threads)


def _begin(location: Location, setup: Setup) -> None:
    """What a new worker process does first: clear up after those that died on this machine, of which it may be one's
    successor. The sender looks at its own machine only."""
    clean_up(location)
    with contextlib.suppress(StoreUnreachableError):  # The runs will find out, and tell.
        Store(location).close_dead_runs()
    if setup.prepare is not None:
        setup.prepare(*setup.prepare_args)
