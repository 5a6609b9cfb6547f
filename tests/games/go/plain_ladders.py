"""Ladders read in slow, plain Python, by recursion, from the description in `miai.games.go.ladders` alone.

A position is (stones, ko), as in `reference`. There is no limit on how much is read.
"""

from __future__ import annotations

from .reference import Point, Stones, after, liberties, region

Position = tuple[Stones, Point | None]


def play(position: Position, point: Point, colour: int, size: int) -> Position:
    stones, taken = after(position[0], point, colour, size)
    ko = None
    if taken == 1 and region(stones, point, size)[0] == {point}:
        free = liberties(stones, point, size)
        if len(free) == 1 and next(iter(free)) in position[0]:
            ko = next(iter(free))
    return stones, ko


def is_legal(position: Position, point: Point, colour: int, size: int) -> bool:
    stones, ko = position
    return point not in stones and point != ko and point in after(stones, point, colour, size)[0]


def defences(position: Position, target: Point, size: int) -> set[Point]:
    """Legal moves on the last liberty of the target, or on the last liberty of an enemy chain that touches it."""
    stones = position[0]
    colour = stones[target]
    found = liberties(stones, target, size)
    for n in region(stones, target, size)[1]:
        if stones.get(n) == -colour and len(liberties(stones, n, size)) == 1:
            found |= liberties(stones, n, size)
    return {point for point in found if is_legal(position, point, colour, size)}


def is_captured(position: Position, target: Point, attacker_moves: bool, size: int) -> bool:
    stones, ko = position
    colour = stones[target]
    if not attacker_moves:
        moves = defences(position, target, size)
        return all(is_captured(play(position, point, colour, size), target, True, size) for point in moves)
    free = liberties(stones, target, size)
    if len(free) == 1:
        return free != {ko}
    if len(free) > 2:
        return False
    moves = {point for point in free if is_legal(position, point, -colour, size)}
    return any(is_captured(play(position, point, -colour, size), target, False, size) for point in moves)


def find_ladders(position: Position, colour: int, size: int) -> tuple[set[Point], set[Point]]:
    """Return the moves of `colour` that capture in a ladder, and those that escape."""
    stones = position[0]
    captures, escapes = set(), set()
    for target, found in stones.items():
        free = liberties(stones, target, size)
        if found == -colour and len(free) == 2:
            for point in free:
                if is_legal(position, point, colour, size):
                    after_it = play(position, point, colour, size)
                    if is_captured(after_it, target, False, size):
                        captures.add(point)
        if found == colour and len(free) == 1:
            for point in defences(position, target, size):
                if not is_captured(play(position, point, colour, size), target, True, size):
                    escapes.add(point)
    return captures, escapes
