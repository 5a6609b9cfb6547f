"""The task `tournament`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from miai.errors import MiaiError
from miai.runner import Job, Outcome, run_one
from miai.runner.compose import compose_one
from miai.runner.configured import job_of
from miai.tracking import Store, read_history
from miai.tracking.location import Location

LADDER = ("players=[random,uct@30,perfect]", "game=tictactoe", "games_per_pairing=10")


def job(experiment: str, *overrides: str) -> Job:
    return job_of({**compose_one("tournament", overrides), "study": experiment})


@pytest.fixture
def play(location: Location, experiment: str) -> Callable[..., Outcome]:
    def run(*overrides: str, workers: int = 1) -> Outcome:
        outcome = run_one(job(experiment, *overrides), location, workers=workers)
        assert outcome.status == "finished", outcome.reason
        return outcome

    return run


def results_of(store: Store, outcome: Outcome) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(store.artifact(outcome.run_id, "results.csv").read_text())))


def test_everybody_meets_everybody_and_the_strongest_is_first(play, store: Store) -> None:
    outcome = play(*LADDER)
    results = results_of(store, outcome)
    assert [(row["first"], row["second"]) for row in results] == [
        ("random", "uct num_simulations=30"),
        ("random", "perfect"),
        ("uct num_simulations=30", "perfect"),
    ]
    assert all(int(row["wins"]) + int(row["draws"]) + int(row["losses"]) == 10 for row in results)
    final = outcome.final
    assert (final["tournament/games"], final["tournament/matches"], final["tournament/faults"]) == (30, 3, 0)
    assert final["rating/random/elo"] == final["rating/random/low"] == final["rating/random/high"] == 0
    for player in ("uct_num_simulations_30", "perfect"):
        assert 0 < final[f"rating/{player}/low"] < final[f"rating/{player}/elo"] < final[f"rating/{player}/high"]
        assert final[f"rating/{player}/games"] == 20
    names = [line.split("  ")[0] for line in outcome.conclusion.splitlines()[1:4]]
    assert names[-1] == "random"
    assert "Elo is relative to random. 30 games in 3 matches" in outcome.conclusion
    games = [json.loads(line) for line in store.artifact(outcome.run_id, "games.jsonl").read_text().splitlines()]
    assert len(games) == 30
    assert {game["match"] for game in games} >= {"round 1, match 1, random vs uct num_simulations=30"}


def test_it_is_the_same_in_any_process(play, store: Store) -> None:
    alone, spread = play(*LADDER), play(*LADDER, workers=2)
    first, second = (store.artifact(outcome.run_id, "games.jsonl").read_bytes() for outcome in (alone, spread))
    assert first == second


def test_ratings_are_logged_round_by_round(play, store: Store) -> None:
    outcome = play(*LADDER, "rounds=3")
    history = read_history(store.artifact(outcome.run_id, "history.parquet"))
    assert history["step"].to_pylist() == [30, 60, 90]
    widths = [
        high - low
        for low, high in zip(
            history["rating/perfect/low"].to_pylist(), history["rating/perfect/high"].to_pylist(), strict=True
        )
    ]
    assert widths[2] < widths[0]
    assert len(results_of(store, outcome)) == 9
    games = [json.loads(line) for line in store.artifact(outcome.run_id, "games.jsonl").read_text().splitlines()]
    assert games[0]["moves"] != games[30]["moves"] or games[1]["moves"] != games[31]["moves"]


def test_adaptive_pairing_joins_all_first_and_then_goes_by_what_narrows_the_intervals(play, store: Store) -> None:
    from miai.ratings import PairScore, next_pairings

    names = ["random", "twin", "uct num_simulations=100"]
    players = "players=[random,{player: random, label: twin},uct@100]"
    outcome = play(players, "game=tictactoe", "pairing=adaptive", "rounds=3", "matches_per_round=2")
    results = results_of(store, outcome)
    met = [(row["first"], row["second"]) for row in results]
    assert len(met) == 6
    assert {name for pair in met[:2] for name in pair} == set(names)
    scores = [
        PairScore(row["first"], row["second"], int(row["wins"]), int(row["draws"]), int(row["losses"]))
        for row in results
    ]
    for start in (2, 4):
        assert met[start : start + 2] == next_pairings(scores[:start], names, num_pairings=2, games_per_pairing=20)


def test_another_anchor(play) -> None:
    final = play(*LADDER, "anchor=perfect").final
    assert final["rating/perfect/elo"] == 0
    assert final["rating/random/elo"] < 0


def test_tables_take_part_and_are_named_by_their_training(play, tmp_path: Path) -> None:
    from players.test_table import save_perfect

    path = save_perfect(tmp_path / "table.npz")
    final = play(f"players=[random,{{player: table, run: '{path}'}}]", "game=tictactoe", "games_per_pairing=10").final
    assert final["rating/afterstate_against_minimax_both_seats_seed_0/elo"] > 0


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["players=[uct]"], "players: a tournament needs at least 2, not 1"),
        (["players=[uct,uct]"], "players: two of them are called 'uct'; tell them apart by `label`"),
        (["players=[uct,nobody]"], r"players\[1\]: no such choice 'nobody'"),
        (["games_per_pairing=3"], "games_per_pairing: Input should be a multiple of 2, not 3"),
        (["pairing=swiss"], "pairing: Input should be 'round_robin' or 'adaptive', not 'swiss'"),
        (["rounds=0"], "rounds: Input should be greater"),
        (["anchor=nobody"], "anchor: no such choice 'nobody'; allowed: flat_mc num_simulations=100, "),
        (["opening_moves=9", "max_moves=9"], "max_moves: more than the 9"),
    ],
)
def test_what_cannot_be_played_is_refused_before_anything_runs(overrides: list[str], message: str) -> None:
    with pytest.raises(MiaiError, match=message) as error:
        job_of(compose_one("tournament", overrides))
    assert "\n" not in str(error.value)
