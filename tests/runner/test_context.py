"""What a task sees, beside what `test_execute` shows: units with sizes, conclusions, settled configurations."""

from __future__ import annotations

from typing import Any

from miai.runner import Job, RunContext, Task, run_one
from miai.runner.fingerprint import fingerprint
from miai.runner.task import Config
from miai.tracking import Store
from miai.tracking.location import Location
from runner.sample_tasks import name_of, square


def in_two_parts(config: Config, context: RunContext) -> None:
    """Do units of different sizes in two calls, then say what came out."""
    first = context.map(square, {"a": {"x": 2}, "b": {"x": 3}}, sizes={"a": 1, "b": 3}, total=10)
    second = context.map(square, {"c": {"x": 4}}, sizes={"c": 6}, before=4, total=10, here=True)
    context.final({"sum": float(sum(result["square"] for result in (*first.values(), *second.values())))})
    context.conclude("Two lines\nof text.")


def settle(config: Config) -> dict[str, Any]:
    return {"named": {"players": config["players"]}}


PARTS = Task("parts", sources=("errors.py",), run=in_two_parts, name_of=name_of)
SETTLED = Task("parts", sources=("errors.py",), run=in_two_parts, name_of=name_of, settle=settle)


def test_progress_counts_what_units_weigh(location: Location, experiment: str) -> None:
    seen: list[tuple[int, int]] = []
    outcome = run_one(
        Job(PARTS, {}, experiment), location, workers=1, on_progress=lambda done, total: seen.append((done, total))
    )
    assert outcome.final == {"sum": 29.0}
    assert seen[-1] == (10, 10)
    assert {total for _, total in seen} == {10}
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_conclusion_goes_to_people_and_to_the_log(location: Location, store: Store, experiment: str) -> None:
    outcome = run_one(Job(PARTS, {}, experiment), location, workers=1)
    assert outcome.conclusion == "Two lines\nof text."
    assert "Two lines\nof text." in store.artifact(outcome.run_id, "run.log").read_text()


def test_runs_are_compared_by_what_their_configuration_comes_to(
    location: Location, store: Store, experiment: str
) -> None:
    config = {"players": 2, "spelling": "one"}
    outcome = run_one(Job(SETTLED, config, experiment), location, workers=1)
    assert store.run(outcome.run_id).params == {"named.players": "2"}
    assert "spelling: one" in store.artifact(outcome.run_id, "config.yaml").read_text()
    assert fingerprint(SETTLED, config) == fingerprint(SETTLED, {**config, "spelling": "another"})
    assert fingerprint(SETTLED, config) != fingerprint(SETTLED, {**config, "players": 3})
    assert fingerprint(PARTS, config) != fingerprint(PARTS, {**config, "spelling": "another"})
