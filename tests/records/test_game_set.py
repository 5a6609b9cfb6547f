"""Games as arrays: what goes in comes out, and damaged files are refused."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from miai.errors import MiaiError
from miai.games.game import PASS
from miai.records import BLACK, WHITE, GameRecord, RecordError, Result
from miai.records.game_set import OTHER, RESIGN, SCORE, TEST, TIME, TRAIN, VALID, GameSet, alternates
from miai.tensor_file import load_tensors, save_tensors

from .random_games import random_record

# Three games on 3×3:
#   Black a3 (0), White b2 (4), Black passes; Black wins by 2.5.
#   White has the first move, with two stones of Black on the board; resigned.
#   No move at all; drawn.
THREE = [
    GameRecord(3, 5.5, moves=((BLACK, 0), (WHITE, 4), (BLACK, PASS)), result=Result.parse("B+2.5")),
    GameRecord(3, 0.5, 2, ((2, 6), ()), WHITE, ((WHITE, 4), (BLACK, 1)), Result.parse("W+R")),
    GameRecord(3, None, setup=((0,), (8,)), result=Result.parse("0")),
]


@pytest.fixture
def three() -> GameSet:
    return GameSet.from_records(THREE, [TRAIN, VALID, TRAIN], ["ours", "theirs", "ours"], [1, 0, 0])


def test_three_games_as_arrays(three: GameSet) -> None:
    assert (len(three), three.board_size, three.collections) == (3, 3, ("ours", "theirs"))
    assert three.start.tolist() == [0, 3, 5, 5]
    assert three.moves.tolist() == [0, 4, PASS, 4, 1]
    assert three.lengths.tolist() == [3, 2, 0]
    assert three.first_to_play.tolist() == [1, -1, 1]
    assert three.opening.tolist() == [1, 0, 0]
    assert three.komi[:2].tolist() == [5.5, 0.5]
    assert np.isnan(three.komi[2])
    assert three.winner.tolist() == [1, -1, 0]
    assert three.ended.tolist() == [SCORE, RESIGN, SCORE]
    assert three.margin.tolist() == [2.5, 0, 0]
    assert three.split.tolist() == [TRAIN, VALID, TRAIN]
    assert three.collection.tolist() == [0, 1, 0]
    assert three.black_setup_start.tolist() == [0, 0, 2, 3]
    assert three.black_setup.tolist() == [2, 6, 0]
    assert three.white_setup_start.tolist() == [0, 0, 0, 1]
    assert three.white_setup.tolist() == [8]


@pytest.mark.parametrize(
    ("result", "winner", "ended"),
    [("B+T", 1, TIME), ("W+F", -1, OTHER), ("W+", -1, OTHER), ("?", 0, OTHER), ("Void", 0, OTHER), ("0", 0, SCORE)],
)
def test_results_as_codes(result: str, winner: int, ended: int) -> None:
    found = GameSet.from_records([GameRecord(3, result=Result.parse(result))])
    assert (found.winner[0], found.ended[0]) == (winner, ended)


def test_games_are_chosen_by_split_and_collection(three: GameSet) -> None:
    assert three.games().tolist() == [0, 1, 2]
    assert three.games("train").tolist() == three.games(TRAIN).tolist() == [0, 2]
    assert three.games(VALID, ["ours"]).tolist() == []
    assert three.games(collections=["theirs"]).tolist() == [1]
    assert three.games(TEST).tolist() == []
    with pytest.raises(ValueError, match="split must be one of train, valid, test"):
        three.games("dev")
    with pytest.raises(MiaiError, match="there is no 'cgos'; the set has ours, theirs"):
        three.games(collections=["cgos"])


def test_records_come_back(three: GameSet) -> None:
    for game, record in enumerate(THREE):
        assert dataclasses.replace(three.to_record(game), source="") == record
    assert three.to_record(1).source == "theirs#1"
    with pytest.raises(ValueError, match="game must be from 0 to 2, got 3"):
        three.to_record(3)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=5), st.data())
def test_what_goes_in_comes_out_and_so_does_what_is_taken(seeds: list[int], data: st.DataObject) -> None:
    records = [random_record(seed, handicap=(6, 18) if seed % 2 else ()) for seed in seeds]
    games = GameSet.from_records(records)
    chosen = data.draw(st.lists(st.integers(0, len(records) - 1)))
    taken = games.take(chosen)
    assert len(taken) == len(chosen)
    for place, game in enumerate(chosen):
        record = dataclasses.replace(records[game], rules="", source=f"games#{place}")
        assert taken.to_record(place) == record


def test_a_file_holds_the_set_byte_for_byte(three: GameSet, tmp_path: Path) -> None:
    three.save(tmp_path / "a")
    three.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    loaded = GameSet.load(tmp_path / "a")
    for field in dataclasses.fields(GameSet):
        np.testing.assert_array_equal(getattr(loaded, field.name), getattr(three, field.name))
    assert isinstance(loaded.moves.base, np.memmap) or isinstance(loaded.moves, np.memmap)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("moves", [0, 4, 9, 4, 1], "a value of moves is not from -1 to 8"),
        ("start", [0, 3, 2, 5], "start does not divide moves"),
        ("split", [0, 3, 0], "a value of split is not from 0 to 2"),
        ("collection", [0, 2, 0], "a value of collection is not from 0 to 1"),
        ("komi", [5.5], "komi has 1 values for 3 games"),
        ("first_to_play", [1, 0, 1], "nobody moves first"),
        ("opening", [4, 0, 0], "fewer than its opening"),
    ],
)
def test_a_damaged_file_is_refused(three: GameSet, tmp_path: Path, name: str, value: list, message: str) -> None:
    path = tmp_path / "games.safetensors"
    three.save(path)
    arrays, meta = load_tensors(path, "games", 1)
    arrays[name] = np.array(value, arrays[name].dtype)
    save_tensors(path, "games", 1, arrays, meta)
    with pytest.raises(MiaiError, match=re.escape(f"{path}: it is damaged: ") + f".*{message}"):
        GameSet.load(path)


@pytest.mark.parametrize(
    ("meta", "message"),
    [
        ({"board_size": 20, "collections": []}, "its board size is 20; allowed: 2 to 19"),
        ({"board_size": 9, "collections": "x"}, "the names of its collections"),
    ],
)
def test_damaged_metadata_are_refused(three: GameSet, tmp_path: Path, meta: dict, message: str) -> None:
    path = tmp_path / "games.safetensors"
    three.save(path)
    save_tensors(path, "games", 1, load_tensors(path, "games", 1)[0], meta)
    with pytest.raises(MiaiError, match=message):
        GameSet.load(path)


def test_what_no_set_holds_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one record"):
        GameSet.from_records([])
    with pytest.raises(RecordError, match="b: size 5; the set is of size 3"):
        GameSet.from_records([THREE[0], GameRecord(5, source="b")])
    twice = GameRecord(3, moves=((BLACK, 0), (BLACK, 1)), source="c")
    with pytest.raises(RecordError, match="c: one colour moves twice running"):
        GameSet.from_records([twice])
    with pytest.raises(ValueError, match="split must be"):
        GameSet.from_records(THREE, 3)
    with pytest.raises(ValueError, match="opening must be from 0 to the game's 3 moves, got 4"):
        GameSet.from_records(THREE, opening=4)


@pytest.mark.parametrize(
    ("colours", "takes_turns"),
    [("", True), ("B", True), ("BWBW", True), ("WBW", True), ("BB", False), ("BWW", False), ("BWBWWB", False)],
)
def test_whether_colours_take_turns(colours: str, takes_turns: bool) -> None:
    moves = tuple((BLACK if colour == "B" else WHITE, point) for point, colour in enumerate(colours))
    assert alternates(GameRecord(3, to_play=moves[0][0] if moves else BLACK, moves=moves)) == takes_turns
