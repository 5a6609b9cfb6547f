"""m,n,k-games: players take turns to mark a cell; the first to own `k` cells in a row wins. Tic-tac-toe is 3,3,3.

A position is two sets of cells as bit masks (bit i is cell i, row-major). Every rule below is arithmetic on
masks that reads the same for one Python integer and for a NumPy array of them, so the rules are written
once and the graph of 4×4 with k = 3, of 6 million positions, is still enumerated in seconds.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple, TypeVar

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.errors import MiaiError
from miai.games.game import FIRST, SECOND
from miai.games.small.kind import SmallGame
from miai.kinds import STRICT

MAX_CELLS = 32
"""Two masks of 32 bits share a 64-bit key."""

Mask = TypeVar("Mask", int, np.ndarray)


class MnkPosition(NamedTuple):
    first: int
    """Cells of the first player, as a bit mask."""
    second: int


class MnkRules:
    """Rules of the m,n,k-game, as `games.game.Rules`.

    Raises:
        MiaiError: a size below 1, more than `MAX_CELLS` cells, or a line that fits nowhere.
    """

    def __init__(self, rows: int, cols: int, k: int, name: str = "mnk") -> None:
        if rows < 1 or cols < 1:
            raise MiaiError(f"game: rows and cols are 1 or more, not {rows} and {cols}.")
        if rows * cols > MAX_CELLS:
            raise MiaiError(f"game: {rows}×{cols} has {rows * cols} cells; at most {MAX_CELLS} are allowed.")
        if not 1 <= k <= max(rows, cols):
            raise MiaiError(f"game.k: a line of {k} does not fit on {rows}×{cols}; allowed: 1 to {max(rows, cols)}.")
        self.name = name
        self.shape = (rows, cols)
        self.k = k
        self.cells = rows * cols
        self.lines = _lines(rows, cols, k)
        """Every line of k cells: rows, then columns, then falling and rising diagonals."""
        self._line_masks = tuple(sum(1 << cell for cell in line) for line in self.lines)
        self._full = (1 << self.cells) - 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MnkRules) and (self.shape, self.k) == (other.shape, other.k)

    def __hash__(self) -> int:
        return hash((self.shape, self.k))

    # One position -----------------------------------------------------------------------------

    def initial(self) -> MnkPosition:
        return MnkPosition(0, 0)

    def to_play(self, position: MnkPosition) -> int:
        return FIRST if position.first.bit_count() == position.second.bit_count() else SECOND

    def legal_moves(self, position: MnkPosition) -> tuple[int, ...]:
        if self.outcome(position) is not None:
            return ()
        free = ~(position.first | position.second)
        return tuple(cell for cell in range(self.cells) if free >> cell & 1)

    def play(self, position: MnkPosition, move: int) -> MnkPosition:
        if self.to_play(position) == FIRST:
            return MnkPosition(position.first | 1 << move, position.second)
        return MnkPosition(position.first, position.second | 1 << move)

    def outcome(self, position: MnkPosition) -> int | None:
        # A win on the last free cell is a win, so lines come before the full board.
        if self._owns_line(position.first):
            return FIRST
        if self._owns_line(position.second):
            return SECOND
        return 0 if position.first | position.second == self._full else None

    def board(self, position: MnkPosition) -> np.ndarray:
        return self.bulk_boards(self.bulk_key(np.array([position.first]), np.array([position.second])))[0]

    def _owns_line(self, stones: Mask) -> Mask:
        owns = stones != stones  # False, in the shape of `stones`
        for mask in self._line_masks:
            owns |= stones & mask == mask
        return owns

    # Many positions at once: keys are uint64, first player's mask in the low half --------------------

    @staticmethod
    def bulk_key(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return first.astype(np.uint64) | second.astype(np.uint64) << np.uint64(32)

    @staticmethod
    def bulk_masks(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (keys & np.uint64(0xFFFFFFFF)).astype(np.int64), (keys >> np.uint64(32)).astype(np.int64)

    def bulk_initial(self) -> np.ndarray:
        return np.zeros(1, np.uint64)

    def bulk_outcome(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return `(final, outcome)` of positions: bool[n], int8[n] (0 where the game goes on)."""
        first, second = self.bulk_masks(keys)
        won, lost = self._owns_line(first), self._owns_line(second)
        return won | lost | (first | second == self._full), won.astype(np.int8) - lost.astype(np.int8)

    def bulk_children(self, keys: np.ndarray, to_play: int) -> tuple[np.ndarray, np.ndarray]:
        """Return `(legal, children)` of positions that go on: bool[n, cells], uint64[n, cells]."""
        first, second = self.bulk_masks(keys)
        cells = np.arange(self.cells, dtype=np.uint64)
        free = ~(first | second)
        legal = (free[:, None] >> cells.astype(np.int64) & 1).astype(bool)
        bits = np.uint64(1) << (cells if to_play == FIRST else cells + np.uint64(32))
        return legal, keys[:, None] | bits

    def bulk_boards(self, keys: np.ndarray) -> np.ndarray:
        """Return the cells of positions, int8[n, cells]."""
        first, second = self.bulk_masks(keys)
        boards = np.empty((len(keys), self.cells), np.int8)
        for cell in range(self.cells):
            boards[:, cell] = (first >> cell & 1) - (second >> cell & 1)
        return boards


def _lines(rows: int, cols: int, k: int) -> tuple[tuple[int, ...], ...]:
    lines: dict[tuple[int, ...], None] = {}
    for row_step, column_step in ((0, 1), (1, 0), (1, 1), (1, -1)):
        for row in range(rows):
            for column in range(cols):
                last_row, last_column = row + row_step * (k - 1), column + column_step * (k - 1)
                if last_row < rows and 0 <= last_column < cols:
                    cells = ((row + row_step * i) * cols + column + column_step * i for i in range(k))
                    lines[tuple(cells)] = None  # with k = 1 the four directions name the same cells
    return tuple(lines)


@dataclass(config=STRICT, kw_only=True)
class Mnk(SmallGame):
    """k in a row on rows × cols."""

    rows: Annotated[int, Field(ge=1)] = 3
    cols: Annotated[int, Field(ge=1)] = 3
    k: Annotated[int, Field(ge=1)] = 3

    def rules(self) -> MnkRules:
        return MnkRules(self.rows, self.cols, self.k)


KIND = Mnk
