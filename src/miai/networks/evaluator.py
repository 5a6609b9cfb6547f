"""Networks as functions from planes to numbers, by the fastest runtime that is installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from miai.errors import MiaiError, choose
from miai.networks.spec import NetworkSpec
from miai.networks.weights import Network, load_network

RUNTIMES = ("auto", "torch", "openvino")
DEVICES = ("auto", "cpu", "cuda")
PRECISIONS = ("auto", "float32", "bfloat16")


class Inference(NamedTuple):
    """How, and by what, a network is evaluated."""

    runtime: str = "auto"
    """`torch`, `openvino`, or `auto`: PyTorch where it has a GPU to use, else OpenVINO where it is installed, else
    PyTorch."""
    device: str = "auto"
    """`cpu`, `cuda` (PyTorch only), or `auto`: a GPU if there is one that the runtime can use."""
    precision: str = "float32"
    """Of the convolutions: `float32`, `bfloat16`, or `auto`: bfloat16 where the device has instructions for it, and is
    about twice as fast then. Its 8 bits of precision change a probability by some thousandths."""
    threads: int = 1
    """Of the processor, for one call."""


FULL_PRECISION = Inference()
"""In full precision, on one thread, by the fastest runtime that is there."""


class Evaluator(Protocol):
    """A network that can be asked.

    Attributes:
        runtime: `torch` or `openvino`.
        precision: `float32` or `bfloat16`, of the convolutions.
    """

    spec: NetworkSpec
    runtime: str
    precision: str

    def __call__(self, planes: np.ndarray) -> np.ndarray:
        """Evaluate positions.

        Args:
            planes: float32[B, P, N, N], as `networks.features` encodes them; B is at least 1.

        Returns:
            of a policy, logits float32[B, N²]; of a value network, float32[B] in [−1, 1], from the mover's side. The
            caller's to keep.

        Raises:
            ValueError: the planes are of another type or shape.
        """
        ...


def load_evaluator(path: str | Path, inference: Inference = FULL_PRECISION) -> Evaluator:
    """Load a network from a file, to be evaluated; see `make_evaluator`.

    Raises:
        MiaiError: the file is not a network, or the runtime or the device is not there.
    """
    return make_evaluator(load_network(path), inference)


def make_evaluator(network: Network, inference: Inference = FULL_PRECISION) -> Evaluator:
    """Make a network ready to be evaluated.

    Raises:
        MiaiError: no such choice, or a library or a device that is not there.
    """
    runtime, device, precision, threads = inference
    if threads < 1:
        raise ValueError(f"threads must be at least 1, got {threads!r}")
    choose(runtime, RUNTIMES, "runtime")
    choose(device, DEVICES, "device")
    choose(precision, PRECISIONS, "precision")
    if (runtime if runtime != "auto" else _fastest(device)) == "openvino":
        if device == "cuda":
            raise MiaiError("device: openvino computes on the processor; cuda goes with runtime=torch.")
        _need("openvino")
        from miai.networks.openvino_network import OpenvinoEvaluator

        return OpenvinoEvaluator(network, threads, precision)
    _need("torch")
    from miai.networks.torch_evaluator import TorchEvaluator
    from miai.networks.torch_network import build, find_device

    return TorchEvaluator(build(network.spec, network.weights), find_device(device), threads, precision)


def _fastest(device: str) -> str:
    if not _is_installed("openvino"):
        return "torch"
    if device == "cpu" or not _is_installed("torch"):
        return "openvino"
    import torch

    return "torch" if device == "cuda" or torch.cuda.is_available() else "openvino"


def _is_installed(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


def _need(library: str) -> None:
    if not _is_installed(library):
        raise MiaiError(
            f"runtime: {library} is not installed. It is in the extra alphago: pip install 'miai[alphago]'."
        )


def check_planes(spec: NetworkSpec, planes: np.ndarray) -> None:
    """Raise `ValueError` if an array is not float32[B, P, N, N] of the spec, with B at least 1."""
    shape = (spec.planes, spec.board_size, spec.board_size)
    if planes.dtype != np.float32 or planes.ndim != 4 or planes.shape[1:] != shape or not len(planes):
        raise ValueError(f"planes must be float32[B, {', '.join(map(str, shape))}], got {planes.dtype}{planes.shape}")
