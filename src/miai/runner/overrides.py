"""Overrides in Hydra's grammar: `key=value`, spelt and taken apart."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence, Sized
from contextlib import suppress
from typing import Any

from miai.errors import MiaiError
from miai.plain_text import shorten

MOST_RUNS = 1_000_000
"""Of a sweep. More are a slip of the hand, and would fill the memory before anything is run."""

MOST_SHOWN = 200
"""Signs of what cannot be read that its complaint repeats."""

_PLAIN_TEXT = re.compile(r"[A-Za-z_][A-Za-z0-9_./:+\-]*")
_WORDS_WITH_A_MEANING = frozenset({"true", "false", "null", "inf", "nan"})
_BAD_KEY = re.compile(r"[=,'\"\s(){}\[\]]")


def spell(key: str, value: Any) -> str:
    """Spell one override, so that Hydra reads the same key and the same value."""
    return f"{key}={spell_value(value)}"


def spell_value(value: Any) -> str:
    """Spell a plain value in Hydra's grammar: texts in quotes where they could be taken for something else.

    Raises:
        ValueError: the value is none of None, bool, int, float, str, list, dict.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        if _PLAIN_TEXT.fullmatch(value) and value.lower() not in _WORDS_WITH_A_MEANING:
            return value
        return _quoted(value)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{spell_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(spell_value, value)) + "]"
    raise ValueError(f"an override cannot hold {value!r}; None, bool, int, float, str, list and dict are allowed")


def _quoted(text: str) -> str:
    """Put quotes around a text. Backslashes count only before a quote, and at the end, where one would stand."""
    escaped = re.sub(r"(\\*)('|$)", lambda found: found[1] * 2 + ("\\'" if found[2] else ""), text)
    return f"'{escaped}'"


def split_sweeps(overrides: Sequence[str]) -> dict[str, list[str]]:
    """Take overrides apart, by key, with Hydra's own parser: `a=1,2` and `a=range(1,3)` are `a=1` and `a=2`.

    Of several of one key the last one counts.

    Raises:
        MiaiError: an override cannot be read, or sweeps in a way that has no list of values (`a=interval(0,1)`).
    """
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    found: dict[str, list[str]] = {}
    parser = OverridesParser.create()
    for text in overrides:
        if text.startswith("="):
            raise unreadable(text)
        try:
            [override] = parser.parse_overrides([text])
            key = override.get_key_element()
            if not override.is_sweep_override():
                found[bare(key)] = [text]
            elif override.is_discrete_sweep():
                _check_length(text, override.value())
                found[bare(key)] = [f"{key}={value}" for value in override.sweep_string_iterator()]
                if not found[bare(key)]:
                    raise MiaiError(f"{text}: there is no value in it.")
            else:
                raise MiaiError(f"{text}: a list of values is swept, such as {key}=0.1,0.2 or {key}=range(3).")
        except (HydraException, ValueError, OverflowError, RecursionError):
            raise unreadable(text) from None
    check_number(found.values())
    return found


def check_number(axes: Iterable[Sized]) -> None:
    """Raise a `MiaiError` if every combination of these values would be more runs than a sweep may have."""
    number = math.prod(map(len, axes))
    if number > MOST_RUNS:
        raise MiaiError(f"{number:,} runs are more than a sweep may have; allowed: up to {MOST_RUNS:,}.")


def check_multirun(overrides: Sequence[str]) -> None:
    """Raise a `MiaiError` if a multirun of these overrides would be too long. What cannot be read is left to Hydra."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    axes = []
    for text in overrides:
        with suppress(HydraException, ValueError, OverflowError, RecursionError):
            [override] = OverridesParser.create().parse_overrides([text])
            _check_length(text, override.value())
            if override.is_discrete_sweep():
                axes.append(list(override.sweep_string_iterator()))
    check_number(axes)


def _check_length(text: str, value: Any) -> None:
    """Refuse a range that is too long before anybody makes a list of it."""
    start, stop, step = (getattr(value, name, None) for name in ("start", "stop", "step"))
    if start is not None and stop is not None and step and (stop - start) / step > MOST_RUNS:
        raise MiaiError(f"{text}: that is more than the {MOST_RUNS:,} runs that a sweep may have.")


def bare(key: str) -> str:
    """Return a key without Hydra's signs for appending: +key and ++key are key."""
    return key.lstrip("+")


def unreadable(text: str) -> MiaiError:
    """Say that an override cannot be read, and why, where that can be guessed."""
    key, equals, value = text.partition("=")
    key, value, text = (shorten(part, MOST_SHOWN) for part in (key, value, text))
    if not equals:
        return MiaiError(f"{text!r} is not an override; write key=value, such as alpha=0.1.")
    if not key or _BAD_KEY.search(key):
        return MiaiError(f"{text!r}: {key!r} is not a key; write key=value, such as alpha=0.1, without spaces.")
    if re.search(r"[\s='\"(){}\[\],:]", value):
        return MiaiError(f"{key}: {value!r} cannot be read; a text with signs in it needs quotes: \"{key}='…'\".")
    return MiaiError(f"{key}: {value!r} cannot be read.")
