"""Boards as text, both ways: drawn for people, and read from diagrams."""

from __future__ import annotations

import numpy as np

from miai.games.go.coordinates import GTP_COLUMNS, check_size
from miai.games.go.handicap import fixed_handicap, max_fixed_handicap

ASCII = {1: "X", -1: "O", 0: ".", "star": "+"}
UNICODE = {1: "●", -1: "○", 0: "·", "star": "┼"}


def render(board: np.ndarray, last_move: int | None = None, *, unicode: bool = False) -> str:
    """Draw a board with its coordinates; black is X (or ●), white is O (or ○), the last move stands in brackets.

    Args:
        board: int8[N, N], +1 black, −1 white, 0 empty, row 0 at the top.
        last_move: a flat index; `PASS` and `None` mark nothing.
    """
    size = check_size(len(board))
    marks = UNICODE if unicode else ASCII
    stars = fixed_handicap(size, max_fixed_handicap(size)) if max_fixed_handicap(size) else ()
    letters = "   " + " ".join(GTP_COLUMNS[:size])
    lines = [letters]
    for row in range(size):
        line = f"{size - row:2d}"
        for column in range(size):
            flat = row * size + column
            stone = int(board[row, column])
            mark = marks["star"] if stone == 0 and flat in stars else marks[stone]
            before = "(" if flat == last_move else ")" if column and flat - 1 == last_move else " "
            line += before + mark
        line += ")" if last_move is not None and last_move == row * size + size - 1 else " "
        lines.append(f"{line}{size - row}")
    lines.append(letters)
    return "\n".join(lines)


def read_diagram(diagram: str) -> np.ndarray:
    """Read a square diagram of `X` (black), `O` (white) and `.` or `+` (empty); blanks between the marks do not matter.

    Returns:
        int8[N, N], row 0 at the top.

    Raises:
        ValueError: another mark, or not a square of a size that Miai plays.
    """
    values = {"X": 1, "O": -1, ".": 0, "+": 0, "●": 1, "○": -1, "·": 0, "┼": 0}
    rows = [line.replace(" ", "") for line in diagram.strip().splitlines()]
    size = check_size(len(rows))
    for line in rows:
        if len(line) != size or any(mark not in values for mark in line):
            raise ValueError(f"line {line!r} of a diagram: want {size} marks of X O . +")
    return np.array([[values[mark] for mark in line] for line in rows], np.int8)
