"""Miai: a research harness for machines that learn to play board games.

Importing the package does one thing: it tells Numba where to keep compiled kernels,
which has to happen before Numba is imported anywhere (see `miai.kernel_cache`).
"""

from miai.kernel_cache import use_versioned_cache

__version__ = "0.1.0"

use_versioned_cache()
