"""Commands that take a run as their first word: miai evaluate RUN_ID key=value …"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from miai.errors import MiaiError

if TYPE_CHECKING:
    from miai.tracking import Store


def with_run(arguments: Sequence[str]) -> list[str]:
    """Turn a leading RUN into the override run=RUN.

    Raises:
        MiaiError: an option that is none.
    """
    arguments = list(arguments)
    if arguments and "=" not in arguments[0]:
        if arguments[0].startswith("-"):
            raise MiaiError(f"{arguments[0]}: there is no such option. See --help for the options.")
        arguments[0] = f"run='{arguments[0]}'"
    return arguments


def table_path(store: Store, reference: str) -> Path:
    """Return the file of a saved table: `reference` is a path, or a run of the store.

    Raises:
        MiaiError: neither is there.
    """
    path = Path(reference).expanduser()
    return path if path.suffix == ".npz" or path.is_file() else store.artifact(reference, "table.npz")


def refuse_unknown(config: dict[str, Any], key: str, allowed: Sequence[str]) -> str:
    """Return `config[key]` if it is one of `allowed`; raise otherwise."""
    from miai.errors import choose

    return choose(str(config[key]), allowed, key)
