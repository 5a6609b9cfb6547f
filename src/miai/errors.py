"""The one exception that is meant for the user's eyes."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class MiaiError(Exception):
    """Something the user can mend. The message is one line: what is wrong, where, and what is allowed.

    The command line prints it without a traceback and exits with status 2.
    """


def choose(value: str, allowed: Iterable[str], what: str) -> str:
    """Return `value` if it is one of `allowed`; raise a `MiaiError` that lists them, and the nearest, otherwise."""
    names = sorted(allowed)
    if value in names:
        return value
    near = difflib.get_close_matches(value, names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise MiaiError(f"{what}: no such choice {value!r}; allowed: {', '.join(names)}.{hint}")
