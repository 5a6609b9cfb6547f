"""docs/metrics.md names every metric, tag and artifact, and no other."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from alphago.networks import tiny_file
from miai.records.filters import Reason
from miai.records.game_set import GAMES_FILE, GameSet
from miai.records.record import GameRecord
from miai.records.result import How, Result
from miai.runner import execute
from miai.runner.compose import compose_one
from miai.runner.task import tasks
from miai.runner.tasks.value import BY_MOVE_FILE
from miai.tabular.table import TableMeta
from miai.tracking import HISTORY_FILE, origin, record

from .markdown import ROOT, blocks

PAGE = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
SECTIONS: dict[str, str] = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
TINY = {
    "train": ["num_games=60", "num_checkpoints=3", "test.games=5"],
    "match": ["players=[random,ucb@4]", "game.size=3", "games=2"],
    "records": ["players=[random]", "game.size=4", "games=3"],
    "tournament": ["players=[random,ucb@4]", "game.size=3", "games_per_pairing=2"],
    "analyse": ["players=[ucb@4]", "game.size=3", "moves=[B2]"],
    "rollout_policy": ["num_epochs=1"],
    "sl_policy": ["network=tiny", "num_epochs=1"],
    "rl_policy": ["sl=x", "num_updates=1", "games_per_update=2", "match_games=2", "test_games=2", "komi=0.5"],
    "value_data": ["sl=x", "rl=x", "positions=40", "valid_share=0.3", "test_share=0.3", "komi=0.5"],
    "value": ["network=tiny", "num_epochs=1", "test.rollouts=[3]"],
}
INPUTS: dict[str, Callable[[Path], dict[str, Path]]] = {
    "rollout_policy": lambda folder: {"data": recorded_games(folder)},
    "sl_policy": lambda folder: {"data": recorded_games(folder)},
    "rl_policy": lambda folder: {"sl": tiny_file(folder, size=5), "data": decided_games(folder)},
    "value_data": lambda folder: dict.fromkeys(("sl", "rl"), tiny_file(folder, size=3)),
    "value": lambda folder: {"data": decided_games(folder)},
}
"""Makes, in a folder, the files that a task needs, by role."""
NEEDS_TORCH = {"sl_policy", "rl_policy", "value_data", "value"}
"""Tasks that do, which is not always there."""


class Recorder:
    """Stands in for a run's context and remembers what the task says."""

    def __init__(self, work: Path) -> None:
        self.work, self.inputs, self.seed, self.fingerprint, self.workers = work, {}, 0, "f" * 64, 1
        self.logged: set[str] = set()
        self.finals: set[str] = set()
        self.artifacts: set[str] = set()
        self.logger = SimpleNamespace(info=lambda *_: None, warning=lambda *_: None)

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        self.logged |= set(metrics)

    def final(self, metrics: Mapping[str, float]) -> None:
        self.finals |= set(metrics)

    def artifact(self, path: Path, name: str | None = None) -> None:
        self.artifacts.add(name or path.name)

    def map(self, function: Any, units: Mapping[str, Any], **_: Any) -> dict[str, Any]:
        return {key: function(unit) for key, unit in units.items()}

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


RunTiny = Callable[..., Recorder]


@pytest.fixture(scope="module")
def run_tiny(tmp_path_factory: pytest.TempPathFactory) -> RunTiny:
    """Make a tiny run of a task, once for each set of overrides."""
    return functools.cache(lambda task, *further: _run(task, tmp_path_factory.mktemp(task), *further))


def _run(task: str, work: Path, *further: str) -> Recorder:
    known = tasks()[task]
    config = compose_one(task, [*TINY[task], *further])
    known.check(config)
    if task in NEEDS_TORCH:
        pytest.importorskip("torch")
    recorder: Any = Recorder(work)
    if task in INPUTS:
        recorder.inputs = INPUTS[task](work)
    known.run(config, recorder)
    return recorder


def recorded_games(folder: Path) -> Path:
    """Write a set of a few games on 5×5, of one collection, to a file."""
    path = folder / GAMES_FILE
    record = GameRecord(size=5, moves=((1, 12), (-1, 7), (1, 11), (-1, 6)))
    GameSet.from_records([record] * 3, split=[0, 1, 2], collection="NAME").save(path)
    return path


def decided_games(folder: Path) -> Path:
    """Write such a set of games that were won."""
    path = folder / GAMES_FILE
    moves = ((1, 12), (-1, 7), (1, 11), (-1, 6))
    records = [GameRecord(size=5, komi=0.5, moves=moves, result=Result(winner, How.RESIGNATION)) for winner in (1, -1)]
    GameSet.from_records(records * 3, split=[0, 0, 1, 1, 2, 2]).save(path)
    return path


def documented(section: str) -> set[str]:
    """Return the metrics in the first column of a section's tables."""
    [text] = [text for name, text in SECTIONS.items() if name.startswith(section)]
    rows = re.findall(r"^\| (`[^|]+) \|", text, re.M)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


@pytest.mark.parametrize("seat", ["first", "second", "both"])
def test_training_logs_what_the_page_says(run_tiny: RunTiny, seat: str) -> None:
    recorder = run_tiny("train", f"seat={seat}")
    logged = recorder.logged | {f"final/{name}" for name in recorder.finals - recorder.logged}
    assert {re.sub(r"/(first|second)/", "/", name) for name in logged} == documented("Training")
    by_seat = {name for name in logged if re.search(r"/(first|second)/", name)}
    assert bool(by_seat) == (seat == "both")
    assert len(by_seat) == (
        2 * len([n for n in documented("Training") if n[:5] in ("eval/", "test/")]) if by_seat else 0
    )
    measured = {name for name in recorder.logged if not name.startswith("train/")}
    assert recorder.finals - {"table/bound"} == measured, "every final value is there as final/… too"


def test_a_step_size_by_visits_is_not_one_number(run_tiny: RunTiny) -> None:
    assert "train/alpha" not in run_tiny("train", "alpha_schedule=inverse_visits").logged


def test_matches_log_what_the_page_says(run_tiny: RunTiny) -> None:
    recorder = run_tiny("match")
    infinite = {"match/elo", "match/elo_low", "match/elo_high"} - recorder.finals  # where one side won every game
    assert recorder.finals | recorder.logged == documented("Matches") - infinite


def test_tournaments_log_what_the_page_says(run_tiny: RunTiny) -> None:
    recorder = run_tiny("tournament")
    names = {re.sub(r"^rating/.+/", "rating/PLAYER/", name) for name in recorder.finals | recorder.logged}
    assert names == documented("Tournaments")


def test_analyses_log_what_the_page_says(run_tiny: RunTiny) -> None:
    recorder = run_tiny("analyse")
    names = {re.sub(r"^analysis/.+/", "analysis/PLAYER/", name) for name in recorder.finals}
    assert not recorder.logged
    assert names == documented("Analyses")


def test_data_sets_log_what_the_page_says(run_tiny: RunTiny) -> None:
    found = documented("Data sets of games")
    assert run_tiny("records").finals == found - {"left_out/REASON"}
    counts = {name for name in run_tiny("records", "game.size=2", "games=30").finals if name.startswith("left_out/")}
    assert counts == {"left_out/duplicate"}, "there are few games on 2×2"
    [text] = [text for name, text in SECTIONS.items() if name.startswith("Data sets of games")]
    assert set(re.findall(r"`([a-z_]+)`", text)) == set(Reason)


def test_policy_networks_log_what_the_page_says(run_tiny: RunTiny) -> None:
    recorder = run_tiny("sl_policy")
    logged = recorder.logged | {f"final/{name}" for name in recorder.finals - recorder.logged}
    assert logged == documented("Policy networks from experts' moves")
    assert {name for name in recorder.logged if name.startswith("test/")} < recorder.finals
    assert recorder.artifacts == {tasks()["sl_policy"].product}


def test_rollout_policies_log_what_the_page_says(run_tiny: RunTiny) -> None:
    recorder = run_tiny("rollout_policy")
    logged = recorder.logged | {f"final/{name}" for name in recorder.finals - recorder.logged}
    assert logged == documented("Rollout policies")
    assert {name for name in recorder.logged if name.startswith("test/")} < recorder.finals


@pytest.mark.parametrize("games", [(), ("learn_from=expert", "data=x")])
def test_policies_from_self_play_log_what_the_page_says(run_tiny: RunTiny, games: tuple[str, ...]) -> None:
    recorder = run_tiny("rl_policy", *games)
    logged = recorder.logged | {f"final/{name}" for name in recorder.finals - recorder.logged}
    expert = {"rl/train_lean", "rl/valid_lean", "rl/lean_gap"}
    self_play = {"rl/pool_win_rate", "rl/moves_per_game"}
    assert logged == documented("Policies from self-play") - (self_play if games else expert)
    assert {name for name in recorder.logged if name.startswith("test/")} < recorder.finals


def test_value_data_log_what_the_page_says(run_tiny: RunTiny) -> None:
    recorder = run_tiny("value_data")
    assert not recorder.logged
    assert recorder.finals == documented("Value data")
    assert recorder.artifacts == {tasks()["value_data"].product}


def test_value_networks_log_what_the_page_says(run_tiny: RunTiny) -> None:
    recorder = run_tiny("value", "value_data=null", "data=x")
    logged = recorder.logged | {f"final/{name}" for name in recorder.finals - recorder.logged}
    assert {name.replace("rollouts_3", "rollouts_N") for name in logged} == documented("Value networks")
    assert {name for name in recorder.logged if name.startswith("test/")} < recorder.finals
    assert recorder.artifacts == {tasks()["value"].product, BY_MOVE_FILE}


def test_artifacts(run_tiny: RunTiny) -> None:
    found = documented("Artifacts")
    made = {
        "train": run_tiny("train", "seat=first").artifacts,
        "match": run_tiny("match").artifacts,
        "records": run_tiny("records").artifacts,
        "analyse": run_tiny("analyse").artifacts,
        "rollout_policy": run_tiny("rollout_policy").artifacts,
        "of networks": {tasks()[task].product for task in NEEDS_TORCH} | {BY_MOVE_FILE},
        "every run": {"config.yaml", HISTORY_FILE, execute.LOG_FILE},
    }
    assert found - {"faults/"} == set().union(*made.values()), "faults/ is there after a fault alone"


def test_tags() -> None:
    constants = {
        value
        for module in (record, origin, execute)
        for name, value in vars(module).items()
        if name.endswith("_TAG") and isinstance(value, str)
    }
    set_by_code = {name for name in origin.code_tags() if name.startswith("miai.")} - {"miai.version.torch"}
    in_git = {"miai.git_commit", "miai.git_dirty"}  # absent from an installed copy
    assert documented("Tags") - {"miai.kept"} == constants | set_by_code | in_git


def test_the_table_opens_as_the_page_says(
    run_tiny: RunTiny, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    work = run_tiny("train", "seat=first").work
    with np.load(work / "table.npz", allow_pickle=False) as table:
        arrays = {name: (table[name].ndim, str(table[name].dtype)) for name in table.files if name != "meta"}
        meta = json.loads(str(table["meta"]))
    rows = re.findall(r"^\| `(\w+)` \| \[([^\]]+)\] (\w+) \|", SECTIONS["The table's file"], re.M)
    assert {name: (shape.count(",") + 1, dtype) for name, shape, dtype in rows} == arrays
    [fields] = re.findall(r"^\| `meta` \| string \| JSON: ([^|]+) \|", SECTIONS["The table's file"], re.M)
    assert set(fields.split(", ")) == set(meta) == set(TableMeta.__dataclass_fields__)
    [example] = [block.text for block in blocks(SECTIONS["The table's file"]) if block.language == "python"]
    monkeypatch.chdir(work)
    exec(compile(example, "docs/metrics.md", "exec"), {})
    assert capsys.readouterr().out.startswith("sarsa ")
