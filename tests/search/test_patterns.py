"""The knowledge of playouts against brute force."""

from __future__ import annotations

import random

import numpy as np
import pytest

from miai.games.game import PASS
from miai.games.go import GoGame
from miai.games.go.board import BLACK, SHAPE, WHITE, flat_to_point, in_atari, last_liberty
from miai.games.go.render import read_diagram
from miai.search.patterns import PATTERNS, captures, is_self_atari, liberties_after, pattern_table


def liberties_of(board: np.ndarray, row: int, column: int) -> set[tuple[int, int]]:
    """Flood a chain and return its liberties."""
    size, colour = len(board), board[row, column]
    chain, todo, free = {(row, column)}, [(row, column)], set()
    while todo:
        r, c = todo.pop()
        for n in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
            if not (0 <= n[0] < size and 0 <= n[1] < size):
                continue
            if board[n] == 0:
                free.add(n)
            elif board[n] == colour and n not in chain:
                chain.add(n)
                todo.append(n)
    return free


@pytest.mark.parametrize("size", [3, 5, 9])
def test_liberties_after_a_move_on_random_positions(size: int) -> None:
    dice = random.Random(size)
    game = GoGame(size)
    checked = 0
    for _ in range(400):
        if game.is_over:
            game = GoGame(size)
        cells, liberties = game.state
        colour = BLACK if game.to_play == 1 else WHITE
        for move in game.legal_moves():
            if move == PASS:
                continue
            after = game.copy()
            after.play(move)
            row, column = divmod(move, size)
            free = liberties_of(after.board, row, column)
            v = flat_to_point(move, size)
            taken = np.count_nonzero(game.board) + 1 - np.count_nonzero(after.board)
            assert bool(captures(cells, liberties, v, colour)) == (taken > 0)
            assert bool(is_self_atari(cells, liberties, v, colour)) == (taken == 0 and len(free) == 1)
            if taken == 0:
                packed = np.uint64(liberties_after(cells, liberties, v, colour))
                assert bool(in_atari(packed)) == (len(free) == 1)
                if len(free) == 1:
                    (row, column) = free.pop()
                    assert last_liberty(packed) == flat_to_point(row * size + column, size)
                checked += 1
        game.play(dice.choice(game.legal_moves()))
    assert checked > 500


def matches_somehow(rows: tuple[str, str, str], around: np.ndarray) -> bool:
    """Match a pattern as its legend says, char by char, in all eight symmetries and both colours."""
    allowed = {"X": "X", "O": "O", ".": ".", "#": "#", "x": "O.#", "o": "X.#", "?": "XO.#"}
    pattern = np.array([list(row) for row in rows])
    for turned in (np.rot90(pattern, turn) for turn in range(4)):
        for view in (turned, turned.T):
            for marks in ("XO", "OX"):
                swapped = {1: marks[0], -1: marks[1], 0: ".", 9: "#"}
                if all(
                    swapped[int(around[cell])] in allowed[view[cell]] for cell in np.ndindex(3, 3) if cell != (1, 1)
                ):
                    return True
    return False


def test_the_table_on_random_boards() -> None:
    dice = np.random.default_rng(1)
    table = pattern_table()
    found = 0
    for _ in range(60):
        size = int(dice.integers(3, 7))
        board = dice.choice([0, 0, 1, -1], (size, size)).astype(np.int8)
        game = GoGame(size)
        try:
            game.setup(np.flatnonzero(board == 1), np.flatnonzero(board == -1))
        except ValueError:
            continue
        framed = np.pad(board, 1, constant_values=9)
        for row, column in np.argwhere(board == 0):
            around = framed[row : row + 3, column : column + 3]
            expected = any(matches_somehow(rows, around) for rows in PATTERNS.values())
            shape = game.state[0][int(SHAPE) + int(flat_to_point(int(row * size + column), size))]
            assert bool(table[shape]) == expected
            found += expected
    assert found > 30


@pytest.mark.parametrize(
    ("diagram", "matches"),
    [
        (". X O\n. . X\n. . .", True),  # a turning hane
        ("X O X\n. . .\n. . .", True),  # an enclosing hane
        (". . .\n. . .\n. . .", False),
        ("X X X\n. . .\n. . .", False),
    ],
)
def test_shapes_by_hand(diagram: str, matches: bool) -> None:
    board = np.pad(read_diagram(diagram), 1)
    game = GoGame(5)
    game.setup(np.flatnonzero(board == 1), np.flatnonzero(board == -1))
    assert bool(pattern_table()[game.state[0][int(SHAPE) + int(flat_to_point(12, 5))]]) == matches
