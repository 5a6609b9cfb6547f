"""Making a run again from what the store holds, to compare what comes out."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from miai.errors import MiaiError
from miai.gtp.client import no_engines
from miai.npz import BadArchiveError, load_npz
from miai.runner.checkpoint import Checkpoints
from miai.runner.configured import job_of
from miai.runner.context import RunContext
from miai.runner.resume import Inputs, Ready, prepare
from miai.runner.stored_config import read_config
from miai.tracking import RunRecord, Store
from miai.tracking.failures import first_line

CONFIG_FILE = "config.yaml"
ARTIFACTS = "artifacts"
META = "meta"
"""The array of a table that describes it; it holds the fingerprint."""

NOT_STARTED = "the store names this program; look at it, and start it by allow_commands=true if you trust it"
"""Why the engines of a run that is made again are not started."""

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


def replay(store: Store, reference: str, *, allow_commands: bool = False) -> Replay:
    """Make a run again and compare what came of it (the task's `product`).

    Its configuration is what the store says, so it is read as plain data, and checked as one from a command line is.

    Args:
        allow_commands: start the engines that the configuration names. Whoever wrote it into the store has then
            chosen what runs here.

    Raises:
        MiaiError: no such run, it lacks what is needed to make it again, or it has an engine that may not be started.
    """
    record = store.run(reference)
    config = read_config(store.artifact(record, CONFIG_FILE), f"run {record.run_id}: its {CONFIG_FILE}")
    try:
        job = job_of(config)
        product = job.task.product
        old = store.artifact(record, product)
        ready = prepare(job, Inputs(store))
        with tempfile.TemporaryDirectory(prefix="miai-reproduce-") as temporary:
            with nullcontext() if allow_commands else no_engines(NOT_STARTED):
                _make(ready, Path(temporary))
            return _compare(record, old, Path(temporary) / ARTIFACTS / product, ready.fingerprint)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # What nobody who configures a run can write, and a store can hold.
        raise MiaiError(f"run {record.run_id}: it cannot be made again: {first_line(error)}") from error


def _make(ready: Ready, temporary: Path) -> None:
    """Run a task in this process alone; its artifacts go to the folder `ARTIFACTS`."""
    (temporary / ARTIFACTS).mkdir()
    (temporary / "work").mkdir()
    unlogged: Any = _Unlogged(temporary / ARTIFACTS)
    context = RunContext(
        unlogged,
        Checkpoints(temporary / "checkpoints"),
        seed=int(ready.job.config.get("seed") or 0),
        work=temporary / "work",
        inputs=ready.inputs,
        fingerprint=ready.fingerprint,
        workers=1,
    )
    ready.job.task.run(ready.job.config, context)


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
        then, now = load_npz(old), load_npz(new)
    except BadArchiveError as error:
        raise MiaiError(f"run {record.run_id}: {old.name} is damaged: {error}.") from None
    different = sorted(
        key
        for key in {*then, *now} - {META}
        if key not in then or key not in now or not np.array_equal(then[key], now[key])
    )
    if different:
        return Replay(name, False, f"different: {', '.join(different)}.", tuple(details))
    details += _meta_differences(str(then.get(META, "{}")), str(now.get(META, "{}")))
    return Replay(name, edited, "the same arrays; only the description differs.", tuple(details))


def _meta_differences(first: str, second: str) -> list[str]:
    old, new = json.loads(first), json.loads(second)
    keys = sorted(key for key in {*old, *new} - {"fingerprint"} if old.get(key) != new.get(key))
    return [f"{META}.{key}: {old.get(key)!r} then, {new.get(key)!r} now." for key in keys]
