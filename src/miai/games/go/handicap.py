"""Where handicap stones are placed (GTP version 2, section 4.1.1: the fixed placement)."""

from __future__ import annotations

from miai.games.go.coordinates import check_size

MIN_HANDICAP = 2


def max_fixed_handicap(size: int) -> int:
    """Return how many stones the fixed placement knows: 9 on odd boards from 9×9, 4 on 7×7 and even boards, else 0."""
    check_size(size)
    if size < 7:
        return 0
    return 4 if size % 2 == 0 or size == 7 else 9


def fixed_handicap(size: int, stones: int) -> tuple[int, ...]:
    """Return the flat indices of the fixed placement of `stones` handicap stones.

    Raises:
        ValueError: the fixed placement has no such number of stones on that board.
    """
    largest = max_fixed_handicap(size)
    if not MIN_HANDICAP <= stones <= largest:
        allowed = f"{MIN_HANDICAP} to {largest}" if largest else "none"
        raise ValueError(f"fixed handicap on a board of {size}: allowed {allowed}, got {stones!r}")
    low = 2 if size < 13 else 3
    high, middle = size - 1 - low, size // 2
    # (row from the top, column): the order in which stones are added.
    corners = [(high, low), (low, high), (low, low), (high, high)]
    points = {
        2: corners[:2],
        3: corners[:3],
        4: corners,
        5: [*corners, (middle, middle)],
        6: [*corners, (middle, low), (middle, high)],
        7: [*corners, (middle, low), (middle, high), (middle, middle)],
        8: [*corners, (middle, low), (middle, high), (high, middle), (low, middle)],
        9: [*corners, (middle, low), (middle, high), (high, middle), (low, middle), (middle, middle)],
    }[stones]
    return tuple(row * size + column for row, column in points)


def free_handicap(size: int, stones: int) -> tuple[int, ...]:
    """Return where Miai places `stones` handicap stones of its own choice.

    The fixed placement where there is one, or its largest; further stones go to the free points nearest to the
    star points' ring, first those with the most distance to the stones already there.

    Raises:
        ValueError: fewer than 2 stones, or no empty point would be left.
    """
    check_size(size)
    if not MIN_HANDICAP <= stones < size * size:
        raise ValueError(f"handicap on a board of {size}: allowed {MIN_HANDICAP} to {size * size - 1}, got {stones!r}")
    known = min(stones, max_fixed_handicap(size))
    chosen = list(fixed_handicap(size, known)) if known >= MIN_HANDICAP else []
    edge_distance = {
        row * size + column: min(row, column, size - 1 - row, size - 1 - column)
        for row in range(size)
        for column in range(size)
    }
    wanted = min(3 if size >= 13 else 2, (size - 1) // 2)
    while len(chosen) < stones:

        def merit(flat: int) -> tuple[int, int, int]:
            row, column = divmod(flat, size)
            apart = min((abs(row - c // size) + abs(column - c % size) for c in chosen), default=0)
            return -abs(edge_distance[flat] - wanted), apart, -flat

        chosen.append(max((flat for flat in edge_distance if flat not in chosen), key=merit))
    return tuple(chosen)
