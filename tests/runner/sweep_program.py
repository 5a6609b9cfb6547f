"""A sweep as a program of its own, for tests that kill it: python sweep_program.py ROOT JSON.

JSON: {"experiment": …, "seeds": n, "config": {…}, "workers": n, "launcher": {"name": …}}.
The last line of its output is JSON too.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

if __name__ == "__main__":
    from rich.console import Console

    from miai.runner import Job, run_jobs
    from miai.runner.launchers import launchers
    from miai.tracking import locate
    from runner.sample_tasks import COUNT, RESUMABLE

    settings = json.loads(sys.argv[2])
    task = RESUMABLE if settings.get("task") == "resumable" else COUNT
    jobs = [
        Job(task, {"seed": seed, **settings.get("config", {})}, settings["experiment"])
        for seed in range(settings["seeds"])
    ]
    result = run_jobs(
        jobs,
        locate(root=Path(sys.argv[1])),
        launcher=launchers.build(settings.get("launcher", {"name": "local"})),
        workers=settings.get("workers", 2),
        console=Console(),
        title="sweep",
    )
    statuses = Counter(outcome.status for outcome in result.outcomes)
    sys.stdout.write(json.dumps({"statuses": statuses, "exit_code": result.exit_code}) + "\n")
    sys.exit(result.exit_code)
