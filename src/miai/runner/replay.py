"""Making a run again from what the store holds, to compare what comes out."""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from miai.errors import MiaiError
from miai.runner.checkpoint import Checkpoints
from miai.runner.configured import job_of
from miai.runner.context import RunContext
from miai.runner.resume import Inputs, prepare
from miai.tracking import RunRecord, Store

CONFIG_FILE = "config.yaml"
META = "meta"
"""The array of a table that describes it; it holds the fingerprint."""

EDITED = "The fingerprint differs: the sources or the inputs have changed since the run was made."


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
    """Make a run again and compare what came of it (the task's `product`).

    Raises:
        MiaiError: no such run, or it lacks what is needed to make it again.
    """
    record = store.run(reference)
    job = job_of(_config_of(store, record))
    task, config = job.task, job.config
    old = store.artifact(record, task.product)
    ready = prepare(job, Inputs(store))
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
        return _compare(record, old, folder / task.product, ready.fingerprint)


def _config_of(store: Store, record: RunRecord) -> dict[str, Any]:
    """Read the configuration that a run was made with."""
    try:
        config = yaml.safe_load(store.artifact(record, CONFIG_FILE).read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError):
        config = None
    if not isinstance(config, dict):
        raise MiaiError(f"run {record.run_id}: its {CONFIG_FILE} is damaged.")
    return config


def _compare(record: RunRecord, old: Path, new: Path, fingerprint: str) -> Replay:
    """Compare the file of the store with the one that was made now."""
    name = f"{record.name} ({record.run_id})"
    if not new.is_file():
        return Replay(name, False, f"different: this time there is no {old.name}.")
    if old.read_bytes() == new.read_bytes():
        return Replay(name, True, f"the same, byte for byte ({old.name}, {old.stat().st_size:,} bytes).")
    edited = fingerprint != record.fingerprint
    details = [EDITED] if edited else []
    if old.suffix != ".npz":
        return Replay(name, False, f"different: {old.name}.", tuple(details))
    try:
        then, now = _arrays(old), _arrays(new)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise MiaiError(f"run {record.run_id}: {old.name} is damaged: {type(error).__name__}.") from error
    different = sorted(
        key
        for key in {*then, *now} - {META}
        if key not in then or key not in now or not np.array_equal(then[key], now[key])
    )
    if different:
        return Replay(name, False, f"different: {', '.join(different)}.", tuple(details))
    details += _meta_differences(str(then.get(META, "{}")), str(now.get(META, "{}")))
    return Replay(name, edited, "the same arrays; only the description differs.", tuple(details))


def _arrays(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def _meta_differences(first: str, second: str) -> list[str]:
    old, new = json.loads(first), json.loads(second)
    keys = sorted(key for key in {*old, *new} - {"fingerprint"} if old.get(key) != new.get(key))
    return [f"{META}.{key}: {old.get(key)!r} then, {new.get(key)!r} now." for key in keys]
