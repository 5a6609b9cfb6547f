"""The network once more, slow and plain, in float64, to compare with."""

from __future__ import annotations

import numpy as np

from miai.networks.weights import Network


def convolve(x: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """[C, N, N] by [F, C, k, k], zeros around the board."""
    reach = kernel.shape[-1] // 2
    size = x.shape[-1]
    padded = np.pad(x, ((0, 0), (reach, reach), (reach, reach)))
    found = np.zeros((len(kernel), size, size))
    for row in range(size):
        for column in range(size):
            window = padded[:, row : row + kernel.shape[-1], column : column + kernel.shape[-1]]
            found[:, row, column] = (kernel * window).sum(axis=(1, 2, 3))
    return found


def evaluate(network: Network, planes: np.ndarray) -> np.ndarray:
    """One position, [P, N, N]: its logits [N²], or its value."""
    spec = network.spec
    w = {name: array.astype(np.float64) for name, array in network.weights.items()}
    x = planes.astype(np.float64)
    inputs = []
    for i in range(spec.layers):
        inputs.append(x)
        x = convolve(x, w[f"trunk.{i}.conv.weight"])
        if spec.batch_norm:
            mean, variance = w[f"trunk.{i}.norm.running_mean"], w[f"trunk.{i}.norm.running_var"]
            x = (x - mean[:, None, None]) / np.sqrt(variance + 1e-5)[:, None, None]
            x = x * w[f"trunk.{i}.norm.weight"][:, None, None] + w[f"trunk.{i}.norm.bias"][:, None, None]
        else:
            x = x + w[f"trunk.{i}.conv.bias"][:, None, None]
        if spec.block == "residual" and i >= 2 and i % 2 == 0:
            x = x + inputs[i - 1]
        x = np.maximum(x, 0)
    if spec.head == "policy":
        return convolve(x, w["policy.weight"]).ravel() + w["policy.bias"]
    x = convolve(x, w["value.conv.weight"]).ravel() + w["value.conv.bias"]
    x = np.maximum(w["value.hidden.weight"] @ x + w["value.hidden.bias"], 0)
    return np.tanh(w["value.output.weight"] @ x + w["value.output.bias"])[0]
