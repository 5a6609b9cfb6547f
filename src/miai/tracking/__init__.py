"""Tracking of runs in MLflow. The only package that imports it, and only when a store is used.

Start reading in `store.py`.
"""

from miai.tracking.database import database_address
from miai.tracking.failures import StoreRefusedError, StoreUnreachableError
from miai.tracking.history import HISTORY_FILE, read_history
from miai.tracking.location import Location, locate
from miai.tracking.record import FAILED, FINISHED, KILLED, RUNNING, RunRecord
from miai.tracking.run_log import RunLog
from miai.tracking.spool import SyncReport, sync
from miai.tracking.store import Store, open_store

__all__ = [
    "FAILED",
    "FINISHED",
    "HISTORY_FILE",
    "KILLED",
    "RUNNING",
    "Location",
    "RunLog",
    "RunRecord",
    "Store",
    "StoreRefusedError",
    "StoreUnreachableError",
    "SyncReport",
    "database_address",
    "locate",
    "open_store",
    "read_history",
    "sync",
]
