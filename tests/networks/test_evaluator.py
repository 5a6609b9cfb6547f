from __future__ import annotations

import importlib.util
import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from miai.errors import MiaiError
from miai.networks.evaluator import Inference, load_evaluator, make_evaluator
from miai.networks.weights import save_network

from . import plain_network
from .networks import random_network, random_planes

RUNTIMES = [
    pytest.param(name, marks=pytest.mark.skipif(importlib.util.find_spec(name) is None, reason=f"{name} is missing"))
    for name in ("torch", "openvino")
]
KINDS = [
    {"head": head, "block": block, "batch_norm": norm, "first_kernel": kernel}
    for head, block, norm, kernel in itertools.product(
        ("policy", "value"), ("plain", "residual"), (False, True), (3, 5)
    )
]


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(str(value) for value in kind.values()))
def test_a_runtime_computes_what_the_plain_network_does(runtime: str, kind: dict) -> None:
    network = random_network(layers=5, **kind)
    planes = random_planes(network.spec, 3)
    expected = np.array([plain_network.evaluate(network, one) for one in planes])
    found = make_evaluator(network, Inference(runtime, "cpu"))(planes)
    assert found.dtype == np.float32
    assert found.shape == ((3, 25) if kind["head"] == "policy" else (3,))
    assert np.ptp(expected) > 0.01
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("head", ["policy", "value"])
def test_bfloat16_is_nearly_float32(runtime: str, head: str) -> None:
    network = random_network(head=head, layers=5, batch_norm=True)
    planes = random_planes(network.spec, 8)
    exact = make_evaluator(network, Inference(runtime, "cpu"))
    rough = make_evaluator(network, Inference(runtime, "cpu", precision="bfloat16"))
    assert (exact.precision, rough.precision) == ("float32", "bfloat16")
    found = rough(planes)
    assert found.dtype == np.float32
    expected = exact(planes)
    assert np.abs(found - expected).max() < 0.05 * np.abs(expected).max()


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_precision_is_chosen_by_what_the_processor_has(runtime: str) -> None:
    chosen = make_evaluator(random_network(), Inference(runtime, "cpu", precision="auto"))
    assert chosen.precision in ("float32", "bfloat16")
    planes = random_planes(chosen.spec, 4)
    asked_for = make_evaluator(random_network(), Inference(runtime, "cpu", precision=chosen.precision))
    assert (chosen(planes) == asked_for(planes)).all()


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_batches_of_any_size_give_the_same_and_answers_are_kept(runtime: str) -> None:
    evaluator = make_evaluator(random_network(), Inference(runtime, "cpu"))
    planes = random_planes(evaluator.spec, 9)
    whole = evaluator(planes)
    kept = whole.copy()
    one_by_one = np.concatenate([evaluator(planes[i : i + 1]) for i in range(9)])
    np.testing.assert_allclose(one_by_one, whole, atol=1e-5)
    assert (whole == kept).all()


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_planes_that_do_not_fit_are_refused(runtime: str) -> None:
    evaluator = make_evaluator(random_network(), Inference(runtime, "cpu"))
    good = random_planes(evaluator.spec, 2)
    for bad in (good[0], good[:, :3], good[:, :, :4], good[:0], good.astype(np.float64)):
        with pytest.raises(ValueError, match=r"planes must be float32\[B, 4, 5, 5\]"):
            evaluator(bad)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_file_is_evaluated(tmp_path: Path, runtime: str) -> None:
    network = random_network(head="value")
    save_network(tmp_path / "n", network.spec, network.weights, {})
    evaluator = load_evaluator(tmp_path / "n", Inference(runtime, "cpu"))
    assert evaluator.spec == network.spec
    assert evaluator.runtime == runtime
    planes = random_planes(network.spec, 2)
    assert (evaluator(planes) == make_evaluator(network, Inference(runtime, "cpu"))(planes)).all()


def test_the_fastest_runtime_is_taken_and_openvino_needs_no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openvino")
    assert make_evaluator(random_network(), Inference("auto", "cpu")).runtime == "openvino"
    from miai.networks import evaluator

    monkeypatch.setattr(evaluator, "_is_installed", lambda library: library != "torch")
    assert make_evaluator(random_network()).runtime == "openvino"


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_signal_after_evaluators_are_gone_does_no_harm(tmp_path: Path, runtime: str) -> None:
    """In a process of its own, which a wrong stack for signals would end."""
    path = tmp_path / "n"
    network = random_network()
    save_network(path, network.spec, network.weights, {})
    program = f"""
import os, signal
from miai.networks.evaluator import Inference, load_evaluator
evaluators = [load_evaluator({str(path)!r}, Inference({runtime!r}, "cpu")) for _ in range(2)]
del evaluators[0]
evaluators.clear()
signal.signal(signal.SIGTERM, lambda *_: print("heard"))
os.kill(os.getpid(), signal.SIGTERM)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "heard\n"), done.stderr


def test_choices_that_there_are_not_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MiaiError, match="runtime: no such choice 'onnx'; allowed: auto, openvino, torch"):
        make_evaluator(random_network(), Inference("onnx"))
    with pytest.raises(MiaiError, match="device: no such choice 'tpu'; allowed: auto, cpu, cuda"):
        make_evaluator(random_network(), Inference("torch", "tpu"))
    with pytest.raises(MiaiError, match="precision: no such choice 'int8'; allowed: auto, bfloat16, float32"):
        make_evaluator(random_network(), Inference("torch", "cpu", precision="int8"))
    with pytest.raises(MiaiError, match="openvino computes on the processor"):
        make_evaluator(random_network(), Inference("openvino", "cuda"))
    with pytest.raises(ValueError, match="threads must be at least 1, got 0"):
        make_evaluator(random_network(), Inference(threads=0))
    from miai.networks import evaluator

    monkeypatch.setattr(evaluator, "_is_installed", lambda library: False)
    for runtime, library in (("auto", "torch"), ("torch", "torch"), ("openvino", "openvino")):
        with pytest.raises(MiaiError, match=f"runtime: {library} is not installed"):
            make_evaluator(random_network(), Inference(runtime, "cpu"))


def test_a_gpu_that_is_not_there_is_refused() -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(MiaiError, match="device: cuda is not there; allowed here: auto, cpu"):
        make_evaluator(random_network(), Inference("torch", "cuda"))
