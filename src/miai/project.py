"""Where the project is: the folder that holds `mlruns/` and `reports/`.

`MIAI_HOME` if it is set; else the nearest checkout of Miai at or above the current folder; else the current folder.
Every path that Miai writes is absolute from here, so that a command does the same wherever it is started.
"""

from __future__ import annotations

import os
from pathlib import Path

from miai.errors import MiaiError

PACKAGE = Path(__file__).parent


def is_checkout(folder: Path) -> bool:
    return (folder / "src" / "miai" / "__init__.py").is_file() and (folder / "conf").is_dir()


def root() -> Path:
    """Return the project's root, absolute.

    Raises:
        MiaiError: `MIAI_HOME` names something that is not a folder; or it is not set, and the current folder is gone.
    """
    home = os.environ.get("MIAI_HOME")
    if home:
        folder = Path(home).expanduser().resolve()
        if not folder.is_dir():
            raise MiaiError(f"MIAI_HOME: {home!r} is not a folder.")
        return folder
    try:
        here = Path.cwd().resolve()
    except FileNotFoundError:
        raise MiaiError("the current folder has been removed; change to another one, or set MIAI_HOME.") from None
    return next((folder for folder in (here, *here.parents) if is_checkout(folder)), here)


def mlruns() -> Path:
    return root() / "mlruns"


def reports() -> Path:
    return root() / "reports"


def _shipped(name: str) -> Path:
    checkout = PACKAGE.parent.parent
    return checkout / name if is_checkout(checkout) else PACKAGE / name


def shipped_conf() -> Path:
    """The folder of the YAML groups: `conf/` of the checkout that the package runs from, or the wheel's copy."""
    return _shipped("conf")


def shipped_experiments() -> Path:
    """The folder of the studies, found like `shipped_conf`."""
    return _shipped("experiments")
