"""The two faces of a game: its rules, and a game in progress.

`Rules` are pure functions on immutable positions. They are what a small game is written as, once, and what
`games.graph` enumerates. `Game` is a game being played: mutable, with its history, able to undo. It is all that
players, the arena, the terminal and GTP ever see, so that tic-tac-toe and Go meet there.

Signs, for both: `to_play` is +1 for the first player and −1 for the second; an outcome is +1 if the first player
won, −1 if the second did, 0 for a draw.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

FIRST = 1
SECOND = -1
PASS = -1
"""The move of a player who passes, in games that have it. Every other move is a flat index, 0 or more."""
RESIGN = -2
"""What a player answers instead of a move when it gives the game up. `Game.play` does not take it."""

Position = TypeVar("Position", bound=Hashable)


class Rules(Protocol[Position]):
    """A game of two players who take turns, without chance or hidden information. Positions are hashable and fixed.

    The players alternate strictly: `to_play` of `play(position, move)` is the other player, always. Rules are equal
    (`==`) if they are the same game: a saved table is refused by any other.
    """

    name: str
    shape: tuple[int, int]
    """Rows and columns of the board."""

    def initial(self) -> Position:
        """Return the position before the first move."""
        ...

    def to_play(self, position: Position) -> int:
        """Return whose turn it is, +1 or −1 (also defined for a final position)."""
        ...

    def legal_moves(self, position: Position) -> tuple[int, ...]:
        """Return the legal moves in ascending order; none if the position is final."""
        ...

    def play(self, position: Position, move: int) -> Position:
        """Return the position after a legal move. The move is trusted."""
        ...

    def outcome(self, position: Position) -> int | None:
        """Return +1, −1 or 0 for a final position, `None` while the game goes on."""
        ...

    def board(self, position: Position) -> np.ndarray:
        """Return the cells, int8[rows · columns], row-major: +1 first player, −1 second, 0 empty.

        No two positions have the same cells: saved tables name a position by them.
        """
        ...


@runtime_checkable
class Game(Protocol):
    """A game in progress, with its history."""

    name: str

    @property
    def to_play(self) -> int: ...

    @property
    def moves(self) -> tuple[int, ...]:
        """The moves so far, oldest first."""
        ...

    @property
    def is_over(self) -> bool: ...

    def outcome(self) -> int | None:
        """Return +1, −1 or 0 once the game is over, `None` before."""
        ...

    def legal_moves(self) -> tuple[int, ...]: ...

    def is_legal(self, move: int) -> bool: ...

    def play(self, move: int) -> None:
        """Play a move. Raises `ValueError`, and changes nothing, if it is illegal or the game is over."""
        ...

    def undo(self) -> None:
        """Take the last move back. Raises `ValueError` if there is none."""
        ...

    def copy(self) -> Game: ...

    def move_name(self, move: int) -> str:
        """Return the move as people write it in this game."""
        ...

    def parse_move(self, text: str) -> int:
        """Return the move that a person wrote. Raises `ValueError`, with what is allowed, if it is none."""
        ...

    def render(self) -> str:
        """Return the board as text, several lines."""
        ...


class RulesGame(Generic[Position]):
    """A `Game` made of any `Rules`: the history is a list of positions."""

    def __init__(self, rules: Rules[Position]) -> None:
        self.rules = rules
        self.name = rules.name
        self._positions = [rules.initial()]
        self._moves: list[int] = []

    @property
    def position(self) -> Position:
        return self._positions[-1]

    @property
    def to_play(self) -> int:
        return self.rules.to_play(self.position)

    @property
    def moves(self) -> tuple[int, ...]:
        return tuple(self._moves)

    @property
    def is_over(self) -> bool:
        return self.outcome() is not None

    def outcome(self) -> int | None:
        return self.rules.outcome(self.position)

    def legal_moves(self) -> tuple[int, ...]:
        return self.rules.legal_moves(self.position)

    def is_legal(self, move: int) -> bool:
        return move in self.legal_moves()

    def play(self, move: int) -> None:
        if not self.is_legal(move):
            raise ValueError(f"illegal move {move!r}; legal: {self.legal_moves()}")
        self._positions.append(self.rules.play(self.position, move))
        self._moves.append(move)

    def undo(self) -> None:
        if not self._moves:
            raise ValueError("there is no move to take back")
        self._positions.pop()
        self._moves.pop()

    def copy(self) -> RulesGame[Position]:
        other = RulesGame(self.rules)
        other._positions = list(self._positions)
        other._moves = list(self._moves)
        return other

    def move_name(self, move: int) -> str:
        row, column = divmod(move, self.rules.shape[1])
        return f"{row},{column}"

    def parse_move(self, text: str) -> int:
        rows, columns = self.rules.shape
        allowed = f"a cell as row,column, from 0,0 to {rows - 1},{columns - 1}"
        parts = text.replace(",", " ").replace("(", " ").replace(")", " ").split()
        if len(parts) != 2 or not all(part.isascii() and part.isdigit() for part in parts):
            raise ValueError(f"{text!r} is not a move; allowed: {allowed}")
        row, column = (int(part) for part in parts)
        if row >= rows or column >= columns:
            raise ValueError(f"{text!r} is off the board; allowed: {allowed}")
        return row * columns + column

    def render(self) -> str:
        marks = {0: ".", FIRST: "X", SECOND: "O"}
        rows, columns = self.rules.shape
        cells = self.rules.board(self.position).reshape(rows, columns)
        header = "  " + " ".join(str(column) for column in range(columns))
        lines = [f"{row} " + " ".join(marks[int(cell)] for cell in cells[row]) for row in range(rows)]
        return "\n".join([header, *lines])
