"""Open MLflow's UI on the project's store, on this machine alone (loopback)."""

from __future__ import annotations

import os
import socket
import sys
from typing import Any

from miai.cli.arguments import whole_number
from miai.errors import MiaiError

CONFIG = "ui"
EXAMPLES = ("miai ui", "miai ui port=5050", "miai ui tracking.uri=sqlite:///elsewhere/mlflow.db")
HOST = "127.0.0.1"
FIRST_PORT = 5000
PORTS_TRIED = 100


def run(arguments: list[str]) -> int:
    from miai.cli.terminal import console, say
    from miai.runner.compose import compose_one
    from miai.runner.configured import location_of
    from miai.tracking import Store, database_address

    config = compose_one(CONFIG, arguments)
    port = _free_port() if config["port"] is None else _asked(config)
    location = location_of(config)
    if location.is_server:
        if config["port"] is not None:
            raise MiaiError(f"port: the store is a server, whose UI is at {location.shown}; nothing is started here.")
        say(console(), f"The store is a server; its UI is at {location.shown}")
        return 0
    Store(location).experiments()  # Creates a store that is not there yet, and refuses one that cannot be reached.
    say(console(), f"MLflow's UI: http://{HOST}:{port}  (Ctrl-C ends it)")
    os.environ.setdefault("MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "false")
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ["MLFLOW_BACKEND_STORE_URI"] = database_address(location)  # Every user can read a command line.
    command = [sys.executable, "-m", "mlflow", "server", "--host", HOST]
    command += ["--port", str(port), "--workers", "1"]
    if location.artifacts:
        command += ["--default-artifact-root", location.artifacts]
    sys.stdout.flush()
    os.execv(sys.executable, command)  # noqa: S606


def _asked(config: dict[str, Any]) -> int:
    port = whole_number(config, "port", 1, 65_535)
    if not _is_free(port):
        raise MiaiError(f"port: {port} is taken; leave it out to have a free one found.")
    return port


def _free_port() -> int:
    for port in range(FIRST_PORT, FIRST_PORT + PORTS_TRIED):
        if _is_free(port):
            return port
    raise MiaiError(f"port: {FIRST_PORT} to {FIRST_PORT + PORTS_TRIED - 1} are all taken; name a free one, port=N.")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
