"""When does a run become unbeatable for good? Times to an event, with the runs that never get there counted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

NEVER = np.inf
"""The time of a run that does not get there (censored at its last checkpoint)."""
TOLERANCE = 1e-9
"""Exact evaluation adds up floating-point numbers; an exploitability below this is 0."""


class Distribution(NamedTuple):
    """`share[i]` of all runs have got there by `times[i]`; it ends below 1 if some never do."""

    times: np.ndarray
    share: np.ndarray


def first_lasting_zero(steps: np.ndarray, values: np.ndarray, tolerance: float = TOLERANCE) -> float:
    """Return the first step from which on all values stay 0, or `NEVER`.

    Args:
        steps: [num_points], ascending.
        values: [num_points], finite, for example the exploitability at each checkpoint.

    Raises:
        ValueError: if shapes differ, nothing is given, steps do not ascend or a value is not finite.
    """
    steps, values = np.asarray(steps), np.asarray(values, dtype=np.float64)
    if steps.shape != values.shape or steps.ndim != 1 or not len(steps):
        raise ValueError(
            f"steps and values must be two arrays [num_points], got shapes {steps.shape} and {values.shape}"
        )
    if (np.diff(steps) <= 0).any() or not np.isfinite(values).all():
        raise ValueError("steps must ascend and values must be finite")
    away = np.flatnonzero(np.abs(values) > tolerance)
    first = int(away[-1]) + 1 if len(away) else 0
    return float(steps[first]) if first < len(steps) else NEVER


def distribution(times: np.ndarray) -> Distribution:
    """Return the empirical distribution of times [num_runs].

    A run that never gets there (`NEVER`) stays in the denominator.

    Raises:
        ValueError: if there is no run, or a time is NaN.
    """
    times = np.asarray(times, dtype=np.float64)
    if times.ndim != 1 or not len(times) or np.isnan(times).any():
        raise ValueError(f"times must be a non-empty array [num_runs] without NaN, got shape {times.shape}")
    reached, counts = np.unique(times[np.isfinite(times)], return_counts=True)
    return Distribution(reached, np.cumsum(counts) / len(times))


def quantile(times: np.ndarray, share: float) -> float:
    """Return the time by which `share` of all runs have got there, or `NEVER` if fewer do.

    Raises:
        ValueError: if `share` is not in (0, 1], or `times` is empty.
    """
    if not 0 < share <= 1:
        raise ValueError(f"share must lie in (0, 1], got {share}")
    found = distribution(times)
    reached = np.flatnonzero(found.share >= share - 1e-12)
    return float(found.times[reached[0]]) if len(reached) else NEVER
