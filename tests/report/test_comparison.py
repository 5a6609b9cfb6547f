from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miai.report import comparison
from miai.report.comparison import (
    compare_paired,
    holm,
    paired_effect_size,
    probability_of_improvement,
    sign_flip_test,
)


def brute_force_p(differences) -> float:
    observed = abs(sum(differences))
    patterns = list(product((-1, 1), repeat=len(differences)))
    extreme = sum(abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= observed for signs in patterns)
    return extreme / len(patterns)


@pytest.mark.parametrize(
    ("differences", "p_value"),
    [
        ([1, 1, 1, 1, 1], 2 / 32),  # only all plus and all minus are as far out
        ([1, 2, 3], 2 / 8),
        ([1, 2, -3], 1.0),  # the sum is 0: every pattern is as far out
        ([3, -1], 1.0),  # the sums are ±2 and ±4, and all of them reach 2
        ([3, 1], 0.5),
        ([0, 0, 0], 1.0),
    ],
)
def test_known_p_values(differences, p_value):
    assert sign_flip_test(np.array(differences, dtype=float), seed=0) == pytest.approx(p_value)


def test_thirty_pairs_are_exact():
    assert sign_flip_test(np.full(30, 0.01), seed=0) == 2 / 2**30


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=10))
@settings(max_examples=150, deadline=None)
def test_exact_test_agrees_with_brute_force(differences):
    # Tenths are not exact in binary: equal sums must count as equal all the same.
    assert sign_flip_test(np.array(differences) / 10, seed=0) == pytest.approx(brute_force_p(differences))


def test_sampled_test_agrees_with_the_exact_one(monkeypatch):
    differences = np.random.default_rng(5).normal(0.4, 1, size=20)
    exact = sign_flip_test(differences, seed=0)
    monkeypatch.setattr(comparison, "EXACT_UP_TO", 0)
    sampled = sign_flip_test(differences, seed=0)
    # Five standard errors of 100,000 samples.
    assert abs(sampled - exact) < 5 * np.sqrt(exact * (1 - exact) / comparison.SAMPLED_FLIPS)


def test_p_values_are_uniform_when_nothing_differs():
    generator = np.random.default_rng(6)
    p_values = [sign_flip_test(generator.normal(size=12), seed=0) for _ in range(1_000)]
    assert 0.03 < np.mean(np.array(p_values) <= 0.05) < 0.07


def test_holm_by_hand():
    # Sorted 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1: 0.04, 0.06, 0.06, 0.04 → monotone 0.04, 0.06, 0.06, 0.06.
    np.testing.assert_allclose(holm(np.array([0.04, 0.01, 0.03, 0.02])), [0.06, 0.04, 0.06, 0.06])
    np.testing.assert_allclose(holm(np.array([0.6, 0.5])), [1.0, 1.0])
    assert holm(np.array([])).size == 0
    with pytest.raises(ValueError, match="p-values"):
        holm(np.array([1.5]))


def test_effect_size_by_hand():
    # Mean 2, standard deviation 1, three pairs: 2 · (1 − 3 / (4 · 2 − 1)) = 2 · 4 / 7.
    assert paired_effect_size(np.array([1.0, 2.0, 3.0])) == pytest.approx(8 / 7)
    assert np.isnan(paired_effect_size(np.array([2.0, 2.0])))
    assert np.isnan(paired_effect_size(np.array([2.0])))


def test_probability_of_improvement_counts_ties_half():
    # Of the 6 pairs 1 > 0, 1 = 1, 1 < 2, 2 > 0, 2 > 1, 2 = 2: three wins and two ties.
    found = probability_of_improvement(np.array([1.0, 2.0]), np.array([0.0, 1.0, 2.0]))
    assert found.value == pytest.approx(4 / 6)
    assert found.low < found.value < found.high


def test_probability_of_improvement_is_honest_at_the_ends():
    better, worse = np.arange(30) + 100.0, np.arange(30.0)
    above = probability_of_improvement(better, worse)
    below = probability_of_improvement(worse, better)
    assert above.value == above.high == 1.0
    assert 0.85 < above.low < 0.999
    assert below.high == pytest.approx(1 - above.low)
    same = probability_of_improvement(np.ones(30), np.ones(30))
    assert same.value == 0.5
    assert same.high - 0.5 == pytest.approx(0.5 - same.low)


def test_coverage_of_the_probability_of_improvement():
    # X ~ N(1, 1), Y ~ N(0, 1): P(X > Y) = Φ(1 / √2) = 0.7602.
    generator = np.random.default_rng(7)
    covered = []
    for _ in range(1_000):
        found = probability_of_improvement(generator.normal(1, 1, 30), generator.normal(0, 1, 30))
        covered.append(found.low <= 0.76025 <= found.high)
    assert 0.92 <= np.mean(covered) <= 0.98


def test_pairs_take_out_what_seeds_share():
    generator = np.random.default_rng(8)
    luck = generator.normal(0, 10, size=30)
    found = compare_paired(luck + 1 + generator.normal(0, 0.1, 30), luck, seed=0)
    assert found.num_pairs == 30
    assert found.p_value < 1e-8
    assert found.difference.low < 1 < found.difference.high
    assert found.difference.high - found.difference.low < 0.2


def test_a_comparison_can_be_turned_round():
    generator = np.random.default_rng(9)
    first, second = generator.exponential(size=20), generator.exponential(size=20)
    there, back = compare_paired(first, second, seed=0), compare_paired(second, first, seed=0).reversed()
    assert there.p_value == back.p_value
    assert there.effect == pytest.approx(back.effect)
    np.testing.assert_allclose(there.difference.value, back.difference.value)


def test_bad_groups_are_refused():
    with pytest.raises(ValueError, match="shapes"):
        compare_paired(np.ones(3), np.ones(2), seed=0)
    with pytest.raises(ValueError, match="non-empty"):
        sign_flip_test(np.array([]), seed=0)
    with pytest.raises(ValueError, match="both groups"):
        probability_of_improvement(np.array([]), np.ones(2))
