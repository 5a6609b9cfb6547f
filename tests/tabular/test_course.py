"""The course's settings, against what ten seeds of an independent plain-Python program gave.

That program's means are over ten seeds of the same random experiment, so ours may differ by chance alone. With n seeds
here and ten there, the means differ by at most four standard errors of the difference, with the spread of our seeds;
plus the last digit of what was printed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from .configuration import trained

NUM_SEEDS = 10

EXPONENTIAL = {"name": "exponential", "start": 1.0, "end": 0.01, "decay": 10_000.0}
LINEAR = {"name": "linear", "start": 1.0, "end": 0.01, "games": 100_000}
TD = {
    "gamma": 0.9,
    "alpha_schedule": {"name": "constant", "value": 0.1},
    "num_games": 100_000,
    "schedule": EXPONENTIAL,
    "opponent": "random",
}
MC = {
    "gamma": 0.95,
    "alpha_schedule": {"name": "constant", "value": 0.01},
    "num_games": 200_000,
    "schedule": LINEAR,
}
ADVANCED = {"name": "advanced", "p": 0.8}


class Printed(NamedTuple):
    entries: int | None
    win_percent: float
    loss_percent: float | None = None


@pytest.mark.parametrize(
    ("algorithm", "settings", "seat", "printed"),
    [
        ("mc", {**MC, "opponent": ADVANCED}, "first", Printed(7994, 98.59)),
        ("mc", {**MC, "opponent": "random"}, "first", Printed(8621, 97.97)),
        # Its entries, 7,527, are left out: ten seeds of a third program gave 7,528 to 7,535, as ours do.
        ("mc", {**MC, "opponent": "random"}, "second", Printed(None, 89.97, 1.81)),
        ("sarsa", TD, "first", Printed(6877, 98.93)),
        ("sarsa", TD, "second", Printed(6960, 90.58, 0.40)),
        ("q_learning", TD, "first", Printed(6671, 98.93)),
        ("q_learning", TD, "second", Printed(6760, 89.19, 1.09)),
        ("afterstate", TD, "first", Printed(2707, 98.96)),
        ("afterstate", TD, "second", Printed(2732, 91.60, 0.15)),
    ],
)
def test_the_courses_settings(algorithm, settings, seat, printed):
    rows = []
    for seed in range(NUM_SEEDS):
        learning = trained(algorithm=algorithm, seat=seat, seed=seed, num_checkpoints=1, **settings)
        rows.append(learning.measure())
    if printed.entries is not None:
        _near([row["table/size"] for row in rows], printed.entries, last_digit=1)
    _near([100 * row["eval/win"] for row in rows], printed.win_percent, last_digit=0.01)
    if printed.loss_percent is not None:
        _near([100 * row["eval/loss"] for row in rows], printed.loss_percent, last_digit=0.01)


def _near(values: list[float], mean: float, last_digit: float) -> None:
    standard_error = np.std(values, ddof=1) * np.sqrt(1 / NUM_SEEDS + 1 / 10)
    assert abs(np.mean(values) - mean) <= 4 * standard_error + last_digit, (np.mean(values), mean, standard_error)
