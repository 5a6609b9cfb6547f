"""SIGTERM and Ctrl-C as an exception that comes only where it may.

While a run's task is at work, a stop request raises `Stopped` at once. While the run's end is being written, it waits.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Stopped(BaseException):
    """The user, or the system, asked this process to stop.

    Attributes:
        signum: the signal that did.
    """

    def __init__(self, signum: int) -> None:
        super().__init__(f"stopped by {signal.Signals(signum).name}")
        self.signum = signum


class _State:
    requested: int | None = None
    interruptible = False


_state = _State()


def requested() -> int | None:
    """The signal that asked this process to stop, or `None`."""
    return _state.requested


def forget() -> None:
    """Forget a request that has been dealt with."""
    _state.requested = None


@contextmanager
def listening(signals: tuple[signal.Signals, ...] = SIGNALS) -> Iterator[None]:
    """Note stop requests instead of dying of them. Without effect outside the main thread, or inside itself."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _note) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise `Stopped` inside the block as soon as a stop is requested, also when it was requested before."""
    outer = _state.interruptible
    _state.interruptible = True
    try:
        if _state.requested is not None:
            raise Stopped(_state.requested)
        yield
    finally:
        _state.interruptible = outer


@contextmanager
def shielded() -> Iterator[None]:
    """Let requests wait until the block is over."""
    outer = _state.interruptible
    _state.interruptible = False
    try:
        yield
    finally:
        _state.interruptible = outer
    if outer and _state.requested is not None:
        raise Stopped(_state.requested)


def _note(signum: int, _frame: FrameType | None) -> None:
    _state.requested = signum
    if _state.interruptible:
        _state.interruptible = False
        raise Stopped(signum)
