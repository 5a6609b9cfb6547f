"""Stop requests come where they may, and wait where they may not."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from miai.runner import stopping
from miai.runner.stopping import Stopped, interruptible, listening, shielded


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        # A busy test runner gives its tests to another thread now and then, where the signal would end the runner.
        pytest.skip("only the main thread can listen to signals")
    stopping.forget()
    yield
    stopping.forget()


def request() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def test_a_request_is_only_noted_outside_an_interruptible_block() -> None:
    with listening():
        request()
        assert stopping.requested() == signal.SIGTERM
        with pytest.raises(Stopped, match="stopped by SIGTERM"), interruptible():
            raise AssertionError("the request came before the block")


def test_a_request_interrupts_an_interruptible_block_at_once() -> None:
    def block() -> None:
        with interruptible():
            request()
            raise AssertionError("not interrupted")

    with listening(), pytest.raises(Stopped) as caught:
        block()
    assert caught.value.signum == signal.SIGTERM


def test_a_request_in_a_shielded_block_waits_for_its_end() -> None:
    done = []

    def block() -> None:
        with interruptible():
            with shielded():
                request()
                done.append("shielded")
            done.append("after")

    with listening(), pytest.raises(Stopped):
        block()
    assert done == ["shielded"]


def test_handlers_are_put_back() -> None:
    before = [signal.getsignal(number) for number in stopping.SIGNALS]
    with listening():
        assert signal.getsignal(signal.SIGINT) != before[1]
    assert [signal.getsignal(number) for number in stopping.SIGNALS] == before
