"""Small networks for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from miai.networks.spec import NetworkSpec
from miai.networks.weights import Network, initial_weights


def small_spec(**changes: Any) -> NetworkSpec:
    return NetworkSpec(
        **{"head": "policy", "board_size": 5, "planes": 4, "layers": 3, "filters": 6, "value_hidden": 8, **changes}
    )


def random_network(seed: int = 0, **changes: Any) -> Network:
    """A network none of whose weights is 0 or 1, so that each of them matters."""
    spec = small_spec(**changes)
    rng = np.random.default_rng(seed)
    weights = {
        name: (array + 0.2 * rng.standard_normal(array.shape)).astype(np.float32)
        for name, array in initial_weights(spec, rng).items()
    }
    for name, array in weights.items():
        if name.endswith("running_var"):
            weights[name] = np.abs(array) + np.float32(0.1)
        elif name.startswith("value.output"):
            weights[name] = array * np.float32(0.1)  # so that tanh is not at its end
    return Network(spec, weights, {})


def random_planes(spec: NetworkSpec, count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, (count, spec.planes, spec.board_size, spec.board_size)).astype(np.float32)
