from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from miai.errors import MiaiError
from miai.networks.weights import (
    KIND,
    VERSION,
    check_board_size,
    check_head,
    initial_weights,
    load_network,
    save_network,
)
from miai.tensor_file import save_tensors

from .networks import random_network, small_spec


@pytest.mark.parametrize("changes", [{}, {"batch_norm": True, "block": "residual"}, {"head": "value", "planes": 49}])
def test_a_network_comes_back_as_it_was(tmp_path: Path, changes: dict) -> None:
    network = random_network(**changes)
    save_network(tmp_path / "n.safetensors", network.spec, network.weights, {"positions": 7})
    loaded = load_network(tmp_path / "n.safetensors")
    assert loaded.spec == network.spec
    assert loaded.meta == {"positions": 7}
    assert {name: array.tobytes() for name, array in loaded.weights.items()} == {
        name: array.tobytes() for name, array in network.weights.items()
    }


def test_the_same_network_gives_the_same_bytes(tmp_path: Path) -> None:
    network = random_network()
    backwards = dict(reversed(network.weights.items()))
    save_network(tmp_path / "a", network.spec, network.weights, {"x": 1, "y": 2})
    save_network(tmp_path / "b", network.spec, backwards, {"y": 2, "x": 1})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_weights_begin_with_the_variance_that_keeps_the_signal() -> None:
    weights = initial_weights(small_spec(planes=48, filters=64, layers=3), np.random.default_rng(0))
    assert np.var(weights["trunk.0.conv.weight"]) == pytest.approx(2 / (48 * 25), rel=0.05)
    assert np.var(weights["trunk.1.conv.weight"]) == pytest.approx(2 / (64 * 9), rel=0.05)
    assert not weights["trunk.1.conv.bias"].any()
    assert not weights["policy.bias"].any()


@pytest.mark.parametrize("batch_norm", [False, True])
def test_a_residual_block_begins_as_the_identity(batch_norm: bool) -> None:
    spec = small_spec(block="residual", batch_norm=batch_norm, layers=5)
    weights = initial_weights(spec, np.random.default_rng(0))
    last_step = "norm.weight" if batch_norm else "conv.weight"
    assert [bool(weights[f"trunk.{layer}.{last_step}"].any()) for layer in range(5)] == [True, True, False, True, False]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"policy.bias": None}, "weight policy.bias is missing"),
        ({"extra": np.zeros(1, np.float32)}, "there is no weight 'extra'"),
        ({"policy.bias": np.zeros(24, np.float32)}, r"policy.bias is float32\[24\], not float32\[25\]"),
        ({"policy.bias": np.zeros(25, np.float64)}, r"policy.bias is float64\[25\], not float32\[25\]"),
        ({"policy.bias": np.full(25, np.nan, np.float32)}, "policy.bias is not finite"),
    ],
)
def test_weights_that_do_not_fit_are_refused(tmp_path: Path, change: dict, complaint: str) -> None:
    network = random_network()
    weights = {name: array for name, array in (network.weights | change).items() if array is not None}
    with pytest.raises(ValueError, match=complaint):
        save_network(tmp_path / "n", network.spec, weights, {})
    save_tensors(tmp_path / "n", KIND, VERSION, weights, {"spec": dataclasses.asdict(network.spec)})
    with pytest.raises(MiaiError, match=complaint):
        load_network(tmp_path / "n")


@pytest.mark.parametrize(
    ("meta", "complaint"),
    [
        ({}, "it does not say what network it is"),
        ({"spec": {"head": "policy"}}, "spec.board_size: a value is needed"),
        ({"spec": {**dataclasses.asdict(small_spec()), "head": "soft"}}, "spec.head: Input should be 'policy' or"),
        ({"spec": {**dataclasses.asdict(small_spec()), "filters": 7}}, "not float32"),
    ],
)
def test_a_file_that_is_no_network_is_refused(tmp_path: Path, meta: dict, complaint: str) -> None:
    save_tensors(tmp_path / "n", KIND, VERSION, random_network().weights, meta)
    with pytest.raises(MiaiError, match=complaint):
        load_network(tmp_path / "n")


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    save_tensors(tmp_path / "games", "games", 1, {"moves": np.zeros(3, np.int16)}, {})
    with pytest.raises(MiaiError, match="it is of kind 'games'; a file of kind 'network' is needed"):
        load_network(tmp_path / "games")


def test_a_network_for_something_else_is_refused() -> None:
    with pytest.raises(MiaiError, match="n: it is a policy network; a value network is needed"):
        check_head("n", small_spec(), "value")
    with pytest.raises(MiaiError, match="n: it is a network of the 5×5 board; one of 9×9 is needed"):
        check_board_size("n", small_spec(), 9)


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_file_is_refused_or_harmless(tmp_path: Path, data: st.DataObject) -> None:
    """Cut it short, or change some of its bytes: a MiaiError, or a network that fits its spec and is finite."""
    network = random_network()
    path = tmp_path / "n.safetensors"
    save_network(path, network.spec, network.weights, {})
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(0, min(3_000, len(content) - 1)))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        loaded = load_network(path)
    except MiaiError:
        return
    assert {name: array.shape for name, array in loaded.weights.items()} == loaded.spec.weight_shapes()
    assert all(np.isfinite(array).all() for array in loaded.weights.values())
