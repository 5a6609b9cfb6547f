"""Completion in the shell: `eval "$(miai -sc install=bash)"`.

The shell asks `miai -sc query=bash` with the line as it stands in `COMP_LINE`. Commands and studies are ours to offer;
groups, choices and options are Hydra's.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from miai.cli.main import command_names, load_command

OVERRIDES_OF = {"sweep": "train"}
"""Commands without a YAML of their own, and whose options they take."""


def complete(arguments: Sequence[str]) -> int:
    """Install or remove completion, or answer the shell.

    Args:
        arguments: `install=bash`, `uninstall=bash` or `query=bash`; zsh and fish likewise.
    """
    from miai.cli.hydra_run import run_hydra
    from miai.runner.studies import study_names

    query = any(argument.startswith("query=") for argument in arguments)
    _, *words = os.environ.get("COMP_LINE", "miai").split(" ") if query else ["miai"]
    if query and len(words) < 2:
        _offer(command_names())
        return 0
    if words and words[0] not in command_names():
        return 0
    name, *rest = words or ["train"]
    if query and name in ("sweep", "report") and len(rest) == 1:
        _offer(study_names())
        return 0
    config = load_command(name).CONFIG or OVERRIDES_OF[name]
    rest = [word for word in rest[:-1] if "=" in word] + rest[-1:]  # Without the name of a run or a study.
    line = os.environ.get("COMP_LINE")
    try:
        if query:
            os.environ["COMP_LINE"] = " ".join(["miai", *rest])
        return run_hydra(config, ["-sc", *arguments], program="miai")
    finally:
        if query and line is not None:
            os.environ["COMP_LINE"] = line


def _offer(names: Sequence[str]) -> None:
    print(" ".join(names))  # noqa: T201
