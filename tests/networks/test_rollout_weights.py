"""The file of a rollout policy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from miai.errors import MiaiError
from miai.networks.rollout_weights import KIND, VERSION, load_rollout, save_rollout
from miai.search.rollout_features import NUM_WEIGHTS, SECTIONS, SELF_ATARI
from miai.tensor_file import save_tensors


def arrays(**changed: np.ndarray) -> dict[str, np.ndarray]:
    return {name: np.zeros(size, np.float32) for name, size in SECTIONS.items()} | changed


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    weights = np.linspace(-1.0, 0.0, NUM_WEIGHTS)
    save_rollout(tmp_path / "rollout.safetensors", weights, {"board_size": 9})
    loaded = load_rollout(tmp_path / "rollout.safetensors")
    np.testing.assert_array_equal(loaded.weights, weights.astype(np.float32))
    assert loaded.meta == {"board_size": 9}
    assert loaded.policy().small[SELF_ATARI] == np.exp(weights[SELF_ATARI].astype(np.float32))


def test_what_is_no_policy_is_not_saved(tmp_path: Path) -> None:
    weights = np.zeros(NUM_WEIGHTS)
    weights[SELF_ATARI] = 1.0
    with pytest.raises(ValueError, match="self_atari"):
        save_rollout(tmp_path / "rollout.safetensors", weights, {})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("kind", "version", "held", "message"),
    [
        ("network", VERSION, arrays(), "of kind 'network'; a file of kind 'rollout'"),
        (KIND, VERSION + 1, arrays(), "version"),
        (KIND, VERSION, {"place": np.zeros(15, np.float32)}, "it holds place float32; a rollout holds"),
        (KIND, VERSION, arrays(place=np.zeros(15)), "place float64"),
        (KIND, VERSION, arrays(place=np.zeros(14, np.float32)), "place is of shape \\[14\\]; a policy has 15"),
        (KIND, VERSION, arrays(last=np.full(5, np.nan, np.float32)), "weights must be from -30 to 30"),
        (KIND, VERSION, arrays(self_atari=np.full(4, -5.0, np.float32)), "self_atari must be from -4 to 0"),
    ],
)
def test_what_is_no_policy_is_refused(
    kind: str, version: int, held: dict[str, np.ndarray], message: str, tmp_path: Path
) -> None:
    save_tensors(tmp_path / "file.safetensors", kind, version, held, {})
    with pytest.raises(MiaiError, match=message) as caught:
        load_rollout(tmp_path / "file.safetensors")
    assert "\n" not in str(caught.value)
