"""Upload the runs that were kept on disk because the store could not be reached, each once.

adopt=true also takes runs that were meant for another store.
"""

from __future__ import annotations

CONFIG = None
EXAMPLES = ("miai sync", "miai sync tracking.uri=http://127.0.0.1:5000 adopt=true")


def run(arguments: list[str]) -> int:
    from miai.cli.terminal import console
    from miai.runner.compose import compose_one
    from miai.runner.sweep_study import location_of
    from miai.tracking import Store, sync

    adopt = "adopt=true" in arguments
    overrides = [argument for argument in arguments if not argument.startswith("adopt=")]
    report = sync(Store(location_of(compose_one("base", overrides))), adopt=adopt)
    out = console()
    for key, reason in report.failed.items():
        out.print(f"not uploaded: {key}: {reason}", markup=False)
    for key, uri in report.elsewhere.items():
        out.print(f"left alone: {key} is meant for {uri}; name it with tracking.uri= to upload it there", markup=False)
    out.print(f"{len(report.uploaded)} runs uploaded.", markup=False)
    return 1 if report.failed else 0
