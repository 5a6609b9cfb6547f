"""What went wrong with a store, in one line; and whether it may pass by itself.

A store that does not answer now may answer later: runs are kept on disk meanwhile. One that answers, and will not have
us (a wrong password, no such database, a server that is no MLflow), has to be told to the user before anything is run.
What cannot be told apart counts as the former, since that loses nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from miai.errors import MiaiError
from miai.tracking.credentials import HIDDEN

if TYPE_CHECKING:
    from miai.tracking.location import Location

LONGEST = 300

DRIVERS = {"postgresql": "miai[postgresql]", "mysql": "pymysql", "mssql": "pyodbc"}
"""What to install for a kind of database, for pip."""

_SIGN_IN = "sign in with MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD"
_NO_MLFLOW = "there is no MLflow server at this address"

_HTTP_STATUS = re.compile(r"failed with error code (\d{3})\b")
_NOT_JSON = "not in a valid JSON format"
_CERTIFICATE = re.compile(r"SSLError|SSLCertVerificationError|CERTIFICATE_VERIFY_FAILED")
_PASSING_STATUS = (408, 425, 429)

_DATABASE_REFUSES = re.compile(
    r"authentication failed|no password supplied|does not exist|no pg_hba\.conf entry|not permitted to log in"
    r"|permission denied|access denied",
    re.I,
)
"""Of what databases say when they refuse a connection. The drivers give no code for these; a server that speaks another
language is not understood, and counts as one that cannot be reached."""

_REFUSING_SQLSTATES = ("28", "3D", "42501")
"""Classes and codes of the SQL standard and of PostgreSQL: authorisation, no such database, no privilege."""


class StoreUnreachableError(MiaiError):
    """The store does not answer, or fails."""


class StoreRefusedError(MiaiError):
    """The store answers, and does not take what it is asked as it is asked: the settings are wrong."""


def explain(error: Exception, location: Location) -> StoreUnreachableError | StoreRefusedError:
    """Put an error of MLflow, SQLAlchemy or a driver into one line without secrets."""
    reason = _refusal(error, location)
    if reason is not None:
        return StoreRefusedError(f"tracking.uri: {location.shown}: {location.without_secrets(reason)}.")
    line = location.without_secrets(first_line(error))
    return StoreUnreachableError(f"tracking.uri: {location.shown} cannot be reached: {line}")


def first_line(error: BaseException) -> str:
    """An error in one line, with its type where the message alone would not say much."""
    text = " ".join(str(error).split())
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}{HIDDEN}"
    return text if text and isinstance(error, MiaiError) else f"{type(error).__name__}: {text}".rstrip(": ")


def _refusal(error: Exception, location: Location) -> str | None:
    """Why the store will not have us, or `None` if that is not what happened."""
    return _server_refusal(error) if location.is_server else _database_refusal(error, location)


def _server_refusal(error: Exception) -> str | None:
    text, code = str(error), str(getattr(error, "error_code", ""))
    found = _HTTP_STATUS.search(text)
    status = int(found[1]) if found else 0  # Only of an answer that is not MLflow's own.
    if code in ("UNAUTHENTICATED", "CUSTOMER_UNAUTHORIZED"):
        return f"the server does not know this name and password; {_SIGN_IN}"
    if code == "PERMISSION_DENIED":
        said = text.partition("Response body: ")[2].strip("'") or text
        return f"the server does not allow it: {' '.join(said.split())[:LONGEST].rstrip('.')}"
    if type(error).__name__ == "InvalidUrlException":
        return "this is no address of a server"
    if _CERTIFICATE.search(text):
        return "no secure connection; a certificate of your own is named by MLFLOW_TRACKING_SERVER_CERT_PATH"
    if _NOT_JSON in text or status == 501 or (300 <= status < 500 and status not in _PASSING_STATUS):
        return _NO_MLFLOW
    return None


def _database_refusal(error: Exception, location: Location) -> str | None:
    kind = location.uri.partition(":")[0].partition("+")[0]
    if isinstance(error, ImportError) or type(error).__name__ == "NoSuchModuleError":
        package = DRIVERS.get(kind, "")
        return f"there is no driver for this kind of database; pip install '{package}' ({first_line(error)})"
    if type(error).__name__ == "ArgumentError":
        return "this is no address of a database"
    text = " ".join(str(error).split())
    if "out-of-date database schema" in text:
        return "the database was made by another version of MLflow; `mlflow db upgrade` brings it up to date"
    state = str(getattr(getattr(error, "orig", error), "sqlstate", None) or "")
    if state.startswith(_REFUSING_SQLSTATES) or (kind != "sqlite" and _DATABASE_REFUSES.search(text)):
        said = text.partition("FATAL:")[2] or text
        return f"the database refuses: {said.partition('(Background on this error')[0].strip()[:LONGEST].rstrip('.')}"
    return None
