"""Keys of games: equal for the eight images of a game, and for nothing else."""

from __future__ import annotations

import dataclasses

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from miai.games.go.symmetry import NUM_SYMMETRIES, transform_move
from miai.records import BLACK, WHITE, GameRecord
from miai.records.game_set import GameSet
from miai.records.sameness import find_beginnings, find_repeats, game_keys

from .random_games import random_record


def image(record: GameRecord, k: int) -> GameRecord:
    """Return a game under symmetry k."""
    black, white = (tuple(sorted(transform_move(point, record.size, k) for point in stones)) for stones in record.setup)
    moves = tuple((colour, transform_move(move, record.size, k)) for colour, move in record.moves)
    return dataclasses.replace(record, setup=(black, white), moves=moves)


def canonical(record: GameRecord) -> tuple:
    """Say, slowly and exactly, which game it is up to symmetry."""
    images = [image(record, k) for k in range(NUM_SYMMETRIES)]
    return min((*found.setup, found.to_play, tuple(move for _, move in found.moves)) for found in images)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3), st.integers(0, 7)), min_size=1, max_size=12))
def test_keys_tell_what_the_slow_way_tells(drawn: list[tuple[int, int, int]]) -> None:
    # Few moves on a small board, so that equal games are met often.
    records = [image(random_record(seed, 3, length), k) for seed, length, k in drawn]
    forms = [canonical(record) for record in records]
    games = GameSet.from_records(records)
    keys = game_keys(games)
    assert find_repeats(keys).tolist() == [forms.index(form) for form in forms]
    expected = [
        any(
            len(other.moves) > len(record.moves)
            and canonical(dataclasses.replace(other, moves=other.moves[: len(record.moves)])) == form
            for other in records
        )
        for record, form in zip(records, forms, strict=True)
    ]
    assert find_beginnings(games, keys).tolist() == expected


def test_stones_and_first_player_count() -> None:
    records = [
        GameRecord(5),
        GameRecord(5, to_play=WHITE),
        GameRecord(5, setup=((0, 1), ())),
        GameRecord(5, setup=((), (0, 1))),
        GameRecord(5, setup=((0,), (1,))),
        GameRecord(5, setup=((3, 4), ())),
        GameRecord(5, moves=((BLACK, 0),)),
        GameRecord(5, moves=((BLACK, -1),)),
    ]
    assert find_repeats(game_keys(GameSet.from_records(records))).tolist() == [0, 1, 2, 3, 4, 2, 6, 7]


def test_keys_are_spread_evenly() -> None:
    keys = game_keys(GameSet.from_records([random_record(seed) for seed in range(400)]))
    shares = np.bincount((keys >> np.uint64(62)).astype(int), minlength=4) / len(keys)
    assert np.all(np.abs(shares - 0.25) < 0.1)
