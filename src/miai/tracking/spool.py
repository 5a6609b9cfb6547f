"""Runs that the store could not take: kept whole under `mlruns/unsynced/<key>/`, and uploaded later, once.

A folder whose name begins with a dot is a run that is still under way. At the run's end `run.json` is written and the
folder is moved to its final name.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from miai.errors import MiaiError
from miai.tracking import origin
from miai.tracking.record import KEY_TAG, UPLOADED_TAG, RunRecord

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

    from miai.tracking.location import Location
    from miai.tracking.store import Store

FOLDER = "unsynced"
ARTIFACTS = "artifacts"
RUN_FILE = "run.json"
OWNER_FILE = "owner.json"
REMOVED = ".removed-"

Row = tuple[int, int, dict[str, float]]
"""One row of metrics: time in ms, step, values by name."""


@dataclass(frozen=True)
class KeptRun:
    """The content of `run.json`.

    Attributes:
        uri: the store that the run was meant for.
        run_id: its id there, if it had been created before the store failed.
        started, ended: milliseconds since 1970.
        reason: why it was kept.
    """

    key: str
    uri: str
    run_id: str | None
    experiment: str
    name: str
    status: str
    started: int
    ended: int
    params: dict[str, str]
    tags: dict[str, str]
    rows: list[Row]
    reason: str


@dataclass
class SyncReport:
    """What `sync` did: run ids by key; the keys that are left, with the reason; and those meant for other stores."""

    uploaded: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    elsewhere: dict[str, str] = field(default_factory=dict)


# ---- while a run is under way ----


def unfinished(mlruns: Path, key: str) -> Path:
    return mlruns / FOLDER / f".{key}"


def begin(mlruns: Path, key: str) -> None:
    """Make the folder of a run that is kept from now on."""
    folder = unfinished(mlruns, key)
    (folder / ARTIFACTS).mkdir(parents=True, exist_ok=True)
    _write_json(folder / OWNER_FILE, origin.process_tags())


def complete(mlruns: Path, key: str, run: KeptRun) -> None:
    """Write `run.json` and give the folder its final name."""
    folder = unfinished(mlruns, key)
    _write_json(folder / RUN_FILE, asdict(run))
    (folder / OWNER_FILE).unlink(missing_ok=True)
    folder.replace(mlruns / FOLDER / key)


def remove_abandoned(mlruns: Path) -> None:
    """Remove what runs of dead processes of this host left unfinished."""
    for folder in (mlruns / FOLDER).glob(".*"):
        if folder.name.startswith(REMOVED):
            shutil.rmtree(folder, ignore_errors=True)
            continue
        try:
            owner = json.loads((folder / OWNER_FILE).read_text(encoding="utf-8"))
            here = owner[origin.HOST_TAG] == origin.host()
            alive = origin.is_alive(int(owner[origin.PID_TAG]), float(owner[origin.PID_STARTED_TAG]))
        except (OSError, ValueError, KeyError):
            continue
        if here and not alive:
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
    try:
        data = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))
        data["rows"] = [(int(moment), int(step), values) for moment, step, values in data["rows"]]
        return KeptRun(**data)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise MiaiError(f"{folder / RUN_FILE}: not a run that was kept ({error}); move the folder away.") from error


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
    folders = _folders(mlruns)
    if not folders:
        return report
    with FileLock(mlruns / FOLDER / "sync.lock"):
        store.ask(lambda client: client.search_experiments(max_results=1))
        for folder in _folders(mlruns):
            run = _read(folder)
            if run is None:
                continue
            if run.uri != store.location.shown and not adopt:
                report.elsewhere[run.key] = run.uri
                continue
            try:
                run_id = _upload(store, run, folder / ARTIFACTS)
            except MiaiError as error:
                report.failed[run.key] = str(error)
                continue
            removed = folder.with_name(f"{REMOVED}{run.key}")
            folder.replace(removed)
            shutil.rmtree(removed, ignore_errors=True)
            report.uploaded[run.key] = run_id
    return report


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
