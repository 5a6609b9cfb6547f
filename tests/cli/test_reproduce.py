"""`miai reproduce`: the same bytes again, or what differs."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from miai.runner import fingerprint
from miai.tracking.spool import FOLDER


def test_the_same_bytes(train, miai):
    run = train("study=reproduce", "seed=11", "algorithm=n_step_sarsa", "algorithm.n_step=3", "tie_breaking=random")
    for reference in (run.run_id, run.run_id[:12], run.name):
        said = miai("reproduce", reference)
        assert said.code == 0
        assert said.out.startswith(f"{run.name} ({run.run_id}): the same, byte for byte (table.npz, ")


def test_runs_whose_inputs_are_other_runs(train, miai, store, tmp_path):
    """A table to go on from, an opponent, and a part of a mixture; by id, by name and as files."""
    first = train("study=reproduce", "seed=12")
    file = shutil.copy(store.artifact(first, "table.npz"), tmp_path / "table.npz")
    for overrides in (
        [f"init={first.run_id}"],
        [f"init={file}"],
        ["seat=second", "opponent=table", f"opponent.run={first.name}"],
        ["seat=second", f"opponent@evaluation.opponent=table evaluation.opponent.run={first.run_id}".split()],
    ):
        flat = [part for override in overrides for part in (override if isinstance(override, list) else [override])]
        said = miai("reproduce", train("study=reproduce", "seed=13", *flat).run_id)
        assert said.code == 0, said
        assert "the same, byte for byte" in said.out
    run = train("study=reproduce", "seed=13", f"init={file}")
    (tmp_path / "table.npz").unlink()
    assert f"init: no such file: '{file}'" in miai("reproduce", run.run_id).refusal


def test_after_an_edit_of_the_sources(train, miai, monkeypatch):
    """The fingerprint, which is in the table's description, differs; the arrays do not."""
    run = train("study=reproduce", "seed=14")
    monkeypatch.setattr(fingerprint, "sources_hash", lambda sources: "edited")
    said = miai("reproduce", run.run_id)
    assert said.code == 0
    assert said.out.splitlines() == [
        f"{run.name} ({run.run_id}): the same arrays; only the description differs.",
        "  The fingerprint differs: the sources or the inputs have changed since the run was made.",
    ]


@pytest.mark.parametrize("edited", [False, True])
def test_another_result(train, miai, store, monkeypatch, edited):
    run = train("study=reproduce", f"seed={15 + edited}")
    path = store.artifact(run, "table.npz")
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(path, **{**arrays, "values": arrays["values"] + 1e-16, "visits": arrays["visits"] + 1})
    if edited:
        monkeypatch.setattr(fingerprint, "sources_hash", lambda sources: "edited")
    said = miai("reproduce", run.run_id)
    assert said.code == 1
    assert "different: " in said.out
    assert "visits." in said.out
    assert ("The fingerprint differs" in said.out) == edited


def test_another_description(train, miai, store):
    run = train("study=reproduce", "seed=17")
    path = store.artifact(run, "table.npz")
    with np.load(path) as archive:
        arrays = dict(archive)
    meta = {**json.loads(str(arrays.pop("meta"))), "gamma": 0.5}
    np.savez(path, **arrays, meta=np.array(json.dumps(meta)))
    said = miai("reproduce", run.run_id)
    assert said.code == 1
    assert "the same arrays; only the description differs" in said.out
    assert "meta.gamma: 0.5 then, 0.9 now." in said.out


def test_a_run_that_was_kept_on_disk(miai, home):
    """The store was away when the run was made; it is found all the same, by its key or its name."""
    away = "tracking.uri=http://127.0.0.1:9"
    said = miai("train", "num_games=500", "num_checkpoints=1", "seed=18", "study=kept", away)
    assert said.code == 0
    assert "upload them with: miai sync" in said.out
    [key] = [folder.name for folder in (home / "mlruns" / FOLDER).iterdir() if folder.is_dir()]
    said = miai("reproduce", key, away)
    assert said.code == 0, said
    assert "the same, byte for byte" in said.out
    shutil.rmtree(home / "mlruns" / FOLDER)


def test_damage(train, miai, store):
    run = train("study=reproduce", "seed=19")
    store.artifact(run, "table.npz").write_bytes(b"PK words")
    assert "table.npz is damaged" in miai("reproduce", run.run_id).refusal
    store.artifact(run, "config.yaml").write_text("a: [")
    assert "config.yaml is damaged" in miai("reproduce", run.run_id).refusal
    store.artifact(run, "config.yaml").write_text("task: nosuch\n")
    assert "task: no such choice 'nosuch'" in miai("reproduce", run.run_id).refusal
    store.artifact(run, "config.yaml").unlink()
    assert "has no artifact 'config.yaml'" in miai("reproduce", run.run_id).refusal


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "run: a value is needed."),
        (["nosuch"], "run: the store "),
        (["a", "b"], "'b': a run is named already, 'a'; the rest is key=value."),
        (["nosuch", "seed=3"], "seed: there is no such option."),
    ],
)
def test_bad_input(miai, home, arguments, line):
    assert miai("reproduce", *arguments).refusal.startswith(f"miai reproduce: {line}")
