"""Batches of recorded games: the right position, the right move, under each symmetry."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miai.games.game import PASS
from miai.games.go import GoGame
from miai.games.go.boards import from_game, new_boards
from miai.games.go.symmetry import NUM_SYMMETRIES, transform, transform_move
from miai.networks.batches import fill_batch, positions
from miai.networks.features import encode_boards
from miai.records.game_set import GameSet
from miai.records.play import record_game, replay
from miai.records.record import GameRecord


def random_record(seed: int, size: int, length: int, handicap: int = 0) -> GameRecord:
    dice = random.Random(seed)
    game = GoGame(size, handicap=[0, size + 1][:handicap])
    for _ in range(length):
        moves = game.legal_moves()
        game.play(dice.choice(moves[:-1] if len(moves) > 1 and dice.random() < 0.9 else moves))
        if game.is_over:
            break
    return record_game(game)


def some_games(size: int) -> GameSet:
    """Four games of different lengths; game 2 has two set-up stones and White to move."""
    records = [random_record(seed, size, 5 + 9 * seed, handicap=2 * (seed == 2)) for seed in range(4)]
    return GameSet.from_records(records, split=[0, 1, 0, 2], opening=[0, 2, 0, 0])


class Batch:
    """Room for a batch, filled by `fill_batch`; what must not be written is full of a number to be found again."""

    def __init__(self, games: GameSet, game, ply, symmetries, num_planes: int = 48, room: int = 0) -> None:
        size, count = games.board_size, len(game) + room
        self.planes = np.full((count, num_planes, size, size), 7, np.float32)
        self.moves = np.full(count, 7, np.int64)
        self.legal = np.full((count, size * size), 1, bool)
        symmetries = np.array(symmetries, np.uint8)
        fill_batch(games, np.array(game), np.array(ply), symmetries, num_planes, self.planes, self.moves, self.legal)


def test_positions_to_learn() -> None:
    moves = ((1, 0), (-1, 4), (1, PASS), (-1, 8))
    record = GameRecord(size=3, komi=0.5, moves=moves)
    games = GameSet.from_records([record, record, record], opening=[0, 0, 2])
    game, ply = positions(games, np.array([1]))
    assert (game.tolist(), ply.tolist()) == ([1, 1, 1], [0, 1, 3])
    game, ply = positions(games, np.array([2, 0]))
    assert (game.tolist(), ply.tolist()) == ([2, 0, 0, 0], [3, 0, 1, 3])
    assert (game.dtype, ply.dtype) == (np.int32, np.int32)
    assert [len(part) for part in positions(games, np.array([], np.int64))] == [0, 0]
    with pytest.raises(ValueError, match="from 0 to 2"):
        positions(games, np.array([3]))


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(3, 9), num_planes=st.sampled_from([4, 12, 48, 49]))
def test_a_batch_holds_what_the_games_show(seed: int, size: int, num_planes: int) -> None:
    dice = random.Random(seed)
    games = some_games(size)
    every = [(game, ply) for game in range(4) for ply in range(int(games.lengths[game]))]
    drawn = [dice.choice(every) for _ in range(12)]
    symmetries = [dice.randrange(NUM_SYMMETRIES) for _ in drawn]
    batch = Batch(games, *zip(*drawn, strict=True), symmetries, num_planes)
    expected = np.empty((1, num_planes, size, size), np.float32)
    boards = new_boards(1, size)
    for b, ((number, ply), k) in enumerate(zip(drawn, symmetries, strict=True)):
        steps = replay(games.to_record(number), komi=0.5)
        game, _, move = next(step for at, step in enumerate(steps) if at == ply)
        from_game(boards, 0, game)
        encode_boards(boards, 1, num_planes, np.zeros(1, np.uint8), expected)
        assert (batch.planes[b] == transform(expected[0], k)).all()
        assert batch.moves[b] == transform_move(move, size, k)
        no_superko = GoGame(size, superko="none")
        no_superko._boards, no_superko._turns = game._boards[:], game._turns[:]
        legal = np.zeros((size, size), bool)
        legal.ravel()[list(no_superko.legal_moves()[:-1])] = True
        assert (batch.legal[b] == transform(legal, k).ravel()).all()


def test_a_batch_in_order_is_the_same_as_one_out_of_order() -> None:
    games = some_games(5)
    game, ply = positions(games, np.arange(4))
    in_order = Batch(games, game, ply, np.zeros(len(game)))
    backwards = Batch(games, game[::-1], ply[::-1], np.zeros(len(game)))
    assert (in_order.planes == backwards.planes[::-1]).all()
    assert (in_order.moves == backwards.moves[::-1]).all()
    assert (in_order.legal == backwards.legal[::-1]).all()
    assert in_order.legal[np.arange(len(game)), in_order.moves].all()


def test_rows_beyond_the_batch_stay_as_they_are() -> None:
    games = some_games(5)
    batch = Batch(games, [1, 2], [3, 0], [0, 4], room=2)
    assert (batch.planes[2:] == 7).all()
    assert (batch.moves[2:] == 7).all()
    assert batch.legal[2:].all()
    assert (batch.moves[:2] != 7).any()


def test_the_move_that_was_played_is_in_the_mask_even_if_it_is_suicide() -> None:
    # . X
    # X .   White may play nowhere, and in this game takes A2 all the same: some rules allow it.
    record = GameRecord(size=2, komi=0.5, moves=((1, 1), (-1, PASS), (1, 2), (-1, 0)))
    batch = Batch(GameSet.from_records([record]), [0], [3], [0])
    assert batch.moves[0] == 0
    assert batch.legal[0].tolist() == [True, False, False, False]


def test_games_that_cannot_be_played_are_refused() -> None:
    record = GameRecord(size=3, komi=0.5, moves=((1, 0), (-1, 0), (1, 4)))
    games = GameSet.from_records([record])
    Batch(games, [0], [0], [0])
    for ply in (1, 2):
        with pytest.raises(ValueError, match="game 0 puts a stone on another"):
            Batch(games, [0], [ply], [0])
    record = GameRecord(size=3, komi=0.5, setup=((4,), (5,)), moves=((1, 0),))
    games = GameSet.from_records([record])
    Batch(games, [0], [0], [0])
    with pytest.raises(ValueError, match="game 0 puts a stone on another"):
        Batch(replace(games, white_setup=games.black_setup), [0], [0], [0])


def test_arguments_that_do_not_fit_are_refused() -> None:
    games = some_games(5)
    for game, ply, symmetries, num_planes, message in (
        ([4], [0], [0], 4, "game must be from 0 to 3, got 4"),
        ([0], [5], [0], 4, "game 0 has no move after 5 moves"),
        ([0], [-1], [0], 4, "no move after -1"),
        ([0, 1], [0], [0, 0], 4, "one length"),
        ([0], [0], [8], 4, "symmetry must be from 0 to 7, got 8"),
        ([0, 1], [0, 0], [0], 4, "symmetries must be an array of at least 2"),
        ([0], [0], [0], 5, "num_planes must be one of 4, 12, 48, 49, got 5"),
    ):
        with pytest.raises(ValueError, match=message):
            Batch(games, game, ply, symmetries, num_planes)
    one = np.zeros(1, np.uint8)
    planes, moves, legal = np.zeros((1, 4, 5, 5), np.float32), np.zeros(1, np.int64), np.zeros((1, 25), bool)
    for out, targets, mask, message in (
        (planes.astype(float), moves, legal, "out must be float32"),
        (planes[:, :, :, :4], moves, legal, "out must be float32"),
        (planes, moves.astype(np.int32), legal, "moves must be int64"),
        (planes, moves, legal[:, 1:], "legal must be bool or uint8"),
        (np.asfortranarray(np.zeros((2, 4, 5, 5), np.float32)), moves, legal, "contiguous"),
    ):
        with pytest.raises(ValueError, match=message):
            fill_batch(games, one, one, one, 4, out, targets, mask)
