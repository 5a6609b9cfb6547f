from __future__ import annotations

import pytest
import yaml

from miai import project
from miai.errors import MiaiError
from miai.runner.compose import compose_one
from miai.runner.options import Option, choice_names, choices, primary

EXAMPLE = """\
# One line about it.
defaults:
  - base                  # not shown
  - game: tictactoe       # what is played
  - opponent@evaluation.opponent: random
  - override hydra/launcher: miai
  - _self_

task: example
alpha: 0.1                # step size
name: "a # b"
test:
  games: 10               # at the end
  deep:
    er: null
after: [1, 2]
hydra:
  run:
    dir: x
"""


@pytest.fixture
def own_conf(tmp_path, monkeypatch):
    monkeypatch.setenv("MIAI_HOME", str(tmp_path))
    (tmp_path / "conf" / "game").mkdir(parents=True)
    return tmp_path / "conf"


def test_options_and_groups_with_their_defaults_and_comments(own_conf):
    (own_conf / "example.yaml").write_text(EXAMPLE)
    found = primary("example")
    assert [(group.key, group.path, group.default, group.comment) for group in found.groups] == [
        ("game", "game", "tictactoe", "what is played"),
        ("opponent@evaluation.opponent", "evaluation.opponent", "random", ""),
        ("launcher", "launcher", "local", "where runs are made, and the units of work of a run"),
    ]
    own = [option for option in found.options if option not in primary("base").options]
    assert own == [
        Option("alpha", "0.1", "step size"),
        Option("name", '"a # b"', ""),
        Option("test.games", "10", "at the end"),
        Option("test.deep.er", "null", ""),
        Option("after", "[1, 2]", ""),
    ]
    assert {"seed", "tracking.uri", "resume"} <= {option.path for option in found.options}


def test_a_projects_own_choices_stand_beside_the_shipped_ones_and_before_them(own_conf):
    (own_conf / "game" / "gomoku.yaml").write_text("# Five in a row.\nname: mnk\nrows: 7\n")
    (own_conf / "game" / "mnk.yaml").write_text("# Ours.\nname: mnk\nrows: 5\ncols: 4\nk: 3\n")
    assert {"gomoku", "mnk", "tictactoe"} <= set(choice_names("game"))
    by_name = {choice.name: choice for choice in choices("game")}
    assert by_name["gomoku"].summary == "Five in a row."
    assert by_name["mnk"].summary == "Ours."
    assert compose_one("train", ["game=mnk"])["game"] == {"name": "mnk", "rows": 5, "cols": 4, "k": 3}


def test_a_choice_has_the_options_of_its_parts_and_of_what_it_is_built_on(own_conf):
    mixture = next(choice for choice in choices("opponent") if choice.name == "mixture")
    assert Option("weights.minimax", "0.5", "") in mixture.options
    assert "parts.advanced.p" in {option.path for option in mixture.options}
    (own_conf / "opponent").mkdir()
    (own_conf / "opponent" / "strong.yaml").write_text("defaults:\n  - advanced\n  - _self_\np: 0.9\n")
    strong = next(choice for choice in choices("opponent") if choice.name == "strong")
    assert [(option.path, option.default) for option in strong.options] == [("p", "0.9")]


def test_every_option_of_the_yaml_is_found():
    """The reader of lines sees what a parser of YAML sees."""

    def leaves(node, prefix=""):
        for key, value in node.items():
            if isinstance(value, dict):
                yield from leaves(value, f"{prefix}{key}.")
            else:
                yield f"{prefix}{key}"

    for file in project.shipped_conf().glob("*.yaml"):
        content = {
            key: value for key, value in yaml.safe_load(file.read_text()).items() if key not in ("defaults", "hydra")
        }
        assert set(leaves(content)) - {"task"} <= {option.path for option in primary(file.stem).options}, file


def test_what_hydra_composes_is_accepted():
    config = compose_one("train", ["opponent=mixture", "opponent@evaluation.opponent=advanced"])
    primary("train").check(config)


@pytest.mark.parametrize(
    ("overrides", "complaint"),
    [
        (["+alphaa=1"], r"^alphaa: there is no such option\. Did you mean 'alpha'\?$"),
        (["+test.game=1"], r"^test\.game: there is no such option\. Did you mean 'test\.games'\?$"),
        (["test=5"], r"^test: there is no such option"),
        (["~test.games"], r"^test\.games: a value is needed"),
        (["~opponent"], r"^opponent: a value is needed"),
        (
            ["evaluation.opponent=minimax"],
            r"^evaluation\.opponent: to choose minimax, write opponent@evaluation\.opponent=minimax\.$",
        ),
        (
            ["evaluation.opponent=minimx"],
            r"^evaluation\.opponent: no such choice 'minimx'; .*Did you mean 'minimax'\?",
        ),
    ],
)
def test_keys_that_are_not_there_and_keys_that_are_missing(overrides, complaint):
    with pytest.raises(MiaiError, match=complaint):
        primary("train").check(compose_one("train", overrides))


def test_a_configuration_that_does_not_exist():
    with pytest.raises(MiaiError, match=r"there is no nosuch\.yaml in .*conf"):
        primary("nosuch")
