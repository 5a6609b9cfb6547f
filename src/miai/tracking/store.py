"""The store of runs: start here to write a run (`Store.start`) or to read some (`Store.runs`, `Store.run`).

Only this package imports MLflow, and only when a store is first used. Reading raises a `MiaiError` in one line when
the store cannot be reached. Writing does not: the run goes on and is kept on disk (see `spool`).
"""

from __future__ import annotations

import atexit
import functools
import gc
import logging
import os
import re
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from miai.errors import MiaiError
from miai.tracking import database, origin, spool
from miai.tracking.failures import StoreRefusedError, StoreUnreachableError, explain
from miai.tracking.location import Location, local_path, locate, use_mlflow_defaults
from miai.tracking.record import FINGERPRINT_TAG, FINISHED, KILLED, RunRecord
from miai.tracking.run_log import UNFINISHED, RunLog

if TYPE_CHECKING:
    from mlflow.entities import Run
    from mlflow.store.artifact.artifact_repo import ArtifactRepository
    from mlflow.tracking import MlflowClient

T = TypeVar("T")

PAGE = 1000
"""Runs or experiments that a database is asked for at once."""

SERVER_PAGE = 200
"""Runs that a server is asked for at once: it sends them whole, within MLFLOW_HTTP_REQUEST_TIMEOUT seconds."""

RETRY_AFTER = 30.0
"""Seconds for which a store that could not be reached is not asked again by runs that start."""

_RUN_ID = re.compile(r"[0-9a-f]{32}")
"""An id as MLflow makes them."""
_PLAIN_ID = re.compile(r"[\w-]{1,64}", re.ASCII)
"""An id that leads nowhere as a part of a path."""


def open_store(
    uri: str | None = None,
    artifacts: str | None = None,
    root: Path | None = None,
    tell: Callable[[str], None] | None = None,
) -> Store:
    """Return the store that the settings name (see `locate` and `Store`). Nothing is opened before it is used.

    Raises:
        MiaiError: the address is of a kind that MLflow does not take.
    """
    return Store(locate(uri, artifacts, root), tell)


class Store:
    """A tracking store. One object a process; not for several threads.

    Args:
        location: where it is.
        tell: is given each line that the user has to see (a store that cannot be reached, an experiment that was
            restored); by default they are logged as warnings.
    """

    def __init__(self, location: Location, tell: Callable[[str], None] | None = None) -> None:
        self.location = location
        self.tell = tell or logging.getLogger("miai.tracking").warning
        self._client: MlflowClient | None = None
        self._experiment_ids: dict[str, str] = {}
        self._unreachable_since: float | None = None
        self._told = False

    # ---- the connection ----

    @property
    def client(self) -> MlflowClient:
        """MLflow's client; the first use creates the store if it is a SQLite file that does not exist.

        Raises:
            StoreUnreachableError: it cannot be opened.
            StoreRefusedError: it will not have us: a wrong password, no such database, no driver for it.
        """
        if self._client is None:
            self._client = self._connect()
        return self._client

    def _connect(self) -> MlflowClient:
        use_mlflow_defaults()
        _leave_quickly()
        location = self.location
        try:
            from mlflow.tracking import MlflowClient

            logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)  # Retries are no news.
            # What a database refuses is raised, and put into one line: not a page of MLflow's beside that.
            logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)
            if location.is_server:
                _sign_in(location)
                return MlflowClient(location.uri)
            if location.database is None:
                return database.connect(location)
            database.write_without_waiting_for_the_disk()
            database.create(location.database, location.artifacts or "")
            return MlflowClient(location.uri)
        except Exception as error:
            raise self.explain(error) from error

    def explain(self, error: Exception) -> StoreUnreachableError | StoreRefusedError:
        """Note that the store failed, and put `error` into one line."""
        self._unreachable_since = time.monotonic()
        return explain(error, self.location)

    def tell_kept(self, reason: str) -> None:
        """Tell the user, once, that runs are being kept on disk."""
        self.tell_once(f"{reason} Runs are kept in {self.location.mlruns / spool.FOLDER}; upload them with: miai sync")

    def tell_once(self, line: str) -> None:
        """Tell the user that the store failed, if that has not been said yet."""
        if not self._told:
            self._told = True
            self.tell(line)

    def is_down(self) -> bool:
        """Whether the store failed a moment ago, so that it is not worth a wait."""
        since = self._unreachable_since
        return since is not None and time.monotonic() - since < RETRY_AFTER

    def ask(self, question: Callable[[MlflowClient], T]) -> T:
        """Call MLflow, and put whatever goes wrong into one line."""
        client = self.client
        try:
            answer = question(client)
        except MiaiError:
            raise
        except Exception as error:
            raise self.explain(error) from error
        self._unreachable_since = None
        return answer

    # ---- experiments ----

    def experiments(self) -> list[str]:
        """Names of the experiments that hold runs of Miai or may, without MLflow's own `Default`."""
        found = self.ask(lambda client: client.search_experiments(max_results=PAGE))
        return sorted(experiment.name for experiment in found if experiment.experiment_id != "0")

    def prepare(self, experiment: str) -> str:
        """Create the experiment unless it exists, restore it if it was deleted in MLflow, and return its id."""
        if experiment not in self._experiment_ids:
            self._experiment_ids[experiment] = self.ask(lambda client: self._create_or_get(client, experiment))
        return self._experiment_ids[experiment]

    def _create_or_get(self, client: MlflowClient, name: str) -> str:
        from mlflow.exceptions import MlflowException

        found = client.get_experiment_by_name(name)
        if found is None:
            artifacts = self.location.artifacts
            place = f"{artifacts}/{_folder_name(name)}" if artifacts else None
            try:
                return client.create_experiment(name, artifact_location=place)
            except MlflowException as error:
                found = client.get_experiment_by_name(name)  # Another process may have been quicker.
                if found is None:
                    raise error
        if found.lifecycle_stage == "deleted":
            client.restore_experiment(found.experiment_id)
            self.tell(
                f"Experiment {name!r} had been deleted in MLflow; it was restored, with its runs "
                f"(to be rid of them: delete it again, then `mlflow gc`)."
            )
        return str(found.experiment_id)

    def _known(self, client: MlflowClient, experiment: str) -> str | None:
        """The id of an experiment that is there and not deleted."""
        found = client.get_experiment_by_name(experiment)
        return str(found.experiment_id) if found is not None and found.lifecycle_stage == "active" else None

    # ---- reading ----

    def runs(self, experiment: str) -> list[RunRecord]:
        """All runs of an experiment, oldest first; also those that are still kept on this machine.

        Raises:
            StoreUnreachableError: the store does not answer.
        """

        def search(client: MlflowClient) -> list[RunRecord]:
            known = self._known(client, experiment)
            return [self._record(run, experiment) for run in self._search(client, [known] if known else [], "")]

        records = {record.run_id: record for record in self.ask(search)}
        records.update({record.run_id: record for record in self._kept() if record.experiment == experiment})
        return sorted(records.values(), key=lambda record: (record.started, record.run_id))

    def run(self, name: str) -> RunRecord:
        """Find one run by its id, the beginning of its id (at least 4 characters), or its name.

        `STUDY/NAME` is the newest finished run of that name in a study (an experiment of the store).

        Raises:
            MiaiError: there is none, or more than one.
        """
        if not name:
            raise MiaiError("run: an empty id; give a run's id, its first characters, or its name.")
        experiment, slash, own = name.partition("/")
        if slash:
            return self._newest(experiment, own)
        kept = [record for record in self._kept() if record.run_id == name or record.name == name]
        if len(kept) == 1 and kept[0].run_id == name:
            return kept[0]
        records = [*self.ask(lambda client: self._find(client, name)), *kept]
        records = list({record.run_id: record for record in records}.values())
        if len(records) == 1:
            return records[0]
        if not records:
            raise MiaiError(f"run: the store {self.location.shown} has no run with the id or name {name!r}.")
        some = ", ".join(f"{record.run_id[:8]} ({record.experiment}: {record.name})" for record in records[:5])
        raise MiaiError(f"run: {name!r} fits {len(records)} runs: {some}{', …' if len(records) > 5 else ''}.")

    def _newest(self, experiment: str, name: str) -> RunRecord:
        found = [run for run in self.runs(experiment) if run.name == name and run.status == FINISHED]
        if not found:
            raise MiaiError(
                f"run: {experiment!r} has no finished run named {name!r} in the store {self.location.shown}."
            )
        return max(found, key=lambda run: run.started)

    def _find(self, client: MlflowClient, name: str) -> list[RunRecord]:
        names = {e.experiment_id: e.name for e in client.search_experiments(max_results=PAGE)}
        filters = []
        if re.fullmatch(r"[0-9a-f]{4,}", name):
            filters.append(f"attributes.run_id LIKE '{name}%'")
        if "'" not in name:
            filters.append(f"attributes.run_name = '{name}'")
        for text in filters:
            found = self._search(client, list(names), text)
            if found:
                return [self._record(run, names[run.info.experiment_id]) for run in found]
        return []

    def finished(self, experiment: str) -> dict[str, str]:
        """Ids of the finished runs by fingerprint (the newest of each), those kept on this machine included.

        A store that cannot be reached is told to the user and counts as empty: a sweep then goes on.
        """

        def search(client: MlflowClient) -> list[tuple[int, str, str]]:
            known = self._known(client, experiment)
            runs = self._search(client, [known] if known else [], f"attributes.status = '{FINISHED}'")
            return [(run.info.start_time, run.data.tags.get(FINGERPRINT_TAG, ""), run.info.run_id) for run in runs]

        try:
            found = [] if self.is_down() else self.ask(search)
        except StoreUnreachableError as error:
            self.tell_kept(str(error))
            found = []
        for record in self._kept():
            if record.experiment == experiment and record.status == FINISHED:
                found.append((int(record.started.timestamp() * 1000), record.fingerprint, record.run_id))
        return {fingerprint: run_id for _, fingerprint, run_id in sorted(found) if fingerprint}

    def close_dead_runs(self) -> list[str]:
        """End, as KILLED, the runs of this host that still say RUNNING though their process is gone.

        Returns:
            their ids. Data that such a run was keeping on disk is removed.

        Raises:
            StoreUnreachableError: the store does not answer.
        """
        spool.remove_abandoned(self.location.mlruns)

        def close(client: MlflowClient) -> list[str]:
            experiments = [e.experiment_id for e in client.search_experiments(max_results=PAGE)]
            text = f"attributes.status = 'RUNNING' and tags.`{origin.HOST_TAG}` = '{origin.host()}'"
            dead = [run for run in self._search(client, experiments, text) if not _lives(run.data.tags)]
            for run in dead:
                _close(client, run)
            return [run.info.run_id for run in dead]

        return self.ask(close)

    def close_runs(self, run_ids: Sequence[str]) -> None:
        """End, as KILLED, those of these runs that still say RUNNING: on any host, for who knows that they are dead.

        Raises:
            StoreUnreachableError: the store does not answer.
        """

        def close(client: MlflowClient) -> None:
            experiments = [e.experiment_id for e in client.search_experiments(max_results=PAGE)]
            ids = ", ".join(f"'{run_id}'" for run_id in run_ids)
            for run in self._search(
                client, experiments, f"attributes.status = 'RUNNING' and attributes.run_id IN ({ids})"
            ):
                _close(client, run)

        if run_ids:
            self.ask(close)

    def artifacts(self, run: RunRecord | str) -> list[str]:
        """Paths of a run's artifacts (files, relative to the run's folder), sorted."""
        record = self.run(run) if isinstance(run, str) else run
        folder = self._artifact_folder(record)
        if folder is not None:
            files = (file for file in folder.rglob("*") if file.is_file() and not file.match(UNFINISHED))
            return sorted(file.relative_to(folder).as_posix() for file in files)

        def listing(remote: ArtifactRepository, path: str | None = None) -> list[str]:
            found = []
            for item in remote.list_artifacts(path):
                found += listing(remote, item.path) if item.is_dir else [item.path]
            return found

        return sorted(self.ask(lambda _client: listing(self.remote_artifacts(record.artifact_uri))))

    def artifact(self, run: RunRecord | str, name: str) -> Path:
        """A local file with the content of a run's artifact. A remote one is downloaded once.

        Raises:
            MiaiError: the run has no such artifact.
        """
        record = self.run(run) if isinstance(run, str) else run
        folder = self._artifact_folder(record)
        if folder is None:
            folder = self.location.mlruns / "downloads" / record.run_id
            if not (folder / name).is_file():
                self._download(record, name, folder / name)
        if not (folder / name).is_file():
            raise self._no_artifact(record, name)
        return folder / name

    def _artifact_folder(self, record: RunRecord) -> Path | None:
        """The folder of a run's artifacts if it is on this machine, also where the project has been moved since."""
        folder = local_path(record.artifact_uri)
        artifacts = local_path(self.location.artifacts or "")
        if folder is not None and artifacts is not None and not folder.exists():
            moved = artifacts / _folder_name(record.experiment) / record.run_id / "artifacts"
            return moved if moved.exists() else folder
        return folder

    def remote_artifacts(self, address: str) -> ArtifactRepository:
        """What reads and writes a run's artifacts at an address that is not on this machine.

        MLflow's client would ask the server for the run first, to find the address that we have.
        """
        from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

        return get_artifact_repository(address, tracking_uri=self.location.uri)

    def _download(self, record: RunRecord, name: str, target: Path) -> None:
        """Download to another place and move, so that a file in the cache is whole."""
        parent = Path(name).parent.as_posix()

        def download(_client: MlflowClient) -> str | None:
            remote = self.remote_artifacts(record.artifact_uri)
            beside = remote.list_artifacts(None if parent == "." else parent)
            there = any(item.path == name and not item.is_dir for item in beside)
            return remote.download_artifacts(name, temporary) if there else None

        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".") as temporary:
            found = self.ask(download)
            if found is None:
                raise self._no_artifact(record, name)
            Path(found).replace(target)

    def _no_artifact(self, record: RunRecord, name: str) -> MiaiError:
        there = ", ".join(self.artifacts(record)[:10]) or "none"
        return MiaiError(f"run {record.run_id} ({record.name}) has no artifact {name!r}; it has: {there}.")

    # ---- writing ----

    def start(
        self,
        experiment: str,
        name: str,
        config: Mapping[str, Any],
        tags: Mapping[str, str],
        work: Path,
        params: Mapping[str, Any] | None = None,
        unless: Sequence[str] = (),
    ) -> RunLog:
        """Start a run. It always starts: where the store does not answer, the run is kept on disk.

        Args:
            experiment: created if it is not there.
            name: the run's name for people.
            config: the resolved configuration (plain dicts, lists, strings, numbers); kept whole as `config.yaml`,
                and as parameters as far as MLflow takes them.
            tags: the caller's; host, process, commit and versions are added.
            work: an existing folder of the run's own, for files on their way to the store.
            params: nested, in place of `config` as parameters.
            unless: ids of runs of the same fingerprint that may be finished, which the store could not say. With
                any, the run is kept on disk, and not uploaded if one of them is.
        """
        return RunLog(self, experiment, name, config, tags, work, params, unless)

    # ---- inside ----

    def _kept(self) -> list[RunRecord]:
        return spool.kept_runs(self.location)

    def _search(self, client: MlflowClient, experiment_ids: list[str], text: str) -> list[Run]:
        found: list[Run] = []
        token = None
        size = SERVER_PAGE if self.location.is_server else PAGE
        while experiment_ids:
            page = client.search_runs(experiment_ids, text, max_results=size, page_token=token)
            found += page
            token = page.token
            if not token:
                break
        return found

    def _record(self, run: Run, experiment: str) -> RunRecord:
        info = run.info
        if not _PLAIN_ID.fullmatch(info.run_id):  # It becomes the name of a folder.
            raise MiaiError(f"the store {self.location.shown} has a run with the id {info.run_id!r}, which is none.")
        return RunRecord(
            run_id=info.run_id,
            experiment=experiment,
            name=info.run_name or "",
            status=info.status,
            params=dict(run.data.params),
            tags=dict(run.data.tags),
            metrics=dict(run.data.metrics),
            started=datetime.fromtimestamp(info.start_time / 1000, UTC),
            ended=datetime.fromtimestamp(info.end_time / 1000, UTC) if info.end_time else None,
            artifact_uri=info.artifact_uri,
        )


@functools.cache
def _leave_quickly() -> None:
    """Spare the interpreter its last search for garbage: with MLflow imported, it takes most of a second."""
    atexit.register(gc.freeze)


def _close(client: MlflowClient, run: Run) -> None:
    """End a dead run, and remove what it was copying when it died."""
    client.set_terminated(run.info.run_id, KILLED)
    folder = local_path(run.info.artifact_uri)
    # The address is what the store says: nothing is removed but in a folder that bears the run's own, unguessable name.
    if folder is None or run.info.run_id not in folder.parts or not _RUN_ID.fullmatch(run.info.run_id):
        return
    for half in folder.rglob(UNFINISHED):
        half.unlink(missing_ok=True)


def _sign_in(location: Location) -> None:
    """Hand MLflow the name and password of an address: it looks for them in the environment, at each request."""
    given = location.credentials
    for name, value in (("MLFLOW_TRACKING_USERNAME", given.user), ("MLFLOW_TRACKING_PASSWORD", given.password)):
        if value is not None:
            os.environ[name] = value


def _lives(tags: Mapping[str, str]) -> bool:
    """Whether the process that a run's tags name still lives. A run without such tags is not ours to judge, nor is one
    of another machine of this name."""
    if tags.get(origin.MACHINE_TAG, origin.machine()) != origin.machine():
        return True
    with suppress(KeyError, ValueError):
        return origin.is_alive(int(tags[origin.PID_TAG]), tags.get(origin.PID_STARTED_TAG))
    return True


def _folder_name(experiment: str) -> str:
    """The folder of an experiment's artifacts. Run ids keep two experiments apart that share one."""
    return re.sub(r"[^A-Za-z0-9_.-]", "-", experiment)
