"""Configurations as parameters, and names of metrics."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miai.tracking.params import MAX_KEY, MAX_VALUE, check_metric_name, flatten


def test_a_nested_configuration_becomes_dotted_keys_spelt_as_in_yaml() -> None:
    config = {
        "algorithm": {"name": "sarsa", "alpha": 0.1, "n_step": None},
        "test": {"games": 1000, "quick": True},
        "seeds": [1, 2],
        "empty": {},
    }
    assert flatten(config) == (
        {
            "algorithm.name": "sarsa",
            "algorithm.alpha": "0.1",
            "algorithm.n_step": "null",
            "test.games": "1000",
            "test.quick": "true",
            "seeds": "[1, 2]",
            "empty": "{}",
        },
        [],
    )


def test_values_that_mlflow_would_cut_are_left_out_by_name() -> None:
    params, left_out = flatten({"short": "x" * MAX_VALUE, "long": {"text": "x" * (MAX_VALUE + 1)}})
    assert list(params) == ["short"]
    assert left_out == ["long.text"]


def test_odd_characters_of_a_key_are_replaced_and_never_overwrite_another_key() -> None:
    params, left_out = flatten({"a[0]": 1, "a@0=": 2, "a_0_": 3})
    assert params == {"a_0_": "1"}
    assert left_out == ["a@0=", "a_0_"]


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1), inner, max_size=3),
    max_leaves=20,
)


@given(st.dictionaries(st.text(min_size=1), plain, max_size=5))
def test_every_configuration_gives_legal_parameters(config: dict) -> None:
    params, _ = flatten(config)
    for key, value in params.items():
        assert re.fullmatch(r"[A-Za-z0-9_.\- /]+", key)
        assert len(key) <= MAX_KEY
        assert len(value) <= MAX_VALUE


@pytest.mark.parametrize("name", ["eval/win", "eval/first/rms_error", "table/size", "square/1.5"])
def test_paths_are_names_of_metrics(name: str) -> None:
    check_metric_name(name)


@pytest.mark.parametrize("name", ["", "/win", "eval/", "eval//win", "eval/../win", "a[0]", "a=b", "ε", "x" * 251])
def test_other_names_of_metrics_are_refused_with_the_name(name: str) -> None:
    with pytest.raises(ValueError, match=r"metric name") as caught:
        check_metric_name(name)
    assert repr(name) in str(caught.value)
