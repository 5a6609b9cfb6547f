"""Making runs: `run_one` for one, `run_jobs` for many. Start reading in `execute.py` (one run), then `sweep.py`.

`tasks()` is in `runner.task` alone: here its name belongs to the folder `runner/tasks`.
"""

from miai.runner.context import RunContext
from miai.runner.execute import Outcome, run_one
from miai.runner.pool import start_early
from miai.runner.sweep import SweepResult, run_jobs, send_one
from miai.runner.task import Job, Task, task_modules

__all__ = [
    "Job",
    "Outcome",
    "RunContext",
    "SweepResult",
    "Task",
    "run_jobs",
    "run_one",
    "send_one",
    "start_early",
    "task_modules",
]
