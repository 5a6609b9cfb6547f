"""`miai train` and `miai sweep`, by Hydra."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from miai.tracking import FINISHED

TINY = ("num_games=40", "num_checkpoints=2", "test.games=5")


def files(home):
    return sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.is_file())


def test_a_single_run_always_runs_and_closes_with_a_table(miai, store):
    for _ in range(2):
        said = miai("train", *TINY, "study=single", "algorithm=afterstate", "seed=7")
        assert said.code == 0
        assert said.err == ""
        assert "afterstate-random-first-s7" in said.out
        assert "eval/win" in said.out
        assert store.run(said.out.split()[-1]).params["seed"] == "7"
    assert [run.status for run in store.runs("single")] == [FINISHED, FINISHED]


def test_a_multirun_runs_what_is_missing(miai, store):
    command = ("train", "-m", *TINY, "study=many", "algorithm=mc,sarsa", "launcher=serial")
    assert "4 runs, 4 to do." in miai(*command, "seed=range(2)").out
    said = miai(*command, "seed=range(3)")
    assert said.code == 0
    assert "6 runs, 4 already there, 2 to do." in said.out
    assert "6 already there, nothing to do." in miai(*command, "seed=range(3)").out
    assert "6 runs, 6 to do." in miai(*command, "seed=range(3)", "resume=false").out
    done = [(run.params["algorithm.name"], run.params["seed"]) for run in store.runs("many")]
    assert len(done) == 12
    assert len(set(done)) == 6


def test_a_multirun_over_processes(miai, store):
    said = miai("train", "-m", *TINY, "study=parallel", "seed=range(3)", "workers=2")
    assert said.code == 0
    assert {run.params["seed"] for run in store.runs("parallel")} == {"0", "1", "2"}


def test_a_study_the_plain_way_makes_the_very_same_runs(miai, store):
    further = (*TINY, "seed=0,1", "launcher=serial")
    said = miai("train", "+experiment=td_comparison", *further)
    assert said.code == 0
    assert "8 runs, 8 to do." in said.out
    by_hydra = {run.fingerprint: run for run in store.runs("td_comparison")}
    said = miai("sweep", "td_comparison", *further)
    assert "8 runs, 8 already there, nothing to do." in said.out
    assert f"miai report td_comparison {' '.join(further)}" in said.out
    said = miai("sweep", "td_comparison", *further, "resume=false")
    assert "8 runs, 8 to do." in said.out
    runs = store.runs("td_comparison")
    assert len(runs) == 16
    for run in runs:
        assert run.params == {**by_hydra[run.fingerprint].params, "resume": run.params["resume"]}
        assert run.tags["miai.stage"] == "main"


def test_hydras_own_pages(miai, home):
    before = files(home)
    job = miai("train", "--cfg", "job", "seed=3", "opponent=advanced")
    assert job.code == 0
    assert "seed: 3\n" in job.out
    assert "p: 0.8\n" in job.out
    assert miai("train", "--cfg", "job", "-p", "opponent").out == "# @package opponent\nname: random\n"
    assert files(home) == before


def test_what_hydra_knows_of_itself(home):
    """In a process of its own, because it changes how everything logs."""
    for what, part in (("plugins", "MiaiLauncher"), ("searchpath", "Config search path"), ("config", "num_games: 5")):
        command = [Path(sys.executable).with_name("miai"), "train", "--info", what, "num_games=5"]
        assert part in subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("algorithm=srsa", "algorithm: no such choice 'srsa'; allowed: "),
        ("alpha=2", "alpha: Input should be less than or equal to 1, not 2."),
        ("alpha=x", "alpha: Input should be a valid number, not 'x'."),
        ("alpha=", "alpha: Input should be a valid number, not ''."),
        ("alpha", "'alpha' is not an override; write key=value, such as alpha=0.1."),
        ("=3", "'=3': '' is not a key; "),
        ("alpha=0.1,0.2", "alpha: 0.1,0.2 is a list of values; add -m to make a run of each."),
        ("num_game=3", "num_game: there is no such option. Did you mean 'num_games'? See --help."),
        ("+foo=1", "foo: there is no such option."),
        ("~gamma", "gamma: a value is needed."),
        ("num_games=0", "num_games: Input should be greater than or equal to 1, not 0."),
        ("num_games=1e3", "num_games: Input should be a valid integer, not 1000.0."),
        ("test.games=-1", "test.games: Input should be greater than or equal to 0, not -1."),
        ("seed=-1", "seed: Input should be greater than or equal to 0, not -1."),
        ("seed=007", "seed: Input should be a valid integer, not '007'."),
        ("study=5", "study: Input should be a valid string, not 5."),
        ("study=", "study: String should have at least 1 character, not ''."),
        ("resume=maybe", "resume: Input should be a valid boolean, not 'maybe'."),
        ("workers=0", "workers: Input should be greater than or equal to 1, not 0."),
        ("launcher=lokal", "launcher: no such choice 'lokal'; allowed: "),
        ("launcher.workers=2", "launcher.workers: there is no such option"),
        ("task=match", "task: it is train here, not 'match'."),
        ("opponent=self", "opponent: self needs seat=both, not seat=first; both players learn one table."),
        ("opponent=table", "opponent.run: a value is needed."),
        ("opponent=table opponent.run=nosuch", "opponent.table: run: the store "),
        ("init=/nosuch/table.npz", "init: no such file: '/nosuch/table.npz'"),
        ("game=mnk game.k=9", "game.k: a line of 9 does not fit on 3×3; allowed: 1 to 3."),
        ("game=go", "game: no such choice 'go'; allowed: mnk, tictactoe."),
        ("evaluation.opponent=minimax", "evaluation.opponent: to choose minimax, write opponent@evaluation.opponent="),
        ("experiment=course", "experiment: a study is added, so write it with a plus: +experiment=…."),
        ("+experiment=course", "experiment: course is run in parts: course.first.0, "),
        ("+experiment=nosuch", "experiment: no such choice 'nosuch'; allowed: "),
        (
            "+experiment=uct_constant",
            "experiment: uct_constant is not for this command. Run: miai match +experiment=uct_constant",
        ),
        ("tracking.uri=redis://x", "tracking.uri: MLflow has no store of the kind 'redis'"),
        ("tracking.uri=5", "tracking.uri: Input should be a valid string, not 5."),
        ("--fast", "unrecognized arguments: --fast; see --help."),
        ("--cfg all -m", "of --run, --multirun, --cfg, --info and --shell-completion, one may be given; see --help."),
        ("--cfg job -p nosuch", "package 'nosuch' not found in config"),
        ("--experimental-rerun x", "--experimental-rerun reads a file that may run code; "),
        ("-cn nosuch", "config-name: no such choice 'nosuch'; allowed: "),
        ("-m alpha=interval(0,1)", "BasicSweeper does not support sweep type"),
        ("-m alpha=0.1,2", "alpha: Input should be less than or equal to 1, not 2. The run is: alpha=2"),
        ("-m seed=1,2 opponent=self,random", "opponent: self needs seat=both, not seat=first; both players learn "),
        ("-m seed=1,2 launcher=serial,local", "launcher: it is the same for all runs of a sweep, and cannot be "),
        ("-m seed=1,2 algorithm=mc,foo", "algorithm: no such choice 'foo'; allowed: "),
        ("-m seed=1,2 init=nosuch", "init: run: the store "),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(miai, home, store, arguments, line):
    before = files(home), store.experiments()
    assert miai("train", *arguments.split()).refusal.startswith(f"miai train: {line}")
    assert (files(home), store.experiments()) == before


def test_outputs_that_cannot_be_written(miai, home, tmp_path):
    (tmp_path / "file").touch()
    refusal = miai("train", *TINY, f"hydra.run.dir={tmp_path}/file/x").refusal
    assert refusal == f"miai train: {tmp_path}/file/x: Not a directory."


def test_a_run_that_fails(miai, home, store):
    """What only the run itself can find out is in its log, and the exit code is 1."""
    said = miai("train", *TINY, "study=failing", "game=mnk", "game.max_states=10")
    assert said.code == 1
    assert "failed. game: mnk on 3×3 has more than 10 positions" in said.out
    [log] = [line.removeprefix("The log: ") for line in said.out.splitlines() if line.startswith("The log: ")]
    assert "Traceback" in open(log, encoding="utf-8").read()  # noqa: PTH123, SIM115
    said = miai("train", "-m", *TINY, "study=failing", "game=mnk", "game.max_states=10,10000", "launcher=serial")
    assert said.code == 1
    assert "1 finished, 1 failed" in said.out
    assert [run.status for run in store.runs("failing")].count(FINISHED) == 1


def test_texts_with_spaces_in_the_names_of_studies(miai, store):
    said = miai("train", *TINY, "study='my study'", "stage='it\\'s odd'")
    assert said.code == 0
    [run] = store.runs("my study")
    assert run.tags["miai.stage"] == "it's odd"


def test_runs_with_inputs_from_other_runs(train, store):
    first = train("study=inputs", "seed=1")
    second = train("study=inputs", "seed=2", f"init={first.run_id}")
    third = train("study=inputs", "seed=2", f"init={store.artifact(first, 'table.npz')}")
    fourth = train("study=inputs", "seat=second", "opponent=table", f"opponent.run={first.run_id[:8]}")
    assert second.fingerprint == third.fingerprint
    assert store.artifact(second, "table.npz").read_bytes() == store.artifact(third, "table.npz").read_bytes()
    assert second.metrics["final/table/size"] > first.metrics["final/table/size"]
    assert fourth.status == FINISHED
