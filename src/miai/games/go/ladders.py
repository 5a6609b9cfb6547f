"""Ladders: whether a chain can be chased to its end by one atari after the other.

Start reading at `find_ladders`, then `_is_captured`, which reads one ladder.

**What is read.** An attacker chases one chain, the target. In turn,

- the attacker, when the target has two liberties, plays on one of them, and so puts it into atari;
- the target's side plays on its last liberty, or captures a chain of the attacker that touches the target and is in
  atari. Nothing else is tried.

The target has *escaped* as soon as it has three liberties after its side's move, and where the attacker has no atari
left that works. It is *captured* where its side has no move, or has one liberty left after its move. Both sides try all
their moves, so a ladder is captured only if every defence fails. Simple ko and suicide are respected (ko never saves a
chain from being taken off its last liberty: the stone that took is then part of the chain); superko is not looked at.

A reading gives up after `MAX_MOVES` moves in all, or with more than `MAX_CHOICES` choices open. What is not shown to be
captured counts as escaped.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from miai.compiled import Index, kernel
from miai.games.go.board import (
    BOTH,
    CELLS,
    CHAIN,
    COLOUR,
    EMPTY,
    KO,
    NEXT,
    POINTS,
    SHAPE,
    SIZE,
    STRIDE,
    copy_board,
    empty_neighbours,
    in_atari,
    is_legal,
    last_liberty,
    play,
    unit,
)
from miai.games.go.compiled import inlined

MAX_MOVES = 2000
"""Moves of one reading, all lines together. The longest ladder on 19×19 takes some 70, where no choice is open."""
MAX_CHOICES = 64
"""How many nodes of one line may have another move left to try."""
MAX_OPTIONS = 16
"""How many moves a side may have at a node."""

CAPTURE, ESCAPE = np.uint8(1), np.uint8(2)
"""Marks of `find_ladders`."""

NOWHERE = np.uint64(0)
_ZERO, _ONE = np.uint64(0), np.uint64(1)


class Reading(NamedTuple):
    """Room to read in, for C open choices. One for each thread."""

    cells: np.ndarray
    """uint16[C + 1, CELLS]: a board for each open choice, and the one that is being played on."""
    liberties: np.ndarray
    """uint64[C + 1, POINTS]."""
    options: np.ndarray
    """uint16[C + 2, MAX_OPTIONS]: the moves that a node tries; the last row, those of whoever asks."""
    left: np.ndarray
    """int64[C + 1]: how many of them are still to be tried."""
    movers: np.ndarray
    """uint64[C + 1]: whose moves they are."""
    max_moves: int


def new_reading(max_moves: int = MAX_MOVES, max_choices: int = MAX_CHOICES) -> Reading:
    """Return room to read ladders in, on boards of any size.

    Raises:
        ValueError: not even one move may be read, or `max_choices` is negative.
    """
    if max_moves < 1 or max_choices < 0:
        raise ValueError(f"max_moves must be from 1 and max_choices from 0, got {max_moves!r} and {max_choices!r}")
    return Reading(
        cells=np.zeros((max_choices + 1, CELLS), np.uint16),
        liberties=np.zeros((max_choices + 1, POINTS), np.uint64),
        options=np.zeros((max_choices + 2, MAX_OPTIONS), np.uint16),
        left=np.zeros(max_choices + 1, np.int64),
        movers=np.zeros(max_choices + 1, np.uint64),
        max_moves=max_moves,
    )


@kernel
def find_ladders(
    cells: np.ndarray, liberties: np.ndarray, colour: np.uint64, reading: Reading, marks: np.ndarray
) -> None:
    """Mark the moves of `colour` that capture or escape in a ladder.

    A *ladder capture* is a legal move on one of the two liberties of an opponent's chain, after which that chain is
    captured. A *ladder escape* is a legal move of a side with a chain in atari, on that chain's last liberty or
    capturing a chain that touches it, after which the chain has escaped.

    Args:
        cells, liberties: the board, read only.
        reading: modified in place.
        marks: uint8[POINTS], the result: `CAPTURE`, `ESCAPE`, both added, or 0; modified in place.
    """
    size = np.int64(cells[SIZE])
    for i in range(POINTS):
        marks[i] = 0
    for row in range(1, size + 1):
        for column in range(1, size + 1):
            v = np.uint64(row * 21 + column)
            found = np.uint64(cells[COLOUR + v])
            if cells[CHAIN + v] != v or found == EMPTY:
                continue
            chased = in_atari(liberties[v])
            if found == colour:
                if chased:
                    _mark_escapes(cells, liberties, v, colour, reading, marks)
            elif not chased:
                _mark_captures(cells, liberties, v, colour, reading, marks)


@kernel
def _mark_captures(
    cells: np.ndarray, liberties: np.ndarray, chain: np.uint64, colour: np.uint64, reading: Reading, marks: np.ndarray
) -> None:
    a = _find_liberty(cells, chain)
    b = _only_other(cells, liberties, chain, a)
    if b == NOWHERE:
        return
    for _ in range(2):
        if marks[a] & CAPTURE == 0 and _is_worth_trying(cells, liberties, a, b, colour):
            copy_board(cells, liberties, reading.cells[0], reading.liberties[0])
            if _is_captured(reading, chain, colour, colour, a):
                marks[a] |= CAPTURE
        a, b = b, a


@kernel
def _mark_escapes(
    cells: np.ndarray, liberties: np.ndarray, chain: np.uint64, colour: np.uint64, reading: Reading, marks: np.ndarray
) -> None:
    options = reading.options[len(reading.left)]
    count = _find_defences(cells, liberties, chain, options)
    for k in range(count):
        v = np.uint64(options[k])
        if marks[v] & ESCAPE == 0:
            copy_board(cells, liberties, reading.cells[0], reading.liberties[0])
            if not _is_captured(reading, chain, BOTH - colour, colour, v):
                marks[v] |= ESCAPE


@kernel
def _is_captured(reading: Reading, target: np.uint64, attacker: np.uint64, mover: np.uint64, v: np.uint64) -> bool:
    """Read on from the mover's move v on board 0; tell whether the chain of the stone at `target` is captured.

    A depth-first search without recursion. A node with one move left to try is played on in place: its value is that
    of the move. Only a node with more of them keeps its board, at its level, and the search goes on a level up.
    """
    level = 0
    for _ in range(reading.max_moves):
        cells, liberties = reading.cells[level], reading.liberties[level]
        play(cells, liberties, v, mover)
        chain = np.uint64(cells[CHAIN + target])
        options = reading.options[level]
        decided, captured = False, False
        count = 0
        if mover == attacker:
            count = _find_defences(cells, liberties, chain, options)
            if count == 0:
                decided, captured = True, True
        elif in_atari(liberties[chain]):
            decided, captured = True, True
        else:
            count = _find_attacks(cells, liberties, chain, attacker, options)
            decided = count == 0
        if decided:
            # Back to the last node whose side hoped for another result, and has a move left.
            while level > 0 and (reading.movers[level - 1] == attacker) == captured:
                level -= 1
            if level == 0:
                return captured
            level -= 1
            count, mover = reading.left[level], reading.movers[level]
        else:
            mover = BOTH - mover
        # The last of the options is played in place, any other on a copy.
        count -= 1
        v = np.uint64(reading.options[level, count])
        if count > 0:
            if level == len(reading.left) - 1:
                return False
            reading.left[level], reading.movers[level] = count, mover
            copy_board(
                *(reading.cells[level], reading.liberties[level]),
                *(reading.cells[level + 1], reading.liberties[level + 1]),
            )
            level += 1
    return False


@kernel
def _find_defences(cells: np.ndarray, liberties: np.ndarray, chain: np.uint64, options: np.ndarray) -> Index:
    """Write the legal moves that may save a chain in atari to `options`; return how many there are."""
    colour = np.uint64(cells[COLOUR + chain])
    other = BOTH - colour
    count = 0
    stone = chain
    while True:
        for n in (stone - STRIDE, stone - _ONE, stone + _ONE, stone + STRIDE):
            if cells[COLOUR + n] == other:
                packed = liberties[cells[CHAIN + n]]
                if in_atari(packed):
                    count = _add(options, count, last_liberty(packed), cells)
        stone = np.uint64(cells[NEXT + stone])
        if stone == chain:
            break
    extension = last_liberty(liberties[chain])
    if is_legal(cells, liberties, extension, colour, False):
        count = _add(options, count, extension, cells)
    return count


@inlined
def _add(options: np.ndarray, count: Index, v: np.uint64, cells: np.ndarray) -> Index:
    """Add a move to the options, unless it is there already, or ko forbids it, or there is no room."""
    known = v == cells[KO]
    for k in range(count):
        known |= options[k] == v
    if known or count == MAX_OPTIONS:
        return count
    options[count] = v
    return count + 1


@kernel
def _find_attacks(
    cells: np.ndarray, liberties: np.ndarray, chain: np.uint64, attacker: np.uint64, options: np.ndarray
) -> Index:
    """Write the attacker's moves that may work to `options`; return how many there are.

    The chain has two liberties or more. With three there is no such move.
    """
    a = _find_liberty(cells, chain)
    b = _only_other(cells, liberties, chain, a)
    count = 0
    if b != NOWHERE:
        if _is_worth_trying(cells, liberties, a, b, attacker):
            options[count] = a
            count += 1
        if _is_worth_trying(cells, liberties, b, a, attacker):
            options[count] = b
            count += 1
    return count


@kernel
def _find_liberty(cells: np.ndarray, chain: np.uint64) -> np.uint64:
    """Return some liberty of a chain, which has one."""
    stone = chain
    while True:
        if empty_neighbours(np.uint64(cells[SHAPE + stone])) != _ZERO:
            for n in (stone - STRIDE, stone - _ONE, stone + _ONE):
                if cells[COLOUR + n] == EMPTY:
                    return n
            return stone + STRIDE
        stone = np.uint64(cells[NEXT + stone])


@inlined
def _only_other(cells: np.ndarray, liberties: np.ndarray, chain: np.uint64, a: np.uint64) -> np.uint64:
    """Return the other liberty of a chain that has exactly two, one of them a; `NOWHERE` if it has more.

    The chain's pseudo-liberties without those at a are those of a chain in atari, exactly if b is the only other.
    """
    times = _ZERO
    for n in (a - STRIDE, a - _ONE, a + _ONE, a + STRIDE):
        times += np.uint64(cells[CHAIN + n] == chain)
    rest = liberties[chain] - times * unit(a)
    return last_liberty(rest) if in_atari(rest) else NOWHERE


@inlined
def _is_worth_trying(cells: np.ndarray, liberties: np.ndarray, a: np.uint64, b: np.uint64, attacker: np.uint64) -> bool:
    """Tell whether an attack at a is legal and leaves b, the other liberty, with at most two empty points beside it.

    With three, the target gets three liberties there, whatever else is on the board.
    """
    empty = empty_neighbours(np.uint64(cells[SHAPE + b]))
    free = _ZERO
    while empty != _ZERO:
        empty &= empty - _ONE
        free += _ONE
    for n in (b - STRIDE, b - _ONE, b + _ONE, b + STRIDE):
        free -= np.uint64(n == a)
    return bool(free <= _ONE + _ONE) and is_legal(cells, liberties, a, attacker, False)
