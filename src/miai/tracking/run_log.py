"""A run that is being written: buffered metrics, artifacts, tags and its end.

Start reading at `RunLog`. Nothing that the store does can stop a run: from the first call that fails, the run is kept
whole on disk.
"""

from __future__ import annotations

import logging
import math
import os
import shutil
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from miai.errors import MiaiError
from miai.tracking import origin, spool
from miai.tracking.credentials import hide
from miai.tracking.history import HISTORY_FILE, write_history
from miai.tracking.location import local_path
from miai.tracking.params import MAX_TAG, check_metric_name, flatten
from miai.tracking.record import ENDED, ERROR_TAG, FINISHED, KEY_TAG, LEFT_OUT_TAG

if TYPE_CHECKING:
    from miai.tracking.store import Store

BATCH = 1000
"""MLflow's limit of metrics a request."""

FLUSH_SECONDS = 5.0
UNFINISHED = ".*.part"
"""Names of files that are being copied; one that stays was being copied when its process died."""

CONFIG_FILE = "config.yaml"
LAST = ".last"
"""Folder of the files that are stored at a run's end; the dot keeps it apart from the artifacts beside it."""

_logger = logging.getLogger("miai.tracking")


def milliseconds() -> int:
    return time.time_ns() // 1_000_000


class RunLog:
    """One run under way; made by `Store.start`.

    Attributes:
        key: names the run from its first moment, whatever becomes of the store.
        run_id: MLflow's id; the key itself while the store has none.
        kept: why the run is being kept on disk, or `None`.
        rows: all rows so far, as (time in ms, step, metrics).
    """

    def __init__(
        self,
        store: Store,
        experiment: str,
        name: str,
        config: Mapping[str, Any],
        tags: Mapping[str, str],
        work: Path,
        params: Mapping[str, Any] | None = None,
        unless: Sequence[str] = (),
    ) -> None:
        self.key = uuid.uuid4().hex
        self.run_id = self.key
        self.experiment = experiment
        self.name = name
        self.kept: str | None = None
        self.rows: list[spool.Row] = []
        self.finals: dict[str, float] = {}
        self._unless = list(unless)
        self._store = store
        self._started = milliseconds()
        self._staged = work / "artifacts"
        self._artifact_folder: Path | None = None
        self._artifact_uri = ""
        self._sent = 0
        self._unsent = 0
        self._flushed = time.monotonic()
        self._unsent_tags: dict[str, str] = {}
        self._created = False
        self.params, left_out = flatten(config if params is None else params)
        self.tags = {**origin.code_tags(), **origin.process_tags(), KEY_TAG: self.key, **_legal_tags(tags)}
        if left_out:
            self.tags[LEFT_OUT_TAG] = ", ".join(left_out)[:MAX_TAG]
        if self._unless:
            self._keep(f"the store could not say whether run {self._unless[0]} is finished, which is the same")
        elif store.is_down():
            self._keep("the store could not be reached a moment ago")
        else:
            self._send(self._create)
        shown = _without_passwords(_plain(config))
        self._stage_text(CONFIG_FILE, yaml.dump(shown, Dumper=_Dumper, sort_keys=False, allow_unicode=True))

    def _create(self) -> None:
        from mlflow.entities import Param

        store = self._store
        experiment_id = store.prepare(self.experiment)
        client = store.client
        run = client.create_run(experiment_id, start_time=self._started, tags=self.tags, run_name=self.name)
        self.run_id = run.info.run_id
        self._created = True
        self._artifact_uri = run.info.artifact_uri
        self._artifact_folder = local_path(run.info.artifact_uri)
        params = [Param(key, value) for key, value in self.params.items()]
        for start in range(0, len(params), 100):
            client.log_batch(self.run_id, params=params[start : start + 100])

    # ---- what a run says ----

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Add one row of metrics.

        Raises:
            ValueError: a name that MLflow does not take, or a value that is not a finite number (MLflow would store
                infinity as 1.8e308, and its UI breaks on NaN). Nothing of the row is logged then.
        """
        self.add_row((milliseconds(), int(step), _checked(metrics)))

    def add_row(self, row: spool.Row) -> None:
        """Add a row with its own time: that of a run which is being continued."""
        self.rows.append(row)
        self._unsent += len(row[2])
        if self._unsent >= BATCH:
            self.flush()
        else:
            self.tick()

    def final(self, metrics: Mapping[str, float]) -> None:
        """Set final values, logged as `final/<name>` at step 0 (MLflow's UI draws these as bars) when the run ends."""
        self.finals.update(_checked({f"final/{name}": value for name, value in metrics.items()}))

    def tag(self, key: str, value: str) -> None:
        self.tags.update(_legal_tags({key: value}))
        self._unsent_tags.update(_legal_tags({key: value}))

    def artifact(self, path: Path, name: str | None = None) -> None:
        """Keep a file or a folder with the run, now, under `name` (a relative path; its own name by default).

        Raises:
            ValueError: there is no such file or folder, or `name` leads out of the run's folder.
        """
        path = Path(path)
        name = name or path.name
        if not path.exists():
            raise ValueError(f"artifact: no such file or folder: {path}")
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ValueError(f"artifact: {name!r} is not a path inside the run's folder")
        self._store_artifact(path, name)

    def where(self, name: str) -> str:
        """Where an artifact is, for people: a path, or an address."""
        if self.kept is not None:
            return str(self._store.location.mlruns / spool.FOLDER / self.key / spool.ARTIFACTS / name)
        return str(self._artifact_folder / name) if self._artifact_folder else f"{self._artifact_uri}/{name}"

    def tick(self) -> None:
        """Send what is due, so that a long run shows its progress."""
        if time.monotonic() - self._flushed >= FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Send all rows and tags that have not been sent."""
        self._flushed = time.monotonic()
        if self.kept is None and (self._sent < len(self.rows) or self._unsent_tags):
            self._send(self._send_rows)

    def finish(self, status: str = FINISHED, error: str | None = None, files: Mapping[str, Path] | None = None) -> None:
        """End the run: its last metrics, `history.parquet`, `files` (path by artifact name) and its status.

        Args:
            status: `FINISHED`, `FAILED` or `KILLED`.
            error: the reason in short, kept as the tag `miai.error`.
        """
        if status not in ENDED:
            raise ValueError(f"status: {status!r}; allowed: {', '.join(ENDED)}")
        if error:
            self.tag(ERROR_TAG, error[:500])
        if self.finals:
            self.rows.append((milliseconds(), 0, self.finals))
        last = self._staged / LAST
        last.mkdir(parents=True, exist_ok=True)
        write_history(last / HISTORY_FILE, ((step, metrics) for _, step, metrics in self.rows[: self._history_end()]))
        for name, path in (files or {}).items():
            if path.exists():
                target = last / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
        self.flush()
        for file in sorted(last.iterdir()) if self._artifact_folder is not None or self.kept else [last]:
            self._store_artifact(file, "" if file == last else file.name)
        if self.kept is None:
            self._send(lambda: self._store.client.set_terminated(self.run_id, status, milliseconds()))
        if self.kept is not None:
            self._finish_kept(status)

    # ---- inside ----

    def _history_end(self) -> int:
        return len(self.rows) - (1 if self.finals else 0)

    def _send(self, step: Callable[[], object]) -> bool:
        """Take one step with the store; on any failure keep the run on disk instead."""
        try:
            step()
        except Exception as error:
            reason = str(error) if isinstance(error, MiaiError) else str(self._store.explain(error))
            self._keep(reason)
            return False
        return True

    def _send_rows(self) -> None:
        from mlflow.entities import Metric, RunTag

        tags = [RunTag(key, value) for key, value in self._unsent_tags.items()]
        metrics = [
            Metric(name, value, moment, step)
            for moment, step, values in self.rows[self._sent :]
            for name, value in values.items()
        ]
        room = BATCH - len(tags)
        self._store.client.log_batch(self.run_id, metrics=metrics[:room], tags=tags)
        for start in range(room, len(metrics), BATCH):
            self._store.client.log_batch(self.run_id, metrics=metrics[start : start + BATCH])
        self._sent, self._unsent = len(self.rows), 0
        self._unsent_tags.clear()

    def _stage_text(self, name: str, text: str) -> None:
        staged = self._staged / name
        staged.parent.mkdir(parents=True, exist_ok=True)
        staged.write_text(text, encoding="utf-8")
        self._store_artifact(staged, name)

    def _store_artifact(self, path: Path, name: str) -> None:
        """Put a file or folder where the run's artifacts are. A name "" puts a folder's content at the top."""
        if self.kept is not None:
            copy_whole(path, self._spooled / spool.ARTIFACTS / name)
        elif self._artifact_folder is not None:
            folder = self._artifact_folder
            self._send(lambda: copy_whole(path, folder / name))
            if self.kept is not None:
                copy_whole(path, self._spooled / spool.ARTIFACTS / name)
        else:
            self._upload(path, name)

    def _upload(self, path: Path, name: str) -> None:
        """Send to a remote place, from a copy that stays until the run ends: a run that is kept is kept whole."""
        staged = path
        if name and path != self._staged / name:
            staged = self._staged / name
            copy_whole(path, staged)
        parent = Path(name).parent.as_posix()

        def send() -> None:
            remote = self._store.remote_artifacts(self._artifact_uri)
            if staged.is_dir():
                remote.log_artifacts(str(staged), name or None)
            else:
                remote.log_artifact(str(staged), None if parent == "." else parent)

        self._send(send)
        if self.kept is not None:
            copy_whole(path, self._spooled / spool.ARTIFACTS / name)

    @property
    def _spooled(self) -> Path:
        return spool.unfinished(self._store.location.mlruns, self.key)

    def _keep(self, reason: str) -> None:
        """From here on, write the run to disk only, with the artifacts that it has so far."""
        self.kept = reason
        _logger.warning("the run is kept on disk: %s", reason)
        self._store.tell_kept(reason)
        spool.begin(self._store.location.mlruns, self.key)
        for place in (self._artifact_folder, self._staged, self._staged / LAST):
            if place is not None and place.is_dir():
                for file in sorted(place.iterdir()):
                    if not file.name.startswith("."):
                        copy_whole(file, self._spooled / spool.ARTIFACTS / file.name)

    def _finish_kept(self, status: str) -> None:
        spool.complete(
            self._store.location.mlruns,
            self.key,
            spool.KeptRun(
                key=self.key,
                uri=self._store.location.shown,
                run_id=self.run_id if self._created else None,
                experiment=self.experiment,
                name=self.name,
                status=status,
                started=self._started,
                ended=milliseconds(),
                params=self.params,
                tags=self.tags,
                rows=self.rows,
                reason=self.kept or "",
                unless=self._unless,
            ),
        )


def copy_whole(source: Path, target: Path) -> None:
    """Copy a file or a folder so that no file at `target` is ever half-written."""
    if source.is_dir():
        for file in sorted(source.rglob("*")):
            if file.is_file():
                copy_whole(file, target / file.relative_to(source))
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}{UNFINISHED.removeprefix('.*')}")
    shutil.copyfile(source, temporary)
    temporary.replace(target)


def _checked(metrics: Mapping[str, float]) -> dict[str, float]:
    checked = {}
    for name, value in metrics.items():
        check_metric_name(name)
        number = float(value)
        if not math.isfinite(number):
            raise ValueError(f"metric {name!r} is {number}: only finite numbers are logged")
        checked[name] = number
    return checked


def _legal_tags(tags: Mapping[str, str]) -> dict[str, str]:
    return {key: str(value)[:MAX_TAG] for key, value in tags.items()}


def _plain(value: Any) -> Any:
    """Mappings and sequences as plain dicts and lists, so that YAML writes no tags of Python's."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ValueError(f"configuration: {value!r} is not plain (a dict, list, string, number, true, false or null)")


def _without_passwords(config: dict[str, Any]) -> dict[str, Any]:
    """Leave passwords out of the addresses of the store: whoever reads the store reads `config.yaml`."""
    tracking = config.get("tracking")
    if not isinstance(tracking, dict):
        return config
    hidden = {key: hide(value) if isinstance(value, str) else value for key, value in tracking.items()}
    return {**config, "tracking": hidden}


_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
