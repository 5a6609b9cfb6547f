"""A run as it is read back from the store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

RUNNING = "RUNNING"
FINISHED = "FINISHED"
FAILED = "FAILED"
KILLED = "KILLED"
ENDED = (FINISHED, FAILED, KILLED)
"""The states that a run may end in; MLflow's own words."""

FINGERPRINT_TAG = "miai.fingerprint"
STUDY_TAG = "miai.study"
ERROR_TAG = "miai.error"
KEY_TAG = "miai.key"
"""A key of our own, set when a run is created: a run that was kept on disk is found by it, and never uploaded twice."""

LEFT_OUT_TAG = "miai.params_left_out"
UPLOADED_TAG = "miai.uploaded"
"""Set on a run that was kept on disk, once it is whole in the store."""

IRRELEVANT = (
    "experiment",
    "fail_fast",
    "hydra",
    "launcher",
    "name",
    "paths",
    "progress",
    "report",
    "resume",
    "run_name",
    "stage",
    "study",
    "tags",
    "tracking",
    "workers",
)
"""Top-level keys of a run's configuration, and so of its parameters: where and how it is made, not what comes out."""


@dataclass(frozen=True)
class RunRecord:
    """One run.

    Attributes:
        status: one of `RUNNING`, `FINISHED`, `FAILED`, `KILLED`.
        metrics: the last value of each metric.
        started: time zone aware.
        ended: `None` while it runs.
        kept: whether it is still on this machine's disk only, waiting for `sync`.
    """

    run_id: str
    experiment: str
    name: str
    status: str
    params: dict[str, str]
    tags: dict[str, str]
    metrics: dict[str, float]
    started: datetime
    ended: datetime | None
    artifact_uri: str
    kept: bool = False

    @property
    def fingerprint(self) -> str:
        return self.tags.get(FINGERPRINT_TAG, "")
