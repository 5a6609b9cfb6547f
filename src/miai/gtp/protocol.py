"""The text of the Go Text Protocol: commands in, responses out. Source: Farnebäck, "Specification of the Go Text
Protocol, version 2, draft 2" (2002); the numbers in brackets are its sections.

Everything here is pure text; nothing knows a board.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from miai.games.game import FIRST, SECOND
from miai.plain_text import shorten

PROTOCOL_VERSION = 2
MAX_INT = 2**31 - 1
"""The largest int of the protocol [2.10]."""

BLACK = FIRST
WHITE = SECOND

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
"""Control characters but for tab and line feed [3.1]."""
_COMMAND = re.compile(r"(?:(\d{1,10})(?:\s+|$))?(\S+)?\s*(.*)", re.ASCII | re.DOTALL)


class GtpError(Exception):
    """A command that fails: its text is the error message of the response."""


@dataclass(frozen=True)
class Command:
    """One command line: `id` as it was written, or `None`."""

    id: str | None
    name: str
    args: tuple[str, ...]

    @property
    def rest(self) -> str:
        """The arguments as one text, for commands that take a file's name."""
        return " ".join(self.args)


def clean(line: str) -> str:
    """Preprocess a line as the standard says [3.1]: no control characters, no comment, tabs are blanks."""
    return _CONTROL.sub("", line).split("#", 1)[0].replace("\t", " ").strip()


def parse_command(line: str) -> Command | None:
    """Read a command line; `None` for one that is empty or a comment only, which gets no response."""
    text = clean(line)
    if not text:
        return None
    match = _COMMAND.fullmatch(text)
    assert match is not None, text
    return Command(match[1], match[2] or "", tuple(match[3].split()))


def success(command_id: str | None, text: str = "") -> str:
    """Return the response of a command that succeeded [2.6]."""
    return _response("=", command_id, text)


def failure(command_id: str | None, message: str) -> str:
    """Return the response of a command that failed [2.7]."""
    return _response("?", command_id, message)


def _response(sign: str, command_id: str | None, text: str) -> str:
    """Put a response together. Text that begins with a line feed begins on a line of its own, as boards do."""
    head = f"{sign}{command_id or ''}"
    # An empty line would end the response, so none may stand inside it.
    lines = [line.rstrip() for line in _CONTROL.sub("", text).split("\n")]
    body = "\n".join(line for line in lines if line)
    if not body:
        return f"{head}\n\n"
    return f"{head}\n{body}\n\n" if text.startswith("\n") else f"{head} {body}\n\n"


# Arguments. Each raises `GtpError("syntax error…")`, the standard's message for an argument that cannot be read [4].


def syntax_error(detail: str) -> GtpError:
    return GtpError(f"syntax error: {detail}")


def take(args: tuple[str, ...], least: int, most: int | None = None) -> tuple[str, ...]:
    """Return the arguments if their number is right."""
    if len(args) < least or (most is not None and len(args) > most):
        wanted = str(least) if most == least else f"{least} to {most}" if most is not None else f"at least {least}"
        raise syntax_error(f"{len(args)} arguments, {wanted} needed")
    return args


def whole(text: str, least: int = 0) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and least <= int(text) <= MAX_INT):
        raise syntax_error(f"{shorten(text)!r} is not a whole number from {least} to {MAX_INT}")
    return int(text)


def real(text: str) -> float:
    try:
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise syntax_error(f"{shorten(text)!r} is not a number")
    return value


def colour(text: str) -> int:
    """Return +1 for black and −1 for white [2.10]; case does not matter."""
    value = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}.get(text.lower())
    if value is None:
        raise syntax_error(f"{shorten(text)!r} is not a colour, which is b, black, w or white")
    return value


def colour_name(value: int) -> str:
    return "B" if value == BLACK else "W"
