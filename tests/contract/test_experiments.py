"""What holds for every study of `experiments/`. A new one is found by itself."""

from __future__ import annotations

import json

import pytest

from miai import project
from miai.cli.main import main
from miai.players.gnugo import find_gnugo
from miai.report import build
from miai.report.spec import ReportSpec
from miai.runner import configured
from miai.runner.studies import expand, load_study_file
from miai.runner.study_configs import experiments_of
from miai.runner.sweep_study import stage_jobs
from miai.runner.task import tasks
from miai.tracking import FINISHED, Store, locate

FILES = sorted(project.shipped_experiments().glob("*.yaml"))
STUDIES = [load_study_file(file.stem) for file in FILES]

TINY = {
    "train": ("num_games=300", "num_checkpoints=3", "test.games=10"),
    "match": ("games=2", "game.size=5"),
    "tournament": ("games_per_pairing=2",),
}
"""Settings of a task that make its runs short."""

SMALLER = {
    "alpha_sensitivity": ("alpha=0.1,0.3", "algorithm=mc,afterstate"),
    "board_size": ("game.rows=3", "game.cols=3,4"),  # 4×4 takes a minute, and gigabytes.
    "opponents": ("algorithm=mc,afterstate",),
    "uct_gnugo": ("player.gnugo.level=1",),
}
"""Settings of a study that do, beside those."""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_study_begins_with_its_question_and_its_command(file):
    question, command, *_ = file.read_text(encoding="utf-8").splitlines()
    assert question.startswith("# Question: ")
    assert question.endswith("?")
    assert command.startswith(f"# Command: miai sweep {file.stem} && miai report {file.stem}")


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_a_study_says_what_to_run_and_what_to_draw(study):
    assert study.question.rstrip().endswith((".", "?"))
    ReportSpec.from_mapping({"question": study.question, **study.report}, study.name)
    for stage in study.stages:
        assert stage.task in tasks()
        jobs = expand(stage)
        assert jobs
        assert len({tuple(job) for job in jobs}) == len(jobs)


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_plain_hydra_composes_the_very_same_jobs(study, monkeypatch, tmp_path):
    """`miai train +experiment=…`, for each part of a study, against `miai sweep`."""
    monkeypatch.setenv("MIAI_HOME", str(tmp_path))
    composed = []

    def keep(jobs, *_arguments):
        composed.extend(jobs)
        return type("Result", (), {"exit_code": 0})

    monkeypatch.setattr(configured, "run_configured", keep)
    for part, stage, _ in experiments_of(study):
        assert main([stage.task, f"+experiment={part}"]) == 0
    expected = [job for stage in study.stages if stage.select is None for job in stage_jobs(study, stage, ())]
    assert sorted(map(_description, composed)) == sorted(map(_description, expected))


def _description(job):
    return json.dumps([job.task.name, job.experiment, job.stage, job.config], sort_keys=True)


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_a_study_runs_from_end_to_end(study, home, monkeypatch, capsys):
    """Tiny, with two seeds: every run finishes, and the report has everything that it asks for."""
    if "gnugo" in study.name and find_gnugo() is None:
        pytest.skip("GNU Go is not installed (Debian: apt install gnugo)")
    monkeypatch.setenv("MIAI_HOME", str(home))
    monkeypatch.setattr(build, "DOTS_PER_INCH", 40)
    tiny = [override for task in {stage.task for stage in study.stages} for override in TINY[task]]
    further = [*tiny, *SMALLER.get(study.name, ()), "seed=0,1"]
    assert main(["sweep", study.name, *further, "launcher=serial"]) == 0, capsys.readouterr()
    assert main(["report", study.name, *further]) == 0, capsys.readouterr()
    out = capsys.readouterr().out
    assert "planned runs are missing" not in out
    assert "left out" not in out
    runs = Store(locate(root=home)).runs(study.name)
    assert {run.status for run in runs} == {FINISHED}
    assert {run.tags["miai.stage"] for run in runs} == {stage.name for stage in study.stages}
    folder = home / "reports" / study.name
    page = (folder / "report.html").read_text(encoding="utf-8")
    spec = ReportSpec.from_mapping(study.report, study.name)
    for section in spec.sections:
        assert section.title in page
        for figure in () if section.where else section.figures or ():  # What `where` asks for, tiny runs may lack.
            assert list(folder.glob(f"*{figure.name}*.png")), figure.name


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")
