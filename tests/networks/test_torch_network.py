from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from miai.networks.torch_network import build, get_weights, set_weights  # noqa: E402

from .networks import random_network, random_planes  # noqa: E402

KINDS = [
    {},
    {"block": "residual", "batch_norm": True},
    {"head": "value", "batch_norm": True},
    {"head": "value", "block": "residual"},
]


@pytest.mark.parametrize("kind", KINDS)
def test_weights_go_in_and_come_out(kind: dict) -> None:
    network, other = random_network(**kind), random_network(seed=1, **kind)
    module = build(network.spec, network.weights)
    set_weights(module, other.weights)
    found = get_weights(module)
    assert list(found) == list(network.spec.weight_shapes())
    assert all((found[name] == other.weights[name]).all() for name in found)


def test_weights_are_copies() -> None:
    network = random_network()
    module = build(network.spec, network.weights)
    taken = get_weights(module)
    with torch.no_grad():
        module.policy.bias.add_(1)
    assert (taken["policy.bias"] == network.weights["policy.bias"]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_small_differences(kind: dict) -> None:
    # In float64, of a smooth function of all outputs, in the direction of a random step of all weights.
    network = random_network(**kind)
    module = build(network.spec, network.weights).double().train()
    planes = torch.from_numpy(random_planes(network.spec, 4)).double()
    mixing = torch.from_numpy(np.random.default_rng(1).standard_normal(module(planes).shape))

    def loss() -> torch.Tensor:
        return (module(planes) * mixing).sum()

    module.zero_grad()
    loss().backward()
    for name, parameter in module.named_parameters():
        generator = torch.Generator().manual_seed(0)
        step = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        expected = float((parameter.grad * step).sum())
        with torch.no_grad():
            parameter.add_(1e-6 * step)
            above = float(loss())
            parameter.sub_(2e-6 * step)
            below = float(loss())
            parameter.add_(1e-6 * step)
        assert (above - below) / 2e-6 == pytest.approx(expected, rel=1e-4, abs=1e-5), name
