"""Evaluation by PyTorch."""

from __future__ import annotations

import numpy as np
import torch

from miai.networks.evaluator import check_planes
from miai.networks.torch_network import TorchNetwork, find_precision, place


class TorchEvaluator:
    """An `Evaluator` around a module, which it moves to the device. The module may go on learning in between."""

    runtime = "torch"

    def __init__(
        self, module: TorchNetwork, device: torch.device, threads: int = 1, precision: str = "float32"
    ) -> None:
        self.spec = module.spec
        self.device = device
        self.threads = threads
        self.precision = find_precision(precision, device)
        self._module = place(module, device)

    def __call__(self, planes: np.ndarray) -> np.ndarray:
        """Evaluate, in evaluation mode; see `Evaluator`."""
        check_planes(self.spec, planes)
        if self.device.type == "cpu" and torch.get_num_threads() != self.threads:
            torch.set_num_threads(self.threads)
        was_training = self._module.training
        self._module.eval()
        low = self.precision == "bfloat16"
        with torch.inference_mode(), torch.autocast(self.device.type, torch.bfloat16, enabled=low):
            x = torch.from_numpy(planes).to(self.device, memory_format=torch.channels_last)
            found = self._module(x).float().cpu().numpy()
        self._module.train(was_training)
        return found
