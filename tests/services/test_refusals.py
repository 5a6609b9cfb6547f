"""A shared store that will not have us is said before anything is run; one that is away is waited for. No line, file or
command line shows a password."""

from __future__ import annotations

import base64
import json
import subprocess
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import quote

import psutil
import pytest
from benchmarks.services import PASSWORD, USER, PostgreSQL, TrackingServer
from tests.services.conftest import SCRIPT, Project

from miai.errors import MiaiError
from miai.tracking import FINISHED, Store, locate

RUN = ("train", "num_games=300", "num_checkpoints=3", "test.games=10", "study=here")
SWEEP = ("train", "-m", *RUN[1:], "seed=range(2)")


@pytest.fixture
def database(fresh: Callable[[], str]) -> str:
    return fresh()


def with_password(server: TrackingServer, password: str = TrackingServer.ADMINISTRATOR[1]) -> str:
    """The address of a server, signed in to."""
    return server.address.replace("//", f"//{server.ADMINISTRATOR[0]}:{quote(password, safe='')}@")


def create_account(server: TrackingServer, name: str, password: str) -> None:
    """Create an account, as its administrator."""
    request = urllib.request.Request(
        f"{server.address}/api/2.0/mlflow/users/create",
        data=json.dumps({"username": name, "password": password}).encode(),
        headers={
            "Authorization": f"Basic {base64.b64encode(':'.join(server.ADMINISTRATOR).encode()).decode()}",
            "Content-Type": "application/json",
        },
    )
    urllib.request.urlopen(request, timeout=30).close()


# ---- a database ----


@pytest.mark.parametrize("command", [RUN, SWEEP, ("sync",), ("ui",), ("report", "td_comparison")])
def test_a_wrong_password_is_one_line_and_nothing_is_run(project: Project, postgresql: PostgreSQL, command) -> None:
    wrong = postgresql.address("template", password=f"not {PASSWORD}")
    if command == ("sync",):  # It asks the store only if there is something to upload.
        project(*RUN, "tracking.uri=postgresql://127.0.0.1:9/x")
        command = ("sync", "adopt=true")
    said = project(*command, f"tracking.uri={wrong}", code=2)
    shown = f"postgresql://127.0.0.1:{postgresql.port}/template"
    assert said == (
        f"miai {command[0]}: tracking.uri: {shown}: the database refuses: "
        f'password authentication failed for user "{USER}".\n'
    )
    assert project.files_with_secrets() == []


def test_what_else_a_database_may_refuse(project: Project, postgresql: PostgreSQL) -> None:
    missing = project(*SWEEP, f"tracking.uri={postgresql.address('missing')}", code=2)
    assert 'the database refuses: database "missing" does not exist.' in missing
    stranger = project(*RUN, f"tracking.uri={postgresql.address('template', user='stranger')}", code=2)
    assert 'password authentication failed for user "stranger"' in stranger
    other_driver = postgresql.address("template").replace("postgresql:", "postgresql+pg8000:")
    assert "pip install 'miai[postgresql]'" in project(*RUN, f"tracking.uri={other_driver}", code=2)
    assert not (project.home / "mlruns" / "unsynced").exists()


def test_a_password_may_be_anywhere_but_in_the_address(project: Project, database: str, postgresql: PostgreSQL) -> None:
    bare = postgresql.address(database.rpartition("/")[2], password=None)
    assert "no password supplied" in project(*RUN, f"tracking.uri={bare}", code=2)
    for number, variable in enumerate(("PGPASSWORD", "MIAI_TRACKING_PASSWORD")):
        project(*RUN, f"tracking.uri={bare}", f"seed={number}", **{variable: PASSWORD})
    project(*RUN, f"tracking.uri='{database}'", "seed=2")
    store = Store(locate(database, root=project.home))
    assert sorted(run.params["seed"] for run in store.runs("here")) == ["0", "1", "2"]
    assert project.files_with_secrets() == []


def test_the_ui_shows_a_database_and_no_process_shows_its_password(project: Project, database: str) -> None:
    project(*RUN, f"tracking.uri={database}")
    process = subprocess.Popen(
        [SCRIPT, "ui", f"tracking.uri={database}"],
        env=project.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[2]
        deadline = time.monotonic() + 300
        while True:
            with suppress(MiaiError):
                [experiment] = Store(locate(address, root=project.home)).experiments()
                break
            assert time.monotonic() < deadline
            time.sleep(0.5)
        assert experiment == "here"
        ours = psutil.Process(process.pid)
        shown = [word for each in (ours, *ours.children(recursive=True)) for word in each.cmdline()]
        assert "mlflow" in shown
        assert not [word for word in shown if quote(PASSWORD, safe="") in word]
    finally:
        children = psutil.Process(process.pid).children(recursive=True)
        process.terminate()
        for child in children:
            with suppress(psutil.NoSuchProcess):
                child.kill()
        process.wait()


# ---- a server ----


def test_a_server_with_passwords(project: Project, guarded: TrackingServer) -> None:
    nobody = project(*SWEEP, f"tracking.uri={guarded.address}", code=2)
    assert "does not know this name and password; sign in with MLFLOW_TRACKING_USERNAME and" in nobody
    wrong = project(*RUN, f"tracking.uri={with_password(guarded, 'wrong')}", code=2)
    assert f"tracking.uri: {guarded.address}: the server does not know this name and password" in wrong
    assert not (project.home / "mlruns" / "unsynced").exists()

    user, password = guarded.ADMINISTRATOR
    signed_in = {"MLFLOW_TRACKING_USERNAME": user, "MLFLOW_TRACKING_PASSWORD": password}
    assert "2 finished" in project(*SWEEP, f"tracking.uri={guarded.address}", **signed_in)
    assert "2 already there" in project(*SWEEP, f"tracking.uri={with_password(guarded)}")
    ui = project("ui", f"tracking.uri={with_password(guarded)}")
    assert ui == f"The store is a server; its UI is at {guarded.address}\n"

    said = project(*RUN, "seed=7", f"tracking.uri={with_password(guarded)}")
    run = said.split()[-1]
    assert "the same, byte for byte" in project("reproduce", run, f"tracking.uri={with_password(guarded)}")

    create_account(guarded, "anna", "anna's own p@ss")
    anna = with_password(guarded, "anna's own p@ss").replace("//admin:", "//anna:")
    project(*RUN, "seed=9", f"tracking.uri='{anna}'")
    runs = Store(locate(with_password(guarded), root=project.home)).runs("here")
    assert sorted(run.params["seed"] for run in runs) == ["0", "1", "7", "9"]
    assert project.files_with_secrets() == []


def test_a_server_whose_database_dies_loses_nothing(
    project: Project, server: TrackingServer, postgresql: PostgreSQL
) -> None:
    here = f"tracking.uri={server.address}"
    two = ("train", "-m", *RUN[1:], "study=outage", "seed=1,2", here)
    project(*RUN, "study=outage", here)
    postgresql.kill()
    try:
        said = project(*two, MLFLOW_HTTP_REQUEST_MAX_RETRIES="0")
        assert "cannot be reached" in said
        assert "Runs are kept in" in said
        assert "2 finished" in said
    finally:
        postgresql.start()
    assert "2 runs uploaded" in project("sync", here)
    runs = Store(locate(server.address, root=project.home)).runs("outage")
    assert sorted((run.params["seed"], run.status) for run in runs) == [(seed, FINISHED) for seed in "012"]
    assert "2 already there" in project(*two)


def test_a_web_server_that_is_no_mlflow(project: Project, tmp_path) -> None:
    with subprocess.Popen(
        ["python3", "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=tmp_path,
    ) as web:
        try:
            assert web.stdout is not None
            port = web.stdout.readline().split("port ")[1].split()[0]
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).close()
            said = project(*SWEEP, f"tracking.uri=http://127.0.0.1:{port}", code=2)
        finally:
            web.terminate()
    assert said == f"miai train: tracking.uri: http://127.0.0.1:{port}: there is no MLflow server at this address.\n"
