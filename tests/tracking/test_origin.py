"""Whether a process still lives, whatever becomes of the clock."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import psutil
import pytest

from miai.tracking import origin


def test_this_process_lives_and_one_that_ended_does_not() -> None:
    start = origin.start_of(os.getpid())
    assert origin.is_alive(os.getpid(), start)
    assert origin.is_alive(os.getpid(), None)
    gone = subprocess.Popen(["true"])
    assert origin.start_of(gone.pid)
    assert origin.start_of(gone.pid) != start
    gone.wait()
    assert not origin.is_alive(gone.pid, None)
    assert not origin.is_alive(gone.pid, start)


def test_a_process_that_has_the_number_of_another_is_not_that_one() -> None:
    assert not origin.is_alive(os.getpid(), origin.start_of(os.getppid()))
    assert not origin.is_alive(os.getpid(), "1000.00")


@pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="no /proc: the start of a process is known by the clock"
)
@pytest.mark.parametrize("seconds", [-3600.0, 3600.0])
def test_a_clock_that_is_set_makes_no_process_look_like_another(
    monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """Linux shifts the time of its own start when the clock is set, and psutil adds that to the age of a process."""
    start = origin.start_of(os.getpid())
    before = psutil.Process().create_time()
    booted = psutil.boot_time()
    monkeypatch.setattr("psutil._pslinux.boot_time", lambda: booted + seconds)
    assert abs(psutil.Process().create_time() - before) > 1800
    assert origin.is_alive(os.getpid(), start)
    assert origin.process_tags()[origin.PID_STARTED_TAG] == start
