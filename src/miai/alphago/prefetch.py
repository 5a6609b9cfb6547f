"""Batches made in a thread of their own while the training uses the one before: kernels let go of Python's lock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Key = TypeVar("Key")
Batch = TypeVar("Batch")

AHEAD = 3
"""So many batches are ready, or being made."""


def prefetched(make: Callable[[Key], Batch], keys: Iterable[Key]) -> Generator[Batch, None, None]:
    """Yield `make(key)` for each key, in order. One thread makes them, one after the other, a little ahead.

    What `make` raises is raised here, at its batch's turn. The thread ends with the generator: `close` it to leave
    early.
    """
    pool = ThreadPoolExecutor(1, thread_name_prefix="batches")
    waiting: deque[Future[Batch]] = deque()
    try:
        for key in keys:
            waiting.append(pool.submit(make, key))
            if len(waiting) >= AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
