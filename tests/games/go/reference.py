"""Go in slow, plain Python, written from the rules alone: what the compiled board is compared with.

Points are (row, column), row 0 at the top. A position is a dict from point to +1 (black) or −1 (white).
"""

from __future__ import annotations

Point = tuple[int, int]
Stones = dict[Point, int]


def neighbours(point: Point, size: int) -> list[Point]:
    row, column = point
    around = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return [(r, c) for r, c in around if 0 <= r < size and 0 <= c < size]


def region(stones: Stones, start: Point, size: int) -> tuple[set[Point], set[Point]]:
    """Return the connected points of the same content as `start`, and the other points that touch them."""
    colour = stones.get(start, 0)
    inside, border, todo = {start}, set(), [start]
    while todo:
        for n in neighbours(todo.pop(), size):
            if n in inside:
                continue
            if stones.get(n, 0) == colour:
                inside.add(n)
                todo.append(n)
            else:
                border.add(n)
    return inside, border


def liberties(stones: Stones, point: Point, size: int) -> set[Point]:
    return {n for n in region(stones, point, size)[1] if n not in stones}


def after(stones: Stones, point: Point, colour: int, size: int) -> tuple[Stones, int]:
    """Return the stones after a move on an empty point, and how many of the opponent's it took."""
    new = dict(stones)
    new[point] = colour
    taken: set[Point] = set()
    for n in neighbours(point, size):
        if new.get(n) == -colour and not liberties(new, n, size):
            taken |= region(new, n, size)[0]
    for stone in taken:
        del new[stone]
    if not liberties(new, point, size):
        for stone in region(new, point, size)[0]:
            del new[stone]
    return new, len(taken)


class ReferenceGame:
    """One game, with the same switches as `GoGame`."""

    def __init__(self, size: int, superko: str, suicide: bool) -> None:
        self.size, self.superko, self.suicide = size, superko, suicide
        self.stones: Stones = {}
        self.to_play = 1
        self.ko: Point | None = None
        self.seen = [({}, 1)]

    def is_legal(self, point: Point) -> bool:
        if point in self.stones or point == self.ko:
            return False
        new, _ = after(self.stones, point, self.to_play, self.size)
        if not self.suicide and point not in new:
            return False
        if self.superko == "positional":
            return all(new != stones for stones, _ in self.seen)
        if self.superko == "situational":
            return (new, -self.to_play) not in self.seen
        return True

    def play(self, point: Point | None) -> None:
        self.ko = None
        if point is not None:
            new, taken = after(self.stones, point, self.to_play, self.size)
            if taken == 1 and region(new, point, self.size)[0] == {point}:
                free = liberties(new, point, self.size)
                # Simple ko: one stone took one stone, and stands there alone in atari.
                if len(free) == 1 and next(iter(free)) in self.stones:
                    self.ko = next(iter(free))
            self.stones = new
        self.to_play = -self.to_play
        self.seen.append((self.stones, self.to_play))

    def position(self) -> tuple:
        return frozenset(self.stones.items()), self.to_play, self.ko

    def area_difference(self) -> int:
        total = sum(self.stones.values())
        counted: set[Point] = set()
        for row in range(self.size):
            for column in range(self.size):
                point = (row, column)
                if point in self.stones or point in counted:
                    continue
                inside, border = region(self.stones, point, self.size)
                counted |= inside
                colours = {self.stones[n] for n in border}
                if len(colours) == 1:
                    total += colours.pop() * len(inside)
        return total
