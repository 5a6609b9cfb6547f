"""How kernels are compiled. Every kernel and helper of the tabular learners uses `kernel`.

Five measured habits make a structured kernel as fast as a hand-inlined one (`make bench` shows the ratio to C):

- `_nrt=False`: without it Numba counts references, with atomic instructions, for each array that is passed
  from helper to helper, and a kernel of small helpers runs five times slower. The price: a kernel cannot
  allocate, so results and scratch arrays are arguments;
- Python counts a negative index from the end, which costs instructions wherever the compiler cannot see that an index
  is not negative. So index arrays are unsigned 32-bit, widened to int64 when read, and an index that was computed is
  converted to uint64 where it is used (`values[np.uint64(entry)]`);
- inner loops over a few moves are `while` with a step of 1 that the compiler cannot see (it is read from an array):
  knowing it, it would unroll and vectorise a loop of five rounds, and spend longer on the preparation than on the loop;
- what is rarely wanted is `None` when it is not: Numba compiles a version without it, instead of a branch in the hot
  loop;
- what lives as long as a game is a scalar, not an element of an array, so that it stays in a register.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Index = Any
"""A whole number: an int64 inside a kernel, which no type of Python or NumPy describes to both checkers."""

Number = Any
"""A float64 inside a kernel."""

Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}


def kernel(function: Function) -> Function:
    """Compile a kernel, or a helper of one, at its first call, and keep the machine code on disk."""
    return njit(**_OPTIONS)(function)
