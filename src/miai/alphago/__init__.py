"""The stages of the pipeline of AlphaGo (Silver et al., 2016)."""

from __future__ import annotations

import importlib.util

from miai.errors import MiaiError


def needs_torch(what: str) -> None:
    """Raise a `MiaiError` if PyTorch is not installed; `what` names what needs it."""
    if importlib.util.find_spec("torch") is None:
        raise MiaiError(f"{what}: PyTorch is not installed. It is in the extra alphago: pip install 'miai[alphago]'.")
