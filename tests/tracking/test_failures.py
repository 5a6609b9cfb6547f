"""A store that is away is waited for; one that will not have us is said to the user at once, in one line."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy.exc
from mlflow.exceptions import MlflowException

from miai.tracking import Store, StoreRefusedError, StoreUnreachableError, locate
from miai.tracking.failures import explain

Answering = Callable[[int, str], str]


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Iterator[Answering]:
    """Start a web server that answers everything in one way; its address."""
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.delenv("MLFLOW_TRACKING_USERNAME", raising=False)
    monkeypatch.delenv("MLFLOW_TRACKING_PASSWORD", raising=False)
    running: list[http.server.HTTPServer] = []

    def start(status: int, text: str) -> str:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.send_response(status)
                self.end_headers()
                self.wfile.write(text.encode())

            do_GET = do_POST  # noqa: N815

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        running.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "text", "said"),
    [
        (401, "You are not authenticated.", "does not know this name and password; sign in with MLFLOW_TRACKING"),
        (403, "Permission denied", "the server does not allow it: Permission denied."),
        (
            403,
            '{"error_code": "PERMISSION_DENIED", "message": "not yours"}',
            "does not allow it: PERMISSION_DENIED: not",
        ),
        (404, "<html>no such page</html>", "there is no MLflow server at this address."),
        (405, "", "there is no MLflow server at this address."),
        (501, "<html>Unsupported method ('POST')</html>", "there is no MLflow server at this address."),
        (400, "The plain HTTP request was sent to HTTPS port", "there is no MLflow server at this address."),
        (200, "<html>welcome</html>", "there is no MLflow server at this address."),
    ],
)
def test_a_server_that_will_not_have_us(
    answering: Answering, tmp_path: Path, status: int, text: str, said: str
) -> None:
    address = answering(status, text)
    with pytest.raises(StoreRefusedError) as caught:
        Store(locate(address.replace("//", "//me:s%40cret@"), root=tmp_path)).experiments()
    assert str(caught.value).startswith(f"tracking.uri: {address}: ")
    assert said in str(caught.value)
    assert "cret" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_server_that_is_not_well_may_be_later(answering: Answering, tmp_path: Path, status: int) -> None:
    with pytest.raises(StoreUnreachableError, match="cannot be reached"):
        Store(locate(answering(status, "<html>sorry</html>"), root=tmp_path)).experiments()


def test_a_server_without_tls_is_named_as_that(answering: Answering, tmp_path: Path) -> None:
    with pytest.raises(StoreRefusedError, match="no secure connection"):
        Store(locate(answering(200, "{}").replace("http:", "https:"), root=tmp_path)).experiments()


def test_a_password_in_another_librarys_error_is_left_out(tmp_path: Path) -> None:
    location = locate("http://me:s%40cret@host:5000", root=tmp_path)
    error = MlflowException("API request to http://me:s%40cret@host:5000/api failed, s@cret or s%40cret")
    assert str(explain(error, location)) == (
        "tracking.uri: http://host:5000 cannot be reached: "
        "MlflowException: API request to http://host:5000/api failed, … or …"
    )


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ImportError("No module named 'psycopg'"), "pip install 'miai[postgresql]'"),
        (sqlalchemy.exc.NoSuchModuleError("sqlalchemy.dialects:postgresql.x"), "there is no driver for this kind"),
        (
            sqlalchemy.exc.OperationalError(None, None, Exception('failed: FATAL:  database "x" does not exist')),
            'the database refuses: database "x" does not exist.',
        ),
        (MlflowException("Detected out-of-date database schema (found 1, expected 2)"), "`mlflow db upgrade` brings"),
    ],
)
def test_a_database_that_will_not_have_us(tmp_path: Path, error: Exception, said: str) -> None:
    failure = explain(error, locate("postgresql://me:pw@db/x", root=tmp_path))
    assert isinstance(failure, StoreRefusedError)
    assert said in str(failure)


@pytest.mark.parametrize(
    "text",
    [
        "connection refused",
        "FATAL:  the database system is starting up",
        "FATAL:  sorry, too many clients already",
        "FATAL:  terminating connection due to administrator command",
    ],
)
def test_a_database_that_is_not_there_yet_may_be_later(tmp_path: Path, text: str) -> None:
    error = sqlalchemy.exc.OperationalError(None, None, Exception(text))
    assert isinstance(explain(error, locate("postgresql://db/x", root=tmp_path)), StoreUnreachableError)
