"""Time control: what is left on the clock, turned into seconds for one move (GTP version 2, section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass, field

from miai.gtp.protocol import BLACK, WHITE

RESERVE = 0.5
"""Seconds that are never planned: answers take time on their way."""
LEAST = 0.02
"""Even with nothing left, something has to be thought."""
OVERTIME_SHARE = 0.85
"""How much of an overtime period a move may use."""
FEWEST_MOVES_LEFT = 10


@dataclass
class _Side:
    main: float
    stones: int = 0
    """0 in main time; in overtime, the moves that have to be made in `main` seconds."""


@dataclass
class Clock:
    """The clocks of both sides; without settings there is no limit."""

    main_time: float = 0.0
    overtime: float = 0.0
    overtime_stones: int = 0
    limited: bool = False
    _sides: dict[int, _Side] = field(default_factory=dict)

    def set(self, main_time: float, overtime: float, stones: int) -> None:
        """Start both clocks: main time and Canadian overtime, `stones` moves in each `overtime` seconds.

        The standard's special case: an overtime without stones means that there is no limit at all.
        """
        self.main_time, self.overtime, self.overtime_stones = main_time, overtime, stones
        self.limited = not (overtime > 0 and stones == 0)
        self.restart()

    def restart(self) -> None:
        """Wind both clocks up again, for a new game."""
        start = _Side(self.main_time) if self.main_time > 0 or not self.overtime_stones else None
        self._sides = {
            colour: _Side(start.main) if start else _Side(self.overtime, self.overtime_stones)
            for colour in (BLACK, WHITE)
        }

    def left(self, colour: int, seconds: float, stones: int) -> None:
        """The controller says what is left; `stones` is 0 in main time."""
        self.limited = True
        self._sides[colour] = _Side(seconds, stones)

    def spend(self, colour: int, seconds: float) -> None:
        """A move of `colour` took so long; the controller may still correct that by `left`."""
        if not self.limited:
            return
        side = self._sides.get(colour)
        if side is None:
            return
        side.main -= seconds
        if side.stones:
            side.stones -= 1
            if side.stones == 0:
                side.main, side.stones = self.overtime, self.overtime_stones
        elif side.main <= 0 and self.overtime_stones:
            side.main, side.stones = self.overtime, self.overtime_stones

    def seconds_for_move(self, colour: int, num_moves: int, points: int) -> float | None:
        """Return how long the next move of `colour` may take, or `None` if there is no limit.

        In main time, an equal share of what is left, for the moves that are likely still to come: a game takes about
        as many moves as the board has points, of which each side makes half.

        Args:
            num_moves: moves of both sides so far.
            points: of the board.
        """
        side = self._sides.get(colour)
        if not self.limited or side is None:
            return None
        if side.stones:
            return max(LEAST, min(OVERTIME_SHARE * side.main, side.main - RESERVE) / side.stones)
        moves_left = max(FEWEST_MOVES_LEFT, (points - num_moves) // 2)
        share = (side.main - RESERVE) / moves_left
        if self.overtime_stones:
            share = max(share, OVERTIME_SHARE * self.overtime / self.overtime_stones)
        return max(LEAST, share)
