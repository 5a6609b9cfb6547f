"""A template gives what OmegaConf gives, or no answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from miai.runner.template import Template

CONTENT = {"a": 1, "seed": 0, "g": {"x": "${a}", "y": "text", "z": [1, {"k": 2}], "deep": {"w": None}}, "need": "???"}


def by_omegaconf(content: dict, values: list[tuple[str, Any]]) -> Any:
    config = OmegaConf.create(content)
    OmegaConf.set_struct(config, True)
    for key, value in values:
        OmegaConf.update(config, key, value, merge=True)
    return OmegaConf.to_container(config, resolve=True, throw_on_missing=True)


def template(content: dict) -> Template:
    found = Template.of(content)
    assert found is not None
    return found


def test_values_are_set_and_references_follow():
    filled = template(CONTENT).fill([("a", 2), ("need", "x"), ("g.deep.w", [1, "b"]), ("g.z", []), ("a", 3)])
    assert filled == {
        "a": 3,
        "seed": 0,
        "g": {"x": 3, "y": "text", "z": [], "deep": {"w": [1, "b"]}},
        "need": "x",
    }


def test_a_reference_that_is_set_follows_no_more():
    filled = template(CONTENT).fill([("g.x", 9), ("a", 2), ("need", 0)])
    assert filled is not None
    assert (filled["a"], filled["g"]["x"]) == (2, 9)


def test_what_was_filled_shares_nothing():
    made = template(CONTENT)
    first, second = made.fill([("need", 1)]), made.fill([("need", 1)])
    assert first is not None
    assert second is not None
    first["g"]["z"].append(3)
    assert second["g"]["z"] == CONTENT["g"]["z"]


def test_whether_it_refers_to_a_key():
    assert template(CONTENT).refers_to("a")
    assert not template(CONTENT).refers_to("seed")


@pytest.mark.parametrize(
    "values",
    [
        [],  # need has no value
        [("need", "???")],
        [("need", 1), ("nosuch", 2)],
        [("need", 1), ("g", 2)],
        [("need", 1), ("g.deep", {"w": 1})],
        [("need", 1), ("a.b", 2)],
        [("need", 1), ("g.y", "${a}")],
        [("need", 1), ("g.z", ["${a}"])],
        [("need", 1), ("g.y", {"k": 1})],
    ],
)
def test_no_answer_where_omegaconf_has_to_be_asked(values):
    assert template(CONTENT).fill(values) is None


@pytest.mark.parametrize(
    "content",
    [
        {"a": "x-${b}", "b": 1},
        {"a": "${oc.env:HOME}"},
        {"a": {"b": "${.c}", "c": 1}},
        {"a": ["${b}"], "b": 1},
        {"a": ["???"]},
        {"a": "\\${b}"},
    ],
)
def test_no_template_of_what_is_not_plain(content):
    assert Template.of(content) is None


@pytest.mark.parametrize("content", [{"a": "${b}", "b": "${c}", "c": 1}, {"a": "${b}", "b": {"c": 1}}, {"a": "${no}"}])
def test_no_answer_for_references_that_are_not_plain(content):
    assert template(content).fill([]) is None


leaf = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.sampled_from(["", "t", "???"])
text = leaf | st.sampled_from(["${a}", "${b.c}", "${d}", "x${a}", "${b.c}${a}"])
content = st.fixed_dictionaries(
    {"a": text, "b": st.fixed_dictionaries({"c": text, "e": text | st.lists(leaf, max_size=2)}), "d": text}
)
keys = st.sampled_from(["a", "b", "b.c", "b.e", "d", "f", "a.g", "b.c.h"])
given_value = text | st.lists(leaf, max_size=2) | st.dictionaries(st.sampled_from("ij"), leaf, max_size=2)


@given(content, st.lists(st.tuples(keys, given_value), max_size=4))
def test_it_is_as_omegaconf_says(content, values):
    made = Template.of(content)
    filled = None if made is None else made.fill(values)
    if filled is not None:
        try:
            assert filled == by_omegaconf(content, values)
        except OmegaConfBaseException as error:
            raise AssertionError(f"OmegaConf refuses what the template gives: {filled}") from error
