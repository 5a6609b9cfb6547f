"""Upload runs that were kept on disk because the store could not be reached.

Each is uploaded once, with the times at which it was made, and then removed from this disk.
"""

from __future__ import annotations

CONFIG = "sync"
EXAMPLES = ("miai sync", "miai sync tracking.uri=http://127.0.0.1:5000 adopt=true")


def run(arguments: list[str]) -> int:
    from miai.cli.arguments import flag
    from miai.cli.terminal import console, say
    from miai.runner.compose import compose_one
    from miai.runner.configured import location_of
    from miai.tracking import Store, sync

    config = compose_one(CONFIG, arguments)
    report = sync(Store(location_of(config)), adopt=flag(config, "adopt"))
    out = console()
    for key, reason in report.failed.items():
        say(out, f"not uploaded: {key}: {reason}")
    for key, run_id in report.there.items():
        say(out, f"not needed: {key} was made while nobody could say that run {run_id} is finished, which is the same")
    for key, uri in report.elsewhere.items():
        say(out, f"left alone: {key} is meant for {uri}; name it with tracking.uri= to upload it there")
    if report.waiting:
        say(out, f"{report.waiting} more wait: the store stopped answering. Run miai sync again when it is back.")
    say(out, f"{len(report.uploaded)} runs uploaded.")
    return 1 if report.failed else 0
