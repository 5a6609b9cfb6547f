"""Targets that do what must not happen, to see that fuzzing sees it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from chaos.inputs import Opened, Target


def _obey(folder: Path) -> Opened:
    def read(content: bytes) -> None:
        if content == b"hang":
            while True:
                pass
        elif content == b"die":
            os.kill(os.getpid(), signal.SIGSEGV)
        elif content == b"raise":
            raise ValueError("no")
        elif content == b"run":
            os.system("true")

    return [b"good"], read


HANG, DIE, RAISE, RUN = (
    Target(f"{__name__}:{order.upper()}", (lambda content, rng, order=order: order.encode(),), _obey)  # type: ignore[misc]
    for order in ("hang", "die", "raise", "run")
)
