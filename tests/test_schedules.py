"""Schedules: in [0, 1], exact at their ends, monotone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from miai.errors import MiaiError
from miai.schedules import (
    ALPHA_SCHEDULES,
    EPSILON_SCHEDULES,
    Constant,
    Exponential,
    InverseVisits,
    Linear,
    build_schedule,
)

probabilities = st.floats(0, 1)
lengths = st.integers(1, 500)


@given(probabilities, probabilities, st.floats(1e-3, 1e9), lengths)
def test_exponential(start, end, decay, num_games):
    values = Exponential(start=start, end=end, decay=decay).values(num_games)
    assert values.shape == (num_games,)
    assert values[0] == start
    _lies_between(values, start, end)


@given(probabilities, probabilities, st.none() | st.integers(1, 600), lengths)
def test_linear(start, end, games, num_games):
    values = Linear(start=start, end=end, games=games).values(num_games)
    assert values.shape == (num_games,)
    assert values[0] == start
    _lies_between(values, start, end)
    if games is None and num_games > 1:
        assert values[-1] == end
    elif games is not None:
        assert (values[games:] == end).all()


def _lies_between(values: np.ndarray, start: float, end: float) -> None:
    assert (values >= min(start, end)).all()
    assert (values <= max(start, end)).all()
    steps = np.diff(values)
    assert (steps <= 0).all() if start >= end else (steps >= 0).all()


@given(probabilities, lengths)
def test_constant(value, num_games):
    assert (Constant(value=value).values(num_games) == value).all()


def test_the_defaults_begin_at_exactly_one():
    exponential = Exponential(start=1.0, end=0.01, decay=10_000.0).values(100_000)
    assert exponential[0] == 1.0
    assert exponential[10_000] == pytest.approx(0.01 + 0.99 / np.e, abs=1e-15)
    assert exponential[50_000] == pytest.approx(0.01 + 0.99 * np.exp(-5), abs=1e-15)
    linear = Linear(start=1.0, end=0.01, games=100_000).values(200_000)
    assert linear[0] == 1.0
    assert linear[50_000] == pytest.approx(0.505, abs=1e-15)
    assert linear[99_999] > 0.01
    assert (linear[100_000:] == 0.01).all()


def test_by_hand():
    assert Linear(start=1.0, end=0.0, games=4).values(6).tolist() == [1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    assert Linear(start=0.0, end=1.0).values(5).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert Linear(start=0.3, end=0.7).values(1).tolist() == [0.3]


def test_inverse_visits_is_for_alpha_alone():
    assert "inverse_visits" not in EPSILON_SCHEDULES
    assert ALPHA_SCHEDULES["inverse_visits"] is InverseVisits


def test_schedules_are_built_by_name():
    built = build_schedule({"name": "linear", "start": 1, "end": 0.5, "games": 3}, EPSILON_SCHEDULES, "schedule")
    assert built == Linear(start=1.0, end=0.5, games=3)


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({}, "schedule.name: a value is needed; allowed: constant, exponential, linear"),
        ({"name": "lineer"}, "schedule: no such choice 'lineer'.*Did you mean 'linear'"),
        ({"name": "inverse_visits"}, "no such choice 'inverse_visits'"),
        ({"name": "constant", "value": 1.01}, "schedule.value: .*less than or equal to 1, not 1.01"),
        ({"name": "constant", "value": float("nan")}, "schedule.value: .*not nan"),
        ({"name": "linear", "start": -0.1, "end": 0.0}, "schedule.start: .*greater than or equal to 0, not -0.1"),
        ({"name": "linear", "start": 1.0, "end": 0.0, "games": 0}, "schedule.games: .*not 0"),
        ({"name": "exponential", "start": 1.0, "end": 0.0}, "schedule.decay: a value is needed"),
        ({"name": "exponential", "start": 1.0, "end": 0.0, "decay": 0.0}, "schedule.decay: .*greater than 0, not 0.0"),
        ({"name": "constant", "value": "high"}, "schedule.value: .*not 'high'"),
    ],
)
def test_wrong_schedules_are_refused(mapping, message):
    with pytest.raises(MiaiError, match=message) as caught:
        build_schedule(mapping, EPSILON_SCHEDULES, "schedule")
    assert "\n" not in str(caught.value)
