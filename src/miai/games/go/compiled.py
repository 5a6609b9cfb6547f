"""How the small helpers of Go are compiled: they become part of their callers.

A board is two arrays, and passing two arrays to a compiled function means passing fourteen numbers. A playout's move
takes only some fifty nanoseconds, so that calls would be a quarter of it. See `miai.compiled` for the other settings.
"""

from __future__ import annotations

from typing import Any

from numba import njit

inlined: Any = njit(cache=True, nogil=True, error_model="numpy", _nrt=False, forceinline=True)  # type: ignore[call-overload]
