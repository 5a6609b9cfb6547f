"""`miai match` and `miai tournament` as they are typed."""

from __future__ import annotations

import re

import pytest

from miai.runner.studies import load_study_file
from miai.runner.sweep_study import stage_jobs

SMALL = ("games=4", "game=tictactoe", "workers=1")


def test_a_match_closes_with_a_table_and_the_run(miai, store):
    said = miai("match", "players=[uct@20,random]", *SMALL)
    assert said.code == 0, said
    lines = said.out.splitlines()
    assert lines[0].startswith("uct num_simulations=20 vs random s0  (")
    assert lines[1].split()[:4] == ["wins", "draws", "losses", "score"]
    assert lines[4].startswith("4 games, ")
    run = store.run(lines[-1].removeprefix("Run "))
    assert run.tags["miai.task"] == "match"
    assert run.metrics["final/match/games"] == 4
    assert "the same, byte for byte (games.jsonl" in miai("reproduce", run.run_id).out


def test_a_match_may_be_swept(miai, home):
    said = miai("match", "-m", "players=[uct@5,random],[ucb@5,random]", *SMALL, "launcher=serial")
    assert said.code == 0, said
    assert "2 finished" in said.out
    again = miai("match", "-m", "players=[uct@5,random],[ucb@5,random]", *SMALL, "launcher=serial")
    assert "nothing to do" in again.out


def test_a_tournament_closes_with_a_rating_list(miai, home):
    players = "players=[random,uct@20,perfect]"
    said = miai("tournament", players, "game=tictactoe", "games_per_pairing=4", "workers=1")
    assert said.code == 0, said
    assert "Elo is relative to random. 12 games in 3 matches" in said.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["match", "players=uct"], r"players: a list is needed, such as \[uct,random\], not 'uct'"),
        (["match", "players=[uct]"], "players: a match needs two"),
        (["match", "player.uct.nope=1"], "player.uct.nope: there is no such option"),
        (["match", "schedule=adaptive"], "schedule: there is no such option"),
        (["tournament", "pairing=swiss"], "pairing: Input should be 'round_robin' or 'adaptive', not 'swiss'"),
        (["train", "game=go"], "game: no such choice 'go'; allowed: mnk, tictactoe"),
    ],
)
def test_bad_input_is_one_line(miai, empty_home, arguments, message):
    refusal = miai(*arguments).refusal
    assert refusal.startswith(f"miai {arguments[0]}: ")
    assert re.search(message, refusal), refusal


@pytest.mark.parametrize("command", ["match", "tournament"])
def test_help_shows_each_ready_player_with_its_options_once(miai, command):
    page = miai(command, "--help").out
    for text in ("player.uct.rave=false", "player.gnugo.level=10", "player.rave.rave=true", "game.komi=7.5"):
        assert page.count(text) == 1, text
    assert "NAME@N" in page
    assert "player@" not in page


def test_an_override_goes_to_the_stages_whose_task_knows_it(home):
    study = load_study_file("tictactoe_ladder")
    tables, ladder = study.stages
    further = ["num_games=500", "games_per_pairing=6", "seed=3"]
    [first, *_] = stage_jobs(study, tables, further)
    [second] = stage_jobs(study, ladder, further)
    assert (first.config["num_games"], first.config["seed"]) == (500, 3)
    assert (second.config["games_per_pairing"], second.config["seed"]) == (6, 3)
