"""Text from elsewhere, made fit for a terminal: names in a store, an archive or a game record, an engine's words."""

from __future__ import annotations

import re

REPLACEMENT = "\ufffd"

_COMMANDING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but for tab and line feed; the escape sequences begin with one
    "\u202a-\u202e\u2066-\u2069]"  # those that turn the direction of writing, and so show another text than there is
)


def shorten(text: str, length: int = 40) -> str:
    """Return a text as it is, or, if it has more than `length` characters, as many of them and `…`."""
    return text if len(text) <= length else f"{text[:length]}…"


def visible(text: str) -> str:
    """Return a text with `�` for every character that could command a terminal, or hide what the text says."""
    return _COMMANDING.sub(REPLACEMENT, text)
