"""Random games on every size: the compiled board and the slow reference agree move for move."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miai.games.game import PASS
from miai.games.go import GoGame
from miai.games.go.board import BLACK, CHAIN, COLOUR, LENGTH, WHITE, flat_to_point, in_atari, last_liberty
from miai.games.go.coordinates import MAX_SIZE, MIN_SIZE

from .reference import ReferenceGame, liberties, region


def check_same(game: GoGame, reference: ReferenceGame) -> None:
    size = game.size
    drawn = np.zeros((size, size), np.int8)
    for point, colour in reference.stones.items():
        drawn[point] = colour
    assert (game.board == drawn).all()
    assert game.ko == (None if reference.ko is None else reference.ko[0] * size + reference.ko[1])
    assert game.to_play == reference.to_play
    assert game.score() + game.komi == reference.area_difference()


def check_chains(game: GoGame, reference: ReferenceGame) -> None:
    cells, packed = game.state
    for point in reference.stones:
        v = int(flat_to_point(point[0] * game.size + point[1], game.size))
        chain = int(cells[int(CHAIN) + v])
        free = liberties(reference.stones, point, game.size)
        assert cells[int(LENGTH) + chain] == len(region(reference.stones, point, game.size)[0])
        assert bool(in_atari(packed[chain])) == (len(free) == 1)
        if len(free) == 1:
            row, column = free.pop()
            assert last_liberty(packed[chain]) == flat_to_point(row * game.size + column, game.size)


def play_random_game(seed: int, size: int, superko: str, suicide: bool, max_moves: int) -> None:
    dice = random.Random(seed)
    game, reference = GoGame(size, superko=superko, suicide=suicide), ReferenceGame(size, superko, suicide)
    positions: dict[tuple, int] = {}
    points = [(row, column) for row in range(size) for column in range(size)]
    for number in range(max_moves):
        legal = [point for point in points if reference.is_legal(point)]
        flats = [row * size + column for row, column in legal]
        assert game.legal_moves() == (*flats, PASS)
        probe = dice.randrange(size * size)
        assert game.is_legal(probe) == (probe in flats)
        if legal and dice.random() > 0.03:
            move = dice.choice(legal)
            reference.play(move)
            game.play(move[0] * size + move[1])
        else:
            reference.play(None)
            game.play(PASS)
        check_same(game, reference)
        if number % 7 == 0:
            check_chains(game, reference)
        # The same position, the same key; another position, another key.
        position = reference.position()
        assert positions.setdefault(position, game.key) == game.key
        if game.is_over:
            break
    assert len(set(positions.values())) == len(positions)


@pytest.mark.parametrize("size", range(MIN_SIZE, MAX_SIZE + 1))
def test_a_game_on_every_size(size: int) -> None:
    play_random_game(size, size, "positional", suicide=size % 2 == 0, max_moves=60)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(MIN_SIZE, 6),
    superko=st.sampled_from(["positional", "situational", "none"]),
    suicide=st.booleans(),
)
def test_random_games_on_small_boards(seed: int, size: int, superko: str, suicide: bool) -> None:
    play_random_game(seed, size, superko, suicide, max_moves=3 * size * size + 10)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(MIN_SIZE, 9), moves=st.integers(1, 80))
def test_undo_gives_back_every_position(seed: int, size: int, moves: int) -> None:
    dice = random.Random(seed)
    game = GoGame(size)
    trail = []
    for _ in range(moves):
        if game.is_over:
            break
        trail.append((game.key, game.board.tobytes(), game.legal_moves(), game.to_play, game.moves))
        game.play(dice.choice(game.legal_moves()))
    for before in reversed(trail):
        game.undo()
        assert before == (game.key, game.board.tobytes(), game.legal_moves(), game.to_play, game.moves)


def test_colours_of_the_board() -> None:
    game = GoGame(2)
    game.play(0)
    game.play(3)
    cells = game.state[0]
    assert cells[int(COLOUR) + int(flat_to_point(0, 2))] == BLACK
    assert cells[int(COLOUR) + int(flat_to_point(3, 2))] == WHITE
