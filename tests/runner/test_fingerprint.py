"""What decides a run's results is in its fingerprint, and nothing else is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miai.runner.fingerprint import IRRELEVANT, fingerprint, hash_file
from runner.sample_tasks import COUNT, RESUMABLE

numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False)
plain = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
keys = st.text(max_size=5).filter(lambda key: key not in (*IRRELEVANT, "seconds"))
configs = st.dictionaries(keys, plain, max_size=5)


def reordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(list(value))}
    return [reordered(item) for item in value] if isinstance(value, list) else value


def respelt(value: Any) -> Any:
    """Whole numbers as floats, and floats that are whole as integers."""
    if isinstance(value, dict):
        return {key: respelt(item) for key, item in value.items()}
    if isinstance(value, list):
        return tuple(respelt(item) for item in value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


@given(configs)
def test_the_order_of_keys_does_not_matter(config: dict) -> None:
    assert fingerprint(COUNT, reordered(config)) == fingerprint(COUNT, config)


@given(configs)
def test_the_spelling_of_numbers_does_not_matter(config: dict) -> None:
    assert fingerprint(COUNT, respelt(config)) == fingerprint(COUNT, config)


@given(configs, st.sampled_from([*IRRELEVANT, "seconds"]), plain)
def test_keys_that_do_not_affect_results_do_not_matter(config: dict, key: str, value: Any) -> None:
    assert fingerprint(COUNT, {**config, key: value}) == fingerprint(COUNT, config)


@given(configs, keys, st.integers() | st.text(max_size=5))
def test_every_other_key_matters(config: dict, key: str, value: Any) -> None:
    before = config.get(key)
    same = key in config and type(before) is type(value) and before == value
    whole_float = isinstance(before, float) and before == value
    assert (fingerprint(COUNT, {**config, key: value}) == fingerprint(COUNT, config)) == (same or whole_float)


def test_numbers_words_and_booleans_are_different_things() -> None:
    values = [1, "1", True, None, [1], {"a": 1}, 1.5, float("inf")]
    assert len({fingerprint(COUNT, {"x": value}) for value in values}) == len(values)


def test_the_task_its_sources_and_its_own_irrelevant_keys_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fingerprint(COUNT, {}) != fingerprint(RESUMABLE, {})
    assert fingerprint(RESUMABLE, {"seconds": 1}) != fingerprint(RESUMABLE, {})
    before = fingerprint(COUNT, {})
    monkeypatch.setattr("miai.runner.fingerprint.sources_hash", lambda sources: "edited")
    assert fingerprint(COUNT, {}) != before


def test_an_input_counts_by_its_content_not_by_its_name(tmp_path: Path) -> None:
    def of(name: str, content: bytes) -> str:
        path = tmp_path / "input"
        path.write_bytes(content)
        return fingerprint(COUNT, {"init": name, "seed": 1}, {"init": hash_file(path)}, {"init": name})

    assert of("d99c9ab8", b"a table") == of("mlruns/old/table.npz", b"a table")
    assert of("d99c9ab8", b"a table") != of("d99c9ab8", b"another")
    assert of("d99c9ab8", b"a table") != fingerprint(COUNT, {"init": "d99c9ab8", "seed": 1})


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object(), b"bytes", Path("x")])
def test_values_that_are_not_plain_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"configuration: a\.b"):
        fingerprint(COUNT, {"a": {"b": value}})


def test_the_hash_of_a_file_is_its_sha256(tmp_path: Path) -> None:
    (tmp_path / "abc").write_bytes(b"abc")
    assert hash_file(tmp_path / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
