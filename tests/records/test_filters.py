"""Why a game is not wanted: each filter by a game that passes it and one that does not."""

from __future__ import annotations

import dataclasses

import pytest

from miai.errors import MiaiError
from miai.kinds import validate
from miai.records import BLACK, WHITE, GameRecord, Result
from miai.records.filters import Filters, Reason
from miai.records.ranks import Rank, parse_rank

GAME = GameRecord(
    5, 6.5, moves=((BLACK, 0), (WHITE, 6), (BLACK, -1)), result=Result.parse("B+R"), ranks=("3d", "1d"), source="g"
)


def of(**changes) -> GameRecord:
    return dataclasses.replace(GAME, **changes)


HANDICAP = of(handicap=2, setup=((6, 18), ()), to_play=WHITE, moves=((WHITE, 0), (BLACK, 1)))
DIAGRAM = of(setup=((6,), (7,)))
TWICE = of(moves=((BLACK, 0), (BLACK, 1)))
WHITE_FIRST = of(to_play=WHITE, moves=((WHITE, 0),))


@pytest.mark.parametrize(
    ("options", "record", "expected"),
    [
        ({}, GAME, None),
        ({}, WHITE_FIRST, None),
        ({}, of(size=6), (Reason.BOARD_SIZE, "6")),
        ({}, TWICE, (Reason.NOT_ALTERNATING, "")),
        ({}, HANDICAP, (Reason.HANDICAP, "2")),
        ({"max_handicap": 1}, HANDICAP, (Reason.HANDICAP, "2")),
        ({"max_handicap": 2}, HANDICAP, None),
        ({}, of(handicap=1), None),
        ({"max_handicap": 9}, DIAGRAM, (Reason.SETUP, "1 black, 1 white")),
        ({"setup": True}, DIAGRAM, None),
        ({"setup": True}, HANDICAP, (Reason.HANDICAP, "2")),
        ({"min_rank": "1d"}, GAME, None),
        ({"min_rank": "2d"}, GAME, (Reason.RANK, "3d 1d")),
        ({"min_rank": "1d"}, of(ranks=("", "9p")), (Reason.RANK, "? 9p")),
        ({"min_rank": 2000}, GAME, (Reason.RANK, "3d 1d")),
        ({"min_rank": 2000}, of(ranks=("2000", "2101?")), None),
        ({"results": ["score", "draw"]}, GAME, (Reason.RESULT, "B+R")),
        ({"results": ["resignation"]}, GAME, None),
        ({"komi": [5.5, 7.5]}, GAME, (Reason.KOMI, "6.5")),
        ({"komi": [6.5]}, of(komi=None), (Reason.KOMI, "?")),
        ({"komi": [6.5]}, GAME, None),
        ({"min_moves": 4}, GAME, (Reason.TOO_SHORT, "3 moves")),
        ({"min_moves": 3, "max_moves": 3}, GAME, None),
        ({"max_moves": 2}, GAME, (Reason.TOO_LONG, "3 moves")),
        ({}, of(moves=()), (Reason.TOO_SHORT, "0 moves")),
    ],
)
def test_each_filter(options: dict, record: GameRecord, expected: tuple | None) -> None:
    assert validate(Filters, options, "filter").refusal(record, 5) == expected


def test_an_index_knows_ranks_that_the_record_lacks() -> None:
    filters, row = Filters(min_rank="2d"), {"black_rank": "3d", "white_rank": "2d"}
    assert filters.refusal(of(ranks=("", "")), 5, row) is None
    assert filters.refusal(of(ranks=("", "1d")), 5, row) == (Reason.RANK, "3d 1d"), "the record's own counts first"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_rank": "strong"}, "filter.min_rank: a rank such as 5k, 1d, 3p, or a rating such as 2000 is needed"),
        ({"results": ["won"]}, "filter.results.0: Input should be 'score', "),
        ({"min_moves": -1}, "filter.min_moves: "),
        ({"max_moves": 40_000}, "filter.max_moves: "),
        ({"min_stones": 1}, "filter.min_stones: there is no such option"),
    ],
)
def test_what_is_no_filter_is_refused(options: dict, message: str) -> None:
    with pytest.raises(MiaiError, match=message):
        validate(Filters, options, "filter")


@pytest.mark.parametrize(
    ("text", "rank"),
    [
        ("1d", Rank("rank", 1)),
        (" 9 Dan ", Rank("rank", 9)),
        ("1p", Rank("rank", 10)),
        ("1k", Rank("rank", 0)),
        ("30 kyu?", Rank("rank", -29)),
        ("2213", Rank("rating", 2213)),
        ("", None),
        ("?", None),
        ("strong", None),
        ("1d-", None),
    ],
)
def test_ranks(text: str, rank: Rank | None) -> None:
    assert parse_rank(text) == rank
