"""The task `match`: from a command line's overrides to the run in the store."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from miai.errors import MiaiError
from miai.players.gnugo import find_gnugo
from miai.runner import Job, Outcome, run_one
from miai.runner.compose import compose_one
from miai.runner.configured import job_of
from miai.runner.fingerprint import fingerprint
from miai.runner.replay import replay
from miai.runner.tasks.match import TASK, elo_text
from miai.tracking import KILLED, RUNNING, Store, read_history
from miai.tracking.location import Location

FAKE_ENGINE = f"{sys.executable} {Path(__file__).parents[1] / 'gtp' / 'fake_engine.py'}"
SMALL = ("players=[uct@30,random]", "games=6", "game=tictactoe")


def job(experiment: str, *overrides: str) -> Job:
    return job_of({**compose_one("match", overrides), "study": experiment})


@pytest.fixture
def play(location: Location, experiment: str) -> Callable[..., Outcome]:
    """Run a match in this process."""

    def run(*overrides: str, workers: int = 1) -> Outcome:
        outcome = run_one(job(experiment, *overrides), location, workers=workers)
        assert outcome.status == "finished", outcome.reason
        return outcome

    return run


def games_of(store: Store, outcome: Outcome) -> list[dict[str, Any]]:
    return [json.loads(line) for line in store.artifact(outcome.run_id, "games.jsonl").read_text().splitlines()]


def test_a_match_leaves_its_numbers_its_games_and_a_closing_table(play, store: Store) -> None:
    outcome = play(*SMALL)
    final = {name.removeprefix("match/"): value for name, value in outcome.final.items()}
    games = games_of(store, outcome)
    assert [game["number"] for game in games] == list(range(6))
    own_seats = [game["players"].index("uct num_simulations=30") for game in games]
    assert own_seats == [0, 1] * 3
    results = [game["outcome"] * (1 if seat == 0 else -1) for game, seat in zip(games, own_seats, strict=True)]
    assert final["wins"] == results.count(1)
    assert final["draws"] == results.count(0)
    assert final["losses"] == results.count(-1)
    assert final["score"] == pytest.approx((results.count(1) + results.count(0) / 2) / 6)
    assert 0 <= final["score_low"] < final["score"] <= final["score_high"] <= 1
    assert final["as_first/score"] == pytest.approx(np.mean([(r + 1) / 2 for r in results[0::2]]))
    assert final["distinct_games"] == len({tuple(game["moves"]) for game in games})
    assert final["mean_moves"] == pytest.approx(np.mean([len(game["moves"]) for game in games]))
    assert final["faults"] == final["opponent_faults"] == 0
    assert final["simulations_per_second"] > 0
    assert final["opponent_simulations_per_second"] == 0
    run = store.run(outcome.run_id)
    assert set(store.artifacts(run)) == {"config.yaml", "games.jsonl", "history.parquet", "results.csv", "run.log"}
    lines = outcome.conclusion.splitlines()
    assert lines[1].startswith("uct num_simulations=30")
    assert lines[2].startswith("random")
    assert f"6 games, {final['distinct_games']:.0f} of them distinct" in lines[3]
    history = read_history(store.artifact(run, "history.parquet"))
    assert history["step"].to_pylist() == [2, 4, 6]
    assert history["match/score"].to_pylist()[-1] == pytest.approx(final["score"])
    [row] = csv.DictReader(io.StringIO(store.artifact(run, "results.csv").read_text()))
    assert (row["first"], row["second"]) == ("uct num_simulations=30", "random")
    assert float(row["wins"]) == final["wins"]


def test_parameters_say_who_met_whom(play, store: Store) -> None:
    params = store.run(play(*SMALL, "player.uct.c_uct=1.0").run_id).params
    assert (params["player.name"], params["player.num_simulations"], params["player.c_uct"]) == ("uct", "30", "1.0")
    assert (params["opponent.name"], params["game.name"], params["games"]) == ("random", "tictactoe", "6")
    assert not any(name.startswith(("player.gnugo", "players")) for name in params)


def test_every_game_of_go_is_kept_as_a_record(play, store: Store) -> None:
    from miai.records import parse_sgf

    outcome = play("players=[uct@10,random]", "games=4", "game.size=4", "game.komi=1.5", "opening_moves=2")
    games = games_of(store, outcome)
    with zipfile.ZipFile(store.artifact(outcome.run_id, "games.zip")) as archive:
        assert archive.namelist() == [f"match/{number:04}.sgf" for number in range(4)]
        records = [parse_sgf(archive.read(name), name)[0] for name in archive.namelist()]
    for game, record in zip(games, records, strict=True):
        assert [move for _, move in record.moves] == game["moves"]
        assert (record.size, record.komi, list(record.players)) == (4, 1.5, game["players"])
        assert str(record.result) == game["result"]
    assert [game["moves"][:2] for game in games[0::2]] == [game["moves"][:2] for game in games[1::2]]


def test_the_same_seed_is_the_same_games_in_any_process(play, store: Store) -> None:
    go = ("players=[uct@20,ucb@20]", "games=4", "game.size=4")
    alone, spread = play(*go), play(*go, workers=2)
    files = [
        store.artifact(outcome.run_id, name) for outcome in (alone, spread) for name in ("games.jsonl", "games.zip")
    ]
    assert files[0].read_bytes() == files[2].read_bytes()
    assert files[1].read_bytes() == files[3].read_bytes()
    assert alone.fingerprint == spread.fingerprint
    other = play(*go, "seed=1")
    assert games_of(store, other) != games_of(store, alone)
    again = replay(store, alone.run_id)
    assert again.same, again.verdict
    assert "games.jsonl" in again.verdict


def test_only_what_counts_is_in_the_fingerprint() -> None:
    def taken(*overrides: str) -> str:
        return fingerprint(TASK, compose_one("match", overrides))

    base = taken("players=[uct@50,random]")
    assert base == taken("players=[{player: uct, num_simulations: 50},random]")
    assert base == taken("players=[uct,random]", "player.uct.num_simulations=50")
    assert base == taken("players=[uct@50,random]", "player.gnugo.level=3", "workers=2")
    assert base != taken("players=[random,uct@50]")
    assert base != taken("players=[uct@50,random]", "player.uct.c_uct=0.5")
    assert base != taken("players=[uct@50,random]", "game.komi=6.5")


def table(tmp_path: Path, seat: str) -> Path:
    from players.test_table import save_perfect

    return save_perfect(tmp_path / f"{seat}.npz", seat)


def test_a_table_takes_part_by_its_content(play, tmp_path: Path, store: Store) -> None:
    both = table(tmp_path, "both")
    copy = tmp_path / "copy.npz"
    copy.write_bytes(both.read_bytes())
    first, second = (
        play(f"players=[{{player: table, run: '{path}'}},random]", "game=tictactoe", "games=10")
        for path in (both, copy)
    )
    assert first.fingerprint == second.fingerprint
    assert first.final["match/losses"] == 0
    assert games_of(store, first)[0]["players"][0] == "afterstate against minimax, both seats, seed 0"


def test_a_table_of_one_seat_cannot_swap_seats(location: Location, experiment: str, tmp_path: Path) -> None:
    one, other = table(tmp_path, "first"), table(tmp_path, "second")
    alone = job(experiment, f"players=[{{player: table, run: '{one}'}},random]", "game=tictactoe")
    outcome = run_one(alone, location, workers=1)
    assert outcome.status == "failed"
    assert "its table has learnt the first seat alone, and seats are swapped" in outcome.reason
    pair = f"{{player: table, run: '{one}', second: '{other}'}}"
    outcome = run_one(job(experiment, f"players=[{pair},random]", "game=tictactoe", "games=4"), location, workers=1)
    assert outcome.status == "finished", outcome.reason
    assert outcome.final["match/losses"] == 0


def test_an_engine_that_plays_illegally_loses_apart_and_its_words_are_kept(play, store: Store) -> None:
    outcome = play("players=[gtp,random]", f"player.gtp.command='{FAKE_ENGINE} occupied'", "games=4", "game.size=5")
    final = outcome.final
    assert (final["match/faults"], final["match/opponent_faults"]) == (4, 0)
    assert (final["match/wins"], final["match/losses"]) == (0, 4)
    assert final["match/without_faults/games"] == 0
    assert "match/without_faults/score" not in final
    kinds = {game["fault"]["kind"] for game in games_of(store, outcome)}
    assert kinds == {"illegal"}
    kept = [name for name in store.artifacts(outcome.run_id) if name.startswith("faults/")]
    assert kept == [f"faults/match-{number:04}.txt" for number in range(4)]
    text = store.artifact(outcome.run_id, kept[0]).read_text()
    assert re.search(r"^> \d+ genmove b$", text, re.M)
    assert re.search(r"^< =\d+ C3$", text, re.M)
    assert "Games that ended by a fault count as lost" in outcome.conclusion


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["players=[uct]"], r"players: a match needs two, such as \[uct,random\], not 1; see miai tournament"),
        (["players=[uct,nobody]"], r"players\[1\]: no such choice 'nobody'; allowed: apv_mcts, flat_mc"),
        (["players=[uct,{player: uct, c_utc: 1}]"], r"players\[1\] \(uct\).c_utc: there is no such option"),
        (["players=[uct,gtp]"], r"players\[1\] \(gtp\).command: a command line is needed"),
        (["players=[uct,table]"], r"players\[1\] \(table\): run: a table is needed"),
        (["games=0"], "games: Input should be greater than or equal to 1, not 0"),
        (["opening_moves=-1"], "opening_moves: Input should be greater"),
        (["opening_moves=9", "max_moves=9"], "max_moves: more than the 9 of the opening needed, not 9"),
        (["game.size=99"], "game.size: Input should be less than or equal to 19, not 99"),
        (["game.komi=0.3"], "game.komi: komi must be a whole or half number"),
        (
            ["player.uct.num_simulations=0"],
            r"players\[0\] \(uct\).num_simulations: .* greater than or equal to 1, not 0",
        ),
    ],
)
def test_what_cannot_be_played_is_refused_before_anything_runs(overrides: list[str], message: str) -> None:
    with pytest.raises(MiaiError, match=message) as error:
        job_of(compose_one("match", overrides))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        (["players=[perfect,random]"], "player perfect: plays small games, given by their rules, not go."),
        (["players=[gtp,random]", "player.gtp.command=engine", "game=tictactoe"], "GTP engines play Go, not tictactoe"),
        (["players=[rave,random]", "game=tictactoe"], "playout=pattern: only for Go"),
        (["players=[table,random]", "player.table.run=nothing.npz", "game=tictactoe"], "no such file: 'nothing.npz'"),
    ],
)
def test_what_does_not_go_together_is_said_in_one_line(
    location: Location, experiment: str, overrides: list[str], reason: str
) -> None:
    try:
        outcome = run_one(job(experiment, *overrides), location, workers=1)
        said = outcome.reason
    except MiaiError as error:
        said = str(error)
    assert reason in said
    assert "\n" not in said


def test_an_option_that_there_is_not_is_refused() -> None:
    with pytest.raises(MiaiError, match="there is no such option"):
        compose_one("match", ["player.uct.nope=3"])


PROGRAM = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from miai.runner import run_one
from miai.tracking import locate
from runner.test_match_task import job
if __name__ == "__main__":
    outcome = run_one(job(*sys.argv[2:]), locate(root=Path(sys.argv[1])), workers=2)
    print(outcome.status, outcome.run_id)
"""


def test_a_match_that_was_killed_goes_on_where_it_was(
    location: Location, store: Store, experiment: str, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(tests=str(Path(__file__).parents[1])))
    overrides = ("players=[uct@300,uct@301]", "games=12", "game.size=6")
    command = [sys.executable, str(program), str(location.mlruns.parent), experiment, *overrides]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    units = location.mlruns / "checkpoints"
    deadline = time.monotonic() + 120
    while len(list(units.glob("*/units/*.json"))) < 2:
        assert running.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    assert [run.status for run in store.runs(experiment)] == [RUNNING]
    outcome = run_one(job(experiment, *overrides), location, workers=1)
    assert outcome.status == "finished", outcome.reason
    log = store.artifact(outcome.run_id, "run.log").read_text()
    done = re.search(r"(\d+) of 6 units had been done before", log)
    assert done is not None
    assert int(done[1]) >= 2
    assert sorted(run.status for run in store.runs(experiment)) == ["FINISHED", KILLED]
    whole = run_one(job(f"{experiment}-whole", *overrides), location, workers=1)
    assert games_of(store, whole) == games_of(store, outcome)


def test_a_difference_in_elo_is_written_for_people() -> None:
    from miai.arena import Tally

    assert elo_text(Tally(50, 0, 50)) == "+0 (−68 to +68)"
    assert elo_text(Tally(75, 0, 25)).startswith("+191 (+11")
    assert elo_text(Tally(10, 0, 0)).startswith("+∞ (+1")
    assert elo_text(Tally(0, 0, 10)).startswith("−∞ (−∞ to −1")


@pytest.mark.skipif(find_gnugo() is None, reason="GNU Go is not installed")
def test_gnu_go_takes_part(play, store: Store) -> None:
    outcome = play("players=[random,gnugo]", "player.gnugo.level=1", "games=2", "game.size=5")
    assert outcome.final["match/losses"] == 2
    assert outcome.final["match/opponent_faults"] == 0
