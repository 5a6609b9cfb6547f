"""Lines from standard input, read ahead in a thread, so that a long answer can notice the next command.

The thread reads the file descriptor itself: a thread that sleeps inside Python's buffered standard input would make the
interpreter crash when it ends.
"""

from __future__ import annotations

import os
import queue
import threading
from typing import BinaryIO

MAX_LINE_BYTES = 65_536
"""A longer line is cut; what is behind is dropped. The longest command there is, a free handicap, needs 2 kB."""
CHUNK = 65_536
LINES_AHEAD = 10_000


class LineReader:
    """The lines of a binary stream, one after the other."""

    def __init__(self, stream: BinaryIO) -> None:
        self._lines: queue.Queue[bytes | None] = queue.Queue(LINES_AHEAD)
        self._ahead: list[bytes | None] = []
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def next(self) -> str | None:
        """Wait for a line and return it without its end; `None` at the end of the stream."""
        line = self._ahead.pop() if self._ahead else self._lines.get()
        if line is None:
            self._ahead.append(None)
            return None
        return line.decode("utf-8", "replace")

    def waiting(self) -> bool:
        """Whether a line, or the end, has arrived that nobody has taken."""
        return bool(self._ahead) or not self._lines.empty()

    def wait(self) -> None:
        """Return when a line, or the end, is there."""
        if not self._ahead:
            self._ahead.append(self._lines.get())

    def _read(self, stream: BinaryIO) -> None:
        try:
            descriptor = stream.fileno()
        except (OSError, AttributeError):
            descriptor = None  # a stream in memory
        pending = b""
        while True:
            try:
                chunk = stream.read(CHUNK) if descriptor is None else os.read(descriptor, CHUNK)
            except (OSError, ValueError):
                chunk = b""
            if not chunk:
                if pending:
                    self._lines.put(pending[:MAX_LINE_BYTES])
                self._lines.put(None)
                return
            *whole, pending = (pending + chunk).split(b"\n")
            for line in whole:
                self._lines.put(line[:MAX_LINE_BYTES])
            pending = pending[:MAX_LINE_BYTES]
