"""One recorded game of Go, as plain numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from miai.errors import MiaiError
from miai.games.game import FIRST, PASS, SECOND
from miai.records.result import Result

BLACK = FIRST
WHITE = SECOND
MIN_SIZE = 2
MAX_SIZE = 19


class RecordError(MiaiError):
    """A record that cannot be read: damaged, not Go, or beyond what Miai plays."""


@dataclass(frozen=True)
class GameRecord:
    """A game of Go on record. Moves and points are flat indices, row-major from the top left; a pass is `PASS`.

    Legality is not checked here: `miai.games.go` is the judge of that when the game is replayed.

    Attributes:
        size: rows, and columns, of the board, 2 to 19.
        komi: points for white; `None` if the record states none, or none that can be meant.
        handicap: what HA says, 0 if nothing. The stones themselves are in `setup`, or are black's first moves.
        setup: (black's points, white's points) on the board before the first move, each ascending.
        to_play: who is to play first, +1 black or −1 white.
        moves: (colour, move) in order. A record may let one colour move twice running.
        result: how it ended.
        players, ranks: (black's, white's), empty where the record is silent.
        rules, date: as the record has them.
        source: where it was read, for people.
    """

    size: int
    komi: float | None = None
    handicap: int = 0
    setup: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    to_play: int = BLACK
    moves: tuple[tuple[int, int], ...] = ()
    result: Result = field(default_factory=Result)
    players: tuple[str, str] = ("", "")
    ranks: tuple[str, str] = ("", "")
    rules: str = ""
    date: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        if not MIN_SIZE <= self.size <= MAX_SIZE:
            raise RecordError(f"board size {self.size}: Miai plays Go on {MIN_SIZE} to {MAX_SIZE}.")
        if self.komi is not None and not math.isfinite(self.komi):
            raise ValueError(f"komi must be a finite number or None, got {self.komi!r}")
        if self.to_play not in (BLACK, WHITE):
            raise ValueError(f"to_play must be {BLACK} or {WHITE}, got {self.to_play!r}")
        points = self.size * self.size
        for colour, move in self.moves:
            if colour not in (BLACK, WHITE) or not (move == PASS or 0 <= move < points):
                raise ValueError(f"({colour!r}, {move!r}) is not a move on {self.size}×{self.size}")
        if self.moves and self.moves[0][0] != self.to_play:
            raise ValueError(f"to_play is {self.to_play}, and the first move is by {self.moves[0][0]}")
        black, white = self.setup
        if not all(0 <= point < points for point in (*black, *white)) or set(black) & set(white):
            raise ValueError(f"set-up stones must stand on distinct points below {points}, got {self.setup!r}")
