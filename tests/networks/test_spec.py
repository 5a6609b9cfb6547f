from __future__ import annotations

import pytest

from miai.errors import MiaiError
from miai.networks.spec import network_spec

from .networks import small_spec

OPTIONS = {
    "planes": 48,
    "layers": 12,
    "filters": 192,
    "first_kernel": 5,
    "block": "plain",
    "batch_norm": False,
    "value_hidden": 256,
}
"""The paper's."""


def test_the_papers_policy_network_has_the_papers_number_of_weights() -> None:
    # 5·5·48·192 + 192, eleven layers of 3·3·192·192 + 192, and a head of 192 and 361.
    assert network_spec(OPTIONS, "policy", 19).num_weights() == 230_592 + 11 * 331_968 + 553


def test_the_papers_value_network_has_one_plane_more() -> None:
    spec = network_spec(OPTIONS, "policy", 19).with_value_head()
    assert spec.planes == 49
    assert spec.weight_shapes()["trunk.0.conv.weight"] == (192, 49, 5, 5)
    assert spec.weight_shapes()["value.hidden.weight"] == (256, 361)


def test_a_value_network_of_few_planes_has_the_planes_of_the_policy() -> None:
    assert small_spec(planes=12).with_value_head().planes == 12


def test_a_residual_block_ends_with_every_other_convolution() -> None:
    spec = small_spec(block="residual", layers=5)
    assert [spec.ends_block(layer) for layer in range(5)] == [False, False, True, False, True]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"planes": 7}, "network.planes: Input should be 4, 12, 48 or 49, not 7"),
        ({"filters": 0}, "network.filters: Input should be greater than or equal to 1, not 0"),
        ({"layers": 2.5}, "network.layers: Input should be a valid integer, not 2.5"),
        ({"first_kernel": 4}, "network.first_kernel: Input should be 1, 3, 5 or 7, not 4"),
        ({"block": "residual"}, "with block=residual an odd number, one and two a block, not 12"),
        ({"dropout": 0.5}, "network.dropout: there is no such option"),
    ],
)
def test_what_is_no_network_is_refused(changes: dict, complaint: str) -> None:
    with pytest.raises(MiaiError, match=complaint):
        network_spec({**OPTIONS, **changes}, "policy", 9)


def test_a_board_that_there_is_not_is_refused() -> None:
    with pytest.raises(MiaiError, match=r"network\.board_size: .* not 20"):
        network_spec(OPTIONS, "policy", 20)
