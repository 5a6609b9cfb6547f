"""Whoever can write to the store can write a run's configuration. Making that run again must not run what they like."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from miai.runner.compose import compose_one
from miai.runner.tasks.match import TASK as MATCH


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """A file that is there if an attack went through."""
    return tmp_path / "mark"


@pytest.fixture
def plant(train, store) -> Callable[..., str]:
    """Put a configuration, and a product, into a run of the store, and return the run's id."""
    run = train("study=attacked", "seed=21")

    def write(content: str, product: str | None = None) -> str:
        config = store.artifact(run, "config.yaml")
        config.write_text(content, encoding="utf-8")
        if product is not None:
            (config.parent / product).write_text("", encoding="utf-8")
        return run.run_id

    return write


def config_of(task: str, *overrides: str) -> dict:
    return compose_one(task, ["num_games=100", "num_checkpoints=1", *overrides] if task == "train" else list(overrides))


TARGET = {"_target_": "pathlib.Path.touch", "_args_": ["MARK"]}


@pytest.mark.parametrize(
    "extra",
    [
        TARGET,
        {"hydra": {"callbacks": {"x": TARGET}}},
        {"hydra": {"launcher": TARGET}},
        {"hydra": {"job_logging": {"version": 1, "handlers": {"x": {"()": "pathlib.Path.touch", "self": "MARK"}}}}},
        {"opponent": {"name": "random", **TARGET}},
        {"opponent": {"name": "miai.cli.main"}},
        {"game": {"name": "../../os"}},
        {"task": "os.system"},
        {"algorithm": {"name": "mc", "entry": "__import__('os')", "target": "return"}},
    ],
)
def test_a_target_is_not_called(plant, miai, mark, extra):
    config = {**config_of("train"), **extra}
    run = plant(yaml.dump(config).replace("MARK", str(mark)))
    assert miai("reproduce", run).refusal
    assert not mark.exists()


def test_a_python_object_is_not_made(plant, miai, mark):
    run = plant(f"task: !!python/object/apply:pathlib.Path.touch [!!python/object/apply:pathlib.Path ['{mark}']]\n")
    assert "config.yaml is damaged: it is not plain YAML (ConstructorError)" in miai("reproduce", run).refusal
    assert not mark.exists()


def test_the_environment_is_not_read(plant, miai, monkeypatch):
    monkeypatch.setenv("SECRET", "hidden.npz")
    said = miai("reproduce", plant(yaml.dump({**config_of("train"), "init": "${oc.env:SECRET}.npz"})))
    assert "'${oc.env:SECRET}.npz'" in said.refusal
    assert "hidden" not in said.refusal


def test_another_store_is_not_asked(plant, miai):
    config = config_of("train")
    config["tracking"]["uri"] = "http://127.0.0.1:9"
    said = miai("reproduce", plant(yaml.dump(config)))
    assert "127.0.0.1" not in said.out + said.err


PLAYERS = (
    ("players=[gtp,random]", "player.gtp.command='touch MARK'"),
    ("players=[{player:gtp,command:'touch MARK'},random]",),
    ("players=[gnugo,random]", "player.gnugo.path=PROGRAM"),
)


@pytest.fixture
def match_with_a_command(plant, mark, tmp_path) -> Callable[..., str]:
    def write(overrides: tuple[str, ...]) -> str:
        program = tmp_path / "program"
        program.write_text(f"#!/bin/sh\ntouch {mark}\n")
        program.chmod(0o755)
        given = [text.replace("MARK", str(mark)).replace("PROGRAM", str(program)) for text in overrides]
        config = config_of("match", "games=2", "game.size=5", "max_moves=2", *given)
        return plant(yaml.dump(config), MATCH.product)

    return write


@pytest.mark.parametrize("overrides", PLAYERS)
def test_an_engine_is_shown_and_not_started(match_with_a_command, miai, mark, overrides):
    said = miai("reproduce", match_with_a_command(overrides)).refusal
    assert f"touch {mark}: the store names" in said or f"{mark.parent}/program --mode gtp" in said
    assert "allow_commands=true" in said
    assert not mark.exists()


def test_an_engine_is_started_when_that_is_asked_for(match_with_a_command, miai, mark):
    said = miai("reproduce", match_with_a_command(PLAYERS[0]), "allow_commands=true")
    assert said.code == 1, said  # it is no engine, and loses
    assert mark.exists()


def test_a_name_in_the_store_does_not_command_the_terminal(plant, miai):
    run = plant(yaml.dump({**config_of("train"), "init": "\x1b]0;owned\x07.npz"}))
    said = miai("reproduce", run)
    assert "�]0;owned" in said.refusal or "\\x1b]0;owned" in said.refusal
    assert "\x1b" not in said.err
