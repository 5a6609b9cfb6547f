"""What holds for every YAML of `conf/` and every command. New ones are found by themselves."""

from __future__ import annotations

import io
import re
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from miai import project
from miai.cli.main import command_names, load_command, main
from miai.errors import MiaiError
from miai.games.small import games
from miai.games.start import GO
from miai.players import players
from miai.runner.compose import compose_one
from miai.runner.configured import job_of
from miai.runner.launchers import launchers
from miai.runner.options import choice_names, choices, primary, primary_names
from miai.runner.task import tasks
from miai.schedules import ALPHA_SCHEDULES, EPSILON_SCHEDULES
from miai.tabular.opponents import opponents

IMPLEMENTED = {
    "game": {*games.names(), GO},
    "launcher": set(launchers.names()),
    "opponent": set(opponents.names()),
    "schedule": set(EPSILON_SCHEDULES),
    "alpha_schedule": set(ALPHA_SCHEDULES),
}
"""Groups, and what the code has for them: for each a YAML of its name, and no other."""

READY_MADE = {"algorithm", "network", "player"}
"""Groups whose YAML are settings of fewer kinds; they have tests of their own."""

FOREIGN = {"experiment", "hydra"}
"""Groups that are not ours: a study becomes a choice by itself, and Hydra's plugins are Hydra's."""

ALSO_NEEDS = {
    ("train", "opponent=table"): ["opponent.run=table.npz"],
    ("train", "opponent=self"): ["seat=both"],
    ("train", "opponent@evaluation.opponent=table"): ["evaluation.opponent.run=table.npz"],
    ("evaluate", "opponent=table"): ["opponent.run=table.npz"],
}
"""What a choice needs beside it."""

REFUSED = {
    ("train", f"game={GO}"): "no such choice 'go'; allowed: mnk, tictactoe",
    ("train", "opponent@evaluation.opponent=self"): "no such choice 'self'",
    ("records", "game=mnk"): "no such choice 'mnk'; allowed: go",
    ("records", "game=tictactoe"): "no such choice 'tictactoe'; allowed: go",
}
"""Choices that a task refuses, and how."""


def groups() -> list[str]:
    return sorted(
        folder.name for folder in project.shipped_conf().iterdir() if folder.is_dir() and choice_names(folder.name)
    )


def all_choices() -> list[tuple[str, str]]:
    """(primary configuration, override) for every choice of every group."""
    return [
        (name, f"{group.key}={choice}")
        for name in primary_names()
        for group in primary(name).groups
        if not (name in tasks() and group.folder == "player")  # Those are players to choose from, each itself.
        if group.folder != "launcher" or name in ("train", "match")  # All tasks have it from one file.
        for choice in choice_names(group.folder)
    ]


def test_every_group_is_known_here():
    assert set(groups()) - FOREIGN == {*IMPLEMENTED, *READY_MADE}
    assert set(players.names()) <= set(choice_names("player"))


@pytest.mark.parametrize("group", sorted(IMPLEMENTED))
def test_every_choice_has_an_implementation_and_the_reverse(group):
    assert set(choice_names(group)) == IMPLEMENTED[group]


@pytest.mark.parametrize("group", [group for group in groups() if group not in FOREIGN])
def test_a_choice_is_named_after_its_kind_unless_it_is_ready_made(group):
    for name in choice_names(group):
        kind = yaml.safe_load((project.shipped_conf() / group / f"{name}.yaml").read_text(encoding="utf-8")).get("name")
        assert kind == name or (group in READY_MADE and kind is None), name


def test_every_task_has_a_primary_yaml_and_a_command_of_its_name_and_the_reverse():
    with_task = {
        name
        for name in primary_names()
        if re.search(r"^task: ", (project.shipped_conf() / f"{name}.yaml").read_text(), re.M)
    }
    assert with_task == set(tasks())
    assert set(tasks()) <= set(command_names())
    for name in tasks():
        assert name == load_command(name).CONFIG
        assert compose_one(name, [])["task"] == name


@pytest.mark.parametrize(("name", "override"), all_choices(), ids=lambda value: value)
def test_every_choice_composes_and_is_valid(name, override):
    config = compose_one(name, [override, *ALSO_NEEDS.get((name, override), []), *_mandatory(name)])
    primary(name).check(config)
    if name not in tasks():
        return
    refusal = REFUSED.get((name, override))
    if refusal is None:
        assert job_of(config).name
    else:
        with pytest.raises(MiaiError, match=re.escape(refusal)):
            job_of(config)


def _mandatory(name: str) -> list[str]:
    return [f"{option.path}=x" for option in primary(name).options if option.default == "???"]


@pytest.mark.parametrize("name", primary_names())
def test_every_primary_yaml_composes(name):
    primary(name).check(compose_one(name, _mandatory(name)))


@pytest.mark.parametrize("name", [name for name in command_names() if load_command(name).CONFIG])
def test_every_option_is_in_the_help_of_its_command(name, capsys):
    assert main([name, "--help"]) == 0
    page = capsys.readouterr().out
    offered = primary(load_command(name).CONFIG)
    for option in offered.options:
        assert f"  {option.path}={option.default}" in page
        assert option.comment, f"{option.path} has no comment"
    seen = set()
    for group in offered.groups:
        assert group.is_ready or f"  {group.key}={group.default}" in page
        for choice in choices(group.folder):
            assert f"\n      {choice.name}" in page
            assert choice.summary, f"{group.folder}/{choice.name}.yaml does not begin with a comment"
            if (group.folder, choice.name) not in seen and (not group.is_ready or choice.name == group.default):
                seen.add((group.folder, choice.name))
                for option in choice.options:
                    assert f" {group.path}.{option.path}={option.default}" in page


def test_every_yaml_says_what_it_is():
    for file in project.shipped_conf().rglob("*.yaml"):
        assert file.read_text(encoding="utf-8").startswith("# "), file


# ---- commands ----


def examples() -> list[str]:
    return [example for name in command_names() for example in load_command(name).EXAMPLES]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A project with one run, which examples may name."""
    from miai.tracking import Store, locate

    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIAI_HOME", str(home))
        assert main(["train", "num_games=50", "num_checkpoints=1", "seat=both"]) == 0
    [run] = Store(locate(root=home)).runs("runs")
    return SimpleNamespace(path=home, run_id=run.run_id)


@pytest.mark.parametrize("example", examples())
def test_every_example_is_understood(example, home, monkeypatch, capsys):
    """Each is given to its command, which may do everything but make runs, draw figures and leave for a server."""
    from miai.cli import hydra_run
    from miai.cli.commands import report as report_command
    from miai.runner import configured, sweep_study

    done = []

    def note(*_arguments, **_options):
        done.append(True)
        return SimpleNamespace(exit_code=0, outcomes=[], stopped_by=None)

    def leave(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setenv("MIAI_HOME", str(home.path))
    monkeypatch.setattr(hydra_run, "_run_single", note)
    monkeypatch.setattr(configured, "run_configured", note)
    monkeypatch.setattr(sweep_study, "run_configured", note)
    monkeypatch.setattr(report_command, "_load", leave)
    monkeypatch.setattr("os.execv", leave)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(readline=lambda: "", buffer=io.BytesIO(b"quit\n")))
    program, name, *arguments = shlex.split(example)
    assert program == "miai"
    assert name in command_names()
    if name == "sync":
        arguments = [argument for argument in arguments if not argument.startswith("tracking.uri=")]
    code = main([name, *[argument.replace("RUN_ID", home.run_id) for argument in arguments]])
    said = capsys.readouterr()
    assert code == (130 if name in ("report", "ui") else 0), said.err
    if name in ("sweep", *tasks()) and not {"--cfg", "--help"} & set(arguments):
        assert done


def test_commands_are_named_as_their_files():
    folder = Path(load_command("train").__file__).parent
    assert sorted(file.stem for file in folder.glob("*.py") if file.stem != "__init__") == command_names()
