"""A real MLflow server, which dies in the middle of a run and comes back."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from miai.tracking import FINISHED, Store, locate, read_history, sync

pytestmark = pytest.mark.slow  # A server takes several seconds to start.


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[[], subprocess.Popen]]:
    """Start a server on a port of its own; each call starts one on the same store and port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    store, artifacts = f"sqlite:///{tmp_path}/server.db", str(tmp_path / "server-artifacts")
    command = [
        *(sys.executable, "-m", "mlflow", "server", "--workers", "1", "--host", "127.0.0.1", "--port", str(port)),
        *("--backend-store-uri", store, "--artifacts-destination", artifacts),
    ]
    environment = {**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
    started: list[subprocess.Popen] = []

    def start() -> subprocess.Popen:
        server = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        server.url = f"http://127.0.0.1:{port}"  # type: ignore[attr-defined]
        started.append(server)
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1).close()
                return server
            except OSError:
                time.sleep(0.2)
        raise AssertionError("the server did not start")

    yield start
    for server in started:
        kill(server)


def kill(server: subprocess.Popen) -> None:
    if server.poll() is None:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def test_a_server_that_dies_in_the_middle_of_a_run_loses_nothing(
    tmp_path: Path, serve: Callable[[], subprocess.Popen], start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    server = serve()
    lines: list[str] = []
    store = Store(locate(server.url, root=tmp_path), tell=lines.append)  # type: ignore[attr-defined]

    whole = start(store, "whole", **{"miai.fingerprint": "w"})
    whole.log(1, {"eval/win": 0.5})
    whole.finish()
    assert whole.kept is None

    cut = start(store, "cut", **{"miai.fingerprint": "c"})
    cut.log(1, {"eval/win": 0.25})
    table = tmp_path / "table.npz"
    table.write_bytes(b"a table")
    cut.artifact(table)
    cut.flush()
    kill(server)
    cut.log(2, {"eval/win": 0.75})
    cut.final({"win": 0.75})
    cut.finish()
    assert cut.kept
    assert len(lines) == 1
    assert store.finished("study") == {"c": cut.run_id}

    serve()
    back = Store(store.location)
    assert sync(back).uploaded == {cut.key: cut.run_id}
    runs = {run.name: run for run in back.runs("study")}
    assert {run.status for run in runs.values()} == {FINISHED}
    for name, values in (("whole", [0.5]), ("cut", [0.25, 0.75])):
        history = back.client.get_metric_history(runs[name].run_id, "eval/win")
        assert [metric.value for metric in sorted(history, key=lambda m: m.step)] == values
        assert read_history(back.artifact(runs[name], "history.parquet"))["eval/win"].to_pylist() == values
    assert back.artifacts(runs["cut"]) == ["config.yaml", "history.parquet", "table.npz"]
    assert back.artifact(runs["cut"], "table.npz").read_bytes() == b"a table"
    assert runs["cut"].metrics["final/win"] == 0.75
