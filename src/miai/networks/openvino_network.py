"""The network in OpenVINO, built straight from the weights: playing needs no PyTorch.

Batch norm is folded into the convolution before it, y = γ · (Wx − µ) / √(σ² + ε) + β, so that the graph has nothing but
convolutions, sums and rectifiers.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import openvino as ov
from openvino import opset13 as ops

from miai.networks.evaluator import check_planes
from miai.networks.spec import NORM_EPSILON, NetworkSpec
from miai.networks.weights import Network, Weights

INPUT = "planes"


class OpenvinoEvaluator:
    """An `Evaluator` on the processor, of any batch size."""

    runtime = "openvino"

    def __init__(self, network: Network, threads: int = 1, precision: str = "float32") -> None:
        self.spec = network.spec
        core = _core()
        self.precision = _find_precision(core) if precision == "auto" else precision
        settings = {
            "INFERENCE_PRECISION_HINT": _PRECISIONS[self.precision],
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "PERFORMANCE_HINT": "LATENCY",
        }
        compiled = core.compile_model(build_model(network), "CPU", settings)
        self._request = compiled.create_infer_request()

    def __call__(self, planes: np.ndarray) -> np.ndarray:
        """Evaluate; see `Evaluator`."""
        check_planes(self.spec, planes)
        self._request.infer({INPUT: np.ascontiguousarray(planes)}, share_inputs=True)
        found = self._request.get_output_tensor(0).data
        return np.array(found, np.float32)  # a copy: the next call writes to the same place


@functools.cache
def _core() -> ov.Core:
    """Return the process's one core, which is never released.

    OpenVINO gives the thread a stack of its own for signals, and with its release brings back the one before. Of two
    cores that are not released in the opposite order of their making, that is one that is gone: the next Ctrl-C ends in
    a crash.
    """
    return ov.Core()


_PRECISIONS = {"float32": "f32", "bfloat16": "bf16"}


def _find_precision(core: ov.Core) -> str:
    """Return bfloat16 if the processor computes in it, else float32."""
    return "bfloat16" if "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES") else "float32"


def build_model(network: Network) -> ov.Model:
    """Return the graph: `planes` [B, P, N, N], B open, to logits [B, N²] or values [B]."""
    spec, weights = network.spec, network.weights
    planes = ops.parameter([-1, spec.planes, spec.board_size, spec.board_size], np.float32, name=INPUT)
    x: Any = planes
    block_input = x
    for layer in range(spec.layers):
        x = _convolve(x, *folded(spec, weights, layer))
        if spec.ends_block(layer):
            x = ops.add(x, block_input)
        x = ops.relu(x)
        if layer % 2 == 0:
            block_input = x
    points = [-1, spec.board_size**2]
    if spec.head == "policy":
        x = ops.reshape(_convolve(x, weights["policy.weight"], None), _integers(points), False)
        x = ops.add(x, _constant(weights["policy.bias"]))
    else:
        x = ops.reshape(
            _convolve(x, weights["value.conv.weight"], weights["value.conv.bias"]), _integers(points), False
        )
        x = ops.relu(_linear(x, weights["value.hidden.weight"], weights["value.hidden.bias"]))
        x = ops.tanh(_linear(x, weights["value.output.weight"], weights["value.output.bias"]))
        x = ops.reshape(x, _integers([-1]), False)
    return ov.Model([x], [planes], spec.head)


def folded(spec: NetworkSpec, weights: Weights, layer: int) -> tuple[np.ndarray, np.ndarray]:
    """Return kernel and bias of a trunk's convolution with its batch norm, if it has one, folded in."""
    name = f"trunk.{layer}"
    kernel = weights[f"{name}.conv.weight"]
    if not spec.batch_norm:
        return kernel, weights[f"{name}.conv.bias"]
    scale = weights[f"{name}.norm.weight"] / np.sqrt(weights[f"{name}.norm.running_var"] + np.float32(NORM_EPSILON))
    bias = weights[f"{name}.norm.bias"] - weights[f"{name}.norm.running_mean"] * scale
    return kernel * scale[:, None, None, None], bias


def _constant(array: np.ndarray) -> Any:
    return ops.constant(np.ascontiguousarray(array, np.float32))


def _integers(values: list[int]) -> Any:
    return ops.constant(np.array(values, np.int64))


def _convolve(x: Any, kernel: np.ndarray, bias: np.ndarray | None) -> Any:
    pad = [kernel.shape[-1] // 2] * 2
    x = ops.convolution(x, _constant(kernel), [1, 1], pad, pad, [1, 1])
    return x if bias is None else ops.add(x, _constant(bias[None, :, None, None]))


def _linear(x: Any, weight: np.ndarray, bias: np.ndarray) -> Any:
    return ops.add(ops.matmul(x, _constant(weight), False, True), _constant(bias))
