from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miai.games.game import PASS
from miai.games.go.board import PASS_POINT, flat_to_point, point_to_flat
from miai.games.go.coordinates import from_gtp, from_sgf, to_gtp, to_sgf

SIZES = st.integers(2, 19)


@pytest.mark.parametrize(
    ("size", "flat", "gtp", "sgf", "point"),
    [
        (9, 0, "A9", "aa", 22),
        (9, 80, "J1", "ii", 198),
        (9, 7, "H9", "ha", 29),
        (9, 8, "J9", "ia", 30),
        (19, 0, "A19", "aa", 22),
        (19, 360, "T1", "ss", 418),
        (19, 72, "Q16", "pd", 100),
        (2, 2, "A1", "ab", 43),
    ],
)
def test_one_point_in_every_form(size: int, flat: int, gtp: str, sgf: str, point: int) -> None:
    assert (to_gtp(flat, size), to_sgf(flat, size), flat_to_point(flat, size)) == (gtp, sgf, point)
    assert from_gtp(gtp.lower(), size) == from_sgf(sgf, size) == point_to_flat(point, size) == flat


def test_passes() -> None:
    assert (to_gtp(PASS, 9), to_sgf(PASS, 9), flat_to_point(PASS, 9)) == ("pass", "", PASS_POINT)
    assert from_gtp("Pass", 9) == from_sgf("", 9) == from_sgf("tt", 19) == point_to_flat(0, 9) == PASS


@given(data=st.data(), size=SIZES)
def test_there_and_back(data: st.DataObject, size: int) -> None:
    flat = data.draw(st.integers(0, size * size - 1))
    assert from_gtp(to_gtp(flat, size), size) == flat
    assert from_sgf(to_sgf(flat, size), size) == flat
    assert point_to_flat(flat_to_point(flat, size), size) == flat


@pytest.mark.parametrize(
    "text", ["I5", "A0", "A10", "K1", "", "5", "A", "AA1", "A-1", "A1 B2", "A²", "É5", "A99999999"]
)
def test_what_is_not_a_vertex(text: str) -> None:
    with pytest.raises(ValueError, match="allowed: A1 to J9"):
        from_gtp(text, 9)


@pytest.mark.parametrize("text", ["a", "jj", "AA", "a1", "aaa", "ée"])
def test_what_is_not_an_sgf_point(text: str) -> None:
    with pytest.raises(ValueError, match="allowed: aa to ii"):
        from_sgf(text, 9)


@given(text=st.text(max_size=4), size=SIZES)
def test_any_text_is_a_move_or_a_value_error(text: str, size: int) -> None:
    for read in (from_gtp, from_sgf):
        try:
            move = read(text, size)
        except ValueError:
            continue
        assert move == PASS or 0 <= move < size * size


def test_flat_indices_are_checked() -> None:
    for write in (to_gtp, to_sgf):
        with pytest.raises(ValueError, match="from 0 to 80"):
            write(81, 9)
