"""A configuration from a store is plain data, or it is refused in one line and nothing of it happens."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from miai.errors import MiaiError
from miai.runner.stored_config import MAX_BYTES, read_config

BOMB = "a: &a [1, 2]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{last}'] * 9)}]\n" for last, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.yaml"


def read(file: Path, content: str) -> dict:
    file.write_text(content, encoding="utf-8")
    return read_config(file, "run 1: its config.yaml")


def test_plain_values_come_as_they_are(file):
    text = "a: {b: [1, 2.5, true, null, .inf, 'text']}\nsecret: ${oc.env:HOME}\ncommand: $(touch mark)\n"
    assert read(file, text) == {
        "a": {"b": [1, 2.5, True, None, float("inf"), "text"]},
        "secret": "${oc.env:HOME}",
        "command": "$(touch mark)",
    }


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("a: !!python/object/apply:os.mkdir [MARK]", "ConstructorError"),
        ("a: !!python/object/new:os.mkdir [MARK]", "ConstructorError"),
        ("a: !!python/name:os.mkdir", "ConstructorError"),
        ("a: !!python/object/apply:pathlib.Path [MARK]", "ConstructorError"),
        ("!!python/object/apply:os.mkdir [MARK]", "ConstructorError"),
        (BOMB, "YAMLError"),
        ("a: &a [*a]", "YAMLError"),
        ("a: [", "ParserError"),
        ("a: " + "[" * 5_000, "RecursionError"),
        ("a: " + "9" * 5_000, "ValueError"),
        ("a: \x07", "ReaderError"),
        ("a: " + "[" * 40 + "]" * 40, "nested more than 32 deep"),
        ("a: 2020-01-01", "a value is a date"),
        ("a: !!binary aGk=", "a value is a bytes"),
        ("a: !!set {b}", "a value is a set"),
        ("a: .nan", "a value is NaN"),
        ('a: "\\ud800"', r"'\ud800' is no text"),
        ("1: 2", "a key is 1; texts are allowed"),
        ("game: {name: tictactoe, more: [{_target_: os.mkdir, path: MARK}]}", "it names a _target_"),
        ("- a", "it holds no keys with values"),
        ("", "it holds no keys with values"),
        ("a: " + "x" * MAX_BYTES, "it has more than 1,048,576 bytes"),
    ],
)
def test_everything_else_is_refused_and_nothing_happens(file, tmp_path, monkeypatch, content, why):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MiaiError) as error:
        read(file, content.replace("MARK", "mark"))
    assert str(error.value).startswith("run 1: its config.yaml is damaged: ")
    assert why in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "mark").exists()


def test_other_encodings_are_refused(file):
    file.write_bytes("a: ü".encode("latin-1"))
    with pytest.raises(MiaiError, match="UnicodeDecodeError"):
        read_config(file, "x")


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc_", min_size=1), inner, max_size=3),
    max_leaves=10,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.dictionaries(st.text("abc_", min_size=1), plain, min_size=1))
def test_what_a_run_keeps_is_read_back(file, config):
    assert read(file, yaml.dump(config, Dumper=yaml.SafeDumper, allow_unicode=True)) == config
