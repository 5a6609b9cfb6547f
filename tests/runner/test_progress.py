"""What a person reads while a sweep runs."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from miai.runner import progress
from miai.runner.execute import Outcome
from miai.runner.progress import SweepDisplay


def test_without_a_terminal_a_plain_line_comes_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    file = io.StringIO()
    display = SweepDisplay(Console(file=file, width=200), "study")
    display.begin(total=10, there=2, same=0)
    outcomes = [Outcome("there", "a")] * 2 + [Outcome("finished", "b")] * 3 + [Outcome("failed", "c")]
    with display:
        for clock[0] in (101.0, 108.0, 109.0):
            display.update(outcomes, partly=0.0)
    assert file.getvalue().splitlines() == [
        "study: 10 runs, 2 already there, 8 to do.",
        "study: 6/10 runs, 1 failed, 0.5 runs/s, 0:08 left",  # 4 runs in 8 s; 4 more take 8 s.
    ]


def test_no_speed_is_made_of_the_first_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    file = io.StringIO()
    display = SweepDisplay(Console(file=file, width=200), "study")
    display.begin(total=100, there=0, same=0)
    with display:
        clock[0] = 110.0
        display.update([], partly=0.01)
        clock[0] = 120.0
        display.update([Outcome("finished", "a")], partly=1.0)  # 2 runs in 20 s; 98 more take 980 s.
    assert file.getvalue().splitlines()[1:] == [
        "study: 0/100 runs (0 %), 0 failed, starting",
        "study: 1/100 runs (2 %), 0 failed, 0.1 runs/s, 16:20 left",
    ]


def test_long_runs_show_how_far_they_are_and_lines_become_rarer(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    file = io.StringIO()
    display = SweepDisplay(Console(file=file, width=200), "study")
    display.begin(total=1, there=0, same=0)
    with display:
        for clock[0] in (50.0, 90.0, 3000.0, 3050.0, 3062.0):  # Lines are 60 s apart after 3,000 s.
            display.update([], partly=clock[0] / 10_000)
    assert file.getvalue().splitlines() == [
        "study: 1 run, 1 to do.",
        "study: 0/1 run, 0 failed, starting",
        "study: 0/1 run, 0 failed, 0.4 runs/h, 2:45:10 left",
        "study: 0/1 run (30 %), 0 failed, 0.4 runs/h, 1:56:40 left",
        "study: 0/1 run (31 %), 0 failed, 0.4 runs/h, 1:55:38 left",
    ]


@pytest.mark.parametrize(
    ("rate", "text"),
    [(12.34, "12.3 runs/s"), (0.1, "0.1 runs/s"), (0.05, "3.0 runs/min"), (0.001, "3.6 runs/h"), (0.0, "0.0 runs/h")],
)
def test_slow_rates_are_told_by_the_minute_or_hour(rate: float, text: str) -> None:
    assert progress._rate(rate) == text


@pytest.mark.parametrize(("seconds", "text"), [(8.4, "0:08 left"), (3725, "1:02:05 left")])
def test_the_time_that_is_left(seconds: float, text: str) -> None:
    assert progress._left(seconds) == text
