"""What holds for every kind of player, and for every YAML of `conf/player/`."""

from __future__ import annotations

import dataclasses

import pytest

from miai import project
from miai.errors import MiaiError
from miai.players import name_player, players
from miai.runner.compose import compose_one
from miai.runner.options import choice_names, choices

READY = choice_names("player")
DEFAULTS = compose_one("match", [])["player"]


def test_every_kind_has_a_yaml_of_its_name() -> None:
    assert set(players.names()) <= set(READY)


def test_every_yaml_is_a_ready_player() -> None:
    assert sorted(DEFAULTS) == READY


@pytest.mark.parametrize("name", READY)
def test_a_ready_player_states_every_option_of_its_kind(name: str) -> None:
    kind = players.classes[DEFAULTS[name]["name"]]
    assert set(DEFAULTS[name]) == {"name", *(field.name for field in dataclasses.fields(kind))}


@pytest.mark.parametrize("name", players.names())
def test_the_yaml_of_a_kind_has_the_defaults_of_the_kind(name: str) -> None:
    assert DEFAULTS[name]["name"] == name
    for field in dataclasses.fields(players.classes[name]):
        if field.default is not dataclasses.MISSING:
            assert DEFAULTS[name][field.name] == field.default, field.name


@pytest.mark.parametrize("name", READY)
def test_a_ready_player_is_named_or_says_what_it_lacks(name: str) -> None:
    if name in ("gtp", "policy", "table"):
        with pytest.raises(MiaiError, match="needed"):
            name_player(DEFAULTS[name])
    else:
        assert name_player(DEFAULTS[name]).split()[0] == DEFAULTS[name]["name"]


@pytest.mark.parametrize("name", READY)
def test_every_option_is_commented(name: str) -> None:
    choice = next(choice for choice in choices("player") if choice.name == name)
    assert choice.summary
    if name in players.names():
        assert all(option.comment for option in choice.options)


@pytest.mark.parametrize("name", players.names())
def test_files_are_options(name: str) -> None:
    kind = players.classes[name]
    fields = {field.name for field in dataclasses.fields(kind)}
    needed = {
        "gtp": {"command": "engine"},
        "policy": {"network": "one"},
        "table": {"run": "one", "second": "two"},
    }.get(name, {})
    assert set(kind(**needed).files()) <= fields


def test_the_yaml_is_where_it_is_shipped_from() -> None:
    assert {file.stem for file in (project.shipped_conf() / "player").glob("*.yaml")} == set(READY)
