"""A real PostgreSQL and a real MLflow server on loopback, for tests and measurements.

Each is a context manager; when its block ends, however it ends, the service is stopped and what it wrote is removed.
Where they can, they also end when this process is killed.

    with PostgreSQL() as database, TrackingServer(database.create("miai"), folder) as server:
        ...  # server.address
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote, unquote, urlsplit

LOOPBACK = "127.0.0.1"
READY_S = 300.0
STOP_S = 15.0
USER = "miai"
PASSWORD = "p@ss:w/ord%40 é"  # Every character that means something in an address.
"""Of the superuser of each cluster."""

SERVE = Path(__file__).parents[1] / "deploy" / "serve.sh"
DEBIAN = Path("/usr/lib/postgresql")
UNPRIVILEGED = ("postgres", "nobody")
"""Whom PostgreSQL runs as where we are root: it refuses that."""


class ServiceError(Exception):
    """A service is not installed, or does not start."""


def postgresql_program(name: str) -> str | None:
    """Where a program of PostgreSQL is: on the path, or where Debian keeps the newest version's."""
    found = shutil.which(name)
    versions = sorted(DEBIAN.glob(f"*/bin/{name}"), key=lambda path: [int(n) for n in path.parts[-3].split(".")])
    return found or (str(versions[-1]) if versions else None)


def missing_for_postgresql() -> str | None:
    """What PostgreSQL cannot be used for the lack of, or `None`."""
    for name in ("initdb", "postgres"):
        if postgresql_program(name) is None:
            return f"PostgreSQL is not installed: no {name} on the path or under {DEBIAN}"
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        return f"PostgreSQL's driver for Python is not installed: {error}"
    return None


class Service:
    """A process group that is started, waited for and stopped."""

    stop_signal = signal.SIGTERM

    def __init__(self, folder: Path, port: int | None = None) -> None:
        self.folder = folder
        self.port = port or free_port()
        self.process: subprocess.Popen | None = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def log(self) -> Path:
        return self.folder / f"{type(self).__name__}.log"

    def start(self) -> None:
        """Start the process, and return when it answers; the same service may be started again after it was stopped."""
        raise NotImplementedError

    def ready(self) -> bool:
        """Whether it answers."""
        raise NotImplementedError

    def _run(self, command: Sequence[str], **options: object) -> None:
        if setpriv := shutil.which("setpriv"):
            command = [setpriv, "--pdeathsig", self.stop_signal.name.removeprefix("SIG"), *command]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(  # type: ignore[call-overload]
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                **options,
            )
        deadline = time.monotonic() + READY_S
        while not self.ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
                raise ServiceError(f"{type(self).__name__} did not start: {' / '.join(lines[-5:])}")
            time.sleep(0.1)

    def stop(self) -> None:
        """Stop it as its administrator would, and by force if it does not."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(self.stop_signal)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(STOP_S)
        self.kill()

    def kill(self) -> None:
        """SIGKILL, to all of it."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def close(self) -> None:
        self.stop()


class PostgreSQL(Service):
    """A cluster of its own, reached by password on one port of loopback.

    Args:
        port: a free one by default.
        durable: whether a commit waits for the disk, as it does in service.
    """

    stop_signal = signal.SIGINT  # PostgreSQL's fast shutdown: it does not wait for clients to leave.

    def __init__(self, port: int | None = None, durable: bool = True) -> None:
        if reason := missing_for_postgresql():
            raise ServiceError(reason)
        super().__init__(Path(tempfile.mkdtemp(prefix="miai-postgresql-")), port)
        self.durable = durable
        self.data = self.folder / "data"

    def start(self) -> None:
        if not self.data.exists():
            self._initialise()
        options = {
            "listen_addresses": LOOPBACK,
            "unix_socket_directories": "",
            "fsync": "on" if self.durable else "off",
        }
        command = [str(postgresql_program("postgres")), "-D", str(self.data), "-p", str(self.port)]
        for name, value in options.items():
            command += ["-c", f"{name}={value}"]
        self._run(command, cwd=self.folder, **_unprivileged())

    def _initialise(self) -> None:
        password = self.folder / "password"
        password.write_text(PASSWORD, encoding="utf-8")
        as_whom = _unprivileged()
        if as_whom:
            for path in (self.folder, password):
                shutil.chown(path, as_whom["user"], as_whom["group"])  # type: ignore[call-overload]
        done = subprocess.run(
            [
                *(str(postgresql_program("initdb")), "-D", str(self.data), "-U", USER, "--encoding", "UTF8"),
                *("--locale", "C", "--auth", "scram-sha-256", "--pwfile", str(password), "--no-sync"),
            ],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            **as_whom,  # type: ignore[call-overload]
        )
        password.unlink()
        if done.returncode:
            raise ServiceError(f"initdb failed: {' '.join(done.stderr.split())}")

    def ready(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.address(), connect_timeout=3).close()
        except psycopg.OperationalError:
            return False
        return True

    def address(self, database: str = "postgres", user: str = USER, password: str | None = PASSWORD) -> str:
        """The address of a database, its password written as an address needs it."""
        secret = "" if password is None else f":{quote(password, safe='')}"
        return f"postgresql://{user}{secret}@{LOOPBACK}:{self.port}/{database}"

    def execute(self, statement: str, database: str = "postgres") -> list[tuple]:
        """Execute one statement as the superuser; its rows, if it has any."""
        import psycopg

        with psycopg.connect(self.address(database), autocommit=True) as connection:
            cursor = connection.execute(statement)  # type: ignore[arg-type]
            return cursor.fetchall() if cursor.description else []

    def create(self, database: str) -> str:
        """Create an empty database; its address."""
        self.execute(f'CREATE DATABASE "{database}"')
        return self.address(database)

    def close(self) -> None:
        super().close()
        shutil.rmtree(self.folder, ignore_errors=True)


class TrackingServer(Service):
    """`mlflow server` on loopback. It serves artifacts from a folder beside its log.

    Args:
        store: MLflow's address of the database behind it.
        folder: where it works; its artifacts, log and users are left there.
        workers: processes that answer.
        guarded: whether it asks for passwords: then it is started as `deploy/serve.sh` does it.
    """

    ADMINISTRATOR = ("admin", "a long passw@rd:/%")

    def __init__(
        self, store: str, folder: Path, port: int | None = None, workers: int = 1, guarded: bool = False
    ) -> None:
        super().__init__(folder, port)
        folder.mkdir(parents=True, exist_ok=True)
        self.store = store
        self.workers = workers
        self.guarded = guarded

    @property
    def address(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def artifacts(self) -> Path:
        return self.folder / "artifacts"

    def start(self) -> None:
        given = {name: value for name, value in os.environ.items() if not name.startswith(("MLFLOW_", "PG"))}
        if self.guarded:
            self._run(["sh", str(SERVE)], cwd=self.folder, env={**given, **self._settings()})
            return
        command = [sys.executable, "-m", "mlflow", "server", "--host", LOOPBACK, "--port", str(self.port)]
        command += ["--workers", str(self.workers), "--artifacts-destination", str(self.artifacts)]
        own = {
            "MLFLOW_BACKEND_STORE_URI": self.store,  # Not on the command line, which every user of a machine can read.
            "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
            "MLFLOW_DISABLE_TELEMETRY": "true",
        }
        self._run(command, cwd=self.folder, env={**given, **own})

    def _settings(self) -> dict[str, str]:
        """What `serve.sh` is told; the secrets in files."""
        address = urlsplit(self.store)
        secrets = {
            "database_password": unquote(address.password or ""),
            "admin_password": self.ADMINISTRATOR[1],
            "session_key": "for tests alone",
        }
        folder = self.folder / "secrets"
        folder.mkdir(exist_ok=True)
        for name, value in secrets.items():
            (folder / name).write_text(value, encoding="utf-8")
        return {
            "DATABASE": f"postgresql+psycopg://{address.username}@{address.hostname}:{address.port}{address.path}",
            "SECRETS": str(folder),
            "PORT": str(self.port),
            "WORKERS": str(self.workers),
            "PYTHON": sys.executable,
        }

    def ready(self) -> bool:
        try:
            urllib.request.urlopen(f"{self.address}/health", timeout=2).close()
        except OSError:
            return False
        return True


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return probe.getsockname()[1]


def _unprivileged() -> dict[str, object]:
    """Whom to start PostgreSQL as: what `subprocess` is told. Empty where we are not root."""
    if os.geteuid() != 0:
        return {}
    import grp
    import pwd

    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    for name in UNPRIVILEGED:
        if name in known:
            return {"user": name, "group": grp.getgrgid(known[name].pw_gid).gr_name, "extra_groups": []}
    raise ServiceError(f"PostgreSQL refuses to run as root, and there is no user {' or '.join(UNPRIVILEGED)}")
