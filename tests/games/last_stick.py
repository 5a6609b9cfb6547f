"""A game without lines, as small as a game can be: take one stick or two; who takes the last one wins.

Whoever faces a multiple of three sticks loses against perfect play.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from miai.games.game import FIRST


@dataclass(frozen=True)
class Sticks:
    left: int
    turn: int


class LastStick:
    """`games.game.Rules`. Move 0 takes one stick, move 1 takes two."""

    name = "last_stick"

    def __init__(self, sticks: int) -> None:
        self.sticks = sticks
        self.shape = (1, sticks + 1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LastStick) and self.sticks == other.sticks

    __hash__ = None

    def initial(self) -> Sticks:
        return Sticks(self.sticks, FIRST)

    def to_play(self, position: Sticks) -> int:
        return position.turn

    def legal_moves(self, position: Sticks) -> tuple[int, ...]:
        return tuple(range(min(2, position.left)))

    def play(self, position: Sticks, move: int) -> Sticks:
        return Sticks(position.left - move - 1, -position.turn)

    def outcome(self, position: Sticks) -> int | None:
        return None if position.left else -position.turn

    def board(self, position: Sticks) -> np.ndarray:
        """The number of sticks that are left, as the place of the mark of whose turn it is."""
        board = np.zeros(self.sticks + 1, np.int8)
        board[position.left] = position.turn
        return board
