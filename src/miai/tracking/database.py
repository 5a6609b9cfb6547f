"""Stores that are databases: SQLite, created once and whole, and quick to write to from several processes; and database
servers, which are asked before MLflow asks them."""

from __future__ import annotations

import functools
import importlib.util
import logging
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

    from miai.tracking.location import Location

PORTS = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}
ANSWER_S = 5
"""Seconds that a database server has to answer when it is first asked."""

TABLES_LOCK = 0x4D494149
"""PostgreSQL's advisory lock under which tables are created: any number that others are unlikely to take."""

POSTGRESQL_DRIVERS = ("psycopg", "psycopg2")
"""In this order. SQLAlchemy's own choice is another one from version to version."""


def create(database: Path, artifacts: str) -> None:
    """Create MLflow's database unless it is there.

    Several processes that start on a fresh store would race in MLflow's schema migration. So one of them, under a
    lock, builds the database under another name, switches it to write-ahead logging (readers then never wait for a
    writer) and moves it: where the file exists, it is whole.

    Raises:
        sqlite3.DatabaseError: the file is none of SQLite's. MLflow would find out too, after trying for minutes.
    """
    if database.exists():
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("PRAGMA schema_version")
        return
    database.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{database}.lock"):
        if database.exists():
            return
        unfinished = database.with_name(f"{database.name}.new")
        for rest in (unfinished, Path(f"{unfinished}-wal"), Path(f"{unfinished}-shm")):
            rest.unlink(missing_ok=True)
        _initialise(f"sqlite:///{unfinished}", artifacts)
        with closing(sqlite3.connect(unfinished)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
        unfinished.replace(database)


def _initialise(uri: str, artifacts: str) -> None:
    """Run MLflow's migrations on an empty database, and let go of the file."""
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    with _without_news():
        SqlAlchemyStore(uri, artifacts).engine.dispose()


@contextmanager
def _without_news() -> Iterator[None]:
    """Keep from the user what MLflow and Alembic say of the tables that they create."""
    loggers = [logging.getLogger(name) for name in ("mlflow.store.db.utils", "alembic")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def connect(location: Location) -> MlflowClient:
    """Open MLflow's client on a database server.

    MLflow tries a connection that fails for minutes, whatever the reason. So the server is asked before, once.

    Raises:
        OSError: nothing answers at its port.
        ImportError: there is no driver for it.
        sqlalchemy.exc.SQLAlchemyError: it refuses.
    """
    import sqlalchemy
    from mlflow.tracking import MlflowClient
    from sqlalchemy.pool import NullPool

    address = sqlalchemy.make_url(database_address(location))
    kind = address.get_backend_name()
    if address.host:
        socket.create_connection((address.host, address.port or PORTS.get(kind, 0)), ANSWER_S).close()
    limit = {"connect_timeout": ANSWER_S} if kind in ("postgresql", "mysql") else {}
    engine = sqlalchemy.create_engine(address, poolclass=NullPool, connect_args=limit)
    location.mlruns.mkdir(parents=True, exist_ok=True)
    # MLflow creates the tables at its first connection: one process at a time, of this machine and of others.
    with engine.connect() as connection, FileLock(location.mlruns / "database.lock"), _without_news():
        if kind == "postgresql":
            connection.execute(sqlalchemy.text(f"SELECT pg_advisory_lock({TABLES_LOCK})"))  # until it is closed
        client = MlflowClient(database_address(location))
        client.search_experiments(max_results=1)
        return client


def database_address(location: Location) -> str:
    """The address to connect to, with its password; names an installed driver of PostgreSQL if the user named none."""
    address = location.whole
    for driver in POSTGRESQL_DRIVERS:
        if address.startswith("postgresql://") and importlib.util.find_spec(driver) is not None:
            return address.replace("postgresql://", f"postgresql+{driver}://", 1)
    return address


@functools.cache
def write_without_waiting_for_the_disk() -> None:
    """Let SQLite connections of this process leave the flush of each commit to the operating system.

    With write-ahead logging this can never damage the database; a power cut may cost the last moments' metrics. It
    saves a disk flush a commit, of which a run makes about six.
    """
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    @event.listens_for(Engine, "connect")
    def relax(connection: Any, _record: Any) -> None:
        if isinstance(connection, sqlite3.Connection):
            with suppress(sqlite3.OperationalError):
                connection.execute("PRAGMA synchronous = NORMAL")
