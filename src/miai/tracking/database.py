"""The SQLite store: created once and whole, and quick to write to from several processes."""

from __future__ import annotations

import functools
import logging
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock


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

    loggers = [logging.getLogger(name) for name in ("mlflow.store.db.utils", "alembic")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.WARNING)
    try:
        SqlAlchemyStore(uri, artifacts).engine.dispose()
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


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
