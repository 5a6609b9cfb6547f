"""The network in PyTorch, for training, and for evaluation where there is a GPU or nothing faster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from miai.errors import MiaiError, choose
from miai.networks.spec import NORM_EPSILON, NetworkSpec
from miai.networks.weights import Weights, check_weights

DEVICES = ("auto", "cpu", "cuda")
COUNTERS = "num_batches_tracked"
"""What batch norm counts in PyTorch, and nobody needs."""


class _Convolution(nn.Module):
    """A trunk's convolution, with batch norm if the spec says so, without its rectifier."""

    def __init__(self, spec: NetworkSpec, layer: int) -> None:
        super().__init__()
        kernel = spec.kernel(layer)
        width = spec.planes if layer == 0 else spec.filters
        self.conv = nn.Conv2d(width, spec.filters, kernel, padding=kernel // 2, bias=not spec.batch_norm)
        self.norm = nn.BatchNorm2d(spec.filters, NORM_EPSILON) if spec.batch_norm else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.conv(x)
        return x if self.norm is None else self.norm(x)


class _PolicyHead(nn.Module):
    """One filter of 1×1 with a bias for each point: [B, F, N, N] → logits [B, N²]."""

    def __init__(self, spec: NetworkSpec) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1, spec.filters, 1, 1))
        self.bias = nn.Parameter(torch.zeros(spec.board_size**2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.conv2d(x, self.weight).flatten(1) + self.bias


class _ValueHead(nn.Module):
    """[B, F, N, N] → values [B] in (−1, 1)."""

    def __init__(self, spec: NetworkSpec) -> None:
        super().__init__()
        self.conv = nn.Conv2d(spec.filters, 1, 1)
        self.hidden = nn.Linear(spec.board_size**2, spec.value_hidden)
        self.output = nn.Linear(spec.value_hidden, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = functional.relu(self.hidden(self.conv(x).flatten(1)))
        return torch.tanh(self.output(hidden)).squeeze(1)


class TorchNetwork(nn.Module):
    """The network of a spec; its parameters and buffers have the names that `networks.spec` lists.

    `forward` takes float planes [B, P, N, N] and gives logits [B, N²] (policy) or values [B] (value).
    """

    def __init__(self, spec: NetworkSpec) -> None:
        super().__init__()
        self.spec = spec
        self.trunk = nn.ModuleList(_Convolution(spec, layer) for layer in range(spec.layers))
        if spec.head == "policy":
            self.policy = _PolicyHead(spec)
        else:
            self.value = _ValueHead(spec)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        block_input = x
        for layer, convolution in enumerate(self.trunk):
            x = convolution(x)
            if self.spec.ends_block(layer):
                x = x + block_input
            x = functional.relu(x)
            if layer % 2 == 0:
                block_input = x  # where a residual block may begin
        return self.policy(x) if self.spec.head == "policy" else self.value(x)


def build(spec: NetworkSpec, weights: Mapping[str, np.ndarray]) -> TorchNetwork:
    """Return the module of a spec with these weights, on the CPU.

    Raises:
        ValueError: the weights are not those of the spec.
    """
    check_weights(spec, weights)
    module = TorchNetwork(spec)
    set_weights(module, weights)
    return module


def set_weights(module: TorchNetwork, weights: Mapping[str, np.ndarray]) -> None:
    """Copy weights into a module, wherever it is. `weights` are trusted."""
    with torch.no_grad():
        for name, tensor in _tensors(module):
            tensor.copy_(torch.from_numpy(np.array(weights[name])))


def get_weights(module: TorchNetwork) -> Weights:
    """Return a copy of a module's weights."""
    return {
        name: np.array(tensor.detach().float().cpu().numpy(), np.float32, order="C")
        for name, tensor in _tensors(module)
    }


def _tensors(module: TorchNetwork) -> list[tuple[str, torch.Tensor]]:
    return [(name, tensor) for name, tensor in module.state_dict().items() if not name.endswith(COUNTERS)]


def place(module: TorchNetwork, device: torch.device) -> TorchNetwork:
    """Move a module to a device, in the order of memory (channels last) in which convolutions are fastest."""
    anything: Any = module  # PyTorch's own types do not know this argument of `to`.
    return anything.to(device, memory_format=torch.channels_last)


def find_device(name: str) -> torch.device:
    """Return the device of that name; `auto` is the GPU if there is one.

    Raises:
        MiaiError: no such choice, or CUDA is asked for and not there.
    """
    has_gpu = torch.cuda.is_available()
    choose(name, DEVICES, "device")
    if name == "cuda" and not has_gpu:
        raise MiaiError("device: cuda is not there; allowed here: auto, cpu.")
    return torch.device("cuda" if has_gpu and name != "cpu" else "cpu")


def find_precision(precision: str, device: torch.device) -> str:
    """Return `float32` or `bfloat16`; `auto` is bfloat16 where the device computes
    faster in it: a GPU, or a processor with AMX or AVX-512 for bfloat16."""
    if precision != "auto":
        return precision
    if device.type == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    capability = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    return "bfloat16" if capability.get("avx512_bf16") or capability.get("amx_bf16") else "float32"
