"""Somebody else's Go engine, as a subprocess that is never trusted to answer, to stop, or to live.

Start reading at `GtpClient.send`. Whatever goes wrong on the engine's side is an `EngineFault`; the engine is killed
with all that it has started when the client is closed, is garbage, or the interpreter ends.
"""

from __future__ import annotations

import contextlib
import os
import queue
import re
import shlex
import signal
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import BinaryIO, cast

from miai.errors import MiaiError
from miai.gtp.protocol import clean
from miai.plain_text import visible

MAX_REPLY_BYTES = 1024 * 1024
"""An engine that writes more than this without finishing a response is at fault."""
MAX_TRANSCRIPT_LINES = 20_000
MAX_LINE = 500
CHUNK = 65_536
CHUNKS_AHEAD = 16
"""What is read before it is wanted; beyond that, a flooding engine blocks on its own output."""
QUIT_SECONDS = 2.0
"""How long an engine may take to answer `quit`."""
EXIT_SECONDS = 10.0
"""How long an engine may take to leave after it has agreed to `quit`."""

_STATUS = re.compile(r"([=?])(\d+)?\s*(.*)", re.ASCII | re.DOTALL)


_forbidden: str | None = None
"""Why this process may not start an engine, if it may not."""


@contextlib.contextmanager
def no_engines(reason: str) -> Iterator[None]:
    """Let no engine be started by this process while the block runs.

    Args:
        reason: ends the error message of whoever tries.
    """
    global _forbidden
    before, _forbidden = _forbidden, reason
    try:
        yield
    finally:
        _forbidden = before


def check_may_start(command: Sequence[str]) -> None:
    """Raise a `MiaiError` if engines may not be started here; it shows the command."""
    if _forbidden is not None:
        raise MiaiError(f"{shlex.join(command)}: {_forbidden}.")


class FaultKind(StrEnum):
    TIMEOUT = "timeout"
    """No answer in time."""
    DIED = "died"
    """The process is gone."""
    PROTOCOL = "protocol"
    """An answer that is not GTP."""
    REFUSED = "refused"
    """The engine answered `?` to something that it must be able to do."""
    ILLEGAL = "illegal"
    """A move that is none, or that the rules forbid."""


class EngineFault(Exception):  # noqa: N818  (a fault is what it is called in a match)
    """The engine did not hold to the protocol or to the rules. It loses the game, which is counted apart.

    Attributes:
        kind: what sort of fault it is.
        transcript: what was said up to it.
    """

    def __init__(self, kind: FaultKind, message: str, transcript: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.transcript = transcript


class Transcript:
    """What went over the pipes, one line each: `>` to the engine, `<` from it, `!` its standard error. Bounded."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=MAX_TRANSCRIPT_LINES)
        self._lock = threading.Lock()

    def add(self, mark: str, text: str) -> None:
        with self._lock:
            for line in text.splitlines() or [""]:
                self._lines.append(f"{mark} {visible(line[:MAX_LINE])}".rstrip())

    def clear(self) -> None:
        with self._lock:
            self._lines.clear()

    def last(self, mark: str) -> str:
        """Return the last line of that mark that says something, or nothing."""
        with self._lock:
            return next((line[2:] for line in reversed(self._lines) if line.startswith(f"{mark} ")), "")

    def __str__(self) -> str:
        with self._lock:
            return "\n".join(self._lines)


class GtpClient:
    """A running engine."""

    def __init__(self, command: Sequence[str], *, timeout: float = 60.0, start_timeout: float = 60.0) -> None:
        """Start the engine. It is not spoken to yet.

        Args:
            command: the program and its arguments; no shell is involved.
            timeout: seconds that a command may take, unless `send` is told otherwise.
            start_timeout: seconds that the first command may take: engines load their weights then.

        Raises:
            MiaiError: there is no such program, it may not be run, or none may be started here (`no_engines`).
        """
        if not command:
            raise ValueError("the command is empty")
        if not (timeout > 0 and start_timeout > 0):
            raise ValueError(f"time-outs must be more than 0 seconds, got {timeout!r} and {start_timeout!r}")
        check_may_start(command)
        self.command = tuple(command)
        self.timeout = timeout
        self._start_timeout = start_timeout
        self._next_id = 1
        self._buffer = b""
        self._fault: EngineFault | None = None
        self._transcript = Transcript()
        try:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,  # a group of its own, to be killed with all its children
            )
        except OSError as error:
            raise MiaiError(f"{self.command[0]}: the engine cannot be started ({error.strerror}).") from None
        self._chunks: queue.Queue[bytes] = queue.Queue(CHUNKS_AHEAD)
        self._stop = threading.Event()
        # The threads hold no reference to the client, so that it can become garbage.
        output, errors = cast(BinaryIO, self._process.stdout), cast(BinaryIO, self._process.stderr)
        self._threads = [
            threading.Thread(target=_read_output, args=(output, self._chunks, self._stop), daemon=True),
            threading.Thread(target=_read_errors, args=(errors, self._transcript), daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        self._finalizer = weakref.finalize(self, _kill, self._process, self._stop)

    @property
    def transcript(self) -> str:
        return str(self._transcript)

    def forget(self) -> None:
        """Begin a new transcript."""
        self._transcript.clear()

    @property
    def is_alive(self) -> bool:
        return self._fault is None and self._process.poll() is None

    def send(self, command: str, *, timeout: float | None = None) -> str:
        """Send a command and return the text of its response.

        Args:
            command: one line, without an id.
            timeout: seconds to wait for the whole response.

        Raises:
            EngineFault: no answer in time, a process that died, an answer that is not GTP, or a `?` (kind `REFUSED`:
                after that one, and only that one, the engine may still be used).
            ValueError: `command` is not one line.
        """
        if not command or "\n" in command or clean(command) != command:
            raise ValueError(f"not one plain command line: {command!r}")
        if self._fault:
            raise self._fault
        if timeout is None:
            timeout = max(self.timeout, self._start_timeout) if self._next_id == 1 else self.timeout
        number, self._next_id = self._next_id, self._next_id + 1
        line = f"{number} {command}"
        self._transcript.add(">", line)
        try:
            cast(BinaryIO, self._process.stdin).write(line.encode() + b"\n")
        except OSError:
            raise self._dead(command) from None
        sign, text = self._receive(number, command, time.monotonic() + timeout, timeout)
        if sign == "?":
            raise EngineFault(FaultKind.REFUSED, f"the engine refused `{command}`: {text[:MAX_LINE]}", self.transcript)
        return text

    def _receive(self, number: int, command: str, deadline: float, timeout: float) -> tuple[str, str]:
        """Wait for the response to command `number`, passing over what belongs to none."""
        received = 0
        while True:
            while (block := self._next_block()) is not None:
                response = _parse_response(block)
                if response and response[1] in (None, str(number)):
                    return response[0], response[2]
            try:
                chunk = self._chunks.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise self._broken(FaultKind.TIMEOUT, f"no answer to `{command}` in {timeout:g} s") from None
            if not chunk:
                raise self._dead(command)
            self._buffer += chunk
            received += len(chunk)
            if received > MAX_REPLY_BYTES:
                raise self._broken(FaultKind.PROTOCOL, f"no end of the answer to `{command}` in {received:,} bytes")

    def _next_block(self) -> str | None:
        """Take from the buffer what stands before the next empty line."""
        plain = self._buffer.replace(b"\r", b"")
        head, mark, tail = plain.partition(b"\n\n")
        if not mark:
            return None
        self._buffer = tail
        text = head.decode("utf-8", "replace")
        self._transcript.add("<", text)
        return text

    def _dead(self, command: str) -> EngineFault:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(QUIT_SECONDS)
        self._threads[1].join(QUIT_SECONDS)  # so that its last words are heard
        last = self._transcript.last("!")
        code = self._process.returncode
        how = (
            "closed its output"
            if code is None
            else f"ended by signal {-code}"
            if code < 0
            else f"ended with status {code}"
        )
        return self._broken(FaultKind.DIED, f"the engine {how} at `{command}`" + (f": {last}" if last else ""))

    def _broken(self, kind: FaultKind, message: str) -> EngineFault:
        """Remember that the engine is not to be spoken to again, and end it."""
        self._fault = EngineFault(kind, message, self.transcript)
        self._finalizer()
        return self._fault

    def close(self) -> None:
        """End the engine: ask, wait, then kill its process group in any case. Never raises; may be called twice."""
        if self.is_alive:
            with contextlib.suppress(EngineFault, subprocess.TimeoutExpired, OSError):
                self.send("quit", timeout=QUIT_SECONDS)
                cast(BinaryIO, self._process.stdin).close()
                self._process.wait(EXIT_SECONDS)
        if self._fault is None:
            self._fault = EngineFault(FaultKind.DIED, "the engine was closed")
        self._finalizer()
        for thread in self._threads:
            thread.join(QUIT_SECONDS)


def _kill(process: subprocess.Popen[bytes], stop: threading.Event) -> None:
    """Kill the engine's process group and take the process off the system's table."""
    stop.set()
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
    if process.stdin:
        with contextlib.suppress(OSError):
            process.stdin.close()


def _read_output(stream: BinaryIO, chunks: queue.Queue[bytes], stop: threading.Event) -> None:
    """Pass on what the engine writes; an empty chunk at its end."""
    with stream:
        while not stop.is_set():
            try:
                chunk = os.read(stream.fileno(), CHUNK)
            except OSError:
                chunk = b""
            while not stop.is_set():
                try:
                    chunks.put(chunk, timeout=0.1)
                    break
                except queue.Full:
                    continue
            if not chunk:
                return


def _read_errors(stream: BinaryIO, transcript: Transcript) -> None:
    with stream:
        buffered = b""
        while True:
            try:
                chunk = os.read(stream.fileno(), CHUNK)
            except OSError:
                chunk = b""
            *lines, buffered = (buffered + chunk).split(b"\n")
            if not chunk or len(buffered) > MAX_LINE:
                lines, buffered = [*lines, buffered], b""
            for line in lines:
                if line.strip():
                    transcript.add("!", line.decode("utf-8", "replace"))
            if not chunk:
                return


def _parse_response(block: str) -> tuple[str, str | None, str] | None:
    """Read (sign, id, text) from the lines before an empty line; lines in front of the sign are chatter.

    `None` if there is no response among them.
    """
    lines = block.split("\n")
    for index, line in enumerate(lines):
        match = _STATUS.fullmatch(line)
        if match:
            text = "\n".join([match[3], *lines[index + 1 :]])
            return match[1], match[2], text.replace("\t", " ").strip()
    return None
