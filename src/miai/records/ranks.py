"""How strong a player is said to be, as records write it."""

from __future__ import annotations

import re
from typing import NamedTuple

_RANK = re.compile(r"(?P<number>\d{1,4})\s*(?P<unit>d|dan|k|kyu|gup|p|pro|dan pro)?\s*[?*]?", re.IGNORECASE)
_HIGHEST_DAN = 9


class Rank(NamedTuple):
    """A rank, to be compared with ranks on the same scale alone."""

    scale: str
    """`rank` (kyu, dan, professional dan), or `rating` (a number, such as of Elo)."""
    value: int
    """1 kyu is 0, 1 dan is 1, 9 dan is 9, 1 dan professional is 10."""


def parse_rank(text: str) -> Rank | None:
    """Read `5k`, `1d`, `9 dan`, `3p`, `2200`, with or without a question mark; `None` of anything else."""
    found = _RANK.fullmatch(text.strip())
    if found is None:
        return None
    number, unit = int(found["number"]), (found["unit"] or "").lower()
    if not unit:
        return Rank("rating", number)
    if unit[0] in "kg":
        return Rank("rank", 1 - number)
    return Rank("rank", number + (_HIGHEST_DAN if "p" in unit else 0))
