from __future__ import annotations

import pytest

from miai.errors import MiaiError
from miai.runner.studies import Stage, expand, load_study_file, parse_seeds, parse_study, study_names

A = {"name": "a"}
SELECT = {"of": "a", "by": "algorithm", "choose": "alpha", "metric": "eval/win"}


def study(**content):
    return parse_study("example", {"question": "Why?", **content})


def expanded(further=(), selected=({},), **content):
    [stage] = study(**content).stages
    return [" ".join(job) for job in expand(stage, further, selected)]


# ---- reading ----


def test_a_study_of_one_stage_may_write_its_keys_directly():
    found = study(overrides={"alpha": 0.2}, grid={"algorithm": ["mc", "sarsa"]}, seeds=2)
    assert found.question == "Why?"
    assert found.stages == [
        Stage(name="main", overrides={"alpha": 0.2}, grid={"algorithm": ["mc", "sarsa"]}, seeds=[0, 1]),
    ]


def test_overrides_of_the_study_hold_for_every_stage_and_give_way_to_its_own():
    found = study(
        overrides={"alpha": 0.2, "gamma": 0.5},
        stages=[{"name": "a"}, {"name": "b", "overrides": {"alpha": 0.3}, "needs": ["a"]}],
    )
    assert [stage.overrides for stage in found.stages] == [{"alpha": 0.2, "gamma": 0.5}, {"alpha": 0.3, "gamma": 0.5}]


def test_the_task_of_the_study_is_that_of_every_stage_that_names_none():
    assert [stage.task for stage in study(task="match", stages=[A, {"name": "b", "task": "train"}]).stages] == [
        "match",
        "train",
    ]
    assert study(task="match").stages[0].task == "match"
    assert study().stages[0].task == "train"


@pytest.mark.parametrize(
    ("value", "seeds"),
    [(3, [0, 1, 2]), ("range(2)", [0, 1]), ("range(100, 103)", [100, 101, 102]), ([7, 5], [7, 5])],
)
def test_seeds(value, seeds):
    assert parse_seeds(value, "seeds") == seeds


@pytest.mark.parametrize("value", [0, -1, True, 1.5, "3", "range(0)", "range(5, 3)", [], [1.0], [-1], [True], None, {}])
def test_seeds_that_are_none(value):
    with pytest.raises(MiaiError, match=r"^study x\.seeds: allowed are a count, range\(stop\).*, not "):
        parse_seeds(value, "study x.seeds")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ({"grids": {}}, r"^study example\.grids: there is no such option"),
        ({"grid": {"alpha": 0.1}}, r"^study example\.grid\.alpha: .*list.*not 0\.1"),
        ({"grid": {"alpha": []}}, r"^study example\.grid\.alpha"),
        ({"cases": []}, r"^study example\.cases"),
        ({"overrides": [1]}, r"^study example\.overrides: expected keys with values, not \[1\]"),
        ({"stages": 3}, r"^study example\.stages: expected a list of stages"),
        ({"stages": []}, r"^study example\.stages"),
        ({"stages": [{"grid": {}}]}, r"^study example\.name: a value is needed"),
        ({"stages": [{"name": "a"}], "grid": {}}, r"^study example\.grid: there is no such option"),
        ({"stages": [{"name": "a"}, {"name": "a"}]}, r"two stages are named 'a'"),
        ({"stages": [{"name": "a", "needs": ["b"]}]}, r"stage a: needs stage 'b', but no stage comes before it"),
        (
            {"stages": [{"name": "a"}, {"name": "b", "needs": ["c"]}, {"name": "c"}]},
            r"stage b: needs stage 'c', but the stages before it are a",
        ),
        (
            {"stages": [{"name": "a"}, {"name": "b", "select": {"of": "a"}}]},
            r"stages\[1\]\.select\.by: a value is needed",
        ),
        (
            {
                "stages": [
                    {"name": "a"},
                    {"name": "b", "select": {**SELECT, "goal": "best"}},
                ]
            },
            r"stages\[1\]\.select\.goal: Input should be 'max' or 'min', not 'best'",
        ),
    ],
)
def test_what_a_study_may_not_say(content, complaint):
    with pytest.raises(MiaiError, match=complaint):
        study(**content)


def test_a_study_needs_a_question():
    with pytest.raises(MiaiError, match=r"^study example\.question: a value is needed"):
        parse_study("example", {"seeds": 3})


# ---- files ----


@pytest.fixture
def own_experiments(tmp_path, monkeypatch):
    monkeypatch.setenv("MIAI_HOME", str(tmp_path))
    (tmp_path / "experiments").mkdir()
    return tmp_path / "experiments"


def test_a_projects_own_studies_stand_beside_the_shipped_ones_and_before_them(own_experiments):
    (own_experiments / "mine.yaml").write_text("question: What?\noverrides: {alpha: 1e-3, init: '${seat}.npz'}\n")
    (own_experiments / "td_comparison.yaml").write_text("question: Mine?\n")
    assert {"mine", "td_comparison", "course"} <= set(study_names())
    assert load_study_file("td_comparison").question == "Mine?"
    [stage] = load_study_file("mine").stages
    assert expand(stage) == [["seed=0", "alpha=0.001", "init='${seat}.npz'"]]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"question: [x\n", r"mine\.yaml, line 2: not YAML: "),
        (b"a: 1\na: 2\n", r"mine\.yaml, line 2: not YAML: found duplicate key a"),
        (b"- 1\n", r"mine\.yaml: expected keys with values, such as question and grid"),
        (b"", r"mine\.yaml: expected keys with values"),
        (b"question: \xff\n", r"mine\.yaml: cannot be read: UnicodeDecodeError"),
        (b"a: " + b"[" * 5000, r"mine\.yaml: cannot be read: RecursionError|mine\.yaml, line \d+: not YAML"),
        (b"just words\n", r"study mine\.question: a value is needed"),
    ],
)
def test_a_damaged_file_is_named(own_experiments, content, complaint):
    (own_experiments / "mine.yaml").write_bytes(content)
    with pytest.raises(MiaiError, match=complaint) as error:
        load_study_file("mine")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("seeds", [10**9, 10**30, "range(9999999999)", "range(" + "9" * 5000 + ")"])
def test_more_seeds_than_a_memory_holds_are_refused(seeds):
    with pytest.raises(MiaiError, match=r"more than the 1,000,000 runs|seeds: allowed are"):
        parse_seeds(seeds, "study mine.seeds")


def test_a_study_that_does_not_exist():
    with pytest.raises(MiaiError, match=r"^study: no such choice 'td_comparisn'; .*Did you mean 'td_comparison'\?$"):
        load_study_file("td_comparisn")


# ---- expanding ----


def test_every_combination_the_seed_slowest():
    assert expanded(grid={"algorithm": ["mc", "sarsa"], "alpha": [0.1, 0.2]}, seeds=2) == [
        "seed=0 algorithm=mc alpha=0.1",
        "seed=0 algorithm=mc alpha=0.2",
        "seed=0 algorithm=sarsa alpha=0.1",
        "seed=0 algorithm=sarsa alpha=0.2",
        "seed=1 algorithm=mc alpha=0.1",
        "seed=1 algorithm=mc alpha=0.2",
        "seed=1 algorithm=sarsa alpha=0.1",
        "seed=1 algorithm=sarsa alpha=0.2",
    ]


def test_each_case_is_combined_with_the_grid_and_the_seed_is_still_the_slowest():
    jobs = expanded(
        cases=[{"alpha": 0.1}, {"alpha": 0.2, "gamma": 0.5}], grid={"algorithm": ["mc", "sarsa"]}, seeds=[4, 3]
    )
    assert jobs == [
        "seed=4 algorithm=mc alpha=0.1",
        "seed=4 algorithm=sarsa alpha=0.1",
        "seed=4 algorithm=mc alpha=0.2 gamma=0.5",
        "seed=4 algorithm=sarsa alpha=0.2 gamma=0.5",
        "seed=3 algorithm=mc alpha=0.1",
        "seed=3 algorithm=sarsa alpha=0.1",
        "seed=3 algorithm=mc alpha=0.2 gamma=0.5",
        "seed=3 algorithm=sarsa alpha=0.2 gamma=0.5",
    ]


def test_the_later_of_overrides_grid_cases_select_and_command_line_counts():
    content = {"overrides": {"alpha": 1, "gamma": 1}, "grid": {"alpha": [2, 3], "beta": [2]}, "cases": [{"beta": 4}]}
    assert expanded(**content) == ["seed=0 alpha=2 gamma=1 beta=4", "seed=0 alpha=3 gamma=1 beta=4"]
    assert expanded(**content, selected=[{"alpha": 5}]) == ["seed=0 alpha=5 gamma=1 beta=4"]
    assert expanded(["alpha=6,7", "beta=8"], [{"alpha": 5}], **content) == [
        "seed=0 alpha=6 gamma=1 beta=8",
        "seed=0 alpha=7 gamma=1 beta=8",
    ]


def test_seeds_from_the_command_line_take_the_place_of_the_studys():
    assert expanded(["seed=range(5,7)"], seeds=30) == ["seed=5", "seed=6"]
    assert expanded(["seed=9"], seeds=30) == ["seed=9"]


def test_a_stage_that_selects_keeps_to_its_own_fresh_seeds_and_takes_how_many():
    stages = [A, {"name": "b", "select": SELECT, "seeds": "range(100, 105)"}]
    _, stage = study(stages=stages).stages
    assert expand(stage, ["seed=0,1"], [{"alpha": 0.3}]) == [["seed=100", "alpha=0.3"], ["seed=101", "alpha=0.3"]]
    assert len(expand(stage, ["seed=range(30)"])) == 5


def test_a_stage_that_selects_keeps_to_what_was_selected():
    """Sweeping α, or fewer algorithms, is for the stage before it; the best α of each stays with its algorithm."""
    _, stage = study(stages=[A, {"name": "b", "select": SELECT}]).stages
    selected = [{"algorithm": "mc", "alpha": 0.1}, {"algorithm": "sarsa", "alpha": 0.3}]
    assert expand(stage, ["alpha=0.1,0.3", "algorithm=mc,sarsa", "gamma=0.5"], selected) == [
        ["seed=0", "algorithm=mc", "alpha=0.1", "gamma=0.5"],
        ["seed=0", "algorithm=sarsa", "alpha=0.3", "gamma=0.5"],
    ]


def test_further_overrides_of_the_command_line_hold_for_every_job():
    assert expanded(["num_games=9", "resume=false"], grid={"algorithm": ["mc", "sarsa"]}) == [
        "seed=0 algorithm=mc num_games=9 resume=false",
        "seed=0 algorithm=sarsa num_games=9 resume=false",
    ]


def test_values_with_odd_spelling():
    [job] = expanded(overrides={"init": "a b", "test": {"games": 5}, "workers": None, "x": [1, "y z"], "resume": True})
    assert job == "seed=0 init='a b' test={games:5} workers=null x=[1,'y z'] resume=true"


# ---- attacks ----


@pytest.mark.parametrize("place", ["overrides", "grid", "cases"])
@pytest.mark.parametrize(
    "key", ["hydra.callbacks.x._target_", "hydra/launcher", "hydra", "++hydra.job_logging", "game._target_"]
)
def test_a_study_does_not_set_hydra(place, key):
    value = {"overrides": {key: "os.system"}, "grid": {key: ["os.system"]}, "cases": [{key: "os.system"}]}[place]
    with pytest.raises(MiaiError, match=rf"^study example, stage main: {place}: .* is not for a study to set\.$"):
        study(**{place: value})


def test_nor_by_a_value_that_holds_keys():
    with pytest.raises(MiaiError, match="'_target_' is not for a study to set"):
        study(overrides={"game": {"name": "tictactoe", "extra": [{"_target_": "os.system"}]}})


def test_the_file_of_a_study_makes_no_objects(tmp_path, monkeypatch):
    monkeypatch.setenv("MIAI_HOME", str(tmp_path))
    (tmp_path / "experiments").mkdir()
    for content in (
        f"question: !!python/object/apply:os.mkdir [{tmp_path}/mark]",
        f"question: !!python/object/new:os.mkdir [{tmp_path}/mark]",
        "question: !!python/name:os.mkdir",
    ):
        (tmp_path / "experiments" / "attack.yaml").write_text(content + "\n")
        with pytest.raises(MiaiError, match=r"attack\.yaml, line 1: not YAML: could not determine a constructor"):
            load_study_file("attack")
    assert not (tmp_path / "mark").exists()
