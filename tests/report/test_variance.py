from __future__ import annotations

import numpy as np
import pytest

from miai.report.variance import HIGHER, SEEDS, decompose


def shares_of(decomposition):
    return {share.term: share for share in decomposition.shares}


def test_two_by_two_by_hand():
    # Cell means      b=0  b=1      grand mean 5; main effect of a: ±2, of b: ±1, interaction: 0;
    #         a=0      2    4       each value lies ±1 around its cell mean.
    #         a=1      6    8
    values = np.array([1.0, 3, 3, 5, 5, 7, 7, 9])
    a = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    b = np.array(["x", "x", "y", "y", "x", "x", "y", "y"])
    found = decompose(values, {"a": a, "b": b})
    shares = shares_of(found)
    assert found.balanced
    assert shares["a",].sum_of_squares == pytest.approx(8 * 2**2)
    assert shares["b",].sum_of_squares == pytest.approx(8 * 1**2)
    assert shares["a", "b"].sum_of_squares == pytest.approx(0, abs=1e-9)
    assert shares[SEEDS].sum_of_squares == pytest.approx(8 * 1)
    assert shares["a",].eta_squared == pytest.approx(32 / 48)
    # ω² = (SS − df · MSE) / (total + MSE) with MSE = 8 / 4.
    assert shares["a",].omega_squared == pytest.approx((32 - 2) / (48 + 2))
    assert [shares[term].degrees_of_freedom for term in (("a",), ("b",), ("a", "b"), SEEDS)] == [1, 1, 1, 4]


def test_a_pure_interaction_is_found():
    a, b = np.repeat([0, 1], 6), np.tile([0, 1], 6)
    found = shares_of(decompose(np.where(a == b, 1.0, -1.0), {"a": a, "b": b}))
    assert found["a", "b"].eta_squared == pytest.approx(1)
    assert found["a",].eta_squared == pytest.approx(0, abs=1e-12)


def test_balanced_shares_add_up_to_one_and_higher_interactions_are_pooled():
    generator = np.random.default_rng(3)
    grid = np.array(
        [(a, s, alpha, n) for a in range(4) for s in range(3) for alpha in range(2) for n in range(2) for _ in range(5)]
    )
    factors = dict(zip(("algorithm", "schedule", "alpha", "games"), grid.T, strict=True))
    found = decompose(generator.normal(size=len(grid)) + grid[:, 0] * grid[:, 1] * grid[:, 2], factors)
    shares = shares_of(found)
    assert len(shares) == 4 + 6 + 2
    assert HIGHER in shares
    assert sum(share.eta_squared for share in found.shares) == pytest.approx(1)
    assert sum(share.degrees_of_freedom for share in found.shares) == len(grid) - 1


def test_unbalanced_designs_are_type_two_and_say_so():
    # y depends on b only; a and b are correlated. Type II gives a nothing, a one-way analysis of a would not.
    a = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    b = np.array([0, 0, 0, 0, 1, 0, 1, 1, 1, 1])
    found = decompose(3.0 * b, {"a": a, "b": b})
    assert not found.balanced
    shares = shares_of(found)
    assert shares["a",].sum_of_squares == pytest.approx(0, abs=1e-9)
    assert shares["b",].sum_of_squares > 5


def test_constant_factors_are_left_out_and_constant_values_explain_nothing():
    found = decompose(np.ones(4), {"a": np.array([0, 0, 1, 1]), "same": np.zeros(4)})
    assert {share.term for share in found.shares} == {("a",), SEEDS}
    assert all(share.eta_squared == 0 for share in found.shares)
    with pytest.raises(ValueError, match="two levels"):
        decompose(np.ones(4), {"same": np.zeros(4)})
    with pytest.raises(ValueError, match="3 levels"):
        decompose(np.ones(4), {"a": np.arange(3)})
