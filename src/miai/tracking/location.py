"""Which store: an MLflow tracking address and the place of its artifacts, made absolute from the project's root."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from miai import project
from miai.errors import MiaiError
from miai.tracking import credentials
from miai.tracking.credentials import PASSWORD_VARIABLE, Credentials

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
        uri: MLflow's tracking address, without name and password; a SQLite path in it is absolute.
        artifacts: where experiments keep their artifacts (an address), or `None`: the server decides.
        mlruns: the project's local folder for what is under way: `work/`, `unsynced/`, `claims/`, `checkpoints/`.
        credentials: name and password, as far as the address gave them. What it did not give, MLflow and the drivers
            of databases look for themselves (`MLFLOW_TRACKING_PASSWORD`, `PGPASSWORD`, `~/.pgpass`).
    """

    uri: str
    artifacts: str | None
    mlruns: Path
    credentials: Credentials = field(default=Credentials(), repr=False)

    @property
    def shown(self) -> str:
        """The address for people and files: without a password, and the same whoever asks."""
        return credentials.hide(self.uri)

    @property
    def whole(self) -> str:
        """The address with name and password: for the library that connects, and nobody else."""
        return credentials.join(self.uri, self.credentials)

    @property
    def is_server(self) -> bool:
        """Whether an MLflow server keeps the runs, in place of a database that this process writes to."""
        return scheme_of(self.uri) in SERVERS

    def without_secrets(self, text: str) -> str:
        """Leave name and password out of a text that was not written by us, such as another library's error."""
        secret = self.credentials.password
        for form in filter(None, (self.whole, secret, secret and quote(secret, safe=""))):
            text = text.replace(form, self.shown if form == self.whole else credentials.HIDDEN)
        return credentials.hide(text)

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
    if "\0" in f"{uri}{artifacts}":
        raise MiaiError("tracking: an address with a NUL character in it.")
    uri = uri or f"sqlite:///{mlruns / 'mlflow.db'}"
    scheme = scheme_of(uri)
    who = Credentials()
    if scheme in (*DATABASES, *SERVERS) and scheme != "sqlite":
        uri, who = credentials.split(uri)
        if who.user is not None and who.password is None:
            who = Credentials(who.user, os.environ.get(PASSWORD_VARIABLE))
    if scheme == "sqlite":
        database = root / sqlite_path(uri)
        query = urlsplit(uri).query
        uri = f"sqlite:///{database}" + (f"?{query}" if query else "")
        beside = database.parent / "artifacts"
    elif scheme in DATABASES:
        beside = mlruns / "artifacts"
    elif scheme in SERVERS:
        return Location(uri.rstrip("/"), _place(artifacts, root) if artifacts else None, mlruns, who)
    elif scheme in ("", "file"):
        raise MiaiError(f"tracking.uri: {uri!r} is a file store, which MLflow 3 no longer writes; allowed: {ALLOWED}.")
    else:
        shown = credentials.hide(uri)
        raise MiaiError(f"tracking.uri: MLflow has no store of the kind {scheme!r} ({shown!r}); allowed: {ALLOWED}.")
    return Location(uri, _place(artifacts, root) if artifacts else beside.as_uri(), mlruns, who)


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
    if address.startswith("file:"):
        return Path(unquote(urlsplit(address).path))
    return Path(address) if address.startswith("/") else None


def use_mlflow_defaults() -> None:
    """Set MLflow's environment, where the user has not. Has to come before MLflow is imported."""
    for name, value in MLFLOW_DEFAULTS.items():
        os.environ.setdefault(name, value)


def _place(artifacts: str, root: Path) -> str:
    return artifacts.rstrip("/") if scheme_of(artifacts) else (root / Path(artifacts).expanduser()).resolve().as_uri()
