from __future__ import annotations

import threading

import pytest

from miai.alphago.prefetch import AHEAD, prefetched


def test_batches_come_in_order_from_another_thread() -> None:
    makers = set()

    def make(key: int) -> int:
        makers.add(threading.current_thread())
        return key * key

    assert list(prefetched(make, range(10))) == [key * key for key in range(10)]
    assert len(makers) == 1
    assert threading.current_thread() not in makers


def test_no_more_than_a_few_are_made_ahead() -> None:
    made: list[int] = []
    batches = prefetched(made.append, range(100))
    next(batches)
    batches.close()
    assert made == list(range(len(made)))
    assert len(made) <= AHEAD


def test_an_error_is_raised_at_its_turn_and_the_thread_ends() -> None:
    before = threading.active_count()
    batches = prefetched(lambda key: 1 // key, [1, 1, 0, 1])
    assert next(batches) == next(batches) == 1
    with pytest.raises(ZeroDivisionError):
        next(batches)
    assert threading.active_count() == before


def test_of_nothing_nothing_comes() -> None:
    assert list(prefetched(int, [])) == []
