from __future__ import annotations

import pytest

from miai.games.go.coordinates import to_gtp
from miai.games.go.handicap import fixed_handicap, free_handicap, max_fixed_handicap


def vertices(size: int, stones: int) -> set[str]:
    return {to_gtp(flat, size) for flat in fixed_handicap(size, stones)}


def test_the_placement_of_the_gtp_standard_on_19() -> None:
    """GTP 2, section 4.1.1, the table for 19 × 19."""
    assert vertices(19, 2) == {"D4", "Q16"}
    assert vertices(19, 3) == {"D4", "Q16", "D16"}
    assert vertices(19, 4) == {"D4", "Q16", "D16", "Q4"}
    assert vertices(19, 5) == vertices(19, 4) | {"K10"}
    assert vertices(19, 6) == vertices(19, 4) | {"D10", "Q10"}
    assert vertices(19, 7) == vertices(19, 6) | {"K10"}
    assert vertices(19, 8) == vertices(19, 6) | {"K4", "K16"}
    assert vertices(19, 9) == vertices(19, 8) | {"K10"}


def test_smaller_boards() -> None:
    assert vertices(9, 4) == {"C3", "G7", "C7", "G3"}
    assert vertices(13, 2) == {"D4", "K10"}
    assert vertices(8, 2) == {"C3", "F6"}
    assert [max_fixed_handicap(size) for size in (2, 6, 7, 8, 9, 10, 19)] == [0, 0, 4, 4, 9, 4, 9]
    for size, stones in ((9, 1), (9, 10), (8, 5), (6, 2)):
        with pytest.raises(ValueError, match="fixed handicap"):
            fixed_handicap(size, stones)


@pytest.mark.parametrize("size", [2, 3, 5, 9, 19])
def test_free_placement_fills_as_many_as_asked(size: int) -> None:
    for stones in (2, 3, size * size - 1):
        points = free_handicap(size, stones)
        assert len(set(points)) == stones
        assert all(0 <= flat < size * size for flat in points)
    for stones in (1, size * size):
        with pytest.raises(ValueError, match="handicap"):
            free_handicap(size, stones)


def test_free_placement_begins_with_the_fixed_one() -> None:
    assert free_handicap(9, 5) == fixed_handicap(9, 5)
    assert free_handicap(19, 12)[:9] == fixed_handicap(19, 9)
