"""The one exception that is meant for the user's eyes."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class MiaiError(Exception):
    """Something the user can mend. The message is one line: what is wrong, where, and what is allowed.

    Whatever is quoted in it, it stays one line of bounded length. The command line prints it without a traceback and
    exits with status 2.
    """

    def __init__(self, message: str) -> None:
        super().__init__(_in_one_line(message))


LONGEST = 2000
"""Characters of a message. What is too long is a value that is quoted, and it stands in the middle."""


def _in_one_line(message: str) -> str:
    line = " ".join(message.splitlines()) if len(message.splitlines()) > 1 else message.rstrip("\r\n")
    return line if len(line) <= LONGEST else f"{line[: LONGEST * 3 // 4]} … {line[-LONGEST // 5 :]}"


def choose(value: str, allowed: Iterable[str], what: str) -> str:
    """Return `value` if it is one of `allowed`; raise a `MiaiError` that lists them, and the nearest, otherwise."""
    names = sorted(allowed)
    if value in names:
        return value
    raise MiaiError(f"{what}: no such choice {value!r}; allowed: {', '.join(names)}.{nearest(value, names)}")


def nearest(value: str, names: Iterable[str]) -> str:
    """Return a hint at the name that `value` is most like, such as ` Did you mean 'alpha'?`, or nothing."""
    near = difflib.get_close_matches(value, list(names), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
