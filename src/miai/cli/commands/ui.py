"""Open MLflow's UI on the project's store, on this machine alone (loopback).

host=ADDRESS opens it to others. MLflow then asks nobody for a password, and whoever reaches it can change the store.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from typing import Any

from miai.cli.arguments import whole_number
from miai.errors import MiaiError

CONFIG = "ui"
EXAMPLES = ("miai ui", "miai ui port=5050", "miai ui tracking.uri=sqlite:///elsewhere/mlflow.db")
WILDCARDS = ("0.0.0.0", "::")  # noqa: S104  # recognised, not chosen
"""Addresses that stand for all of this machine's."""
FIRST_PORT = 5000
PORTS_TRIED = 100


def run(arguments: list[str]) -> int:
    from miai.cli.arguments import text
    from miai.cli.terminal import console, say
    from miai.runner.compose import compose_one
    from miai.runner.configured import location_of
    from miai.tracking import Store, database_address

    config = compose_one(CONFIG, arguments)
    host = text(config, "host")
    is_private = _is_loopback(host)
    port = _free_port(host) if config["port"] is None else _asked(config, host)
    location = location_of(config)
    if location.is_server:
        if config["port"] is not None:
            raise MiaiError(f"port: the store is a server, whose UI is at {location.shown}; nothing is started here.")
        say(console(), f"The store is a server; its UI is at {location.shown}")
        return 0
    Store(location).experiments()  # Creates a store that is not there yet, and refuses one that cannot be reached.
    if not is_private:
        open_to = "every address of this machine" if host in WILDCARDS else host
        say(console(), f"Open to others at {open_to}: whoever reaches it can read and change the store, unasked.")
    say(console(), f"MLflow's UI: http://{f'[{host}]' if ':' in host else host}:{port}  (Ctrl-C ends it)")
    os.environ.setdefault("MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "false")
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ["MLFLOW_BACKEND_STORE_URI"] = database_address(location)  # Every user can read a command line.
    command = [sys.executable, "-m", "mlflow", "server", "--host", host]
    command += ["--port", str(port), "--workers", "1"]
    if location.artifacts:
        command += ["--default-artifact-root", location.artifacts]
    if not is_private and host not in WILDCARDS:
        command += ["--allowed-hosts", f"{host},{host}:*"]  # By default MLflow answers to local names alone.
    sys.stdout.flush()
    os.execv(sys.executable, command)  # noqa: S606


def _is_loopback(host: str) -> bool:
    """Whether an address, or the name of one, is this machine's own and nobody else's.

    Raises:
        MiaiError: there is no such address.
    """
    try:
        found = {str(entry[4][0]).partition("%")[0] for entry in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        raise MiaiError(f"host: there is no address {host!r}; 127.0.0.1 is this machine alone.") from None
    return all(ipaddress.ip_address(address).is_loopback for address in found)


def _asked(config: dict[str, Any], host: str) -> int:
    port = whole_number(config, "port", 1, 65_535)
    if not _is_free(host, port):
        raise MiaiError(f"port: {port} is taken; leave it out to have a free one found.")
    return port


def _free_port(host: str) -> int:
    for port in range(FIRST_PORT, FIRST_PORT + PORTS_TRIED):
        if _is_free(host, port):
            return port
    raise MiaiError(f"port: {FIRST_PORT} to {FIRST_PORT + PORTS_TRIED - 1} are all taken; name a free one, port=N.")


def _is_free(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
