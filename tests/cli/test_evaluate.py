"""`miai evaluate`: exact and sampled results of saved tables."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def evaluated(miai):
    """Evaluate, and return what it says as JSON."""

    def evaluate(*arguments):
        said = miai("evaluate", *arguments, "format=json")
        assert said.code == 0, said
        return json.loads(said.out)

    return evaluate


def test_it_measures_what_the_run_measured(train, evaluated):
    run = train("study=evaluate", "seed=3", "opponent=mixture")
    [row] = evaluated(run.run_id, "test.games=20", "seed=3").values()
    for name in ("win", "draw", "loss", "value", "optimality_gap", "exploitability"):
        assert row[name] == pytest.approx(run.metrics[f"final/eval/{name}"])
    assert [row[name] for name in ("wins", "draws", "losses", "distinct_games")] == [
        run.metrics[f"final/test/{name}"] for name in ("wins", "draws", "losses", "distinct_games")
    ]


def test_runs_by_id_its_beginning_and_name_and_files(train, evaluated, store, tmp_path):
    run = train("study=evaluate", "seed=4", "seat=both", "algorithm=q_learning")
    whole = evaluated(run.run_id)
    assert set(whole) == {"first", "second"}
    file = tmp_path / "a=b.npz"
    file.write_bytes(store.artifact(run, "table.npz").read_bytes())
    for reference in (run.run_id[:10], run.name, str(file), f"run={run.run_id}"):
        assert evaluated(reference) == whole
    assert evaluated("opponent=random", run.run_id) == whole  # in any order


def test_against_other_opponents(train, evaluated):
    """No table wins against perfect play; the best value against random is that of spec's ground truth."""
    run = train("study=evaluate", "seed=5", "seat=second")
    perfect = evaluated(run.run_id, "opponent=minimax")["second"]
    assert perfect["win"] == 0
    assert perfect["best_value"] == 0
    assert evaluated(run.run_id)["second"]["best_value"] == pytest.approx(874 / 945)
    itself = evaluated(run.run_id, "opponent=table", f"opponent.run={run.run_id}", "test.games=50")["second"]
    assert itself["distinct_games"] == 1  # both play the first of the best moves
    assert itself["wins"] + itself["draws"] + itself["losses"] == 50


def test_a_table_for_people(train, miai):
    run = train("study=evaluate", "seed=6", "seat=both")
    said = miai("evaluate", run.run_id, "test.games=1000")
    assert said.code == 0
    assert "X, first" in said.out
    assert "O, second" in said.out
    assert "wins of 1,000 games" in said.out
    assert "games" not in miai("evaluate", run.run_id, "test.games=0").out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "run: a value is needed."),
        (["nosuch"], "run: the store "),
        (["run="], "run: a text is allowed, not ''"),
        (["nosuch", "nosuch"], "'nosuch': a run is named already, 'nosuch'; the rest is key=value."),
        (["nosuch.npz"], "nosuch.npz: not a table that can be used: there is no such file"),
        (["nosuch", "opponent=perfect"], "opponent: no such choice 'perfect'; allowed: advanced, minimax, "),
        (["nosuch", "opponent.p=1"], "opponent.p: there is no such option as things are chosen."),
        (["nosuch", "format=xml"], "format: no such choice 'xml'; allowed: json, table."),
        (["nosuch", "test.games=-1"], "test.games: a whole number from 0 is allowed, not -1."),
        (["nosuch", "test.games=few"], "test.games: a whole number from 0 is allowed, not 'few'."),
        (["nosuch", "launcher=serial"], "launcher: there is no such option."),
        (["--games", "5"], "--games: there is no such flag; options are key=value. See --help."),
    ],
)
def test_bad_input(miai, home, arguments, line):
    assert miai("evaluate", *arguments).refusal.startswith(f"miai evaluate: {line}")


def test_damaged_tables_and_wrong_ones(train, miai, store, tmp_path):
    run = train("study=evaluate", "seed=7")
    whole = store.artifact(run, "table.npz").read_bytes()
    file = tmp_path / "table.npz"
    for content in (b"", b"words", whole[: len(whole) // 2], whole[:2000] + bytes(8) + whole[2008:]):
        file.write_bytes(content)
        refusal = miai("evaluate", str(file)).refusal
        assert refusal.startswith(f"miai evaluate: {file}: not a table that can be used: ")
    other = train("study=evaluate", "game=mnk", "game.rows=2", "game.k=2")
    said = miai("evaluate", run.run_id, "opponent=table", f"opponent.run={other.run_id}")
    assert "not a table that can be used: it belongs to mnk (cols 3, k 2, rows 2), not to " in said.refusal
    twice = train("study=evaluate", "seed=7")
    assert f"'{twice.name}' fits 2 runs: " in miai("evaluate", run.name).refusal
    assert "self is only for training" in miai("evaluate", run.run_id, "opponent=self").refusal
