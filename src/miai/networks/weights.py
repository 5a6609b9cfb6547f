"""A network's weights: how they begin, and the file that keeps them (`network.safetensors`)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from miai.errors import MiaiError
from miai.kinds import validate
from miai.networks.spec import NetworkSpec
from miai.tensor_file import load_tensors, save_tensors

NETWORK_FILE = "network.safetensors"
KIND = "network"
VERSION = 1

SPEC = "spec"
"""The key of the file's metadata that holds the spec."""

Weights = dict[str, np.ndarray]
"""float32 arrays by the names of `NetworkSpec.weight_shapes`."""


@dataclass(frozen=True)
class Network:
    """A network with its weights.

    Attributes:
        meta: what is known of its training; JSON can hold it.
    """

    spec: NetworkSpec
    weights: Weights
    meta: dict[str, Any]


def initial_weights(spec: NetworkSpec, rng: np.random.Generator) -> Weights:
    """Draw weights to start a training from.

    Kernels of layers with rectifiers are normal with variance 2 / fan-in (He et al., 2015), other kernels with
    1 / fan-in, biases 0. A residual block begins as the identity: the last step of its branch multiplies by 0 (Goyal et
    al., 2017).
    """
    weights: Weights = {}
    for name, shape in spec.weight_shapes().items():
        layer = int(name.split(".")[1]) if name.startswith("trunk.") else 0
        begins_at_zero = spec.ends_block(layer) and name.endswith("norm.weight" if spec.batch_norm else "conv.weight")
        if name.endswith("running_var") or (name.endswith("norm.weight") and not begins_at_zero):
            weights[name] = np.ones(shape, np.float32)
        elif len(shape) == 1 or begins_at_zero:
            weights[name] = np.zeros(shape, np.float32)
        else:
            rectified = name.startswith("trunk.") or name == "value.hidden.weight"
            deviation = np.sqrt((2.0 if rectified else 1.0) / np.prod(shape[1:]))
            weights[name] = (rng.standard_normal(shape) * deviation).astype(np.float32)
    return weights


def check_weights(spec: NetworkSpec, weights: Mapping[str, np.ndarray]) -> None:
    """Raise a `ValueError` that names the first weight that is missing, unknown, of another shape, or not finite."""
    shapes = spec.weight_shapes()
    for name in shapes:
        if name not in weights:
            raise ValueError(f"weight {name} is missing")
    for name, array in weights.items():
        if name not in shapes:
            raise ValueError(f"there is no weight {name!r} in {spec.describe()}")
        if array.dtype != np.float32 or array.shape != shapes[name]:
            raise ValueError(f"weight {name} is {array.dtype}{list(array.shape)}, not float32{list(shapes[name])}")
        if not np.isfinite(array).all():
            raise ValueError(f"weight {name} is not finite")


def save_network(
    path: str | Path, spec: NetworkSpec, weights: Mapping[str, np.ndarray], meta: Mapping[str, Any]
) -> None:
    """Write a network to a file.

    Raises:
        ValueError: the weights are not those of the spec, or JSON cannot hold `meta`.
    """
    check_weights(spec, weights)
    if SPEC in meta:
        raise ValueError(f"meta: the key {SPEC!r} is taken")
    save_tensors(path, KIND, VERSION, weights, {**meta, SPEC: dataclasses.asdict(spec)})


def load_network(path: str | Path) -> Network:
    """Read a network from a file.

    Raises:
        MiaiError: there is no such file, it is damaged or no network, or its weights are not those of its spec.
    """
    arrays, meta = load_tensors(path, KIND, VERSION)
    options = meta.pop(SPEC, None)
    if not isinstance(options, dict):
        raise MiaiError(f"{path}: it does not say what network it is.")
    spec = validate(NetworkSpec, options, f"{path}: {SPEC}")
    try:
        check_weights(spec, arrays)
    except ValueError as error:
        raise MiaiError(f"{path}: {error}.") from None
    return Network(spec, arrays, meta)


def check_head(path: str | Path, spec: NetworkSpec, head: str) -> None:
    """Raise a `MiaiError` if a network from `path` has another head than is needed."""
    if spec.head != head:
        raise MiaiError(f"{path}: it is a {spec.head} network; a {head} network is needed.")


def check_board_size(path: str | Path, spec: NetworkSpec, size: int) -> None:
    """Raise a `MiaiError` if a network from `path` is for another board."""
    if spec.board_size != size:
        side = spec.board_size
        raise MiaiError(f"{path}: it is a network of the {side}×{side} board; one of {size}×{size} is needed.")
