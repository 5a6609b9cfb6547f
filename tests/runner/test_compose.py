from __future__ import annotations

import pytest
from hydra import compose as hydra_compose

from miai.errors import MiaiError
from miai.runner.compose import compose_one, composing, plain


@pytest.fixture
def own_conf(tmp_path, monkeypatch):
    monkeypatch.setenv("MIAI_HOME", str(tmp_path))
    (tmp_path / "conf").mkdir()
    return tmp_path / "conf"


JOBS = (
    ["seed=3"],
    ["algorithm=mc", "seed=0"],
    ["seed=1", "opponent=mixture", "opponent.weights.advanced=1"],
    ["alpha=1e-3", "seed=12345678901"],
    ["seed=null", "alpha=${gamma}"],
    ["seed=1", "seed=2"],
    ["study=x", "seed=5"],
    ["num_games=5", "num_games=6", "num_games=5", "test.games=7", "test={games:8}"],
    ["opponent=mixture", "opponent.weights={random:1,minimax:0.0,advanced:2}", "init='a b'"],
    ["opponent@evaluation.opponent=advanced", "evaluation.opponent.p=1", "alpha=0.3", "schedule=linear"],
    ["++gamma=0.5", "+evaluation.opponent.x=1", "~test"],
    ["game=mnk", "game.k=2", "alpha_schedule=linear", "alpha_schedule.end=${gamma}", "algorithm.n_step=inf"],
    ["alpha_schedule.value=0.7", "alpha=0.3", "init='it\\'s'", "study=null", "seed=4"],
    ["schedule=linear", "schedule.start=0.5", "seed=3", "stage='${gamma}'", "study='a=b, c'"],
    [],
)


@pytest.mark.parametrize("overrides", JOBS, ids=" ".join)
def test_the_quick_way_gives_what_hydra_composes(overrides):
    with composing("train") as composer:
        composer.compose(["seed=99", *(o for o in overrides if not o.startswith("seed="))])  # The base is known now.
        assert composer.compose(overrides) == plain(hydra_compose("train", overrides))


def test_lists_of_players_too():
    overrides = ["players=[uct,{player:gtp,command:'a b'}]", "player.uct.c_uct=0.5", "game.size=7", "seed=2", "games=4"]
    with composing("match") as composer:
        composer.compose([])
        assert composer.compose(overrides) == plain(hydra_compose("match", overrides))


def test_hydra_composes_once_for_all_values_of_the_same_choices():
    asked = []
    with composing("train") as composer:
        ask = composer._compose_base
        composer._compose_base = lambda overrides: asked.append(overrides) or ask(overrides)
        for algorithm in ("mc", "sarsa"):
            for alpha in (0.1, 0.2, 0.3):
                for seed in (0, 1):
                    config = composer.compose([f"algorithm={algorithm}", f"alpha={alpha}", f"seed={seed}"])
                    assert (config["algorithm"]["name"], config["alpha_schedule"]["value"]) == (algorithm, alpha)
    assert asked == [["algorithm=mc"], ["algorithm=sarsa"]]


def test_a_configuration_that_is_written_in_terms_of_the_seed(own_conf):
    (own_conf / "opponent").mkdir()
    (own_conf / "opponent" / "odd.yaml").write_text("name: table\nrun: table-${seed}.npz\n")
    with composing("train") as composer:
        runs = [composer.compose(["opponent=odd", f"seed={seed}"])["opponent"]["run"] for seed in (1, 2)]
    assert runs == ["table-1.npz", "table-2.npz"]


def test_a_configuration_without_a_seed():
    with pytest.raises(MiaiError, match=r"^seed: there is no such option"):
        compose_one("sync", ["seed=3"])


def test_jobs_do_not_share_what_a_caller_may_set():
    with composing("train") as composer:
        first, second = composer.compose(["seed=1"]), composer.compose(["seed=2"])
    first["seed"] = 7
    assert second["seed"] == 2


@pytest.mark.parametrize(
    ("overrides", "complaint"),
    [
        (["algorithm=srsa"], r"^algorithm: no such choice 'srsa'; allowed: afterstate, .*Did you mean 'sarsa'\?$"),
        (["opponent@evaluation.opponent=minimx"], r"^opponent: no such choice 'minimx'.*Did you mean 'minimax'\?$"),
        (["algoritm=sarsa"], r"^algoritm: there is no such option\. Did you mean 'algorithm'\? See --help\.$"),
        (["num_game=3"], r"^num_game: there is no such option\. Did you mean 'num_games'\? See --help\.$"),
        (["opponent.p=0.5"], r"^opponent\.p: there is no such option as things are chosen\."),
        (["experiment=td_comparison"], r"^experiment: .*\+experiment="),
        (["opponent=table"], r"^opponent\.run: a value is needed\.$"),
        (["alpha=${nosuch}"], r"^alpha_schedule\.value: Interpolation key 'nosuch' not found\.$"),
        (["algorithm=null"], r"a group needs the name of a choice"),
        (["alpha=[0.1"], r"^alpha: '\[0\.1' cannot be read"),
        (["alpha"], r"'alpha' is not an override"),
        (["alpha=1,2"], r"^alpha: 1,2 is a list of values; add -m"),
        (["+alpha=1"], r"alpha"),
        (["hydra/launcher=ray"], r"^hydra/launcher: no such choice 'ray'; allowed: .*miai"),
        (["nosuch/group=3"], r"^nosuch/group: there is no such option"),
    ],
)
def test_what_does_not_compose_is_one_line_that_names_it(overrides, complaint):
    with pytest.raises(MiaiError, match=complaint) as error:
        compose_one("train", overrides)
    assert "\n" not in str(error.value)


def test_broken_yaml_is_named_with_its_line(own_conf):
    (own_conf / "game").mkdir()
    (own_conf / "game" / "odd.yaml").write_text("# A game.\nname: mnk\nrows: [3\n")
    with pytest.raises(MiaiError, match=r"odd\.yaml, line 4: not YAML: .*expected") as error:
        compose_one("train", ["game=odd"])
    assert "\n" not in str(error.value)
    (own_conf / "train.yaml").write_text("a: b: c\n")
    with pytest.raises(MiaiError, match=r"train\.yaml, line 1: not YAML: mapping values are not allowed here\."):
        compose_one("train", [])


def test_yaml_in_another_encoding_is_named(own_conf):
    (own_conf / "game").mkdir()
    (own_conf / "game" / "odd.yaml").write_bytes("# Ein Spiel für zwei.\nname: mnk\n".encode("latin-1"))
    with pytest.raises(MiaiError, match=r"game/odd\.yaml: not YAML: it is not written in UTF-8\.$"):
        compose_one("train", ["game=odd"])


def test_yaml_without_keys_is_named(own_conf):
    (own_conf / "game").mkdir()
    (own_conf / "game" / "odd.yaml").write_text("5\n")
    with pytest.raises(MiaiError, match=r"game/odd\.yaml: expected keys with values\.$"):
        compose_one("train", ["game=odd"])


def test_yaml_that_is_nested_without_end_is_refused(own_conf):
    (own_conf / "game").mkdir()
    (own_conf / "game" / "odd.yaml").write_text("a: " + "[" * 5000)
    with pytest.raises(MiaiError):
        compose_one("train", ["game=odd"])


def test_yaml_that_hydra_does_not_understand(own_conf):
    (own_conf / "train.yaml").write_text("defaults: 3\n")
    with pytest.raises(MiaiError) as error:
        compose_one("train", [])
    assert "\n" not in str(error.value)
