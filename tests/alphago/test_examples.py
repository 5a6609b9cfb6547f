from __future__ import annotations

import numpy as np
import pytest

from miai.alphago.examples import Examples, ShuffledBatches
from miai.errors import MiaiError
from miai.games.go.symmetry import transform_move

from .recorded import invented_games

GAMES = invented_games(12)


def test_examples_are_of_their_split_and_collections() -> None:
    assert set(Examples.of(GAMES, "train").game) == {0, 1, 2, 3, 6, 7, 8, 9}
    assert set(Examples.of(GAMES, "train", ["odd"]).game) == {1, 3, 7, 9}
    assert len(Examples.of(GAMES, "test")) == 2 * 12


def test_a_split_without_moves_is_refused() -> None:
    with pytest.raises(MiaiError, match="no moves to learn in its test split"):
        Examples.of(invented_games(5), "test")
    with pytest.raises(MiaiError, match="no moves to learn in its test split of even"):
        Examples.of(GAMES, "test", ["even"])
    with pytest.raises(MiaiError, match="there is no 'uneven'; the set has even, odd"):
        Examples.of(GAMES, "test", ["uneven"])


def test_spread_positions_are_in_order_and_of_all_games() -> None:
    whole = Examples.of(GAMES, "train")
    some = whole.spread(24)
    assert len(some) == 24
    assert set(some.game) == set(whole.game)
    assert [(g, p) for g, p in zip(some.game, some.ply, strict=True)][:3] == [(0, 0), (0, 4), (0, 8)]
    assert len(whole.spread(1_000)) == len(whole.spread(None)) == len(whole)


def test_a_larger_part_holds_the_smaller_one() -> None:
    whole = Examples.of(GAMES, "train")
    parts = [
        {(g, p) for g, p in zip(part.game.tolist(), part.ply.tolist(), strict=True)}
        for part in (whole.games_up_to(count, seed=3) for count in (5, 20, 50))
    ]
    assert [len(part) for part in parts] == [5, 20, 50]
    assert parts[0] < parts[1] < parts[2]
    assert len({game for game, _ in parts[0]}) == 1, "whole games come first"
    other = whole.games_up_to(5, seed=4)
    assert set(other.game) != {game for game, _ in parts[0]}


def test_a_pass_takes_every_position_once_and_a_batch_may_reach_into_the_next() -> None:
    examples = Examples.of(GAMES, "train").take(slice(0, 25))
    batches = ShuffledBatches(examples, 10, 4, seed=0)
    orders = [batches._order(number) for number in range(2)]
    assert [sorted(order) for order in orders] == [list(range(25))] * 2
    assert orders[0].tolist() != orders[1].tolist()
    expected = np.concatenate(orders)[20:30]
    stones = batches[2].planes[:, 0].sum(axis=(1, 2)) + batches[2].planes[:, 1].sum(axis=(1, 2))
    assert stones.tolist() == examples.ply[expected].tolist()  # nothing is captured so early


def test_batch_number_k_is_always_the_same() -> None:
    examples = Examples.of(GAMES, "train")
    forwards = ShuffledBatches(examples, 32, 4, seed=1)
    passed = [forwards[k] for k in range(5)]
    fresh = ShuffledBatches(examples, 32, 4, seed=1)[4]
    assert all((a == b).all() for a, b in zip(passed[4], fresh, strict=True))
    other = ShuffledBatches(examples, 32, 4, seed=2)[4]
    assert not all((a == b).all() for a, b in zip(other, fresh, strict=True))


def test_moves_are_turned_with_the_boards() -> None:
    examples = Examples.of(GAMES, "train").take(np.full(8, 5))
    batch = examples.batch(slice(None), np.arange(8, dtype=np.uint8), 4)
    move = int(GAMES.moves_of(0)[5])
    assert batch.moves.tolist() == [transform_move(move, 5, k) for k in range(8)]
    assert batch.legal[np.arange(8), batch.moves].all()
