"""Making a run again from what the store holds, to compare what comes out."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from miai.errors import MiaiError
from miai.runner.checkpoint import Checkpoints
from miai.runner.context import RunContext
from miai.runner.resume import Inputs, prepare
from miai.runner.task import Job, tasks
from miai.tracking import Store

CONFIG_FILE = "config.yaml"


@dataclass(frozen=True)
class Replay:
    """How a run that was made again compares with the one in the store."""

    name: str
    same: bool
    verdict: str
    details: tuple[str, ...] = ()


class _Unlogged:
    """Stands in for a run log: keeps artifacts in a folder, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: list[Any] = []

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Forget it."""

    def final(self, metrics: Mapping[str, float]) -> None:
        """Forget it."""

    def tag(self, key: str, value: str) -> None:
        """Forget it."""

    def tick(self) -> None:
        """Nothing waits to be sent."""

    def artifact(self, path: Path, name: str | None = None) -> None:
        target = self.folder / (name or path.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, target, dirs_exist_ok=True)
        else:
            shutil.copy2(path, target)


def replay(store: Store, reference: str) -> Replay:
    """Make a run again and compare its table (the task's `input_artifact`).

    Raises:
        MiaiError: no such run, or it lacks what is needed to make it again.
    """
    record = store.run(reference)
    config = yaml.safe_load(store.artifact(record, CONFIG_FILE).read_text(encoding="utf-8"))
    known = tasks()
    if not isinstance(config, dict) or config.get("task") not in known:
        raise MiaiError(f"run {record.run_id}: its {CONFIG_FILE} names no task of this version.")
    task = known[config["task"]]
    task.check(config)
    job = Job(task, config, experiment=record.experiment)
    ready = prepare(job, Inputs(store), time.time())
    with tempfile.TemporaryDirectory(prefix="miai-reproduce-") as temporary:
        folder, work = Path(temporary) / "artifacts", Path(temporary) / "work"
        folder.mkdir()
        work.mkdir()
        unlogged: Any = _Unlogged(folder)
        context = RunContext(
            unlogged,
            Checkpoints(Path(temporary) / "checkpoints"),
            seed=int(config.get("seed") or 0),
            work=work,
            inputs=ready.inputs,
            fingerprint=ready.fingerprint,
            workers=1,
        )
        task.run(config, context)
        return _compare(
            record, store.artifact(record, task.input_artifact), folder / task.input_artifact, ready.fingerprint
        )


def _compare(record: Any, old: Path, new: Path, fingerprint: str) -> Replay:
    name = f"{record.name} ({record.run_id})"
    if old.read_bytes() == new.read_bytes():
        return Replay(name, True, f"the same, byte for byte ({old.name}, {old.stat().st_size:,} bytes).")
    edited = fingerprint != record.fingerprint
    details = []
    if edited:
        details.append("The fingerprint differs: the sources or the inputs have changed since the run was made.")
    with np.load(old, allow_pickle=False) as first, np.load(new, allow_pickle=False) as second:
        different = sorted(
            key
            for key in {*first.files, *second.files} - {"meta"}
            if key not in first.files or key not in second.files or not np.array_equal(first[key], second[key])
        )
        details += [] if different else _meta_differences(str(first["meta"]), str(second["meta"]))
    if not different:
        return Replay(name, edited, "the same arrays; only the description differs.", tuple(details))
    return Replay(name, False, f"different: {', '.join(different)}.", tuple(details))


def _meta_differences(first: str, second: str) -> list[str]:
    old, new = json.loads(first), json.loads(second)
    keys = sorted(key for key in {*old, *new} - {"fingerprint"} if old.get(key) != new.get(key))
    return [f"meta.{key}: {old.get(key)!r} then, {new.get(key)!r} now." for key in keys]
