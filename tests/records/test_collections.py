"""The rules and the scoring against games that other programs and people played.

`MIAI_RECORDS` names a folder of archives; those that these tests know are `go9-strong.tar.xz` and `go19-strong.tar.xz`.
"""

import itertools
import os
from pathlib import Path

import pytest

from miai.records import RecordReader, finish_record, read_index
from miai.records.result import How

SAMPLE = {"go9-strong.tar.xz": 300, "go19-strong.tar.xz": 40}
TOTAL = {"go9-strong.tar.xz": 22_767, "go19-strong.tar.xz": 67_023}
KOMI = 7.5


def archive(name: str) -> Path:
    folder = os.environ.get("MIAI_RECORDS")
    if not folder:
        pytest.skip("MIAI_RECORDS names no folder of records")
    path = Path(folder) / name
    if not path.is_file():
        pytest.skip(f"{name} is not in MIAI_RECORDS")
    return path


def replay_all(name: str, limit: int | None) -> tuple[RecordReader, int]:
    """Play out the first games of an archive; any illegal move raises."""
    reader = RecordReader(archive(name))
    moves = 0
    for record in itertools.islice(reader, limit):
        game = finish_record(record, komi=record.komi if record.komi is not None else KOMI)
        assert game.history == record.moves
        moves += len(record.moves)
    assert reader.damaged == []
    return reader, moves


def check_counted_games(limit: int | None) -> int:
    """Score the games of computer Go servers that ended by counting; return how many there were."""
    counted = 0
    for record in RecordReader(archive("go9-strong.tar.xz")):
        if "/cgos-" not in record.source or record.result.how not in (How.SCORE, How.DRAW):
            continue
        game = finish_record(record)
        assert game.is_over
        assert game.result_text() == str(record.result), record.source
        counted += 1
        if counted == limit:
            break
    return counted


@pytest.mark.parametrize("name", SAMPLE)
def test_a_sample_is_legal(name):
    _, moves = replay_all(name, SAMPLE[name])
    assert moves > 5_000


def test_a_sample_of_counted_games_scores_as_recorded():
    assert check_counted_games(100) == 100


@pytest.mark.slow
@pytest.mark.parametrize("name", TOTAL)
def test_every_game_is_legal(name):
    reader, _ = replay_all(name, None)
    assert reader.num_games == TOTAL[name]


@pytest.mark.slow
def test_every_counted_game_scores_as_recorded():
    assert check_counted_games(None) == 2_224


@pytest.mark.slow
@pytest.mark.parametrize("name", TOTAL)
def test_the_index_knows_every_game(name):
    index = read_index(archive(name))
    assert len(index) == TOTAL[name]
    for record in itertools.islice(RecordReader(archive(name)), 2_000):
        row = index[record.source]
        assert int(row["moves"]) == len(record.moves)
        assert row["split"] in ("train", "valid", "test")
