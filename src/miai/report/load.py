"""A study's runs as data frames, with a note for everything that was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd

from miai.errors import MiaiError
from miai.tracking.history import read_history
from miai.tracking.record import IRRELEVANT

FINISHED = "FINISHED"
FINGERPRINT = "miai.fingerprint"
STAGE = "miai.stage"
ERROR = "miai.error"
COMMIT = "miai.git_commit"
DIRTY = "miai.git_dirty"
FINAL = "final/"
HISTORY_FILE = "history.parquet"
BOARD = "board"
"""A parameter that is made of a run's rows and columns, so that a section can have one facet a board."""
IDENTITY = ("run_id", "name", "fingerprint")
"""Columns of `StudyData.runs` that are neither a parameter nor a metric."""


class Record(Protocol):
    """What is read of a run; `tracking` offers more."""

    run_id: str
    name: str
    status: str
    params: dict[str, str]
    tags: dict[str, str]
    metrics: dict[str, float]
    started: Any


class Store(Protocol):
    """What is asked of the store."""

    def runs(self, experiment: str) -> list[Any]: ...

    def artifact(self, run: Any, name: str) -> Path: ...


class StudyData:
    """The finished runs of one study.

    Attributes:
        study: its name.
        runs: one row a run (for each stage that asks for it), with columns `run_id`, `name`, `fingerprint`, then
            parameters (numbers and booleans converted; `stage` among them), then final metrics.
        parameters: names of the parameter columns.
        notes: what was left out, and why; grows as histories are read.
        provenance: which commits the runs were made with.
    """

    def __init__(
        self,
        study: str,
        runs: pd.DataFrame,
        parameters: Iterable[str],
        *,
        notes: Iterable[str] = (),
        provenance: Iterable[str] = (),
        history: pd.DataFrame | None = None,
        artifact: Callable[[str, str], Path] | None = None,
    ) -> None:
        self.study = study
        self.runs = runs.reset_index(drop=True)
        self.parameters = tuple(parameters)
        self.notes = list(notes)
        self.provenance = tuple(provenance)
        self._artifact = artifact
        if history is not None:
            self.__dict__["history"] = history.sort_values(["run_id", "step"], kind="stable", ignore_index=True)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the final metrics."""
        return tuple(column for column in self.runs.columns if column not in (*IDENTITY, *self.parameters))

    @cached_property
    def finals(self) -> dict[str, dict[str, float]]:
        """Final metrics by name, then by run."""
        run_ids = self.runs["run_id"].tolist()
        return {name: dict(zip(run_ids, self.runs[name].tolist(), strict=True)) for name in self.metrics}

    @cached_property
    def history(self) -> pd.DataFrame:
        """Every run's metrics over steps: `run_id`, `step`, then a column a metric. Read when first asked for."""
        import pyarrow as pa

        tables, missing, damaged = [], [], []
        once = self.runs.drop_duplicates("run_id")
        for run_id, name in zip(once["run_id"], once["name"], strict=True):
            path = self.artifact(run_id, HISTORY_FILE)
            if path is None:
                missing.append(name)
                continue
            try:
                tables.append((run_id, read_history(path)))
            except MiaiError:
                damaged.append(name)
        if missing:
            self.notes.append(f"No history of {_list(missing)}: left out of every figure over games.")
        if damaged:
            self.notes.append(f"The history of {_list(damaged)} is damaged: left out of every figure over games.")
        if not tables:
            return pd.DataFrame({"run_id": pd.Series(dtype=str), "step": pd.Series(dtype=np.int64)})
        joined = pa.concat_tables([table for _, table in tables], promote_options="default").to_pandas()
        lengths = [table.num_rows for _, table in tables]
        joined.insert(0, "run_id", np.repeat(np.array([run_id for run_id, _ in tables], dtype=object), lengths))
        return joined

    @cached_property
    def columns(self) -> dict[str, np.ndarray]:
        """The history's columns `step` and metrics, [num_rows] each."""
        return {name: self.history[name].to_numpy() for name in self.history.columns if name != "run_id"}

    @cached_property
    def rows(self) -> dict[str, slice]:
        """Where each run's rows are in `columns`: together, steps ascending."""
        codes, run_ids = pd.factorize(self.history["run_id"])
        ends = np.cumsum(np.bincount(codes, minlength=len(run_ids)))
        return {
            run_id: slice(end - size, end)
            for run_id, end, size in zip(run_ids, ends, np.diff(ends, prepend=0), strict=True)
        }

    def artifact(self, run_id: str, name: str) -> Path | None:
        """Return the local file of a run's artifact, or `None` if the run has none of this name."""
        if self._artifact is None:
            return None
        try:
            return self._artifact(run_id, name)
        except (MiaiError, OSError):
            return None


def load_study(
    store: Store,
    study: str,
    planned: Mapping[str, str] | None = None,
    stages: Mapping[str, Sequence[str]] | None = None,
) -> StudyData:
    """Read a study's runs from the store.

    Of several finished runs of one configuration the newest counts. What is left out is noted: unfinished
    runs, older runs of a configuration, runs outside the plan.

    Args:
        store: where `runs(study)` and `artifact(record, name)` come from, as of `tracking.Store`.
        study: name of the study, which is its experiment in the store.
        planned: fingerprint → name of the runs that the study asks for now. If given, other runs are left out
            and those that are still missing are noted.
        stages: fingerprint → the stages that ask for this run now. It was made once, and has a row for each of them.
            By default a run has one row, of the stage that made it.

    Raises:
        MiaiError: if no finished run is left.
    """
    records = sorted(store.runs(study), key=lambda record: (record.started, record.run_id))
    finished = [record for record in records if record.status == FINISHED]
    notes = []
    if planned is not None:
        outside = [record for record in finished if record.tags.get(FINGERPRINT, "") not in planned]
        if outside:
            finished = [record for record in finished if record.tags.get(FINGERPRINT, "") in planned]
            notes.append(
                f"{_runs(len(outside))} in the store left out: made with other settings, or with an earlier version of "
                "the sources."
            )
        present = {record.tags.get(FINGERPRINT, "") for record in finished}
        absent = [name for fingerprint, name in planned.items() if fingerprint not in present]
        if absent:
            notes.append(f"{len(absent)} of {len(planned)} planned runs are missing: {_list(absent)}.")
    newest: dict[Any, Any] = {}
    for record in finished:
        newest[_configuration(record) if stages is None else record.tags.get(FINGERPRINT, record.run_id)] = record
    kept = list(newest.values())
    if len(kept) < len(finished):
        notes.append(f"{_runs(len(finished) - len(kept))} left out: a newer run of the same configuration counts.")
    notes += _unfinished(records, {record.tags.get(FINGERPRINT) for record in kept})
    if not kept:
        why = f" ({'; '.join(notes)})" if notes else ""
        raise MiaiError(f"study {study!r}: no finished run in the store{why}. Run `miai sweep {study}` first.")
    parameters = _parameters(kept)
    frame = pd.DataFrame(
        {
            "run_id": [record.run_id for record in kept],
            "name": [record.name for record in kept],
            "fingerprint": [record.tags.get(FINGERPRINT, "") for record in kept],
            **parameters,
            **_finals(kept),
        }
    )
    if stages is not None and "stage" in parameters:
        frame = _in_each_stage(frame, stages)
    by_id = {record.run_id: record for record in kept}

    def artifact(run_id: str, name: str) -> Path:
        return store.artifact(by_id[run_id], name)

    return StudyData(study, frame, parameters, notes=notes, provenance=_provenance(kept), artifact=artifact)


def _in_each_stage(frame: pd.DataFrame, stages: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Repeat the row of a run for every stage that asks for it."""
    own = zip(frame["fingerprint"], frame["stage"], strict=True)
    wanted = [tuple(stages.get(fingerprint, (stage,))) for fingerprint, stage in own]
    repeated = frame.loc[frame.index.repeat([len(names) for names in wanted])].reset_index(drop=True)
    return repeated.assign(stage=[name for names in wanted for name in names])


def parse(text: str | None) -> Any:
    """Return a parameter's value from how the store keeps it: None, bool, int, float, or the text itself."""
    if text is None or text in ("None", "null", ""):
        return None
    if text in ("True", "true", "False", "false"):
        return text in ("True", "true")
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _configuration(record: Record) -> tuple:
    """What makes two runs one and the same: the stage and all settings."""
    settings = sorted((name, value) for name, value in record.params.items() if not _is_bookkeeping(name))
    return (_stage(record), *settings) if settings else (record.tags.get(FINGERPRINT) or record.run_id,)


def _is_bookkeeping(name: str) -> bool:
    return name.partition(".")[0] in IRRELEVANT


def _stage(record: Record) -> str | None:
    return record.tags.get(STAGE) or parse(record.params.get("stage"))


def _parameters(records: list[Any]) -> dict[str, list]:
    names = dict.fromkeys(name for record in records for name in record.params if not _is_bookkeeping(name))
    columns = {name: [parse(record.params.get(name)) for record in records] for name in names}
    if {"game.rows", "game.cols"} <= columns.keys():
        nothing = [None] * len(records)
        columns[BOARD] = _boards(columns["game.rows"], columns["game.cols"], columns.get("game.k", nothing))
    stages = [_stage(record) for record in records]
    return {"stage": stages, **columns} if any(stages) else columns


def _boards(rows: list, columns: list, in_a_row: list) -> list[str | None]:
    """Name the boards, with how many in a row win where that differs between boards."""
    sizes = [f"{r} × {c}" if r and c else None for r, c in zip(rows, columns, strict=True)]
    if len(set(in_a_row)) < 2:
        return sizes
    return [size and f"{size}, {k} in a row" for size, k in zip(sizes, in_a_row, strict=True)]


def _finals(records: list[Any]) -> dict[str, list]:
    names = dict.fromkeys(name for record in records for name in record.metrics if name.startswith(FINAL))
    return {name.removeprefix(FINAL): [record.metrics.get(name, np.nan) for record in records] for name in names}


def _unfinished(records: list[Any], done: set[str | None]) -> list[str]:
    """A run that failed and was made good by a later one is not worth a note."""
    notes = []
    by_status: dict[str, list[str]] = {}
    for record in records:
        if record.status != FINISHED and record.tags.get(FINGERPRINT, record.run_id) not in done:
            reason = record.tags.get(ERROR, "").splitlines()
            by_status.setdefault(record.status, []).append(f"{record.name} ({reason[0]})" if reason else record.name)
    for status, names in sorted(by_status.items()):
        notes.append(f"{_runs(len(names))} {status} and not drawn: {_list(names)}.")
    return notes


def _provenance(records: list[Any]) -> list[str]:
    commits = Counter(
        record.tags[COMMIT][:12] + (" with uncommitted changes" if record.tags.get(DIRTY) == "true" else "")
        for record in records
        if record.tags.get(COMMIT)
    )
    return [f"{commit} ({_runs(count)})" for commit, count in commits.most_common()]


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count:,} runs"


def _list(names: list[str], most: int = 6) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"
