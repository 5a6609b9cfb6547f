"""The planes in slow, plain Python, from the table in `miai.networks.features` alone."""

from __future__ import annotations

import numpy as np

from games.go.plain_ladders import find_ladders
from games.go.reference import Point, Stones, after, liberties, neighbours, region
from miai.games.game import PASS
from miai.games.go import GoGame


def ages(game: GoGame) -> dict[Point, int]:
    """How many turns ago the stones on the board were played."""
    size = game.size
    found = {divmod(int(flat), size): 8 for flat in np.flatnonzero(game.board)}
    for number, move in enumerate(game.moves):
        if move != PASS:
            found[divmod(move, size)] = len(game.moves) - number
    return found


def is_eye(stones: Stones, point: Point, colour: int, size: int) -> bool:
    """A one-point eye as playouts know it: at most one enemy on the diagonals, none at the edge."""
    if any(stones.get(n) != colour for n in neighbours(point, size)):
        return False
    row, column = point
    corners = [(row + i, column + j) for i in (-1, 1) for j in (-1, 1)]
    inside = [(r, c) for r, c in corners if 0 <= r < size and 0 <= c < size]
    enemies = sum(stones.get(corner) == -colour for corner in inside)
    return enemies <= (1 if len(inside) == 4 else 0)


def encode(game: GoGame) -> np.ndarray:
    """Return the 49 planes of a game's position, float32[49, N, N]."""
    size, own = game.size, game.to_play
    stones: Stones = {(r, c): int(game.board[r, c]) for r, c in zip(*map(list, np.nonzero(game.board)), strict=True)}
    ko = None if game.ko is None else divmod(game.ko, size)
    planes = np.zeros((49, size, size), np.float32)

    def number(first: int, value: int, point: Point) -> None:
        planes[(first + min(value, 8) - 1, *point)] = 1

    planes[3] = 1
    planes[48] = own == 1
    age = ages(game)
    for row in range(size):
        for column in range(size):
            point = (row, column)
            if point in stones:
                planes[(0 if stones[point] == own else 1, *point)] = 1
                number(4, age[point], point)
                number(12, len(liberties(stones, point, size)), point)
                continue
            planes[(2, *point)] = 1
            new, taken = after(stones, point, own, size)
            if point == ko or point not in new:
                continue
            free = len(liberties(new, point, size))
            number(36, free, point)
            if taken:
                number(20, taken, point)
            if free == 1:
                number(28, len(region(new, point, size)[0]), point)
            if not is_eye(stones, point, own, size):
                planes[(46, *point)] = 1
    for plane, moves in zip((44, 45), find_ladders((stones, ko), own, size), strict=True):
        for point in moves:
            planes[(plane, *point)] = 1
    return planes
