"""Is the difference real? Pure functions on two groups of runs, arrays `[num_pairs]` or `[num_runs]`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import optimize, stats

from miai.report.statistics import Estimate, estimate

EXACT_UP_TO = 32
"""Up to so many pairs every one of the 2ⁿ sign patterns is counted."""
SAMPLED_FLIPS = 100_000


class PairedComparison(NamedTuple):
    """What `compare_paired` found. The difference is first − second."""

    num_pairs: int
    difference: Estimate
    effect: float
    p_value: float

    def reversed(self) -> PairedComparison:
        """Return the same comparison with first and second exchanged."""
        value, low, high = self.difference
        return self._replace(difference=Estimate(-value, -high, -low), effect=-self.effect)


def compare_paired(first: np.ndarray, second: np.ndarray, *, seed: int) -> PairedComparison:
    """Compare two groups, [num_pairs] each, whose i-th values come from the same seed.

    Raises:
        ValueError: if the arrays differ in length, are empty or not finite.
    """
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(f"paired values must be two arrays [num_pairs], got shapes {first.shape} and {second.shape}")
    differences = first - second
    return PairedComparison(
        num_pairs=len(differences),
        difference=estimate(differences, "mean", seed=seed),
        effect=paired_effect_size(differences),
        p_value=sign_flip_test(differences, seed=seed),
    )


def sign_flip_test(differences: np.ndarray, *, seed: int) -> float:
    """Return the two-sided p-value of the sign-flip permutation test of the mean difference (Fisher 1935, section 21).

    Under the null hypothesis each paired difference is as likely to be its opposite. Up to `EXACT_UP_TO` pairs the
    p-value is exact: the 2ⁿ sums are counted as pairs of half sums (Horowitz and Sahni 1974), so that 30 pairs take
    milliseconds. Beyond, `SAMPLED_FLIPS` patterns are drawn and the observed one is counted with them, so p is never 0.

    Args:
        differences: [num_pairs], finite.
        seed: of the sampled patterns; unused where the test is exact.

    Raises:
        ValueError: if there is no pair or a value is not finite.
    """
    signed = np.asarray(differences, dtype=np.float64)
    sizes = np.abs(signed)
    if signed.ndim != 1 or len(signed) == 0 or not np.isfinite(signed).all():
        raise ValueError(
            f"differences must be a non-empty array [num_pairs] of finite values, got shape {signed.shape}"
        )
    # Sums that are equal on paper must count as equal, whatever the order of the additions.
    reached = abs(signed.sum()) - 1e-12 * sizes.sum()
    if reached <= 0:
        return 1.0
    if len(sizes) <= EXACT_UP_TO:
        half = len(sizes) // 2
        left, right = _signed_sums(sizes[:half]), np.sort(_signed_sums(sizes[half:]))
        above = len(right) - np.searchsorted(right, reached - left, side="left")
        below = np.searchsorted(right, -reached - left, side="right")
        return float((above.sum() + below.sum()) / 2 ** len(sizes))
    generator = np.random.default_rng(seed)
    extreme = 0
    total, per_block = sizes.sum(), max(1, 2_000_000 // len(sizes))
    for start in range(0, SAMPLED_FLIPS, per_block):
        rows = min(per_block, SAMPLED_FLIPS - start)
        # A pattern is a bit a pair: what keeps its sign adds, what does not takes away.
        drawn = np.frombuffer(generator.bytes(rows * -(-len(sizes) // 8)), dtype=np.uint8).reshape(rows, -1)
        kept = np.unpackbits(drawn, axis=1, count=len(sizes)).astype(np.float64) @ sizes
        extreme += int(np.count_nonzero(np.abs(2 * kept - total) >= reached))
    return (extreme + 1) / (SAMPLED_FLIPS + 1)


def holm(p_values: np.ndarray) -> np.ndarray:
    """Adjust p-values [num_tests] for their number by the step-down rule of Holm (1979).

    The i-th smallest of m is multiplied by m − i + 1; the results are made monotone and cut at 1.

    Raises:
        ValueError: if a value lies outside [0, 1].
    """
    p_values = np.asarray(p_values, dtype=np.float64)
    if p_values.size and not ((p_values >= 0) & (p_values <= 1)).all():
        raise ValueError(f"p-values must lie in [0, 1], got {p_values}")
    order = np.argsort(p_values, kind="stable")
    stepped = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1))
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def paired_effect_size(differences: np.ndarray) -> float:
    """Return Cohen's d_z (mean / standard deviation of the differences) with Hedges' (1981) small-sample factor.

    NaN if fewer than two pairs or if all differences are equal: then there is no spread to measure by.
    """
    differences = np.asarray(differences, dtype=np.float64)
    freedom = len(differences) - 1
    if freedom < 1:
        return float("nan")
    spread = differences.std(ddof=1)
    if spread <= 1e-12 * np.abs(differences).max():
        return float("nan")
    return float(differences.mean() / spread * (1 - 3 / (4 * freedom - 1)))


def probability_of_improvement(first: np.ndarray, second: np.ndarray, level: float = 0.95) -> Estimate:
    """Estimate P(X > Y) + ½ P(X = Y) for a run X of the first group and a run Y of the second, drawn independently.

    The interval is Newcombe's (2006, part 2, method 5): a score interval whose width stays honest when every X
    beats every Y, where resampling would give [1, 1].

    Args:
        first: [num_first]
        second: [num_second]

    Raises:
        ValueError: if a group is empty or holds a value that is not finite.
    """
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if not first.size or not second.size or not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError(f"both groups need finite values, got {first.size} and {second.size}")
    ordered = np.sort(second)
    wins = np.searchsorted(ordered, first, side="left").sum()
    ties = np.searchsorted(ordered, first, side="right").sum() - wins
    share = float((wins + 0.5 * ties) / (first.size * second.size))
    if min(first.size, second.size) < 2:
        return Estimate(np.array(share), np.array(np.nan), np.array(np.nan))
    mean_size = (first.size + second.size) / 2 - 1
    z2 = stats.norm.isf((1 - level) / 2) ** 2

    def excess(theta: float) -> float:
        spread = 1 + mean_size * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        return (theta - share) ** 2 - z2 * theta * (1 - theta) * spread / (first.size * second.size)

    # At 0 and 1 the estimate itself is a second root; the bound that is looked for lies away from it.
    low = 0.0 if share == 0 else optimize.brentq(excess, 0.0, min(share, 1 - 1e-9))
    high = 1.0 if share == 1 else optimize.brentq(excess, max(share, 1e-9), 1.0)
    return Estimate(np.array(share), np.array(low), np.array(high))


def _signed_sums(sizes: np.ndarray) -> np.ndarray:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate((sums - size, sums + size))
    return sums
