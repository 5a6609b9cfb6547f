"""What a network sees of a Go position: the planes of Silver et al. (2016), Extended Data Table 2.

Start reading at `PLANES`, then `encode`. All is seen from the side to move ("own"). A plane is the board with a 1 where
its name is true and 0 elsewhere. A number from 1 to 8 is eight planes, one for each value, the last for "8 or more":

| planes | feature | is set |
|---|---|---|
| 0–2 | stone colour | own stone, opponent's stone, empty |
| 3 | ones | everywhere |
| 4–11 | turns since | on stones: the last move's stone is 1 turn old, and so on, passes counted; set-up stones 8 |
| 12–19 | liberties | on stones: liberties of their chain |
| 20–27 | capture size | on legal moves: opponent's stones that the move takes; none of the eight where it takes none |
| 28–35 | self-atari size | on legal moves after which the mover's chain has one liberty: stones of that chain |
| 36–43 | liberties after move | on legal moves: liberties of the mover's chain after it |
| 44 | ladder capture | on moves that take a chain of two liberties in a ladder (`games.go.ladders`) |
| 45 | ladder escape | on moves that save a chain in atari, also from a ladder |
| 46 | sensibleness | on legal moves that do not fill an eye of the mover's own (`board.is_eye`) |
| 47 | zeros | nowhere |
| 48 | colour to play | everywhere if Black is to move |

Legal means: empty, not the ko point, no suicide. Superko is not looked at, as it needs the game's history. The paper
leaves open where its eight values begin; here 1 is the first for every feature, as it writes for liberties.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from miai.compiled import Index, kernel
from miai.games.go.board import (
    BLACK,
    CHAIN,
    COLOUR,
    EMPTY,
    POINTS,
    SHAPE,
    SIZE,
    is_eye,
    is_legal,
)
from miai.games.go.boards import Boards, size_of
from miai.games.go.compiled import inlined
from miai.games.go.coordinates import check_size
from miai.games.go.ladders import CAPTURE, ESCAPE, Reading, find_ladders, new_reading
from miai.games.go.liberty_sets import (
    LibertySets,
    collect_liberties,
    count_liberties,
    look_ahead,
    new_liberty_sets,
    words_of,
)
from miai.games.go.symmetry import NUM_SYMMETRIES, permutation

VALUES = 8
"""Planes of a number: 1, 2, … 7, and 8 or more."""


def _numbered(name: str) -> tuple[str, ...]:
    return (*(f"{name} {n}" for n in range(1, VALUES)), f"{name} {VALUES}+")


_ALL = (
    *("own stone", "opponent's stone", "empty", "ones"),
    *_numbered("turns since"),
    *_numbered("liberties"),
    *_numbered("capture size"),
    *_numbered("self-atari size"),
    *_numbered("liberties after move"),
    *("ladder capture", "ladder escape", "sensibleness", "zeros"),
    "colour to play",
)
VALUE_PLANES = 49
"""The value network's planes: those of the policy, and the colour to play."""
PLANES = {count: _ALL[:count] for count in (4, 12, 48, VALUE_PLANES)}
"""Names of the planes, in order, by how many there are: the sets of planes that a network may ask for."""

OWN, OPPONENT, VACANT, ONES = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
TURNS_SINCE, LIBERTIES, CAPTURE_SIZE = np.uint64(4), np.uint64(12), np.uint64(20)
SELF_ATARI_SIZE, LIBERTIES_AFTER = np.uint64(28), np.uint64(36)
LADDER_CAPTURE, LADDER_ESCAPE, SENSIBLE = np.uint64(44), np.uint64(45), np.uint64(46)
COLOUR_TO_PLAY = np.uint64(48)

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_LAST_VALUE = np.uint64(VALUES - 1)


class Scratch(NamedTuple):
    """What `encode` works with besides the position. One for each thread; `new_scratch` makes it."""

    size: int
    """Of the boards that it is for."""
    targets: np.ndarray
    """uint16[8, POINTS]: by symmetry, the flat index of the turned board that a point of the board goes to."""
    sets: LibertySets
    reading: Reading
    ladders: np.ndarray
    """uint8[POINTS], marks of `ladders.find_ladders`."""


@lru_cache
def _targets(size: int) -> np.ndarray:
    targets = np.zeros((NUM_SYMMETRIES, POINTS), np.uint16)
    frame = targets.reshape(NUM_SYMMETRIES, 21, 21)
    for k in range(NUM_SYMMETRIES):
        frame[k, 1 : size + 1, 1 : size + 1] = permutation(size, k).reshape(size, size)
    targets.flags.writeable = False
    return targets


def new_scratch(size: int) -> Scratch:
    """Return what `encode` needs for boards of that size. Raises `ValueError` if it is not one."""
    return Scratch(
        size=size,
        targets=_targets(check_size(size)),
        sets=new_liberty_sets(size),
        reading=new_reading(),
        ladders=np.zeros(POINTS, np.uint8),
    )


@kernel
def encode(boards: Boards, i: Index, num_planes: Index, symmetry: Index, out: np.ndarray, scratch: Scratch) -> None:
    """Write the planes of position i, turned by a symmetry.

    Args:
        boards: the positions, read only.
        num_planes: a key of `PLANES`.
        symmetry: 0 to 7, as `games.go.symmetry` numbers them.
        out: float32[P, N²], P at least `num_planes`; modified in place.
        scratch: of the boards' size; modified in place.
    """
    cells = boards.cells[i]
    size = np.int64(cells[SIZE])
    own = np.uint64(boards.to_play[i])
    now = np.int64(boards.ply[i])
    for p in range(num_planes):
        for q in range(size * size):
            out[p, q] = 0.0
    for row in range(1, size + 1):
        for column in range(1, size + 1):
            v = np.uint64(row * 21 + column)
            t = np.uint64(scratch.targets[symmetry, v])
            out[ONES, t] = 1.0
            found = np.uint64(cells[COLOUR + v])
            if found == EMPTY:
                out[VACANT, t] = 1.0
                continue
            out[OWN if found == own else OPPONENT, t] = 1.0
            if num_planes > TURNS_SINCE:
                _set_value(out, TURNS_SINCE, np.uint64(now - np.int64(boards.placed[i, v])), t)
    if num_planes > LIBERTIES:
        _encode_tactics(cells, boards.liberties[i], own, symmetry, out, scratch)
    if num_planes > COLOUR_TO_PLAY and own == BLACK:
        for q in range(size * size):
            out[COLOUR_TO_PLAY, q] = 1.0


@inlined
def _set_value(out: np.ndarray, first: np.uint64, value: np.uint64, t: np.uint64) -> None:
    """Set the plane of a value from 1 at point t; `first` is the plane of 1."""
    out[first + min(value - _ONE, _LAST_VALUE), t] = 1.0


@kernel
def _encode_tactics(
    cells: np.ndarray, liberties: np.ndarray, own: np.uint64, symmetry: Index, out: np.ndarray, scratch: Scratch
) -> None:
    """Write the planes from `LIBERTIES` to `SENSIBLE`; `out` and `scratch` are modified in place."""
    size, words = np.int64(cells[SIZE]), words_of(cells)
    sets, ladders = scratch.sets, scratch.ladders
    collect_liberties(cells, sets)
    find_ladders(cells, liberties, own, scratch.reading, ladders)
    for row in range(1, size + 1):
        for column in range(1, size + 1):
            v = np.uint64(row * 21 + column)
            t = np.uint64(scratch.targets[symmetry, v])
            if cells[COLOUR + v] != EMPTY:
                _set_value(out, LIBERTIES, count_liberties(sets, np.uint64(cells[CHAIN + v]), words), t)
            elif is_legal(cells, liberties, v, own, False):
                captured, stones, left = look_ahead(cells, liberties, sets, v, own)
                _set_value(out, LIBERTIES_AFTER, left, t)
                if captured != _ZERO:
                    _set_value(out, CAPTURE_SIZE, captured, t)
                if left == _ONE:
                    _set_value(out, SELF_ATARI_SIZE, stones, t)
                if ladders[v] & CAPTURE:
                    out[LADDER_CAPTURE, t] = 1.0
                if ladders[v] & ESCAPE:
                    out[LADDER_ESCAPE, t] = 1.0
                if not is_eye(np.uint64(cells[SHAPE + v]), own):
                    out[SENSIBLE, t] = 1.0


@kernel
def _encode_all(
    boards: Boards, count: Index, num_planes: Index, symmetries: np.ndarray, out: np.ndarray, scratch: Scratch
) -> None:
    for i in range(count):
        encode(boards, i, num_planes, np.int64(symmetries[i]), out[i], scratch)


@kernel
def mark_legal(boards: Boards, i: Index, symmetry: Index, legal: np.ndarray, scratch: Scratch) -> None:
    """Write which points of position i may be played, turned by a symmetry: bool[N²] `legal`, modified in place."""
    cells, liberties = boards.cells[i], boards.liberties[i]
    size = np.int64(cells[SIZE])
    own = np.uint64(boards.to_play[i])
    for row in range(1, size + 1):
        for column in range(1, size + 1):
            v = np.uint64(row * 21 + column)
            legal[np.uint64(scratch.targets[symmetry, v])] = is_legal(cells, liberties, v, own, False)


def check_planes(num_planes: int) -> int:
    """Return `num_planes` if there is such a set of planes; raise `ValueError` otherwise."""
    if num_planes not in PLANES:
        raise ValueError(f"num_planes must be one of {', '.join(map(str, PLANES))}, got {num_planes!r}")
    return num_planes


def check_symmetries(symmetries: np.ndarray, count: int) -> None:
    """Raise `ValueError` unless `symmetries` has at least `count` numbers from 0 to 7."""
    if symmetries.ndim != 1 or len(symmetries) < count:
        raise ValueError(f"symmetries must be an array of at least {count}, got shape {symmetries.shape}")
    wrong = (symmetries[:count] < 0) | (symmetries[:count] >= NUM_SYMMETRIES)
    if wrong.any():
        raise ValueError(f"a symmetry must be from 0 to {NUM_SYMMETRIES - 1}, got {symmetries[:count][wrong][0]}")


def scratch_for(size: int, scratch: Scratch | None) -> Scratch:
    """Return `scratch`, or new room if it is `None`; raise `ValueError` if it is for boards of another size."""
    if scratch is None:
        return new_scratch(size)
    if scratch.size != size:
        raise ValueError(f"the scratch is for boards of size {scratch.size}, the boards are of size {size}")
    return scratch


def flat_planes(out: np.ndarray, count: int, num_planes: int, size: int) -> np.ndarray:
    """Return float32[B, P, N, N] `out` as [B, P, N²], the same memory, as kernels want it.

    Raises:
        ValueError: it is of another type or shape, holds fewer than `count` positions, or is not contiguous.
    """
    shape = (num_planes, size, size)
    if out.dtype != np.float32 or out.ndim != 4 or out.shape[1:] != shape or len(out) < count:
        raise ValueError(f"out must be float32[{count} or more, {num_planes}, {size}, {size}], got {_kind(out)}")
    if not out.flags.c_contiguous or not out.flags.writeable:
        raise ValueError("out must be contiguous and writable")
    return out.reshape(len(out), num_planes, size * size)


def flat_legal(legal: np.ndarray, count: int, size: int) -> np.ndarray:
    """Return bool or uint8[B, N²] `legal` as bool, the same memory. Raises `ValueError` as `flat_planes` does."""
    if (
        legal.dtype not in (np.bool_, np.uint8)
        or legal.ndim != 2
        or legal.shape[1] != size * size
        or len(legal) < count
    ):
        raise ValueError(f"legal must be bool or uint8[{count} or more, {size * size}], got {_kind(legal)}")
    if not legal.flags.c_contiguous or not legal.flags.writeable:
        raise ValueError("legal must be contiguous and writable")
    return legal.view(np.bool_)


def _kind(array: np.ndarray) -> str:
    return f"{array.dtype}{list(array.shape)}"


def encode_boards(
    boards: Boards,
    count: int,
    num_planes: int,
    symmetries: np.ndarray,
    out: np.ndarray,
    legal: np.ndarray | None = None,
    scratch: Scratch | None = None,
) -> None:
    """Write the planes of the first `count` positions, each turned by its symmetry, from the mover's side.

    Args:
        num_planes: 4, 12, 48 or 49, see `PLANES`.
        symmetries: uint8[count or more], 0 to 7 (`games.go.symmetry`).
        out: float32[B, P, N, N], contiguous, B at least `count`; modified in place.
        legal: bool or uint8[B, N²]: which points of the turned board may be played; modified in place if given.
        scratch: of `new_scratch`, to spare making it at each call; one thread at a time may use it.

    Raises:
        ValueError: an argument is not as it should be.
    """
    size = size_of(boards)
    check_planes(num_planes)
    if not 0 <= count <= len(boards.ply):
        raise ValueError(f"count must be from 0 to {len(boards.ply)}, got {count!r}")
    check_symmetries(symmetries, count)
    planes = flat_planes(out, count, num_planes, size)
    mask = None if legal is None else flat_legal(legal, count, size)
    scratch = scratch_for(size, scratch)
    turns = np.ascontiguousarray(symmetries, np.uint8)
    _encode_all(boards, count, num_planes, turns, planes, scratch)
    if mask is not None:
        _mark_all(boards, count, turns, mask, scratch)


@kernel
def _mark_all(boards: Boards, count: Index, symmetries: np.ndarray, legal: np.ndarray, scratch: Scratch) -> None:
    for i in range(count):
        mark_legal(boards, i, np.int64(symmetries[i]), legal[i], scratch)
