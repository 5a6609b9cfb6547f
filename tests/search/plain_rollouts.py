"""The rollout policy in plain Python, from the definitions alone: sets of stones and liberties, no compiled code."""

from __future__ import annotations

import math

import numpy as np

from miai.games.game import PASS
from miai.games.go import GoGame
from miai.search.rollout_features import SECTIONS, pattern_classes, response_classes

Point = tuple[int, int]
_STARTS = dict(zip(SECTIONS, np.cumsum([0, *SECTIONS.values()]).tolist(), strict=False))
_SLOTS = ((-1, 0), (0, -1), (0, 1), (1, 0), (-1, -1), (-1, 1), (1, -1), (1, 1))
OWN, OPPONENT, EDGE = 1, 2, 3


class PlainBoard:
    """A position from the mover's side: 1 own, 2 the opponent's, 0 empty."""

    def __init__(self, stones: dict[Point, int], size: int) -> None:
        self.stones, self.size = stones, size

    def at(self, point: Point) -> int:
        if not (0 <= point[0] < self.size and 0 <= point[1] < self.size):
            return EDGE
        return self.stones.get(point, 0)

    def chain(self, point: Point) -> tuple[frozenset[Point], frozenset[Point]]:
        """Return the stones and the liberties of the chain at a point."""
        colour, stones, liberties, open_points = self.at(point), set(), set(), [point]
        while open_points:
            here = open_points.pop()
            if here in stones:
                continue
            stones.add(here)
            for n in neighbours(here):
                if self.at(n) == colour:
                    open_points.append(n)
                elif self.at(n) == 0:
                    liberties.add(n)
        return frozenset(stones), frozenset(liberties)

    def chains_beside(self, point: Point, colour: int) -> set[tuple[frozenset[Point], frozenset[Point]]]:
        return {self.chain(n) for n in neighbours(point) if self.at(n) == colour}

    def after(self, point: Point) -> tuple[PlainBoard, int]:
        """Return the position after an own move, still from the same side, and how many stones it takes."""
        taken = {stone for stones, libs in self.chains_beside(point, OPPONENT) if libs == {point} for stone in stones}
        left = {stone: colour for stone, colour in self.stones.items() if stone not in taken}
        return PlainBoard({**left, point: OWN}, self.size), len(taken)


def neighbours(point: Point) -> list[Point]:
    return [(point[0] + row, point[1] + column) for row, column in _SLOTS[:4]]


def _is_eye(board: PlainBoard, point: Point) -> bool:
    if any(board.at(n) not in (OWN, EDGE) for n in neighbours(point)):
        return False
    diagonals = [board.at((point[0] + row, point[1] + column)) for row, column in _SLOTS[4:]]
    return diagonals.count(OPPONENT) <= (0 if EDGE in diagonals else 1)


def _size(stones: int) -> int:
    return min(stones, 3) - 1


def plain_features(game: GoGame, board: PlainBoard, move: Point) -> list[int]:
    """Return the places, in the vector of weights, of the features of a sensible move."""
    found: list[tuple[str, int]] = []
    lines = sorted(min(x + 1, board.size - x, 5) for x in move)
    found.append(("place", lines[1] * (lines[1] - 1) // 2 + lines[0] - 1))
    after, taken = board.after(move)
    if taken:
        found.append(("capture", _size(taken)))
    in_danger = {stones for stones, libs in board.chains_beside(move, OWN) if len(libs) == 1}
    if in_danger:
        found.append(("save", _size(sum(map(len, in_danger)))))
    stones, liberties = after.chain(move)
    if len(liberties) == 1 and not taken:
        found.append(("self_atari", 3 if in_danger else _size(len(stones))))
    shape = sum(board.at((move[0] + r, move[1] + c)) << (2 * slot) for slot, (r, c) in enumerate(_SLOTS))
    bits = sum(
        1 << slot
        for slot, n in enumerate(neighbours(move))
        if board.at(n) in (OWN, OPPONENT) and len(board.chain(n)[1]) == 1
    )
    found.append(("pattern", int(pattern_classes()[shape | bits << 16])))
    played = [None if flat == PASS else divmod(flat, board.size) for flat in game.moves]
    for section, place in (("last", -1), ("before", -2)):
        middle = played[place] if len(played) >= -place else None
        if middle is None:
            continue
        low, high = sorted(abs(a - b) for a, b in zip(move, middle, strict=True))
        if 0 < high <= 2:
            found.append((section, {(0, 1): 0, (1, 1): 1, (0, 2): 2, (1, 2): 3, (2, 2): 4}[low, high]))
    last = played[-1] if played else None
    if last is not None:
        offset = (last[0] - move[0], last[1] - move[1])
        if offset in _SLOTS:
            found.append(("response", int(response_classes()[shape | _SLOTS.index(offset) << 16])))
        chains = [(board.chain(last), (0, 1)), *((chain, (2, 3)) for chain in board.chains_beside(last, OWN))]
        for (_, libs), (of_one, of_two) in chains:
            if move in libs and len(libs) <= 2:
                found.append(("answer", of_one if len(libs) == 1 else of_two))
    return [_STARTS[section] + number for section, number in found]


def plain_scores(game: GoGame, weights: np.ndarray) -> dict[int, float]:
    """Return the scores of the sensible moves, by flat index."""
    size = game.size
    stones = {
        divmod(flat, size): OWN if stone == game.to_play else OPPONENT
        for flat, stone in enumerate(game.board.ravel().tolist())
        if stone
    }
    board = PlainBoard(stones, size)
    scores = {}
    for flat in game.legal_moves():
        if flat == PASS or _is_eye(board, divmod(flat, size)):
            continue
        scores[flat] = sum(weights[place] for place in plain_features(game, board, divmod(flat, size)))
    return scores


def plain_probabilities(game: GoGame, weights: np.ndarray) -> dict[int, float]:
    """Return the softmax of the scores, by flat index."""
    scores = plain_scores(game, weights)
    total = sum(map(math.exp, scores.values()))
    return {flat: math.exp(score) / total for flat, score in scores.items()}
