"""Run a run again, from what the store holds of it, and say whether the table is byte for byte the same.

Nothing is tracked. If the sources have been edited since, the arrays are compared, and the fingerprint is said to
differ.
"""

from __future__ import annotations

from miai.errors import MiaiError

CONFIG = None
EXAMPLES = ("miai reproduce RUN_ID",)


def run(arguments: list[str]) -> int:
    from miai.cli.terminal import console
    from miai.runner.compose import compose_one
    from miai.runner.replay import replay
    from miai.runner.sweep_study import location_of
    from miai.tracking import Store

    if not arguments or "=" in arguments[0] or arguments[0].startswith("-"):
        raise MiaiError("name a run: miai reproduce RUN_ID.")
    reference, *further = arguments
    store = Store(location_of(compose_one("base", further)))
    result = replay(store, reference)
    out = console()
    out.print(f"{result.name}: {result.verdict}", markup=False)
    for line in result.details:
        out.print(f"  {line}", markup=False)
    return 0 if result.same else 1
