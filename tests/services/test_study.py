"""A study's whole life on a shared store: sweep, resume, report, reproduce, sync."""

from __future__ import annotations

from tests.services.conftest import Project

from miai.tracking import FINISHED, Store, locate, read_history

STUDY = ("td_comparison", "num_games=300", "num_checkpoints=3", "test.games=10", "algorithm=sarsa,mc", "seed=range(2)")
"""A sweep of four short runs."""


def test_a_study_lives_on_a_shared_store(project: Project, address: str) -> None:
    here = f"tracking.uri={address}"
    assert "4 finished" in project("sweep", *STUDY, here)
    assert "4 already there" in project("sweep", *STUDY, here)

    store = Store(locate(address, root=project.home))
    runs = store.runs("td_comparison")
    assert len(runs) == 4
    assert {run.status for run in runs} == {FINISHED}
    for run in runs:
        assert {"config.yaml", "history.parquet", "run.log", "table.npz"} <= set(store.artifacts(run))
        history = read_history(store.artifact(run, "history.parquet")).to_pydict()
        assert history["step"] == [100, 200, 300]
        logged = store.client.get_metric_history(run.run_id, "eval/win")
        assert [metric.value for metric in sorted(logged, key=lambda m: m.step)] == history["eval/win"]

    project("report", *STUDY, here)
    assert (project.home / "reports" / "td_comparison" / "report.html").is_file()
    assert "the same, byte for byte" in project("reproduce", runs[0].run_id[:12], here)
    assert "0 runs uploaded" in project("sync", here)
    assert project.files_with_secrets() == []
