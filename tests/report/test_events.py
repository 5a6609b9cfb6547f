from __future__ import annotations

import numpy as np
import pytest

from miai.report.events import NEVER, distribution, first_lasting_zero, quantile

STEPS = np.array([10, 20, 30, 40])


@pytest.mark.parametrize(
    ("values", "first"),
    [
        ([0.5, 0, 0, 0], 20),
        ([0, 0, 0, 0], 10),
        ([0, 0, 0.1, 0], 40),  # an earlier zero that does not last does not count
        ([0, 0, 0, 0.1], NEVER),
        ([0.5, 1e-12, 0, 0], 20),  # rounding of a floating-point sum
    ],
)
def test_first_lasting_zero(values, first):
    assert first_lasting_zero(STEPS, np.array(values)) == first


def test_runs_that_never_get_there_are_counted():
    found = distribution(np.array([20, NEVER, 10, 20, NEVER]))
    np.testing.assert_array_equal(found.times, [10, 20])
    np.testing.assert_allclose(found.share, [1 / 5, 3 / 5])
    nobody = distribution(np.array([NEVER, NEVER]))
    assert nobody.times.size == 0


def test_quantile_with_censoring():
    times = np.array([20, NEVER, 10, 20, NEVER])
    assert quantile(times, 0.5) == 20
    assert quantile(times, 0.6) == 20
    assert quantile(times, 0.61) == NEVER
    assert quantile(times, 0.2) == 10


def test_bad_arrays_are_refused():
    with pytest.raises(ValueError, match="shapes"):
        first_lasting_zero(STEPS, np.zeros(3))
    with pytest.raises(ValueError, match="ascend"):
        first_lasting_zero(STEPS[::-1], np.zeros(4))
    with pytest.raises(ValueError, match="NaN"):
        distribution(np.array([np.nan]))
    with pytest.raises(ValueError, match="share"):
        quantile(np.array([1.0]), 0)
