"""What holds for every study of `experiments/`. A new one is found by itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from miai import project
from miai.cli.main import main
from miai.players.gnugo import find_gnugo
from miai.report import build
from miai.report.spec import ReportSpec
from miai.runner import configured
from miai.runner.studies import Study, expand, load_study_file
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
    "records": (),
    "rollout_policy": ("num_epochs=2",),
    "sl_policy": ("num_epochs=2", "epoch_positions=64", "valid_positions=32", "test.positions=32"),
    "rl_policy": ("num_updates=2", "block_updates=1", "games_per_update=2", "match_games=2", "test_games=2"),
    "value_data": (),
    "value": ("num_epochs=2", "epoch_positions=64", "valid_positions=32", "test.positions=32"),
    "analyse": (),
}
"""Settings of a task that make its runs short."""

AT_ONCE = tuple(
    f"player.{name}.{option}"
    for name in ("apv_mcts", "rave", "uct")
    for option in ("num_simulations=4", "seconds=null")
)

SMALLER = {
    "alpha_sensitivity": ("alpha=0.1,0.3", "algorithm=mc,afterstate"),
    "board_size": ("game.rows=3", "game.cols=3,4"),  # 4×4 takes a minute, and gigabytes.
    "opponents": ("algorithm=mc,afterstate",),
    "uct_gnugo": ("player.gnugo.level=1",),
    "alphago_ablation": ("rounds=1", "game.size=7", *AT_ONCE),
    "lambda_mix": ("game.size=7", "player.apv_mcts.num_simulations=4", "player.rave.num_simulations=4"),
    "sl_scaling": ("network.filters=4,8", "num_positions=20,40"),
}
"""Settings of a study that do, beside those."""

FEW_GAMES = {"games": {"players": ["random"], "games": 16, "game.size": 7, "split.valid": 0.3, "split.test": 0.3}}
PIPELINE = {
    **FEW_GAMES,
    "sl": {"network": "tiny", "network.layers": 4, "network.filters": 32, "network.planes": 48},
    "value_data": {"positions": 30, "valid_share": 0.3, "test_share": 0.3},
    "value": {"test.rollout_positions": 10},
    "ladder": {
        "game.size": 7,
        "rounds": 1,
        "matches_per_round": 1,
        "players": ["random", {"player": "policy", "network": "@sl", "label": "SL"}],
    },
    "picture": {"game.size": 7},
}
OF_STAGES: dict[str, dict[str, dict[str, Any]]] = {
    "alphago_quick": PIPELINE,
    "alphago_9x9": PIPELINE,
    "sl_features": FEW_GAMES,
    "sl_scaling": FEW_GAMES,
    "value_overfitting": {**FEW_GAMES, "value": {"test.rollout_positions": 10}},
}
"""Overrides of a study's stages that do: those that an option of another stage's task keeps off the command line."""

AFTER = dict.fromkeys(("alphago_ablation", "lambda_mix"), "alphago_quick")
"""Studies of networks that another study makes."""

NEEDS_TORCH = {"sl_policy", "rl_policy", "value_data", "value"}
"""Tasks that do, which is not always there."""


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
    plain = [stage for stage in study.stages if stage.select is None and not stage.used]
    expected = [job for stage in plain for job in stage_jobs(study, stage, ())]
    assert sorted(map(_description, composed)) == sorted(map(_description, expected))


def _description(job):
    return json.dumps([job.task.name, job.experiment, job.stage, job.config], sort_keys=True)


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_a_study_runs_from_end_to_end(study, home, monkeypatch, capsys):
    """Tiny, with two seeds: every run finishes, and the report has everything that it asks for."""
    if "gnugo" in study.name and find_gnugo() is None:
        pytest.skip("GNU Go is not installed (Debian: apt install gnugo)")
    needed = [other for other in STUDIES if other.name in (study.name, AFTER.get(study.name))]
    if NEEDS_TORCH & {stage.task for other in needed for stage in other.stages}:
        pytest.importorskip("torch", reason="make test-alphago installs PyTorch")
    monkeypatch.setenv("MIAI_HOME", str(home))
    monkeypatch.setattr(build, "DOTS_PER_INCH", 40)
    if study.name in AFTER:
        other = next(other for other in needed if other is not study)
        assert main(["sweep", other.name, *_tiny(other, home), "launcher=serial"]) == 0, capsys.readouterr()
    further = [*_tiny(study, home), "seed=0,1"]
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


def _tiny(study: Study, home: Path) -> list[str]:
    """Return the overrides that make a study short. Those of its stages go into a copy of its file, in the project."""
    if study.name in OF_STAGES:
        copy = home / "experiments" / f"{study.name}.yaml"
        copy.parent.mkdir(exist_ok=True)
        content = yaml.safe_load((project.shipped_experiments() / copy.name).read_text(encoding="utf-8"))
        copy.write_text(yaml.safe_dump(_smaller(content, OF_STAGES[study.name])), encoding="utf-8")
    tiny = [override for task in {stage.task for stage in study.stages} for override in TINY[task]]
    return [*tiny, *SMALLER.get(study.name, ())]


def _smaller(content: Mapping[str, Any], of_stages: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    stages = [
        {**stage, "overrides": {**stage["overrides"], **of_stages.get(stage["name"], {})}}
        for stage in content["stages"]
    ]
    return {**content, "stages": stages}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")
