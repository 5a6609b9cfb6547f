"""The compiled judge against `GoGame`, on hand-made positions and on random games with something wrong in them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from miai.errors import MiaiError
from miai.games.game import PASS
from miai.games.go.game import SUPERKO
from miai.records import BLACK, WHITE, GameRecord, RecordError, finish_record
from miai.records.game_set import GameSet
from miai.records.legality import judge_games

from .random_games import random_record


def game(moves: str, size: int = 3, **options) -> GameRecord:
    """Return a game of alternating moves, written as flat indices; `-` is a pass."""
    flats = [PASS if word == "-" else int(word) for word in moves.split()]
    first = options.get("to_play", BLACK)
    return GameRecord(
        size, 0.5, moves=tuple((first if i % 2 == 0 else -first, m) for i, m in enumerate(flats)), **options
    )


def verdict(record: GameRecord, superko: str = "positional", suicide: bool = False) -> str:
    return judge_games(GameSet.from_records([record]), superko, suicide).describe(0)


# White (O) takes the stone at 6 by playing at 5, and Black must not take back at once:
#   . X O .        0  1  2  3
#   X . X O        4  5  6  7
#   . X O .        8  9 10 11
#   . . . .       12 13 14 15
KO_SHAPE = ((1, 4, 6, 9), (2, 7, 10))


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (game("0 4 8 - -"), ""),
        (game("0 0"), "move 2: the point is occupied"),
        (game("- - 4"), "move 3: the game is over"),
        (game("0", to_play=WHITE, setup=((1, 3), ())), "move 1: suicide"),
        (game("5 6", 4, to_play=WHITE, setup=KO_SHAPE), "move 2: ko"),
        (game("5 15 13 6", 4, to_play=WHITE, setup=KO_SHAPE), ""),
        (game("5", setup=((0,), (1, 3))), "a set-up chain has no liberty"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_hand_made_games(record: GameRecord, expected: str) -> None:
    assert verdict(record) == expected


def test_suicide_is_a_rule() -> None:
    own_eye = game("0 8", to_play=WHITE, setup=((1, 3), ()))
    assert verdict(own_eye) == "move 1: suicide"
    assert verdict(own_eye, "none", suicide=True) == ""
    assert verdict(own_eye, "positional", suicide=True) == "move 1: superko", "the stones are as they were"
    assert verdict(own_eye, "situational", suicide=True) == "", "but the other side is to move"


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(MiaiError, match="superko: no such choice 'natural'"):
        judge_games(GameSet.from_records([game("0")]), "natural")


@given(
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 60), st.integers(-1, 8)), min_size=1, max_size=4),
    st.sampled_from(SUPERKO),
    st.booleans(),
)
def test_the_judge_agrees_with_the_game(drawn: list[tuple[int, int, int]], superko: str, suicide: bool) -> None:
    """On 3×3 repetitions, suicides and occupied points come by themselves when one move is replaced by another."""
    records = []
    for seed, place, other in drawn:
        record = random_record(seed, 3, 60)
        moves = list(record.moves)
        if moves:
            place %= len(moves)
            moves[place] = (moves[place][0], other)
        records.append(dataclasses.replace(record, moves=tuple(moves), source="x"))
    verdicts = judge_games(GameSet.from_records(records), superko, suicide)
    for index, record in enumerate(records):
        try:
            finish_record(record, superko=superko, suicide=suicide)
            expected = ""
        except RecordError as error:
            words = str(error).removeprefix("x: ").removesuffix(".").split(": ")
            expected = f"{words[0]}: {'superko' if 'superko' in words[-1] else words[-1]}"
        assert verdicts.describe(index) == expected


def test_many_games_share_one_table() -> None:
    records = [random_record(seed, 3, 60) for seed in range(200)]
    verdicts = judge_games(GameSet.from_records(records))
    assert not verdicts.faults.any()
    assert np.all(verdicts.plies == -1)
