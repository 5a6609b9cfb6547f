"""Kinds are found by looking into a folder, and their options are checked in one line."""

from __future__ import annotations

import sys
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from miai.errors import MiaiError
from miai.kinds import STRICT, Kinds, one_line, validate

KIND_MODULE = """
from pydantic.dataclasses import dataclass
from miai.kinds import STRICT

@dataclass(config=STRICT, kw_only=True)
class Thing:
    size: int = 3

KIND = Thing
"""


@pytest.fixture
def fruits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kinds:
    package = tmp_path / "invented_fruits"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "pear.py").write_text(KIND_MODULE)
    (package / "lambda_.py").write_text(KIND_MODULE)
    (package / "shape.py").write_text("OTHER = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield Kinds("invented_fruits", "fruit")
    for name in [name for name in sys.modules if name.startswith("invented_fruits")]:
        del sys.modules[name]


def test_kinds_are_the_modules_that_have_one(fruits):
    assert fruits.names() == ("lambda", "pear")
    assert fruits.build({"name": "pear"}).size == 3
    assert fruits.build({"name": "lambda", "size": 5}).size == 5


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({}, "fruit.name: a value is needed; allowed: lambda, pear."),
        ({"name": 3}, "fruit.name: a value is needed; allowed: lambda, pear."),
        ({"name": "peer"}, "fruit: no such choice 'peer'; allowed: lambda, pear. Did you mean 'pear'?"),
        ({"name": "pear", "weight": 3}, "fruit.weight: there is no such option."),
        ({"name": "pear", "size": "big"}, "fruit.size: Input should be a valid integer, not 'big'."),
        ({"name": "pear", "size": True}, "fruit.size: Input should be a valid integer, not True."),
        ({"name": "pear", "size": 1.5}, "fruit.size: Input should be a valid integer, not 1.5."),
    ],
)
def test_what_is_wrong_is_said_in_one_line(fruits, mapping, message):
    with pytest.raises(MiaiError) as caught:
        fruits.build(mapping)
    assert str(caught.value) == message


def test_a_complaint_that_repeats_half_a_sign_is_one_line_too():
    @dataclass(config=STRICT)
    class Colour:
        name: str

        def __post_init__(self) -> None:
            raise ValueError(f"there is no colour {self.name}")

    with pytest.raises(MiaiError, match=r"^colour: .*there is no colour p"):
        validate(Colour, {"name": "p"}, "colour")
    with pytest.raises(MiaiError, match=r"^colour: a text holds signs that are no Unicode\.$"):
        validate(Colour, {"name": "p\ud800"}, "colour")


def test_the_place_can_be_another(fruits):
    with pytest.raises(MiaiError, match=r"^basket\.fruit\.size: "):
        fruits.build({"name": "pear", "size": None}, "basket.fruit")


@dataclass(config=STRICT, kw_only=True)
class _Pair:
    low: Annotated[float, Field(ge=0)]
    high: float = 1.0

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"low is at most high, not {self.low} and {self.high}")


def test_a_complaint_about_several_options_names_them_itself():
    with pytest.raises(MiaiError) as caught:
        validate(_Pair, {"low": 2.0}, "pair")
    assert str(caught.value) == "pair: low is at most high, not 2.0 and 1.0."


def test_missing_infinite_and_nested_values():
    with pytest.raises(MiaiError, match=r"^pair\.low: a value is needed\.$"):
        validate(_Pair, {}, "pair")
    with pytest.raises(MiaiError, match=r"^low: .*finite number, not inf\.$"):
        validate(_Pair, {"low": float("inf")}, "")
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(dict[str, list[int]]).validate_python({"a": [1, "x"]})
    assert one_line(caught.value, "top").startswith("top.a.1: ")


def test_kinds_cannot_be_changed_after_they_are_checked():
    pair = validate(_Pair, {"low": 0.5}, "pair")
    with pytest.raises(FrozenInstanceError):
        pair.low = 3.0


def test_a_key_that_is_no_text_is_refused():
    @dataclass(config=STRICT)
    class Options:
        x: int = 0

    with pytest.raises(MiaiError, match=r"^opponent\.1: there is no such option\.$"):
        validate(Options, {1: 2}, "opponent")
