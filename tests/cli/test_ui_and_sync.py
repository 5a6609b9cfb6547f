"""`miai ui` serves the store on loopback, and `miai sync` brings kept runs to a store that was away."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from miai.cli.commands import ui
from miai.tracking import Store, locate

SCRIPT = Path(sys.executable).with_name("miai")


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=5) as answer:
        return answer.read().decode()


@contextmanager
def serving(*arguments: str) -> Iterator[str]:
    """Run `miai ui` until the block ends; its address."""
    process = subprocess.Popen(
        [SCRIPT, "ui", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert found, line
        deadline = time.monotonic() + 120
        while True:
            try:
                assert fetch(f"{found[0]}/health") == "OK"
                break
            except (OSError, urllib.error.URLError):
                assert process.poll() is None, "the server has gone"
                assert time.monotonic() < deadline, "the server does not answer"
                time.sleep(0.2)
        yield found[0]
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.slow  # A server takes several seconds to start.
def test_the_ui_serves_the_store_and_kept_runs_reach_it(miai, home, train, tmp_path, monkeypatch):
    run = train("study=ui")
    with serving() as address:
        assert "<title>MLflow</title>" in fetch(address)
        artifact = f"{address}/get-artifact?path=config.yaml&run_uuid={run.run_id}"
        assert "num_games: 2000" in fetch(artifact)
        port = address.rpartition(":")[2]
        with pytest.raises(OSError, match="refused"):  # Loopback alone.
            socket.create_connection((_own_address(), int(port)), timeout=2)
        assert (
            miai("ui", f"port={port}").refusal
            == f"miai ui: port: {port} is taken; leave it out to have a free one found."
        )
        assert miai("ui", f"tracking.uri={address}").out == f"The store is a server; its UI is at {address}\n"

    client_home = tmp_path / "client"
    client_home.mkdir()
    monkeypatch.setenv("MIAI_HOME", str(client_home))
    away = "tracking.uri=http://127.0.0.1:9"
    said = miai("train", "num_games=300", "num_checkpoints=2", "study=synced", away)
    assert said.code == 0
    assert "cannot be reached" in said.out
    assert "cannot be reached" in miai("sync", away).refusal

    monkeypatch.setenv("MIAI_HOME", str(home))
    with serving(f"tracking.uri=sqlite:///{tmp_path}/other.db") as address:
        monkeypatch.setenv("MIAI_HOME", str(client_home))
        here = f"tracking.uri={address}"
        said = miai("sync", here)
        assert said.code == 0
        assert "is meant for http://127.0.0.1:9; name it with tracking.uri= to upload it there" in said.out
        assert said.out.endswith("0 runs uploaded.\n")
        assert miai("sync", here, "adopt=true").out == "1 runs uploaded.\n"
        assert miai("sync", here, "adopt=true").out == "0 runs uploaded.\n"
        [synced] = Store(locate(address, root=client_home)).runs("synced")
        assert synced.metrics["final/table/size"] > 0
        said = miai("reproduce", synced.run_id, here)
        assert "the same, byte for byte" in said.out


def _own_address() -> str:
    """An address of this machine that is not loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # Nothing is sent.
        except OSError:
            pytest.skip("this machine has no address but loopback")
        return str(probe.getsockname()[0])


def test_nothing_to_upload(miai, home):
    assert miai("sync").out == "0 runs uploaded.\n"


def test_a_store_that_cannot_be_reached(miai, home):
    assert "cannot be reached" in miai("ui", "tracking.uri=postgresql://127.0.0.1:9/x").refusal


@pytest.fixture
def started(monkeypatch) -> list[list[str]]:
    """The commands that would take this process's place."""
    commands: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda program, command: commands.append(command))
    monkeypatch.setenv("MLFLOW_BACKEND_STORE_URI", "")  # It is set for the command, and set back after this test.
    return commands


OPEN = "whoever reaches it can read and change the store, unasked."


@pytest.mark.parametrize(
    ("given", "host", "warned"),
    [
        ([], "127.0.0.1", False),
        (["host=localhost"], "localhost", False),
        (["host='::1'"], "::1", False),
        (["host=0.0.0.0"], "0.0.0.0", True),
        (["host=192.0.2.1", "port=5999"], "192.0.2.1", True),
    ],
)
def test_it_is_open_to_this_machine_alone_unless_told_and_says_so(
    miai, home, started, monkeypatch, given, host, warned
):
    monkeypatch.setattr(ui, "_is_free", lambda host, port: True)
    said = miai("ui", *given).out
    [command] = started
    assert command[command.index("--host") + 1] == host
    assert (OPEN in said) == warned
    named = [command[place + 1] for place, word in enumerate(command) if word == "--allowed-hosts"]
    assert named == (["192.0.2.1,192.0.2.1:*"] if host == "192.0.2.1" else [])


def test_an_address_that_is_not_there(miai, home):
    assert "host: there is no address 'no such host'" in miai("ui", "host='no such host'").refusal
    assert "host: a text is allowed" in miai("ui", "host=1").refusal
