from __future__ import annotations

import numpy as np
import pytest

from miai.games.game import PASS
from miai.games.go import GoGame
from miai.games.go.render import read_diagram, render


def test_ascii_with_the_last_move_in_brackets() -> None:
    game = GoGame(3)
    game.play(4)
    game.play(5)
    assert game.render() == "\n".join(
        [
            "   A B C",
            " 3 . . . 3",
            " 2 . X(O)2",
            " 1 . . . 1",
            "   A B C",
        ]
    )
    game.play(PASS)
    assert "(" not in game.render()


def test_unicode_and_star_points() -> None:
    game = GoGame(9)
    game.play(0)
    lines = game.render(unicode=True).splitlines()
    assert lines[0] == "   A B C D E F G H J"
    assert lines[1] == " 9(●)· · · · · · · · 9"
    assert lines[3] == " 7 · · ┼ · ┼ · ┼ · · 7"


def test_a_drawn_board_reads_back() -> None:
    dice = np.random.default_rng(1)
    for size in (2, 9, 10, 19):
        board = dice.integers(-1, 2, (size, size)).astype(np.int8)
        for unicode in (False, True):
            rows = [line[2:-2] for line in render(board, unicode=unicode).splitlines()[1:-1]]
            assert (read_diagram("\n".join(rows)) == board).all()


@pytest.mark.parametrize("diagram", ["X", "X O\nX", "X O\nX ?", ""])
def test_what_is_not_a_diagram(diagram: str) -> None:
    with pytest.raises(ValueError, match=r"diagram|board size"):
        read_diagram(diagram)
