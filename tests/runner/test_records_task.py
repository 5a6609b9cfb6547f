"""The task `records`: importing files and playing games, from the overrides to the data set in the store."""

from __future__ import annotations

import csv
import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from miai.errors import MiaiError
from miai.records import Result, write_sgf
from miai.records.game_set import GAMES_FILE, GameSet
from miai.runner import Job, Outcome, run_one
from miai.runner.compose import compose_one
from miai.runner.configured import job_of
from miai.runner.fingerprint import hash_content
from miai.runner.replay import replay
from miai.tracking import Store
from miai.tracking.location import Location
from records.random_games import random_record

FAKE_ENGINE = f"{sys.executable} {Path(__file__).parents[1] / 'gtp' / 'fake_engine.py'}"
ENGINE = ("source=gtp", "players=[gtp]", "games=2", "game.size=4", "opening_moves=2")
TWO = "players=[random,{player: random, label: other}]"
PLAYED = ("players=[random]", "games=5", "game.size=4", "opening_moves=2")


def job(experiment: str, *overrides: str) -> Job:
    return job_of({**compose_one("records", overrides), "study": experiment})


@pytest.fixture
def make(location: Location, experiment: str) -> Callable[..., Outcome]:
    """Make a data set in this process."""

    def run(*overrides: str, workers: int = 1) -> Outcome:
        outcome = run_one(job(experiment, *overrides), location, workers=workers)
        assert outcome.status == "finished", outcome.reason
        return outcome

    return run


@pytest.fixture
def games_of(store: Store) -> Callable[[Outcome], GameSet]:
    return lambda outcome: GameSet.load(store.artifact(outcome.run_id, GAMES_FILE))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four games on 5×5 and one on 4×4."""
    place = tmp_path / "some" / "games"
    place.mkdir(parents=True)
    for seed in range(4):
        (place / f"{seed}.sgf").write_text(write_sgf(random_record(seed)), encoding="utf-8")
    (place / "small.sgf").write_text(write_sgf(random_record(4, size=4)), encoding="utf-8")
    return place


def test_a_folder_is_imported(make, games_of, store: Store, folder: Path) -> None:
    outcome = make(f"source={folder}", "game.size=5", "split.valid=0.0", "split.test=0.0")
    games = games_of(outcome)
    assert [games.to_record(game).moves for game in range(4)] == [random_record(seed).moves for seed in range(4)]
    assert outcome.final == {
        "records/games": 4,
        "records/moves": len(games.moves),
        "records/train/games": 4,
        "records/valid/games": 0,
        "records/test/games": 0,
        "records/left_out": 1,
        "left_out/board_size": 1,
    }
    lines = outcome.conclusion.splitlines()
    assert lines[0].split() == ["collection", "games", "train", "valid", "test", "moves", "moves", "a", "game"]
    assert lines[1].split()[:5] == ["games", "4", "4", "0", "0"]
    assert lines[2] == "Left out: 1 board_size. Each is named in the run's left_out.csv."
    run = store.run(outcome.run_id)
    assert run.name == "records-games-5x5"
    with store.artifact(run, "left_out.csv").open(encoding="utf-8") as file:
        assert list(csv.DictReader(file)) == [{"name": "small.sgf", "reason": "board_size", "detail": "4"}]
    assert not any(name.startswith(("player", "games", "game.komi", "seed")) for name in run.params)


def test_a_copy_of_the_source_is_the_same_run_and_a_change_is_another(
    location: Location, experiment: str, folder: Path, tmp_path: Path
) -> None:
    def fingerprint(*overrides: str) -> str:
        return run_one(job(experiment, "game.size=5", *overrides), location).fingerprint

    first = fingerprint(f"source={folder}")
    folder.rename(tmp_path / "moved")
    assert fingerprint(f"source={tmp_path / 'moved'}") == first
    assert fingerprint(f"source={tmp_path / 'moved'}", "players=[random]", "seed=3", "games=7") == first
    assert fingerprint(f"source={tmp_path / 'moved'}", "filter.min_moves=2") != first
    (tmp_path / "moved" / "0.sgf").unlink()
    assert fingerprint(f"source={tmp_path / 'moved'}") != first


def test_the_hash_of_a_folder_is_of_names_and_contents(tmp_path: Path) -> None:
    def folder(name: str, **files: str) -> str:
        (tmp_path / name / "inner").mkdir(parents=True)
        for file, text in files.items():
            (tmp_path / name / "inner" / file).write_text(text, encoding="utf-8")
        return hash_content(tmp_path / name)

    assert folder("a", x="1", y="2") == folder("b", y="2", x="1")
    assert len({folder("c", x="1", y="2"), folder("d", x="2", y="1"), folder("e", x="12"), folder("f")}) == 4


def test_players_make_games_where_there_are_none(make, games_of, store: Store) -> None:
    outcome = make(*PLAYED)
    games = games_of(outcome)
    assert (len(games), games.board_size, games.collections) == (5, 4, ("selfplay",))
    assert games.opening.tolist() == [2] * 5
    assert set(games.komi.tolist()) == {7.5}
    run = store.run(outcome.run_id)
    played = [json.loads(line) for line in store.artifact(run, "games.jsonl").read_text().splitlines()]
    assert [game["moves"] for game in played] == [games.moves_of(game).tolist() for game in range(5)]
    assert [game["outcome"] for game in played] == games.winner.tolist()
    assert len({tuple(game["moves"][:2]) for game in played}) == 5, "a player that meets itself gets a new opening"
    assert (run.name, run.params["player.name"], run.params["opponent.name"]) == (
        "records-selfplay-4x4-s0",
        "random",
        "random",
    )


def test_two_players_share_openings(make, games_of) -> None:
    games = games_of(make(TWO, "games=4", "game.size=4", "opening_moves=2"))
    openings = [tuple(games.moves_of(game)[:2].tolist()) for game in range(4)]
    assert openings[0] == openings[1] != openings[2] == openings[3]


def test_the_same_seed_makes_the_same_file_in_any_process(make, store: Store) -> None:
    first, second, other = make(*PLAYED), make(*PLAYED, workers=2), make(*PLAYED, "seed=1")
    assert first.fingerprint == second.fingerprint != other.fingerprint
    files = [store.artifact(outcome.run_id, GAMES_FILE).read_bytes() for outcome in (first, second, other)]
    assert files[0] == files[1] != files[2]
    assert replay(store, first.run_id).same


def test_an_engine_makes_games(make, games_of) -> None:
    games = games_of(make(*ENGINE, f"player.gtp.command='{FAKE_ENGINE} passing'"))
    assert games.collections == ("gtp",)
    assert games.lengths.tolist() == [4, 4], "two random moves and two passes"
    assert games.opening.tolist() == [2, 2]


def test_games_that_an_engine_lost_by_its_fault_are_left_out(location: Location, experiment: str) -> None:
    outcome = run_one(job(experiment, *ENGINE, f"player.gtp.command='{FAKE_ENGINE} nonsense'"), location)
    assert outcome.status == "failed"
    assert outcome.reason == "no game is left for the data set; left out: 2 fault."


def test_games_of_a_match_are_imported_by_the_name_of_its_run(
    make, games_of, location: Location, experiment: str, store: Store
) -> None:
    config = compose_one("match", [TWO, "games=4", "game.size=4"])
    match = run_one(job_of({**config, "study": experiment}), location)
    games = games_of(make(f"source={match.run_id}", "game.size=4"))
    with zipfile.ZipFile(store.artifact(match.run_id, "games.zip")) as archive:
        assert len(games) == len(archive.namelist()) == 4
    assert games.collections == ("match",)


def test_a_run_that_broke_off_goes_on_where_it_was(
    make, location: Location, experiment: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(GameSet, "save", full)
        assert run_one(job(experiment, *PLAYED), location).status == "failed"
    outcome = make(*PLAYED)
    assert "5 of 5 units had been done before" in store.artifact(outcome.run_id, "run.log").read_text()


def test_results_survive(make, games_of, tmp_path: Path) -> None:
    for name, result in (("a", "B+2.5"), ("b", "W+T"), ("c", "0"), ("d", "?")):
        record = random_record(ord(name), result=result)
        assert str(record.result) == result
        (tmp_path / f"{name}.sgf").write_text(write_sgf(record), encoding="utf-8")
    games = games_of(make(f"source={tmp_path}", "game.size=5"))
    assert games.winner.tolist() == [1, -1, 0, 0]
    assert [games.to_record(game).result for game in range(4)] == [
        Result.parse(text) for text in ("B+2.5", "W+T", "0", "?")
    ]
    np.testing.assert_array_equal(games.margin, np.array([2.5, 0, 0, 0], np.float32))


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["game=tictactoe"], "game: no such choice 'tictactoe'; allowed: go"),
        (["players=[random,random,random]"], "players: one, who plays itself, or two are needed"),
        (["players=[]"], "players: one, who plays itself, or two are needed"),
        (["games=0"], "games: Input should be greater than or equal to 1, not 0"),
        (["source=5"], "source: Input should be a valid string, not 5"),
        (["filter.results=[won]"], "filter.results.0: Input should be 'score'"),
        (["split.by=year"], "split.by: Input should be 'index' or 'hash', not 'year'"),
        (["split.test=0.7", "split.valid=0.3"], "split: valid and test together leave nothing to learn from"),
        (["filter.nothing=1"], "nothing"),
    ],
)
def test_what_cannot_be_made_is_refused(overrides: list[str], message: str) -> None:
    with pytest.raises(MiaiError, match=message):
        job("refused", *overrides)


def test_a_place_that_is_not_there_is_refused(location: Location) -> None:
    with pytest.raises(MiaiError, match=r"^source: no such file or folder: './nothing/'"):
        run_one(job("refused", "source=./nothing/"), location)
