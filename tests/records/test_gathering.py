"""From files to a data set: what is kept, what is left out and why, and on which side of the split a game is."""

from __future__ import annotations

import csv
import dataclasses
import os
import re
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from miai.errors import MiaiError
from miai.games.go.symmetry import transform_move
from miai.records import BLACK, GameRecord, write_sgf
from miai.records.filters import Filters, Reason
from miai.records.game_set import TEST, TRAIN, VALID, GameSet
from miai.records.gathering import Gathered, Gatherer, SplitOptions, collection_of, gather_place
from miai.records.index import survey
from miai.records.sameness import game_keys

from .random_games import random_record


def mirrored(record: GameRecord) -> GameRecord:
    moves = tuple((colour, transform_move(move, record.size, 5)) for colour, move in record.moves)
    return dataclasses.replace(record, moves=moves)


def shortened(record: GameRecord, count: int) -> GameRecord:
    return dataclasses.replace(record, moves=record.moves[:count])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two collections: six games, one of them mirrored and once more, one without its end; and some rubbish."""
    records = {f"east/{seed}.sgf": random_record(seed) for seed in range(4)}
    records |= {f"west/{seed}.sgf": random_record(seed) for seed in (4, 5)}
    records["west/copy.sgf"] = mirrored(records["east/1.sgf"])
    records["west/short.sgf"] = shortened(records["east/2.sgf"], 10)
    records["west/small.sgf"] = random_record(0, size=4)
    illegal = random_record(9)
    records["west/illegal.sgf"] = dataclasses.replace(
        illegal, moves=(*illegal.moves[:1], (-BLACK, illegal.moves[0][1]))
    )
    place = tmp_path / "records"
    for name, record in records.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(write_sgf(record), encoding="utf-8")
    (place / "east/torn.sgf").write_text("(;SZ[5];B[aa]", encoding="utf-8")
    (place / "east/readme.txt").write_text("no game", encoding="utf-8")
    return place


def gather(place: Path, size: int = 5, filters: Filters | None = None, **options) -> Gathered:
    gatherer = Gatherer(size, filters or Filters(), options.pop("splits", SplitOptions()), **options)
    gather_place(gatherer, place)
    return gatherer.finish()


def test_a_folder_becomes_a_set_and_all_else_is_listed(folder: Path, tmp_path: Path) -> None:
    gathered = gather(folder)
    games = gathered.games
    assert (len(games), games.collections) == (7, ("east", "west"))
    assert games.collection.tolist() == [0] * 4 + [1] * 3
    for game, seed in enumerate((0, 1, 2, 3, 4, 5)):
        assert games.to_record(game).moves == random_record(seed).moves
    assert [(left.name, left.reason) for left in gathered.left_out] == [
        ("west/small.sgf", Reason.BOARD_SIZE),
        ("east/torn.sgf", Reason.DAMAGED),
        ("west/illegal.sgf", Reason.ILLEGAL),
        ("west/copy.sgf", Reason.DUPLICATE),
    ]
    assert gathered.counts() == {
        Reason.DAMAGED: 1,
        Reason.BOARD_SIZE: 1,
        Reason.ILLEGAL: 1,
        Reason.DUPLICATE: 1,
    }
    gathered.write_left_out(tmp_path / "left_out.csv")
    rows = list(csv.DictReader((tmp_path / "left_out.csv").open()))
    assert rows[2] == {
        "name": "west/illegal.sgf",
        "reason": "illegal",
        "detail": "move 2: the point is occupied",
    }
    assert rows[3]["detail"] == "as east/1.sgf"


def test_beginnings_of_longer_games_may_be_left_out(folder: Path) -> None:
    gathered = gather(folder, keep_beginnings=False)
    assert len(gathered.games) == 6
    assert [left.name for left in gathered.left_out if left.reason is Reason.BEGINNING] == ["west/short.sgf"]


def test_archives_hold_the_same_games(folder: Path, tmp_path: Path) -> None:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for path in files:
            archive.write(path, path.relative_to(folder))
    with tarfile.open(tmp_path / "a.tar.xz", "w:xz") as archive:
        for path in files:
            archive.add(path, path.relative_to(folder))
    sets = [gather(place).games for place in (folder, tmp_path / "a.zip", tmp_path / "a.tar.xz")]
    for field in dataclasses.fields(GameSet):
        for other in sets[1:]:
            np.testing.assert_array_equal(getattr(other, field.name), getattr(sets[0], field.name))


def test_an_index_names_collections_and_splits(folder: Path) -> None:
    (folder / "index.tsv").write_text(
        "path\tset\tsplit\teast_of\n"
        "east/0.sgf\tstrong\ttrain\t1\n"
        "east/1.sgf\tstrong\tvalid\t1\n"
        "east/2.sgf\tweak\ttest\t1\n"
        "west/4.sgf\t\t\t1\n",
        encoding="utf-8",
    )
    everything_to_learn = SplitOptions(valid=0.0, test=0.0)
    games = gather(folder, splits=everything_to_learn).games
    assert games.collections == ("strong", "weak", "east", "west")
    assert games.split.tolist() == [TRAIN, VALID, TEST, TRAIN, TRAIN, TRAIN, TRAIN]
    assert gather(folder, splits=SplitOptions(by="hash", valid=0.0, test=0.0)).games.split.tolist() == [TRAIN] * 7
    found = survey(folder, ("split", "nothing"))
    assert (found.num_files, found.rows["east/1.sgf"]) == (11, {"split": "valid"})


def test_an_unknown_split_of_an_index_is_refused(folder: Path) -> None:
    (folder / "index.tsv").write_text("path\tsplit\neast/0.sgf\tdev\n", encoding="utf-8")
    with pytest.raises(MiaiError, match=r"east/0\.sgf: the index says split 'dev'; allowed: train, valid, test"):
        gather(folder)


def test_a_game_is_on_one_side_in_every_set() -> None:
    records = [random_record(seed) for seed in range(300)]
    splits = SplitOptions(valid=0.2, test=0.3)
    found = splits.by_hash(game_keys(GameSet.from_records(records)))
    turned = splits.by_hash(game_keys(GameSet.from_records([mirrored(record) for record in records[::-1]])))
    assert found.tolist() == turned[::-1].tolist()
    shares = np.bincount(found, minlength=3) / len(found)
    assert np.all(np.abs(shares - (0.5, 0.2, 0.3)) < 0.09)  # three standard deviations


def test_an_archive_with_a_torn_end_gives_what_it_holds(folder: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "whole.tar", "w") as archive:
        archive.add(folder, ".")
    whole = (tmp_path / "whole.tar").read_bytes()
    (tmp_path / "torn.tar").write_bytes(whole[: len(whole) // 3])
    gathered = gather(tmp_path / "torn.tar")
    assert 0 < len(gathered.games) < 7
    assert gathered.counts()[Reason.DAMAGED] >= 1


def test_progress_counts_files(folder: Path) -> None:
    said: list[tuple[int, int]] = []
    gather_place(Gatherer(5, Filters(), SplitOptions()), folder, lambda done, total: said.append((done, total)))
    assert {total for _, total in said} == {11}
    assert [done for done, _ in said] == sorted(done for done, _ in said)
    assert said[-1] == (11, 11)


def test_a_set_without_games_is_refused_with_the_reasons(folder: Path) -> None:
    message = "no game is left for the data set; left out: 10 board_size (4, 5 where 19 is asked for), 1 damaged"
    with pytest.raises(MiaiError, match=re.escape(message)):
        gather(folder, size=19)


def test_one_game_in_one_file(folder: Path) -> None:
    games = gather(folder / "east" / "0.sgf").games
    assert (len(games), games.collections) == (1, ("games",))


def test_openings_are_kept() -> None:
    gatherer = Gatherer(5, Filters(), SplitOptions())
    gatherer.add(random_record(0), "played", opening=3)
    assert gatherer.finish().games.opening.tolist() == [3]


def test_a_split_that_leaves_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="valid and test together leave nothing to learn from"):
        SplitOptions(valid=0.5, test=0.5)


@pytest.mark.parametrize(
    ("source", "place", "name"),
    [
        ("a.tar.xz/go/strong/00/1.sgf", "a.tar.xz", "go"),
        ("a.zip/1.sgf", "a.zip", "games"),
        ("strong/00/1.sgf", "folder", "strong"),
        ("1.sgf", "folder", "games"),
        ("b.zip/1.sgf", "folder", "b.zip"),
    ],
)
def test_a_collection_is_named_after_its_outermost_folder(source: str, place: str, name: str) -> None:
    assert collection_of(source, Path(place)) == name


# ---- collections that other people made ----

KNOWN = {
    "go9-strong.tar.xz": (9, 22_767, 1_216_360, {"cgos-1800", "cgos-2200", "ogs-dan", "ogs-kyu5", "pro-minigo"}),
    "go19-strong.tar.xz": (19, 67_023, 14_011_970, {"tom-9d", "tygem-9d"}),
}


@pytest.mark.parametrize("name", ["go9-strong.tar.xz", pytest.param("go19-strong.tar.xz", marks=pytest.mark.slow)])
def test_every_game_of_a_known_collection_is_kept(name: str) -> None:
    folder = os.environ.get("MIAI_RECORDS")
    if not folder or not (Path(folder) / name).is_file():
        pytest.skip(f"MIAI_RECORDS names no folder with {name}")
    size, num_games, num_moves, collections = KNOWN[name]
    gathered = gather(Path(folder) / name, size)
    assert (len(gathered.games), gathered.games.start[-1]) == (num_games, num_moves)
    assert set(gathered.games.collections) == collections
    assert gathered.left_out == []
