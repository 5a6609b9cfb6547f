"""Studies as they are run: stages, and what one stage chooses by the results of another."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from miai.errors import MiaiError
from miai.runner.studies import parse_study
from miai.runner.sweep_study import select_best, stage_jobs, sweep_study

TINY = {"num_games": 60, "num_checkpoints": 1, "test.games": 0, "launcher": "serial"}
GRID = {"name": "grid", "grid": {"algorithm": ["mc", "sarsa"], "alpha": [0.1, 0.4, 0.9]}, "seeds": 2}
SELECT = {"of": "grid", "by": "algorithm", "choose": "alpha", "metric": "eval/value"}


@pytest.fixture
def study_of(location, experiment, monkeypatch):
    monkeypatch.setenv("MIAI_HOME", str(location.mlruns.parent))

    def make(*stages):
        return parse_study(experiment, {"question": "Why?", "overrides": TINY, "stages": list(stages)})

    return make


def run(study, *further):
    text = io.StringIO()
    code = sweep_study(study, further, Console(file=text, width=200))
    return code, text.getvalue()


def best_by_hand(store, experiment, goal=max, fingerprints=None):
    """For each algorithm, the α of the best mean, straight from the store."""
    values = {}
    for record in store.runs(experiment):
        if record.tags["miai.stage"] == "grid" and (fingerprints is None or record.fingerprint in fingerprints):
            row = values.setdefault(record.params["algorithm.name"], {})
            row.setdefault(float(record.params["alpha"]), []).append(record.metrics["final/eval/value"])
    return {name: goal(row, key=lambda alpha: sum(row[alpha]) / len(row[alpha])) for name, row in values.items()}


def test_a_stage_takes_the_best_of_an_earlier_one(study_of, store, experiment):
    study = study_of(GRID, {"name": "best", "select": SELECT, "seeds": "range(10, 13)"})
    code, text = run(study)
    assert code == 0
    assert "Why?" in text
    best = best_by_hand(store, experiment)
    chosen = [record for record in store.runs(experiment) if record.tags["miai.stage"] == "best"]
    assert {(run.params["algorithm.name"], float(run.params["alpha"])) for run in chosen} == set(best.items())
    assert sorted({run.params["seed"] for run in chosen}) == ["10", "11", "12"]
    assert len(chosen) == 6
    code, text = run(study)
    assert code == 0
    assert text.count("nothing to do") == 2


def test_only_runs_of_the_present_jobs_count(study_of, store, experiment):
    """Runs of the stage with other settings, that would decide otherwise, are in the store too."""
    study = study_of(GRID, {"name": "best", "select": SELECT})
    for further in (("num_games=2000", "gamma=0.1"), ()):
        assert sweep_study(study, [*further], Console(file=io.StringIO())) == 0
    jobs = stage_jobs(study, study.stages[0], ())
    present = {record.fingerprint for record in store.runs(experiment) if record.params["num_games"] == "60"}
    assert len(present) > len(jobs) - 1
    found = {row["algorithm"]: row["alpha"] for row in select_best(experiment, study.stages[1].select, jobs, store)}
    assert found == best_by_hand(store, experiment, fingerprints=present)
    smallest = study_of(GRID, {"name": "best", "select": {**SELECT, "goal": "min"}}).stages[1].select
    found = {row["algorithm"]: row["alpha"] for row in select_best(experiment, smallest, jobs, store)}
    assert found == best_by_hand(store, experiment, min, present)


def test_it_waits_while_a_run_is_missing(study_of, store, experiment):
    study = study_of(GRID, {"name": "best", "select": SELECT, "seeds": [7, 8]})
    run(study_of(GRID), "seed=0")
    with pytest.raises(MiaiError, match=rf"6 of 12 runs of stage grid, .* are missing\. Run: miai sweep {experiment}"):
        stage_jobs(study, study.stages[1], (), store)
    for job in stage_jobs(study, study.stages[1], ["seed=0"], store):
        assert job.config["seed"] == 7


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"metric": "eval/win_rate"}, r"has no metric 'eval/win_rate'; it has: eval/draw, "),
        ({"choose": "alfa"}, r"select: there is no option 'alfa'"),
        ({"by": "algorithm.nosuch"}, r"select: there is no option 'algorithm\.nosuch'"),
    ],
)
def test_a_selection_by_what_is_not_there(study_of, store, change, complaint):
    small = {**GRID, "grid": {"alpha": [0.1, 0.2]}, "seeds": 1}
    study = study_of(small, {"name": "best", "select": {**SELECT, **change}})
    run(study_of(small))
    with pytest.raises(MiaiError, match=complaint):
        stage_jobs(study, study.stages[1], (), store)


def test_a_stage_that_fails_stops_those_that_need_it_and_no_others(study_of, store, experiment):
    bad = {"name": "bad", "overrides": {"game": "mnk", "game.max_states": 5}}
    study = study_of(bad, {"name": "after", "needs": ["bad"]}, {"name": "other"}, {"name": "last", "needs": ["after"]})
    code, text = run(study)
    assert code == 1
    assert "stage after needs stage bad, so it waits" in text
    assert "stage last needs stage after, so it waits" in text
    stages = {record.tags["miai.stage"]: record.status for record in store.runs(experiment)}
    assert stages == {"bad": "FAILED", "other": "FINISHED"}
    code, text = run(study, "fail_fast=true", "resume=false")
    assert code == 1
    assert "stage other" not in text


@pytest.mark.parametrize(
    ("further", "complaint"),
    [
        ("study=mine", r"^study: the study says it"),
        ("+stage=mine", r"^stage: the study says it"),
        ("task=match", r"^task: the study says it"),
        ("alpha=3", r"^alpha: .*less than or equal to 1, not 3\. The run is: seed=0 .*alpha=3"),
        ("resume=maybe", r"^resume: .*valid boolean, not 'maybe'"),
        ("workers=0", r"^workers: .*greater than or equal to 1, not 0"),
        ("launcher=lokal", r"^launcher: no such choice 'lokal'; allowed: .*Did you mean 'local'"),
        ("fail_fast=1", r"^fail_fast: .*valid boolean, not 1"),
        ("workers=1,2", r"^workers: it is the same for all runs of a sweep, and cannot be swept"),
        ("init=nosuch", r"^init: .*no run with the id or name 'nosuch'"),
        ("init=/nosuch.npz", r"^init: no such file"),
        ("+nosuch=1", r"^nosuch: there is no such option"),
    ],
)
def test_overrides_that_are_refused_before_anything_runs(study_of, store, experiment, further, complaint):
    with pytest.raises(MiaiError, match=complaint):
        run(study_of(GRID), further)
    assert store.runs(experiment) == []


def test_sweeping_overrides_on_top_of_a_study(study_of, store, experiment):
    code, _ = run(study_of({"name": "grid", "grid": {"alpha": [0.1, 0.2]}}), "gamma=0.5,0.6", "alpha=0.3", "seed=4,5")
    assert code == 0
    keys = ("seed", "alpha", "gamma")
    assert sorted(tuple(float(record.params[key]) for key in keys) for record in store.runs(experiment)) == [
        (4, 0.3, 0.5),
        (4, 0.3, 0.6),
        (5, 0.3, 0.5),
        (5, 0.3, 0.6),
    ]


TABLES = {"name": "tables", "overrides": {"seat": "both", "opponent": "self"}, "seeds": 2}
MATCH = {
    "name": "match",
    "task": "match",
    "overrides": {"game": "tictactoe", "games": 2, "players": [{"player": "table", "run": "@tables"}, "random"]},
    "seeds": 2,
}


def mixed(experiment, *stages):
    for_matches = ("games", "players", "game", "launcher")
    common = [
        {**stage, "overrides": {**(TINY if "task" not in stage else {}), **stage["overrides"]}} for stage in stages
    ]
    assert all(set(stage["overrides"]) <= set(for_matches) for stage in common if stage.get("task") == "match")
    return parse_study(experiment, {"question": "Why?", "stages": common})


def test_a_stage_uses_the_runs_of_an_earlier_one_seed_by_seed(study_of, store, experiment):
    study = mixed(experiment, TABLES, MATCH)
    assert study.stages[1].needed == ["tables"]
    code, text = run(study)
    assert code == 0, text
    tables = {record.params["seed"]: record for record in store.runs(experiment) if "algorithm.name" in record.params}
    matches = [record for record in store.runs(experiment) if "player.run" in record.params]
    assert {record.params["seed"]: record.params["player.run"] for record in matches} == {
        seed: record.run_id for seed, record in tables.items()
    }
    code, text = run(study)
    assert code == 0
    assert text.count("nothing to do") == 2


def test_a_single_run_serves_every_seed(study_of, store, experiment):
    study = mixed(experiment, {**TABLES, "seeds": [5]}, MATCH)
    assert run(study)[0] == 0
    assert len({record.params["player.run"] for record in store.runs(experiment) if "player.run" in record.params}) == 1


def test_a_stage_of_several_runs_a_seed_cannot_be_used(study_of, store, experiment):
    study = mixed(experiment, {**TABLES, "grid": {"algorithm": ["mc", "sarsa"]}}, MATCH)
    with pytest.raises(MiaiError, match=r"@tables could be any of 4 runs; only a stage with one a seed can be used"):
        run(study)


def test_a_seed_that_the_used_stage_lacks_is_named(study_of, store, experiment):
    study = mixed(experiment, TABLES, {**MATCH, "seeds": [1, 2]})
    with pytest.raises(MiaiError, match=r"@tables: that stage has no run of seed 2; it has seeds 0, 1"):
        run(study)


def test_only_an_earlier_stage_can_be_used(experiment):
    with pytest.raises(MiaiError, match=r"stage match: needs stage 'tables', but no stage comes before it"):
        mixed(experiment, MATCH, TABLES)


def test_without_a_store_what_stands_for_a_run_is_checked_as_it_is(study_of, experiment):
    study = mixed(experiment, TABLES, MATCH)
    assert [job.config["players"][0]["run"] for job in stage_jobs(study, study.stages[1], ())] == ["@tables"] * 2
