"""What a launcher needs beside Miai."""

from __future__ import annotations

import importlib.util

from miai.errors import MiaiError


def need(module: str, extra: str) -> None:
    """See that an optional package is there, without importing it.

    Raises:
        MiaiError: it is not; how to install it.
    """
    if importlib.util.find_spec(module) is None:
        raise MiaiError(f"launcher={extra}: {module} is not installed. Install it with: pip install 'miai[{extra}]'")
