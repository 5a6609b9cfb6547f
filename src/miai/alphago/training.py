"""A network that learns: one step of the optimiser, and the whole state as arrays. Needs PyTorch.

Start reading at `Learner`. What is learnt is the caller's: it computes a loss from `forward` and hands it to `update`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from miai.alphago.optimisation import Optimisation
from miai.networks.spec import NetworkSpec
from miai.networks.torch_network import TorchNetwork, build, find_precision, get_weights, place, set_weights

ADAM_BETA2 = 0.999
WEIGHTS = "weights/"
OPTIMISER = "optimiser/"
"""Beginnings of the names in `Learner.state`."""


class Learner:
    """A network, its optimiser and where they compute.

    Args:
        device: as `networks.torch_network.find_device` returns it.
        precision: of the convolutions while learning; weights and sums are float32 always. `auto` is bfloat16 where the
            device computes faster in it: a GPU, or a processor with AMX or AVX-512 for bfloat16.
        threads: of the processor.
    """

    def __init__(
        self,
        spec: NetworkSpec,
        weights: Mapping[str, np.ndarray],
        optimisation: Optimisation,
        device: torch.device,
        precision: str = "auto",
        threads: int = 1,
    ) -> None:
        self.spec = spec
        self.optimisation = optimisation
        self.device = device
        self.precision = find_precision(precision, device)
        self.threads = threads
        self.module: TorchNetwork = place(build(spec, weights), device)
        self._optimiser = _make_optimiser(self.module, optimisation)

    def forward(self, planes: np.ndarray, *, training: bool = True) -> torch.Tensor:
        """Evaluate planes float32[B, P, N, N], for a gradient or without: float32, logits [B, N²] or values [B]."""
        if self.device.type == "cpu" and torch.get_num_threads() != self.threads:
            torch.set_num_threads(self.threads)  # of the whole process, so another network may have changed it
        self.module.train(training)
        with (
            torch.set_grad_enabled(training),
            torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bfloat16"),
        ):
            x = torch.from_numpy(planes).to(self.device, memory_format=torch.channels_last, non_blocking=True)
            return self.module(x).float()

    def update(self, loss: torch.Tensor, progress: float) -> None:
        """Take one step down a loss that was computed from `forward`, at a progress of the training from 0 to 1."""
        rate = self.optimisation.learning_rate_at(progress)
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()
        if self.optimisation.max_gradient is not None:
            torch.nn.utils.clip_grad_norm_(self.module.parameters(), self.optimisation.max_gradient)
        self._optimiser.step()

    def weights(self) -> dict[str, np.ndarray]:
        """Return a copy of the weights."""
        return get_weights(self.module)

    def state(self) -> dict[str, np.ndarray]:
        """Return all that the next steps depend on, beside their batches: weights and optimiser, as arrays by name."""
        arrays = {WEIGHTS + name: array for name, array in self.weights().items()}
        for number, values in self._optimiser.state_dict()["state"].items():
            for name, value in values.items():
                if value is not None:  # SGD without momentum has none.
                    arrays[f"{OPTIMISER}{number}/{name}"] = np.array(torch.as_tensor(value).cpu().numpy())
        return arrays

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Go back to a state. Arrays of other names are left alone, so that a checkpoint may hold more."""
        set_weights(self.module, with_prefix(arrays, WEIGHTS))
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, array in with_prefix(arrays, OPTIMISER).items():
            number, _, key = name.partition("/")
            state.setdefault(int(number), {})[key] = torch.from_numpy(np.array(array))
        self._optimiser.load_state_dict({**self._optimiser.state_dict(), "state": state})


def with_prefix(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Return the arrays whose names begin with `prefix`, under what is left of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _make_optimiser(module: TorchNetwork, options: Optimisation) -> torch.optim.Optimizer:
    decayed = [parameter for parameter in module.parameters() if parameter.ndim > 1]
    others = [parameter for parameter in module.parameters() if parameter.ndim <= 1]
    groups: list[dict[str, Any]] = [
        {"params": decayed, "weight_decay": options.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    if options.optimiser == "adamw":
        return torch.optim.AdamW(groups, options.learning_rate, (options.momentum, ADAM_BETA2))
    nesterov = options.momentum > 0
    return torch.optim.SGD(groups, options.learning_rate, options.momentum, nesterov=nesterov)


def policy_loss(logits: torch.Tensor, moves: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """Return the mean cross-entropy of the moves, under a softmax over the legal points alone.

    Args:
        logits: float32[B, N²]; moves: int64[B], each legal; legal: bool[B, N²].
    """
    return functional.cross_entropy(logits.masked_fill(~legal, -torch.inf), moves)
