"""What holds for every launcher: the same runs, the same resume, the same failures, wherever they are made.

`make test-launchers` runs this with Ray and submitit installed, and with Slurm where there is one.
"""

from __future__ import annotations

import importlib.util
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from miai.errors import MiaiError
from miai.runner import Job, run_jobs, run_one, send_one
from miai.runner.compose import compose_one
from miai.runner.configured import job_of
from miai.runner.launchers import Launcher, launchers
from miai.tracking import FAILED, FINISHED, KILLED, RUNNING, Store, locate
from miai.tracking.location import Location
from runner import slurm_node
from runner.sample_tasks import COUNT, SQUARES

OPTIONS = {"slurm": {"jobs_at_once": 2, "runs_per_job": 2, "minutes": 5}}
"""Of those launchers that need some to be tried with two workers."""

STARTED = ("ray", "slurm")
"""Launchers for which something has to be started; fixtures below bear their names."""

PROGRAM = Path(__file__).parents[1] / "runner" / "sweep_program.py"
PATIENCE = 240.0
TINY = ("num_games=300", "num_checkpoints=3", "test.games=20", "study=same")


def _skip_without(package: str, extra: str) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"the extra {extra} is not installed")


@pytest.fixture(scope="module")
def ray() -> Iterator[None]:
    """A Ray of two workers, for all tests but the one that starts its own."""
    _skip_without("ray", "ray")
    from miai.runner.launchers.ray import Cluster, Ray

    cluster = Cluster(Ray(), 2)
    yield
    cluster.leave()


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A Slurm of one node."""
    _skip_without("submitit", "slurm")
    if slurm_node.missing():
        pytest.skip(slurm_node.missing())
    with slurm_node.slurm_node(tmp_path_factory.mktemp("slurm")) as environment, pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(params=[pytest.param(n, marks=pytest.mark.cluster if n in STARTED else ()) for n in launchers.names()])
def name(request: pytest.FixtureRequest) -> str:
    """The name of a launcher that can be used here."""
    if request.param in STARTED:
        request.getfixturevalue(request.param)
    return request.param


@pytest.fixture
def launcher(name: str) -> Launcher:
    return launchers.build({"name": name, **OPTIONS.get(name, {})})


@pytest.fixture(scope="module")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with MLflow's tables, which take seconds to make."""
    location = locate(root=tmp_path_factory.mktemp("empty"))
    assert Store(location).experiments() == []
    assert location.database is not None
    return location.database


@pytest.fixture
def location(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_store: Path) -> Location:
    monkeypatch.setenv("MIAI_HOME", str(tmp_path))
    (tmp_path / "mlruns").mkdir()
    shutil.copy(empty_store, tmp_path / "mlruns")
    return locate(root=tmp_path)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Tables by fingerprint, as they come out in this process."""
    location = locate(root=tmp_path_factory.mktemp("undisturbed"))
    assert run_jobs(trainings(), location, launcher="serial").exit_code == 0
    return tables(location)


def trainings() -> list[Job]:
    return [job_of(compose_one("train", [*TINY, f"seed={seed}"])) for seed in range(3)]


def tables(location: Location) -> dict[str, bytes]:
    store = Store(location)
    return {run.fingerprint: store.artifact(run, "table.npz").read_bytes() for run in store.runs("same")}


def statuses(location: Location) -> Counter[str]:
    store = Store(location)
    return Counter(run.status for experiment in store.experiments() for run in store.runs(experiment))


def leftovers(location: Location) -> list[Path]:
    return [path for name in ("work", "checkpoints", "unsynced") for path in (location.mlruns / name).glob("*")]


def test_the_same_results_and_nothing_is_made_twice(
    launcher: Launcher, location: Location, undisturbed: dict[str, bytes]
) -> None:
    first = run_jobs(trainings(), location, launcher=launcher, workers=2, console=Console())
    assert [outcome.status for outcome in first.outcomes] == ["finished"] * 3, first.outcomes
    assert tables(location) == undisturbed
    second = run_jobs(trainings(), location, launcher=launcher, workers=2)
    assert [outcome.status for outcome in second.outcomes] == ["there"] * 3
    assert statuses(location) == {FINISHED: 3}
    assert leftovers(location) == []


def test_failures_and_deaths_cost_one_run_each(
    launcher: Launcher, name: str, location: Location, tmp_path: Path
) -> None:
    seeds = iter(range(9))
    trouble = [{"trouble": "error"}, {}, {"trouble": "user"}]
    if not launcher.in_process:
        trouble += [{"trouble": "suicide once", "marker": str(tmp_path / "marker")}, {"trouble": "suicide"}]
    jobs = [Job(COUNT, {"seed": next(seeds), **config}, "troubled") for config in trouble]
    screen = io.StringIO()
    console = Console(file=screen, width=400, color_system=None)
    result = run_jobs(jobs, location, launcher=launcher, workers=2, console=console)
    expected = ["failed", "finished", "failed", "finished", "failed"][: len(jobs)]
    assert [outcome.status for outcome in result.outcomes] == expected, result.outcomes
    assert result.exit_code == 1
    reasons = [outcome.reason for outcome in result.failures]
    assert reasons[:2] == ["RuntimeError: sparks and smoke", "alpha: 2.0 is too large; allowed: 0 to 1."]
    if not launcher.in_process:
        assert reasons[2] == "its worker died 3 times, the last time killed by SIGKILL"
    assert all(reason in screen.getvalue() for reason in reasons)
    assert all(Path(outcome.log).is_file() for outcome in result.failures[:2])
    found = {FAILED: 2, FINISHED: 1} if launcher.in_process else {FAILED: 2, FINISHED: 2, KILLED: 4}
    assert statuses(location) == found
    assert leftovers(location) == []


def test_units_of_one_run_are_spread_and_none_is_done_twice(
    launcher: Launcher, location: Location, tmp_path: Path
) -> None:
    marks = tmp_path / "marks"
    units = [{"x": x, "marks": str(marks)} for x in range(4)]
    if not launcher.in_process:
        units[2]["die_once"] = str(tmp_path / "died")
    failing = Job(SQUARES, {"units": units, "fail_after": True}, "units")
    assert run_one(failing, location, launcher=launcher, workers=2).reason == "RuntimeError: after the units"
    done, processes = zip(*(line.split() for line in marks.read_text().splitlines()), strict=True)
    again = 0 if launcher.in_process else 1
    assert Counter(done) == {"0": 1, "1": 1, "2": 1 + again, "3": 1}
    assert (str(os.getpid()) in processes) == launcher.in_process
    assert len(set(processes)) >= (1 if launcher.in_process else 2)
    outcome = run_one(Job(SQUARES, {"units": units}, "units"), location, launcher=launcher, workers=2)
    assert outcome.final == {"square/0": 0.0, "square/1": 1.0, "square/2": 4.0, "square/3": 9.0}
    assert len(marks.read_text().splitlines()) == 4 + again
    assert leftovers(location) == []


def test_a_single_run_without_units_is_made_elsewhere_if_there_is_such_a_place(
    launcher: Launcher, location: Location
) -> None:
    if not launcher.elsewhere:
        pytest.skip("this launcher has no other place")
    for _ in range(2):  # It is made each time that it is asked for.
        outcome = send_one(Job(COUNT, {"seed": 0}, "sent"), location, launcher, None)
        assert outcome.status == "finished", outcome
        assert outcome.final == {"value": 3.0}
        assert Store(location).run(outcome.run_id).tags["miai.pid"] != str(os.getpid())
    assert statuses(location) == {FINISHED: 2}


def test_ctrl_c_leaves_no_run_running(launcher: Launcher, name: str, location: Location) -> None:
    settings = {
        "experiment": "stopped",
        "seeds": 4,
        "config": {"steps": 1000, "seconds": 200.0},
        "launcher": {"name": name, **OPTIONS.get(name, {})},
    }
    wanted = 1 if launcher.in_process else 2
    Store(location).prepare("stopped")
    program = subprocess.Popen(
        [sys.executable, str(PROGRAM), str(location.mlruns.parent), json.dumps(settings)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while statuses(location)[RUNNING] < wanted:
            assert program.poll() is None, program.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.2)
        os.killpg(program.pid, signal.SIGINT)
        said, _ = program.communicate(timeout=PATIENCE)
    finally:
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGKILL)
            program.communicate()
    assert program.returncode == 130, said
    assert "Traceback" not in said
    assert statuses(location) == {KILLED: wanted}
    assert [path for path in leftovers(location) if path.parent.name != "checkpoints"] == []


# ---- what is told before anything is begun ----


@pytest.mark.parametrize(("name", "package"), [("ray", "ray"), ("slurm", "submitit")])
def test_a_launcher_that_is_not_installed_says_how_to_install_it(
    name: str, package: str, location: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MiaiError) as refusal:
        run_jobs(trainings(), location, launcher=launchers.build({"name": name}))
    line = f"launcher={name}: {package} is not installed. Install it with: pip install 'miai[{name}]'"
    assert str(refusal.value) == line
    assert [path.name for path in location.mlruns.iterdir()] == ["mlflow.db"]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            {"name": "lokal"},
            "launcher: no such choice 'lokal'; allowed: local, ray, serial, slurm. Did you mean 'local'?",
        ),
        ({"name": "local", "workers": 2}, "launcher.workers: there is no such option."),
        (
            {"name": "slurm", "runs_per_job": 0},
            "launcher.runs_per_job: Input should be greater than or equal to 1, not 0.",
        ),
        ({"name": "slurm", "partitions": "x"}, "launcher.partitions: there is no such option."),
        ({"name": "ray", "gpus": -0.5}, "launcher.gpus: Input should be greater than or equal to 0, not -0.5."),
    ],
)
def test_wrong_options_are_one_line(options: dict, line: str) -> None:
    with pytest.raises(MiaiError) as refusal:
        launchers.build(options)
    assert str(refusal.value) == line


def test_a_launcher_is_no_part_of_a_fingerprint_nor_of_a_runs_parameters() -> None:
    from miai.runner.fingerprint import fingerprint
    from miai.tracking.record import IRRELEVANT

    configs = [compose_one("train", [f"launcher={name}"]) for name in launchers.names()]
    [job, *_] = trainings()
    assert len({fingerprint(job.task, config) for config in configs}) == 1
    assert "launcher" in IRRELEVANT


def test_machines_that_do_not_share_what_they_need_are_told_apart(location: Location) -> None:
    from miai.runner.launchers.station import Home

    home = Home.here(location)
    home.enter()
    with pytest.raises(MiaiError, match=r"^tracking\.uri: .*mlflow\.db is a SQLite file, which elsewhere and .* both"):
        replace(home, host="elsewhere").enter()
    server = replace(home, host="elsewhere", location=locate("http://127.0.0.1:9", root=location.mlruns.parent))
    home.leave()
    with pytest.raises(MiaiError, match=r"^launcher: the folder .* is not that of elsewhere"):
        server.enter()
    with pytest.raises(MiaiError, match=r"^launcher: .* has no /nosuch"):
        replace(home, root=Path("/nosuch")).enter()


def test_a_sqlite_file_on_a_networks_file_system_is_refused(
    location: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    from miai.runner.launchers import station

    station.refuse_shared_file(location)
    monkeypatch.setattr(station, "file_system", lambda _: "nfs4")
    with pytest.raises(
        MiaiError, match=r"^tracking\.uri: .*mlflow\.db is a SQLite file on a network's file system \(nfs4\)"
    ):
        station.refuse_shared_file(location)
    station.refuse_shared_file(locate("http://127.0.0.1:9", root=location.mlruns.parent))
