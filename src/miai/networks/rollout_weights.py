"""The file of a fitted rollout policy (`rollout.safetensors`): the weights of each section of its features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from miai.errors import MiaiError
from miai.search.rollout_features import SECTIONS
from miai.search.rollouts import RolloutPolicy, check_weights, new_policy
from miai.tensor_file import load_tensors, save_tensors

ROLLOUT_FILE = "rollout.safetensors"
KIND = "rollout"
VERSION = 1

_TYPES = dict.fromkeys(SECTIONS, "float32")


@dataclass(frozen=True, eq=False)
class RolloutWeights:
    """A fitted policy.

    Attributes:
        weights: float32[NUM_WEIGHTS], in the order of `rollout_features.SECTIONS`.
        meta: what is known of its fit; JSON can hold it.
    """

    weights: np.ndarray
    meta: dict[str, Any]

    def policy(self) -> RolloutPolicy:
        """Return the factors that playouts work with."""
        return new_policy(self.weights)


def save_rollout(path: str | Path, weights: np.ndarray, meta: Mapping[str, Any]) -> None:
    """Write a policy to a file.

    Raises:
        ValueError: the weights are not those of a policy (`search.rollouts.check_weights`), or JSON cannot hold `meta`.
    """
    weights = np.asarray(weights, np.float32)
    check_weights(weights)
    ends = np.cumsum(list(SECTIONS.values()))[:-1]
    save_tensors(path, KIND, VERSION, dict(zip(SECTIONS, np.split(weights, ends), strict=True)), meta)


def load_rollout(path: str | Path) -> RolloutWeights:
    """Read a policy from a file.

    Raises:
        MiaiError: there is no such file, it is damaged or of another kind, or its weights are not those of a policy.
    """
    arrays, meta = load_tensors(path, KIND, VERSION, _TYPES)
    for name, size in SECTIONS.items():
        if arrays[name].shape != (size,):
            raise MiaiError(f"{path}: {name} is of shape {list(arrays[name].shape)}; a policy has {size} such weights.")
    weights = np.concatenate([arrays[name] for name in SECTIONS])
    try:
        check_weights(weights)
    except ValueError as error:
        raise MiaiError(f"{path}: {error}.") from None
    return RolloutWeights(weights, meta)
