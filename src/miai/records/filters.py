"""Which games of a collection are wanted, and why others are not."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic.dataclasses import dataclass

from miai.kinds import STRICT
from miai.records.game_set import MAX_MOVES, alternates
from miai.records.ranks import parse_rank
from miai.records.record import WHITE, GameRecord


class Reason(StrEnum):
    """Why a game is left out; of several reasons, the first of this list."""

    DAMAGED = "damaged"
    """The file cannot be read."""
    FAULT = "fault"
    """A player broke the rules, or broke down."""
    BOARD_SIZE = "board_size"
    NOT_ALTERNATING = "not_alternating"
    """A colour moves twice running, as in free handicap placements and in diagrams."""
    HANDICAP = "handicap"
    SETUP = "setup"
    RANK = "rank"
    RESULT = "result"
    KOMI = "komi"
    TOO_SHORT = "too_short"
    TOO_LONG = "too_long"
    ILLEGAL = "illegal"
    DUPLICATE = "duplicate"
    """The same moves as an earlier game's, up to symmetry."""
    BEGINNING = "beginning"
    """The beginning of a longer game, up to symmetry."""


ResultName = Literal["score", "draw", "resignation", "time", "forfeit", "win", "void", "unknown"]
"""See `records.result.How`."""


@dataclass(config=STRICT, kw_only=True)
class Filters:
    """What a game must be to be wanted. The defaults take every even game."""

    min_moves: Annotated[int, Field(ge=0)] = 1
    """Passes included."""
    max_moves: Annotated[int, Field(ge=1, le=MAX_MOVES)] | None = None
    min_rank: str | int | None = None
    """Of both players, such as `1d`, or a rating such as 2000; a rank that is not known is not enough."""
    max_handicap: Annotated[int, Field(ge=0)] = 0
    setup: bool = False
    """Take games that begin from stones other than a handicap's."""
    results: tuple[ResultName, ...] | None = None
    """How a game may have ended; `None` is in any way."""
    komi: tuple[float, ...] | None = None
    """What komi may have been; `None` is any, and none."""

    @field_validator("results", "komi", mode="before")
    @classmethod
    def _as_tuple(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("min_rank")
    @classmethod
    def _is_a_rank(cls, value: str | int | None) -> str | int | None:
        if value is not None and parse_rank(str(value)) is None:
            raise ValueError("a rank such as 5k, 1d, 3p, or a rating such as 2000 is needed")
        return value

    def refusal(self, record: GameRecord, size: int, row: Mapping[str, str] | None = None) -> tuple[Reason, str] | None:
        """Say why a game is not wanted, with the particular, or return `None`.

        Args:
            size: of the board.
            row: what an index says of the game; the ranks there stand in for those that the record lacks.
        """
        if record.size != size:
            return Reason.BOARD_SIZE, f"{record.size}"
        if not alternates(record):
            return Reason.NOT_ALTERNATING, ""
        black, white = record.setup
        handicap = record.handicap if record.handicap >= 2 else 0
        if handicap > self.max_handicap:
            return Reason.HANDICAP, f"{handicap}"
        is_placed = handicap == len(black) and not white and record.to_play == WHITE
        if (black or white) and not is_placed and not self.setup:
            return Reason.SETUP, f"{len(black)} black, {len(white)} white"
        if self.min_rank is not None:
            ranks = [own or (row or {}).get(name, "") for own, name in zip(record.ranks, _RANK_COLUMNS, strict=True)]
            if not all(self._is_strong(rank) for rank in ranks):
                return Reason.RANK, " ".join(rank or "?" for rank in ranks)
        if self.results is not None and record.result.how.value not in self.results:
            return Reason.RESULT, str(record.result)
        if self.komi is not None and record.komi not in self.komi:
            return Reason.KOMI, "?" if record.komi is None else f"{record.komi:g}"
        if len(record.moves) < self.min_moves:
            return Reason.TOO_SHORT, f"{len(record.moves)} moves"
        if len(record.moves) > (MAX_MOVES if self.max_moves is None else self.max_moves):
            return Reason.TOO_LONG, f"{len(record.moves)} moves"
        return None

    def _is_strong(self, text: str) -> bool:
        rank, least = parse_rank(text), parse_rank(str(self.min_rank))
        return rank is not None and least is not None and rank.scale == least.scale and rank.value >= least.value


_RANK_COLUMNS = ("black_rank", "white_rank")
