"""Runs named by study and name."""

from __future__ import annotations

import pytest

from miai.errors import MiaiError
from miai.tracking import FAILED, Store


def test_the_newest_finished_run_of_a_study_is_found_by_its_name(store: Store, start, tmp_path) -> None:
    table = tmp_path / "table.npz"
    for content, status in ((b"first", "FINISHED"), (b"second", "FINISHED"), (b"third", FAILED)):
        run_log = start(store, "sarsa-0")
        table.write_bytes(content)
        run_log.artifact(table)
        run_log.finish(status)
    other = start(store, "mc-0")
    other.finish()
    assert store.artifact("study/sarsa-0", "table.npz").read_bytes() == b"second"
    assert store.run("study/mc-0").run_id == other.run_id
    with pytest.raises(MiaiError, match="fits 3 runs"):
        store.run("sarsa-0")
    for name in ("study/nobody-0", "nothing/sarsa-0"):
        experiment, _, own = name.partition("/")
        with pytest.raises(MiaiError, match=f"'{experiment}' has no finished run named '{own}'"):
            store.run(name)


def test_parameters_may_be_other_than_the_configuration(store: Store, tmp_path) -> None:
    work = tmp_path / "work-of-params"
    work.mkdir()
    run_log = store.start("study", "match", {"players": ["a"]}, {}, work, {"player": {"name": "uct"}})
    run_log.finish()
    assert store.run(run_log.run_id).params == {"player.name": "uct"}
    assert store.artifact(run_log.run_id, "config.yaml").read_text() == "players:\n- a\n"
