from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miai.report.statistics import describe, estimate, interquartile_mean, wilson

SAMPLES = 2_000


def middle_half_of_exponential() -> float:
    """∫ of −ln(1 − u) over ¼ … ¾, doubled; the antiderivative is (1 − u) ln(1 − u) + u."""

    def primitive(u: float) -> float:
        return (1 - u) * np.log(1 - u) + u

    return 2 * (primitive(0.75) - primitive(0.25))


def coverage(draw, truth: float, num_runs: int, statistic: str) -> float:
    """The share of simulated studies whose interval holds the truth. Points of one call are independent studies."""
    covered = []
    for block in range(SAMPLES // 100):
        found = estimate(draw((num_runs, 100)), statistic, seed=block, resamples=1_000)
        covered.append((found.low <= truth) & (truth <= found.high))
    return float(np.mean(covered))


def test_interquartile_mean_by_hand():
    # 8 values: two go at each end, (3 + 4 + 5 + 6) / 4 is left; 10 values: ⌊2.5⌋ = 2 go.
    assert interquartile_mean(np.array([8.0, 1, 7, 2, 3, 6, 4, 5])) == 4.5
    assert interquartile_mean(np.array([0.0, 0, 1, 1, 1, 1, 1, 7, 50, 90])) == pytest.approx(12 / 6)
    assert interquartile_mean(np.array([2.0, 4.0])) == 3.0


@pytest.mark.parametrize(
    ("name", "statistic", "truth"),
    [
        ("normal", "mean", 0.0),
        ("normal", "iqm", 0.0),
        ("exponential", "mean", 1.0),
        ("exponential", "iqm", middle_half_of_exponential()),
    ],
)
def test_coverage_with_30_seeds(name, statistic, truth):
    generator = np.random.default_rng(20)
    draw = {"normal": generator.standard_normal, "exponential": generator.standard_exponential}[name]
    assert 0.92 <= coverage(draw, truth, 30, statistic) <= 0.97


def test_coverage_near_a_bound_with_30_seeds():
    # Win rates pile up below 1: Beta(20, 1) has mean 20/21.
    generator = np.random.default_rng(21)
    found = coverage(lambda shape: generator.beta(20, 1, size=shape), 20 / 21, 30, "mean")
    assert 0.92 <= found <= 0.97


@pytest.mark.parametrize("statistic", ["mean", "iqm"])
def test_coverage_with_10_seeds(statistic):
    generator = np.random.default_rng(22)
    truth = 1.0 if statistic == "mean" else middle_half_of_exponential()
    assert 0.92 <= coverage(generator.standard_exponential, truth, 10, statistic) <= 0.97


def test_a_plain_percentile_interval_of_the_mean_would_not_do():
    """Why the mean is studentised: with 10 skewed seeds the percentile bootstrap covers far below 95 %."""
    generator = np.random.default_rng(23)
    values = generator.standard_exponential((SAMPLES, 10))
    resampled = np.take_along_axis(values[:, None], generator.integers(10, size=(SAMPLES, 400, 10)), axis=2).mean(
        axis=2
    )
    low, high = np.quantile(resampled, (0.025, 0.975), axis=1)
    assert np.mean((low <= 1) & (high >= 1)) < 0.90


def test_few_seeds():
    one = estimate(np.array([[0.5, 0.7]]), seed=0)
    np.testing.assert_array_equal(one.value, [0.5, 0.7])
    assert np.isnan(one.low).all()
    assert np.isnan(one.high).all()
    # Student's t with one degree of freedom: 12.7062 · s / √2, and s = √2 / 2 for the values 0 and 1.
    two = estimate(np.array([0.0, 1.0]), seed=0)
    assert two.low == pytest.approx(0.5 - 12.7062 * 0.5, abs=1e-4)
    assert two.high == pytest.approx(0.5 + 12.7062 * 0.5, abs=1e-4)
    assert np.isnan(estimate(np.array([0.0, 1.0]), "iqm", seed=0).low)


def test_equal_values_have_no_width_and_bounds_cut():
    flat = estimate(np.full(30, 8631.0), seed=0)
    assert (flat.value, flat.low, flat.high) == (8631, 8631, 8631)
    nearly = np.array([1.0] * 28 + [0.2, 0.1])
    cut = estimate(nearly, seed=0, bounds=(0.0, 1.0))
    assert cut.low < cut.value < 1.0 == cut.high


def test_same_seed_same_interval_and_points_do_not_disturb_each_other():
    values = np.random.default_rng(1).normal(size=(30, 7))
    together = estimate(values, seed=3)
    again = estimate(values, seed=3)
    alone = estimate(values[:, 4], seed=3)
    np.testing.assert_array_equal(together.low, again.low)
    assert together.low[4] == pytest.approx(float(alone.low), abs=1e-12)
    assert not np.array_equal(together.low, estimate(values, seed=4).low)


@given(st.integers(2, 40), st.integers(0, 10_000), st.sampled_from(["mean", "iqm"]))
@settings(max_examples=40, deadline=None)
def test_order_of_runs_does_not_matter_and_shifts_go_through(num_runs, data_seed, statistic):
    generator = np.random.default_rng(data_seed)
    values = generator.gamma(2.0, size=num_runs)
    found = estimate(values, statistic, seed=0, resamples=300)
    mixed = estimate(generator.permutation(values), statistic, seed=0, resamples=300)
    moved = estimate(values + 10, statistic, seed=0, resamples=300)
    np.testing.assert_allclose(mixed, found)
    np.testing.assert_allclose(np.array(moved) - 10, found, atol=1e-9)
    if not np.isnan(found.low):
        assert found.low <= found.value <= found.high


def test_wilson_by_hand():
    # 0 of 10: the upper bound is z² / (n + z²) = 3.8415 / 13.8415.
    none = wilson(0, 10)
    assert (none.value, none.low) == (0, 0)
    assert none.high == pytest.approx(3.8415 / 13.8415, abs=1e-4)
    half = wilson(5, 10)
    assert half.low == pytest.approx(0.2366, abs=1e-4)
    assert half.high == pytest.approx(0.7634, abs=1e-4)


@pytest.mark.parametrize("bad", [np.array([]), np.array([1.0, np.nan]), np.zeros((2, 2, 2))])
def test_bad_values_are_refused(bad):
    with pytest.raises(ValueError, match="values must be"):
        estimate(bad, seed=0)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="median"):
        estimate(np.ones(3), "median", seed=0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="95"):
        estimate(np.ones(3), seed=0, level=95)
    with pytest.raises(ValueError, match="3 of 2"):
        wilson(3, 2)


def test_captions_say_which_interval():
    assert describe("mean", 1) == "no interval (one seed)"
    assert "Student" in describe("mean", 3)
    assert "fewer than 5" in describe("iqm", 3)
    assert "studentised" in describe("mean", 30)
    assert "percentile" in describe("iqm", 30)


def test_two_values_are_a_proportion():
    # 3 of 30 at 1, the others at 0: Wilson's interval for 0.1; and the same between 2 and 4.
    values = np.array([1.0] * 3 + [0.0] * 27)
    found, share = estimate(values, seed=0), wilson(3, 30)
    np.testing.assert_allclose(found, share)
    np.testing.assert_allclose(estimate(2 + 2 * values, seed=0), 2 + 2 * np.array(share))


def test_coverage_of_a_rare_event_with_30_seeds():
    generator = np.random.default_rng(24)
    assert 0.92 <= coverage(lambda shape: (generator.random(shape) < 0.1).astype(float), 0.1, 30, "mean") <= 0.97
