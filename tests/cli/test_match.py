"""`miai match` and `miai tournament`, and the studies of games, from the command line to the page."""

from __future__ import annotations

import re

import pytest

from miai.runner.resume import Inputs, prepare
from miai.runner.studies import load_study_file
from miai.runner.sweep_study import stage_jobs

STUDIES = ("uct_vs_flat", "uct_constant", "uct_gnugo", "tictactoe_ladder")
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


@pytest.mark.parametrize("name", STUDIES)
def test_every_stage_of_a_study_composes_and_no_run_belongs_to_two_stages(name, home, store):
    study = load_study_file(name)
    fingerprints: list[str] = []
    for stage in study.stages:
        jobs = stage_jobs(study, stage, ["num_games=100"] if stage.task == "train" else [])
        assert jobs
        if stage.needs:
            continue  # Its inputs are runs that are not there.
        fingerprints += [prepare(job, Inputs(store), 0.0).fingerprint for job in jobs]
    assert len(set(fingerprints)) == len(fingerprints)


def test_an_override_goes_to_the_stages_whose_task_knows_it(home):
    study = load_study_file("tictactoe_ladder")
    tables, ladder = study.stages
    further = ["num_games=500", "games_per_pairing=6", "seed=3"]
    [first, *_] = stage_jobs(study, tables, further)
    [second] = stage_jobs(study, ladder, further)
    assert (first.config["num_games"], first.config["seed"]) == (500, 3)
    assert (second.config["games_per_pairing"], second.config["seed"]) == (6, 3)


def test_tables_searches_and_perfect_play_in_one_ladder(miai, home):
    tables = [
        f"{{player: table, run: tictactoe_ladder/{name}-mixture-both-s0, label: {name}}}" for name in ("mc", "sarsa")
    ]
    settings = [
        "num_games=2000",
        "num_checkpoints=2",
        "algorithm=mc,sarsa",
        f"players=[random,{','.join(tables)},uct@20,perfect]",
        "games_per_pairing=4",
        "launcher=serial",
    ]
    said = miai("sweep", "tictactoe_ladder", *settings)
    assert said.code == 0, said
    assert "stage tables: 2 finished" in said.out
    assert "stage ladder: 1 finished" in said.out
    said = miai("report", "tictactoe_ladder", *settings)
    assert said.code == 0, said
    text = (home / "reports" / "tictactoe_ladder" / "report.md").read_text(encoding="utf-8")
    assert "### Elo ladder" in text
    assert "### Who beats whom" in text
    assert "perfect play" in text
    assert "The tables, measured exactly" in text


def test_strength_over_simulations_is_drawn_from_a_sweep(miai, home):
    players = "players=[flat_mc@8,uct@8],[flat_mc@32,uct@8],[uct@16,uct@8],[uct@32,uct@8]"
    settings = [players, "games=2", "game.size=3", "launcher=serial"]
    said = miai("sweep", "uct_vs_flat", *settings)
    assert said.code == 0, said
    said = miai("report", "uct_vs_flat", *settings)
    assert said.code == 0, said
    text = (home / "reports" / "uct_vs_flat" / "report.md").read_text(encoding="utf-8")
    assert "| flat Monte Carlo | 32 | 2 |" in text
    assert "Points a game against UCT, 8 simulations" in text
