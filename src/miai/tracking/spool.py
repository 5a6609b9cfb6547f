"""Runs that the store could not take: kept whole under `mlruns/unsynced/<key>/`, and uploaded later, once.

A folder whose name begins with a dot is a run that is still under way; its name says whose it is. At the run's end
`run.json` is written and the folder is moved to its final name.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from filelock import FileLock
from pydantic import Field, TypeAdapter, ValidationError

from miai.errors import MiaiError
from miai.tracking import origin
from miai.tracking.record import FINGERPRINT_TAG, FINISHED, KEY_TAG, UPLOADED_TAG, RunRecord

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

    from miai.tracking.location import Location
    from miai.tracking.store import Store

FOLDER = "unsynced"
ARTIFACTS = "artifacts"
RUN_FILE = "run.json"
REMOVED = ".removed-"

Row = tuple[int, int, dict[str, Annotated[float, Field(allow_inf_nan=False)]]]
"""One row of metrics: time in ms, step, values by name."""

Moment = Annotated[int, Field(ge=0, le=253_402_300_799_999)]
"""Milliseconds since 1970, up to the last year that Python's dates know."""


@dataclass(frozen=True)
class KeptRun:
    """The content of `run.json`.

    Attributes:
        uri: the store that the run was meant for.
        run_id: its id there, if it had been created before the store failed.
        started, ended: milliseconds since 1970.
        reason: why it was kept.
        unless: ids of runs of the same fingerprint of which it was not known whether they were finished. If one is,
            this run is there twice, and is not uploaded.
    """

    key: Annotated[str, Field(pattern="^[0-9a-f]+$")]
    uri: str
    run_id: str | None
    experiment: str
    name: str
    status: Annotated[str, Field(pattern="^(FINISHED|FAILED|KILLED)$")]
    started: Moment
    ended: Moment
    params: dict[str, str]
    tags: dict[str, str]
    rows: list[Row]
    reason: str
    unless: list[str] = field(default_factory=list)


@dataclass
class SyncReport:
    """What `sync` did.

    Attributes:
        uploaded: run ids by key.
        there: the keys that were not uploaded since the store has the run already, with its id.
        failed: the keys that could not be uploaded, with the reason.
        elsewhere: the keys that are meant for another store, with its address.
        waiting: how many were not tried, because the store stopped answering.
    """

    uploaded: dict[str, str] = field(default_factory=dict)
    there: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    elsewhere: dict[str, str] = field(default_factory=dict)
    waiting: int = 0


# ---- while a run is under way ----


def unfinished(mlruns: Path, key: str) -> Path:
    """The folder of a run of this process while it is under way."""
    return mlruns / FOLDER / f".{origin.host()}.{os.getpid()}.{key}"


def begin(mlruns: Path, key: str) -> None:
    """Make the folder of a run that is kept from now on."""
    (unfinished(mlruns, key) / ARTIFACTS).mkdir(parents=True, exist_ok=True)


def complete(mlruns: Path, key: str, run: KeptRun) -> None:
    """Write `run.json` and give the folder its final name."""
    folder = unfinished(mlruns, key)
    _write_json(folder / RUN_FILE, asdict(run))
    folder.replace(mlruns / FOLDER / key)


def remove_abandoned(mlruns: Path) -> None:
    """Remove what runs of dead processes of this host left unfinished, and what uploads left to be removed."""
    for folder in (mlruns / FOLDER).glob(".*"):
        if folder.name.startswith(REMOVED):
            shutil.rmtree(folder, ignore_errors=True)
            continue
        owner, _, pid = folder.name[1:].rpartition(".")[0].rpartition(".")
        if owner == origin.host() and pid.isdigit() and not origin.is_alive(int(pid), None):
            shutil.rmtree(folder, ignore_errors=True)


# ---- reading ----


def kept_runs(location: Location) -> list[RunRecord]:
    """Records of the runs that are kept for this store, oldest first."""
    records = []
    for folder in _folders(location.mlruns):
        run = _read(folder)
        if run is None or run.uri != location.shown:
            continue
        finals = {name: value for _, _, values in run.rows for name, value in values.items()}
        records.append(
            RunRecord(
                run_id=run.run_id or run.key,
                experiment=run.experiment,
                name=run.name,
                status=run.status,
                params=run.params,
                tags=run.tags,
                metrics=finals,
                started=datetime.fromtimestamp(run.started / 1000, UTC),
                ended=datetime.fromtimestamp(run.ended / 1000, UTC),
                artifact_uri=(folder / ARTIFACTS).as_uri(),
                kept=True,
            )
        )
    return sorted(records, key=lambda record: record.started)


def _folders(mlruns: Path) -> list[Path]:
    return sorted(p for p in (mlruns / FOLDER).glob("[!.]*") if (p / RUN_FILE).is_file())


def _read(folder: Path) -> KeptRun | None:
    """Read a kept run; `None` if it has just been uploaded by another process."""
    path = folder / RUN_FILE
    try:
        run = _checks().validate_json(path.read_bytes(), strict=True)
    except FileNotFoundError:
        return None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise _damaged(path, ": ".join(filter(None, [".".join(map(str, first["loc"])), first["msg"]]))) from None
    except OSError as error:
        raise _damaged(path, error.strerror or str(error)) from None
    if run.key != folder.name:
        raise _damaged(path, f"it is of run {run.key}")
    return run


def _damaged(path: Path, reason: str) -> MiaiError:
    return MiaiError(f"{path}: not a run that was kept ({reason.rstrip('.')}); move the folder away.")


@functools.cache
def _checks() -> TypeAdapter[KeptRun]:
    return TypeAdapter(KeptRun)


# ---- uploading ----


def sync(store: Store, adopt: bool = False) -> SyncReport:
    """Upload the runs that were kept for `store`, with their own times. Each arrives once, whenever this is stopped.

    Every run carries a key of its own from its creation on, so an upload that was cut short is found and completed:
    MLflow takes the same parameters and metrics again without doubling them, and artifacts are overwritten.

    Args:
        adopt: also those that were meant for another address (the server has moved).

    Raises:
        StoreUnreachableError: the store does not answer.
    """
    report = SyncReport()
    mlruns = store.location.mlruns
    if not _folders(mlruns):
        return report
    with FileLock(mlruns / FOLDER / "sync.lock"):
        remove_abandoned(mlruns)
        _check_answers(store)
        folders = _folders(mlruns)
        for number, folder in enumerate(folders, 1):
            try:
                run = _read(folder)
                if run is None:
                    continue
                if run.uri != store.location.shown and not adopt:
                    report.elsewhere[run.key] = run.uri
                    continue
                there = _already_there(store, run)
                run_id = there or _upload(store, run, folder / ARTIFACTS)
            except MiaiError as error:
                report.failed[folder.name] = str(error)
                try:
                    _check_answers(store)
                except MiaiError:
                    report.waiting = len(folders) - number
                    break
                continue
            removed = folder.with_name(f"{REMOVED}{run.key}")
            folder.replace(removed)
            shutil.rmtree(removed, ignore_errors=True)
            (report.there if there else report.uploaded)[run.key] = run_id
    return report


def _check_answers(store: Store) -> None:
    """Raise a `StoreUnreachableError` unless the store answers."""
    store.ask(lambda client: client.search_experiments(max_results=1))


def _already_there(store: Store, run: KeptRun) -> str | None:
    """The id of the run of which, when this one was begun, nobody could say that it was finished; `None` if it is not.

    Nothing of this run is in the store then: it was kept from its first moment.
    """
    if not run.unless or FINGERPRINT_TAG not in run.tags:
        return None
    experiment_id = store.prepare(run.experiment)
    text = f"attributes.status = '{FINISHED}' and tags.`{FINGERPRINT_TAG}` = '{run.tags[FINGERPRINT_TAG]}'"
    same = store.ask(lambda client: client.search_runs([experiment_id], text))
    # One that was itself kept has another id since its upload, and the old one as its key.
    found = [r for r in same if r.info.run_id in run.unless or r.data.tags.get(KEY_TAG) in run.unless]
    return str(found[0].info.run_id) if found else None


def _upload(store: Store, run: KeptRun, artifacts: Path) -> str:
    from mlflow.entities import Metric, Param, RunTag

    from miai.tracking.run_log import BATCH

    experiment_id = store.prepare(run.experiment)
    found = store.ask(lambda c: c.search_runs([experiment_id], f"tags.`{KEY_TAG}` = '{run.key}'", max_results=1))
    if not found:
        started = store.ask(
            lambda c: c.create_run(experiment_id, start_time=run.started, tags=run.tags, run_name=run.name)
        )
    else:
        started = found[0]
    run_id = str(started.info.run_id)
    if UPLOADED_TAG in started.data.tags:
        return run_id
    params = [Param(key, value) for key, value in run.params.items()]
    metrics = [Metric(name, value, moment, step) for moment, step, row in run.rows for name, value in row.items()]
    tags = [RunTag(key, value) for key, value in {**run.tags, "miai.kept": run.reason[:500]}.items()]

    def send(client: MlflowClient) -> None:
        for start in range(0, len(params), 100):
            client.log_batch(run_id, params=params[start : start + 100])
        for start in range(0, len(metrics), BATCH):
            client.log_batch(run_id, metrics=metrics[start : start + BATCH])
        client.log_artifacts(run_id, str(artifacts))
        client.log_batch(run_id, tags=tags)
        client.set_terminated(run_id, run.status, run.ended)
        client.set_tag(run_id, UPLOADED_TAG, "true")

    store.ask(send)
    return run_id


def _write_json(path: Path, value: object) -> None:
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(json.dumps(value), encoding="utf-8")
    temporary.replace(path)
