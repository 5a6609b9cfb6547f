from __future__ import annotations

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given
from hypothesis import strategies as st

from miai.errors import MiaiError
from miai.runner.overrides import MOST_SHOWN, check_multirun, spell, spell_value, split_sweeps, unreadable

NUMBERS = st.integers() | st.floats(allow_nan=False)
TEXTS = st.text(st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="$"))
KEYS = st.from_regex(r"[a-z_][a-z_0-9]{0,8}", fullmatch=True).filter(
    lambda key: key not in ("null", "true", "inf", "nan")
)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@given(VALUES)
def test_hydra_reads_what_was_spelt(value):
    [override] = OverridesParser.create().parse_overrides([spell("some.key", value)])
    assert override.get_key_element() == "some.key"
    assert not override.is_sweep_override()
    assert override.value() == value
    assert type(override.value()) is type(value)


@given(st.lists(TEXTS, min_size=2, max_size=4, unique=True))
def test_a_sweep_of_texts_has_these_texts(texts):
    sweep = f"key={','.join(map(spell_value, texts))}"
    found = split_sweeps([sweep])["key"]
    assert [OverridesParser.create().parse_override(override).value() for override in found] == texts


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("sarsa", "sarsa"),
        ("mlruns/x.npz", "mlruns/x.npz"),
        ("a b", "'a b'"),
        ("it's", r"'it\'s'"),
        ("true", "'true'"),
        ("1e-3", "'1e-3'"),
        ("", "''"),
        (1e-3, "0.001"),
        (None, "null"),
        ([1, "x y"], "[1,'x y']"),
        ({"p": 0.5, "q": {"r": True}}, "{p:0.5,q:{r:true}}"),
    ],
)
def test_spelling(value, text):
    assert spell_value(value) == text


def test_what_has_no_spelling_is_refused():
    with pytest.raises(ValueError, match=r"object.*None, bool, int, float, str, list and dict"):
        spell_value(object())


def test_sweeping_overrides_are_taken_apart_by_key_and_the_last_one_counts():
    found = split_sweeps(["alpha=0.1,0.2", "seed=range(2,5)", "gamma=0.5", "gamma=0.6", "+test.games=7", "study='a,b'"])
    assert found == {
        "alpha": ["alpha=0.1", "alpha=0.2"],
        "seed": ["seed=2", "seed=3", "seed=4"],
        "gamma": ["gamma=0.6"],
        "test.games": ["+test.games=7"],
        "study": ["study='a,b'"],
    }


@pytest.mark.parametrize(
    ("override", "complaint"),
    [
        ("alpha", r"'alpha' is not an override; write key=value"),
        ("=3", r"'' is not a key"),
        ("al pha=3", r"'al pha' is not a key; .*without spaces"),
        ("alpha=[0.1", r"^alpha: '\[0\.1' cannot be read; a text with signs in it needs quotes: \"alpha='…'\""),
        ("init=a=b", r"^init: 'a=b' cannot be read"),
        ("alpha=interval(0,1)", r"alpha=0\.1,0\.2 or alpha=range\(3\)"),
    ],
)
def test_what_cannot_be_read_is_named(override, complaint):
    with pytest.raises(MiaiError, match=complaint):
        split_sweeps([override])


def test_unreadable_gives_one_line():
    assert "\n" not in str(unreadable("a=b\nc"))


def test_a_complaint_is_no_longer_than_a_line_may_be():
    for text in ("a=" + "[" * 5_000, "[" * 5_000 + "=a", "a" * 5_000):
        assert len(str(unreadable(text))) < 2 * MOST_SHOWN + 100


@pytest.mark.parametrize(
    "overrides",
    [["seed=range(10000000000)"], ["seed=shuffle(range(0,1e12))"], ["seed=range(2000)", "alpha=range(0,1,0.001)"]],
)
def test_more_runs_than_a_memory_holds_are_refused_before_they_are_listed(overrides):
    with pytest.raises(MiaiError, match=r"allowed: up to 1,000,000\.|more than the 1,000,000 runs"):
        split_sweeps(overrides)
    with pytest.raises(MiaiError, match=r"allowed: up to 1,000,000\.|more than the 1,000,000 runs"):
        check_multirun(overrides)


def test_a_multirun_that_hydra_reads_is_let_through():
    check_multirun(["algorithm=glob(*)", "seed=range(30)", "alpha=0.1,0.2", "gamma=0.9", "nonsense", "seed=range(3,0)"])


def test_a_range_without_steps_cannot_be_read():
    with pytest.raises(MiaiError, match=r"^seed: 'range\(0,3,0\)' cannot be read"):
        split_sweeps(["seed=range(0,3,0)"])


def test_a_sweep_over_nothing_is_refused():
    with pytest.raises(MiaiError, match=r"^seed=range\(3,0\): there is no value in it\.$"):
        split_sweeps(["seed=range(3,0)"])
