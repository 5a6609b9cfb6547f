"""m,n,k-games once more, slowly and independently: boards are strings, values are fractions, the game is a recursion.

A board is a string of X, O and . for its cells, row-major. Everything that the arrays and sweeps of the package compute
is checked against this.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

Policy = Callable[[str], dict[int, Fraction]]
"""Probabilities of the moves of a board, by cell."""

OTHER = {"X": "O", "O": "X"}


class PlainMnk:
    def __init__(self, rows: int, cols: int, k: int) -> None:
        self.rows, self.cols, self.k = rows, cols, k
        self.start = "." * (rows * cols)
        self._results: dict[str, str | None] = {}

    def has_line(self, board: str, mark: str) -> bool:
        for row in range(self.rows):
            for col in range(self.cols):
                for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                    cells = [(row + down * i, col + right * i) for i in range(self.k)]
                    if all(r < self.rows and 0 <= c < self.cols and board[r * self.cols + c] == mark for r, c in cells):
                        return True
        return False

    def mover(self, board: str) -> str:
        return "X" if board.count("X") == board.count("O") else "O"

    def result(self, board: str) -> str | None:
        """X or O for the winner, = for a draw, None while the game goes on."""
        if board not in self._results:
            won = [mark for mark in "XO" if self.has_line(board, mark)]
            self._results[board] = won[0] if won else None if "." in board else "="
        return self._results[board]

    def moves(self, board: str) -> list[int]:
        return [] if self.result(board) else [cell for cell, mark in enumerate(board) if mark == "."]

    def play(self, board: str, cell: int) -> str:
        return board[:cell] + self.mover(board) + board[cell + 1 :]

    def boards(self) -> list[str]:
        """Every reachable board, the start first."""
        found = {self.start: None}
        waiting = [self.start]
        while waiting:
            board = waiting.pop()
            for cell in self.moves(board):
                child = self.play(board, cell)
                if child not in found:
                    found[child] = None
                    waiting.append(child)
        return list(found)

    def reward(self, board: str, seat: str) -> int:
        """What a final board is worth to a seat."""
        result = self.result(board)
        return 0 if result == "=" else 1 if result == seat else -1


def uniform(game: PlainMnk) -> Policy:
    def policy(board: str) -> dict[int, Fraction]:
        moves = game.moves(board)
        return {move: Fraction(1, len(moves)) for move in moves}

    return policy


def expected(game: PlainMnk, seat: str, own: Policy, replies: Policy, board: str, memo: dict) -> dict[str, Fraction]:
    """Probabilities of the results X, O and =, when `seat` plays `own` and the other `replies`."""
    if board not in memo:
        if game.result(board):
            memo[board] = {game.result(board): Fraction(1)}
        else:
            memo[board] = {}
            for move, probability in (own if game.mover(board) == seat else replies)(board).items():
                for result, share in expected(game, seat, own, replies, game.play(board, move), memo).items():
                    memo[board][result] = memo[board].get(result, Fraction(0)) + probability * share
    return memo[board]


def value(
    game: PlainMnk,
    seat: str,
    own: Policy | None,
    replies: Policy | None,
    board: str,
    memo: dict,
    gamma: Fraction = Fraction(1),
) -> Fraction:
    """What `seat` expects from `board`, discounted by `gamma` from one of its turns to the next.

    `own` None is the best choice, `replies` None the worst answer.
    """
    if board not in memo:
        if game.result(board):
            memo[board] = Fraction(game.reward(board, seat))
        else:
            is_own = game.mover(board) == seat
            children = {move: game.play(board, move) for move in game.moves(board)}
            # A turn of the seat lies between: the values of its later turns count less.
            values = {
                move: value(game, seat, own, replies, child, memo, gamma)
                * (1 if is_own or game.result(child) else gamma)
                for move, child in children.items()
            }
            policy = own if is_own else replies
            if policy is not None:
                memo[board] = sum((p * values[move] for move, p in policy(board).items()), Fraction(0))
            else:
                memo[board] = max(values.values()) if is_own else min(values.values())
    return memo[board]


def as_array(board: str) -> np.ndarray:
    """The cells as the package writes them, int8."""
    return np.array([{"X": 1, "O": -1, ".": 0}[mark] for mark in board], np.int8)


def as_text(cells: np.ndarray) -> str:
    return "".join({1: "X", -1: "O", 0: "."}[int(cell)] for cell in cells)
