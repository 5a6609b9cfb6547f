"""Answers to the last move, on drawn positions."""

from __future__ import annotations

import random

import numpy as np
import pytest

from miai.games.game import PASS
from miai.games.go import GoGame
from miai.games.go.board import BLACK, CHAIN, COLOUR, NO_POINT, WHITE, flat_to_point, point_to_flat
from miai.rng import stream
from miai.search.answers import local_move, room, two_liberties
from miai.search.patterns import pattern_table


def local_names(game: GoGame) -> set[str]:
    (cells, liberties), colour = game.state, BLACK if game.to_play == 1 else WHITE
    rng = stream(1, "test")
    drawn = {local_move(cells, liberties, colour, rng, pattern_table()) for _ in range(100)}
    return {"none" if point == NO_POINT else game.move_name(point_to_flat(point, game.size)) for point in drawn}


def test_a_chain_in_atari_runs() -> None:
    game = GoGame.from_diagram(
        """
        . . . . .
        . . O . .
        . O X . .
        . . . . .
        . . . . .
        """,
        to_play=-1,
    )
    game.play(game.parse_move("D3"))
    assert local_names(game) == {"C2"}


def test_a_chain_in_atari_that_cannot_run_takes_what_holds_it() -> None:
    """After White's B3, Black's corner would have one liberty again if it ran to A2: it takes B5 instead."""
    game = GoGame.from_diagram(
        """
        X O . . .
        X X O . .
        X . . . .
        . O . . .
        . . . . .
        """,
        to_play=-1,
    )
    game.play(game.parse_move("B3"))
    assert local_names(game) == {"C5"}


def test_a_self_atari_is_taken() -> None:
    game = GoGame.from_diagram(
        """
        . . X . .
        . X . X .
        . . . . .
        . . . . .
        . . . . .
        """,
        to_play=-1,
    )
    game.play(game.parse_move("C4"))
    assert local_names(game) == {"C3"}


def test_without_urgency_there_is_no_local_move() -> None:
    game = GoGame(9)
    assert local_names(game) == {"none"}
    game.play(40)
    assert local_names(game) == {"none"}


def test_a_stone_of_two_liberties_is_caught_where_it_cannot_get_out() -> None:
    """White's D2 has the liberties D1 and E2. From E2 Black drives it to the edge; from D1 it would get out at E2."""
    game = GoGame.from_diagram(
        """
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . X X . .
        . . X . . . .
        . . . . . . .
        """,
        to_play=-1,
    )
    game.play(game.parse_move("D2"))
    # At D1 White would have C1 and E1: that is room for two, so it is not caught for sure from E2 either.
    assert local_names(game) != {"D1"}
    walled = GoGame.from_diagram(
        """
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . X X . .
        . . X . . . .
        . . X . . . .
        """,
        to_play=-1,
    )
    walled.play(walled.parse_move("D2"))
    assert local_names(walled) == {"E2"}


def test_a_move_beside_the_last_by_pattern() -> None:
    """White turns around Black's stone: hane at the head of one, E4 or C6, is what the patterns know."""
    game = GoGame.from_diagram(
        """
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . X . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        """,
        to_play=-1,
    )
    game.play(game.parse_move("D5"))
    names = local_names(game)
    assert "none" not in names
    assert names <= {"C5", "E5", "C6", "E6", "D6", "C4", "E4"}
    # The board is its own mirror image, and so are the answers.
    assert {name.translate(str.maketrans("CE", "EC")) for name in names} == names


def flood(game: GoGame, row: int, column: int) -> set[int]:
    """Return the liberties of a chain as flat indices."""
    board, size = game.board, game.size
    chain, todo, free = {(row, column)}, [(row, column)], set()
    while todo:
        r, c = todo.pop()
        for n in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
            if 0 <= n[0] < size and 0 <= n[1] < size:
                if board[n] == 0:
                    free.add(n[0] * size + n[1])
                elif board[n] == board[row, column] and n not in chain:
                    chain.add(n)
                    todo.append(n)
    return free


@pytest.mark.parametrize("size", [3, 5, 7])
def test_two_liberties_are_found_on_random_positions(size: int) -> None:
    dice = random.Random(size)
    game = GoGame(size)
    pairs = 0
    for _ in range(600):
        if game.is_over:
            game = GoGame(size)
        cells, liberties = game.state
        for row, column in np.argwhere(game.board != 0).tolist():
            free = flood(game, row, column)
            v = flat_to_point(row * size + column, size)
            found = int(two_liberties(cells, liberties, np.uint64(cells[int(CHAIN) + int(v)])))
            if len(free) == 2:
                pairs += 1
                assert {point_to_flat(found & 0xFFFF, size), point_to_flat(found >> 16, size)} == free
            else:
                assert found == 0
        game.play(dice.choice([move for move in game.legal_moves() if move != PASS] or [PASS]))
    assert pairs > 100


def test_room_counts_empty_neighbours_but_one_and_two_for_a_chain_that_is_joined() -> None:
    game = GoGame.from_diagram(
        """
        . . . . .
        . X . . .
        . . . X X
        . . . . .
        . . . . .
        """
    )
    cells, liberties = game.state

    def at(name: str) -> np.uint64:
        return flat_to_point(game.parse_move(name), 5)

    chain = np.uint64(cells[int(CHAIN) + int(at("B4"))])
    assert cells[int(COLOUR) + int(at("B4"))] == BLACK
    # C4: C5, D4 and C3 are empty, B4 is the chain itself.
    assert room(cells, liberties, at("C4"), NO_POINT, chain, BLACK) == 3
    assert room(cells, liberties, at("C4"), at("C5"), chain, BLACK) == 2
    # C3: B3, C4, C2 are empty, D3 is another chain with liberties.
    assert room(cells, liberties, at("C3"), NO_POINT, chain, BLACK) == 3 + 2
    assert room(cells, liberties, at("C3"), NO_POINT, chain, WHITE) == 3
