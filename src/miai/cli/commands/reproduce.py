"""Make a run again from what the store holds of it, and compare.

Says whether the table is byte for byte the same. Nothing is tracked. If the sources have been edited since, the
fingerprint differs; that is said, and the arrays are compared. The exit code is 1 if the result is another one.

Engines that the run's configuration names are shown, and started only with allow_commands=true: what a store holds,
anybody may have written who can write to it.

RUN is a run's id (or its beginning); its name, where only one has it; or STUDY/NAME, the newest of that name there.
"""

from __future__ import annotations

CONFIG = "reproduce"
EXAMPLES = ("miai reproduce RUN_ID", "miai reproduce RUN_ID allow_commands=true")


def run(arguments: list[str]) -> int:
    from miai.cli.arguments import flag, text, with_run
    from miai.cli.terminal import console, say
    from miai.runner.compose import compose_one
    from miai.runner.configured import location_of
    from miai.runner.replay import replay
    from miai.tracking import Store

    config = compose_one(CONFIG, with_run(arguments))
    result = replay(Store(location_of(config)), text(config, "run"), allow_commands=flag(config, "allow_commands"))
    out = console()
    say(out, f"{result.name}: {result.verdict}")
    for line in result.details:
        say(out, f"  {line}")
    return 0 if result.same else 1
