"""Networks for tests: tiny ones with random weights, and functions that stand in for one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from miai.alphago.self_play import Policy
from miai.networks.spec import NetworkSpec
from miai.networks.weights import Network, initial_weights, save_network


def tiny(head: str = "policy", size: int = 5, planes: int = 4, seed: int = 0, filters: int = 8) -> Network:
    spec = NetworkSpec(
        head=head, board_size=size, planes=planes, layers=2, filters=filters, first_kernel=3, value_hidden=16
    )
    return Network(spec, initial_weights(spec, np.random.default_rng(seed)), {})


def tiny_file(folder: Path, name: str = "network", **options: object) -> Path:
    network = tiny(**options)  # type: ignore[arg-type]
    path = folder / f"{name}.safetensors"
    save_network(path, network.spec, network.weights, {})
    return path


def likes(weights: np.ndarray, temperature: float = 1.0) -> Policy:
    """A policy that has the same logits in every position: float[N²]."""
    return Policy(lambda planes: np.tile(np.asarray(weights, np.float32), (len(planes), 1)), 4, temperature)


def uniform(size: int) -> Policy:
    return likes(np.zeros(size * size))
