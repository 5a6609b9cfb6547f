"""Where a point is, and how it is written. Every convention of Go's coordinates is stated here, once.

| form | what it is | 9×9, top left | 9×9, bottom right | pass |
|---|---|---|---|---|
| flat index | `row · size + column`, row 0 at the **top** | 0 | 80 | `PASS` = −1 |
| GTP vertex | column letter from A on the left **without I**, row number from 1 at the **bottom** | A9 | J1 | `pass` |
| SGF point | column letter, then row letter, both from `a` at the **top left** | aa | ii | empty, or `tt` up to 19×19 |
| point | index into the compiled board's frame, `(row + 1) · STRIDE + column + 1` (`games.go.board`) | 22 | 198 | 0 |

Only the compiled kernels use points. Everything else in Miai uses flat indices.
"""

from __future__ import annotations

from miai.games.game import PASS

MIN_SIZE = 2
MAX_SIZE = 19

GTP_COLUMNS = "ABCDEFGHJKLMNOPQRST"
SGF_LETTERS = "abcdefghijklmnopqrs"


def check_size(size: int) -> int:
    """Return `size` if it is a board size that Miai plays; raise `ValueError` otherwise."""
    if isinstance(size, bool) or not isinstance(size, int) or not MIN_SIZE <= size <= MAX_SIZE:
        raise ValueError(f"board size must be a whole number from {MIN_SIZE} to {MAX_SIZE}, got {size!r}")
    return size


def check_flat(flat: int, size: int) -> int:
    """Return `flat` if it is a point of the board; raise `ValueError` otherwise (a pass is none)."""
    if not 0 <= flat < size * size:
        raise ValueError(f"point must be from 0 to {size * size - 1} on a board of {size}, got {flat!r}")
    return int(flat)


def to_gtp(move: int, size: int) -> str:
    """Return the GTP vertex of a flat index, or `pass`."""
    if move == PASS:
        return "pass"
    row, column = divmod(check_flat(move, size), size)
    return f"{GTP_COLUMNS[column]}{size - row}"


def from_gtp(text: str, size: int) -> int:
    """Return the flat index of a GTP vertex, in any case, or `PASS`.

    Raises:
        ValueError: not a vertex, or off the board.
    """
    word = text.strip().upper()
    if word == "PASS":
        return PASS
    letter, digits = word[:1], word[1:]
    allowed = f"allowed: A1 to {GTP_COLUMNS[size - 1]}{size} without the letter I, or pass"
    if not letter or letter not in GTP_COLUMNS or not (digits.isascii() and digits.isdigit() and len(digits) <= 2):
        raise ValueError(f"{text!r} is not a vertex; {allowed}")
    column, row = GTP_COLUMNS.index(letter), size - int(digits)
    if column >= size or not 0 <= row < size:
        raise ValueError(f"{text!r} is off the board; {allowed}")
    return row * size + column


def to_sgf(move: int, size: int) -> str:
    """Return the SGF point of a flat index; a pass is the empty text, as FF[4] has it."""
    if move == PASS:
        return ""
    row, column = divmod(check_flat(move, size), size)
    return SGF_LETTERS[column] + SGF_LETTERS[row]


def from_sgf(text: str, size: int) -> int:
    """Return the flat index of an SGF point; empty text, and `tt` (older files), are `PASS`.

    Raises:
        ValueError: not a point, or off the board.
    """
    if text in ("", "tt"):
        return PASS
    limit = SGF_LETTERS[size - 1]
    if len(text) != 2 or not all(letter in SGF_LETTERS[:size] for letter in text):
        raise ValueError(f"{text!r} is not a point; allowed: aa to {limit}{limit}, empty or tt for a pass")
    return SGF_LETTERS.index(text[1]) * size + SGF_LETTERS.index(text[0])
