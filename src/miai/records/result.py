"""How a recorded game ended: SGF's RE property, as text and as numbers."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum

from miai.games.game import FIRST, SECOND


class How(StrEnum):
    """What ended a game."""

    SCORE = "score"
    RESIGNATION = "resignation"
    TIME = "time"
    FORFEIT = "forfeit"
    """Lost by rule: an illegal move, a player who did not appear, an engine at fault."""
    WIN = "win"
    """Won, and the record does not say how."""
    DRAW = "draw"
    VOID = "void"
    UNKNOWN = "unknown"


_WORDS = {
    "": How.WIN,
    "R": How.RESIGNATION,
    "RESIGN": How.RESIGNATION,
    "RESIGNATION": How.RESIGNATION,
    "T": How.TIME,
    "TIME": How.TIME,
    "F": How.FORFEIT,
    "FORFEIT": How.FORFEIT,
}
_LETTERS = {How.RESIGNATION: "R", How.TIME: "T", How.FORFEIT: "F", How.WIN: ""}
_SIDES = {"B": FIRST, "BLACK": FIRST, "W": SECOND, "WHITE": SECOND}
_DRAWS = {"0", "DRAW", "JIGO"}
_WON = re.compile(r"(B|W|BLACK|WHITE)\s*\+\s*(.*)", re.DOTALL)
_MARGIN = re.compile(r"(\d{1,4}(?:[.,]\d{1,4})?|[.,]\d{1,4})\D*", re.ASCII)
"""A number, and perhaps a unit behind it, as in `W+3.5 points`."""


@dataclass(frozen=True)
class Result:
    """The end of a game.

    `winner` is +1 (black), −1 (white), 0 (a draw) or `None` (void, or not known); `margin` is in points, more than 0,
    and is there only for a counted win.
    """

    winner: int | None = None
    how: How = How.UNKNOWN
    margin: float | None = None

    def __post_init__(self) -> None:
        won = self.how in (How.SCORE, How.RESIGNATION, How.TIME, How.FORFEIT, How.WIN)
        if won != (self.winner in (FIRST, SECOND)) or (self.how is How.DRAW) != (self.winner == 0):
            raise ValueError(f"a game that ended by {self.how.value} cannot have the winner {self.winner!r}")
        if (self.how is How.SCORE) != (self.margin is not None):
            raise ValueError(
                f"a margin goes with a counted win, and only with that; got {self.how.value}, {self.margin!r}"
            )
        if self.margin is not None and not (math.isfinite(self.margin) and self.margin > 0):
            raise ValueError(f"margin must be more than 0, got {self.margin!r}")

    @classmethod
    def parse(cls, text: str) -> Result:
        """Read an RE value. Never raises: what cannot be understood is `UNKNOWN`.

        Understood are SGF's own forms (`B+3.5`, `W+R`, `B+Time`, `0`, `Draw`, `Void`, `?`) and what is met in the
        wild: lower case, spaces, `Jigo`, `Black+2`, a decimal comma, a unit behind the number.
        """
        plain = text.strip().upper()
        if plain in _DRAWS:
            return cls(0, How.DRAW)
        if plain == "VOID":
            return cls(None, How.VOID)
        won = _WON.fullmatch(plain)
        if not won:
            return cls()
        winner, rest = _SIDES[won[1]], won[2].strip().rstrip(".")
        if rest in _WORDS:
            return cls(winner, _WORDS[rest])
        number = _MARGIN.fullmatch(rest)
        if not number:
            return cls(winner, How.WIN)
        margin = float(number[1].replace(",", "."))
        return cls(winner, How.SCORE, margin) if margin > 0 else cls(0, How.DRAW)

    def __str__(self) -> str:
        """Return the RE value."""
        if self.how is How.DRAW:
            return "0"
        if self.how is How.VOID:
            return "Void"
        if self.how is How.UNKNOWN:
            return "?"
        side = "B" if self.winner == FIRST else "W"
        return f"{side}+{_LETTERS[self.how] if self.margin is None else format(self.margin, 'g')}"
