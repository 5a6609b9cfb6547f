"""Which store: an MLflow tracking address and the place of its artifacts, made absolute from the project's root."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from miai import project
from miai.errors import MiaiError

DATABASES = ("sqlite", "postgresql", "mysql", "mssql")
SERVERS = ("http", "https", "databricks")
ALLOWED = "sqlite:///PATH.db, http(s)://HOST:PORT, postgresql://…, mysql://…, mssql://…"

MLFLOW_DEFAULTS = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
    "MLFLOW_HTTP_REQUEST_BACKOFF_JITTER": "0.1",
}
"""MLflow waits minutes for a server that is down; a run that can be kept on disk need not. It also prints a line a run,
and reports what it is used for. The user's own values win."""


@dataclass(frozen=True)
class Location:
    """A store's whereabouts. Build it with `locate`; it can be sent to other processes.

    Attributes:
        uri: MLflow's tracking address; a SQLite path in it is absolute.
        artifacts: where experiments keep their artifacts (an address), or `None`: the server decides.
        mlruns: the project's local folder for what is under way: `work/`, `unsynced/`, `claims/`, `checkpoints/`.
    """

    uri: str
    artifacts: str | None
    mlruns: Path

    @property
    def shown(self) -> str:
        """The address without a password."""
        return re.sub(r"//([^:@/]+):[^@/]+@", r"//\1:…@", self.uri)

    @property
    def database(self) -> Path | None:
        """The SQLite file, or `None` for any other store."""
        return sqlite_path(self.uri) if scheme_of(self.uri) == "sqlite" else None


def locate(uri: str | None = None, artifacts: str | None = None, root: Path | None = None) -> Location:
    """Resolve the settings `tracking.uri` and `tracking.artifacts`.

    Args:
        uri: any MLflow tracking address that is not a file store; `None` is `mlruns/mlflow.db` of the project.
        artifacts: a folder (relative to the root) or an address; `None` is `artifacts/` beside the SQLite file,
            `mlruns/artifacts` for other databases, and the server's own choice for a server.
        root: the project's root, `project.root()` by default.

    Raises:
        MiaiError: MLflow 3 does not take the address.
    """
    root = project.root() if root is None else Path(root).resolve()
    mlruns = root / "mlruns"
    uri = uri or f"sqlite:///{mlruns / 'mlflow.db'}"
    scheme = scheme_of(uri)
    if scheme == "sqlite":
        database = root / sqlite_path(uri)
        query = urlsplit(uri).query
        uri = f"sqlite:///{database}" + (f"?{query}" if query else "")
        beside = database.parent / "artifacts"
    elif scheme in DATABASES:
        beside = mlruns / "artifacts"
    elif scheme in SERVERS:
        return Location(uri.rstrip("/"), _place(artifacts, root) if artifacts else None, mlruns)
    elif scheme in ("", "file"):
        raise MiaiError(f"tracking.uri: {uri!r} is a file store, which MLflow 3 no longer writes; allowed: {ALLOWED}.")
    else:
        raise MiaiError(f"tracking.uri: MLflow has no store of the kind {scheme!r} ({uri!r}); allowed: {ALLOWED}.")
    return Location(uri, _place(artifacts, root) if artifacts else beside.as_uri(), mlruns)


def scheme_of(uri: str) -> str:
    """The scheme without a driver: `postgresql` for `postgresql+psycopg2://…`; "" for a bare path."""
    found = re.match(r"([a-zA-Z][a-zA-Z0-9.\-]*)(\+[a-zA-Z0-9_]+)?:", uri)
    return found.group(1).lower() if found else ("databricks" if uri == "databricks" else "")


def sqlite_path(uri: str) -> Path:
    """The path in a SQLite address, as written (three slashes: relative; four: absolute)."""
    found = re.match(r"sqlite(\+\w+)?:///([^?]+)", uri)
    if not found or found.group(2) == ":memory:":
        raise MiaiError(
            f"tracking.uri: {uri!r} names no file; write sqlite:///PATH.db (relative to the project's root)."
        )
    return Path(found.group(2))


def local_path(address: str) -> Path | None:
    """The folder that an artifact address names if it is on this machine, else `None`."""
    from urllib.parse import unquote

    if address.startswith("file:"):
        return Path(unquote(urlsplit(address).path))
    return Path(address) if address.startswith("/") else None


def use_mlflow_defaults() -> None:
    """Set MLflow's environment, where the user has not. Has to come before MLflow is imported."""
    for name, value in MLFLOW_DEFAULTS.items():
        os.environ.setdefault(name, value)


def _place(artifacts: str, root: Path) -> str:
    return artifacts.rstrip("/") if scheme_of(artifacts) else (root / Path(artifacts).expanduser()).resolve().as_uri()
