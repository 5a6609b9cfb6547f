"""What a network is made of, and the names and shapes of its weights.

Silver et al. (2016), Methods, "Neural network architecture". A **trunk** of `layers` convolutions with rectifiers, each
with `filters` filters, then a **head**:

- `policy`: one filter of 1×1 with a bias of its own for each point; the outputs are logits over the points;
- `value`: one filter of 1×1, a fully connected layer of `value_hidden` rectifiers, one output through tanh. The filter
  has no rectifier: as there is only one, it could be switched off for good.

The paper counts the policy's head as a layer: its 13 layers are `layers=12` here.

Weights, float32, by the name that they have in files, in PyTorch and in OpenVINO alike (P planes, F filters, k kernel,
N board size, H hidden units, i the convolution from 0):

| name | shape | there is one |
|---|---|---|
| `trunk.i.conv.weight` | [F, P or F, k, k] | always |
| `trunk.i.conv.bias` | [F] | without batch norm |
| `trunk.i.norm.weight`, `.bias`, `.running_mean`, `.running_var` | [F] | with batch norm |
| `policy.weight`, `policy.bias` | [1, F, 1, 1], [N²] | of a policy |
| `value.conv.weight`, `value.conv.bias` | [1, F, 1, 1], [1] | of a value network |
| `value.hidden.weight`, `value.hidden.bias` | [H, N²], [H] | of a value network |
| `value.output.weight`, `value.output.bias` | [1, H], [1] | of a value network |

Residual blocks (He et al., 2016): convolution 0 is plain; 2b + 1 and 2b + 2 are block b, whose input is added before
the rectifier of the second.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.games.go.coordinates import MAX_SIZE, MIN_SIZE
from miai.kinds import STRICT, validate

NORM_EPSILON = 1e-5
"""Added to the variance in batch norm."""

Head = Literal["policy", "value"]
Planes = Literal[4, 12, 48, 49]


@dataclass(config=STRICT, kw_only=True)
class NetworkSpec:
    """A network, but for its weights."""

    head: Head
    board_size: Annotated[int, Field(ge=MIN_SIZE, le=MAX_SIZE)]
    planes: Planes
    """How many planes are its input; `networks.features` says which."""
    layers: Annotated[int, Field(ge=1, le=200)]
    """Convolutions of the trunk."""
    filters: Annotated[int, Field(ge=1, le=4096)]
    first_kernel: Literal[1, 3, 5, 7] = 5
    """Width of the first convolution; all others of the trunk are 3×3."""
    block: Literal["plain", "residual"] = "plain"
    batch_norm: bool = False
    value_hidden: Annotated[int, Field(ge=1, le=65536)] = 256
    """Units of the value head's hidden layer; a policy has none."""

    def __post_init__(self) -> None:
        if self.block == "residual" and self.layers % 2 == 0:
            raise ValueError(f"layers: with block=residual an odd number, one and two a block, not {self.layers}")

    def kernel(self, layer: int) -> int:
        """Width of the kernel of a trunk's convolution, from 0."""
        return self.first_kernel if layer == 0 else 3

    def ends_block(self, layer: int) -> bool:
        """Whether a residual block ends with this convolution."""
        return self.block == "residual" and layer > 0 and layer % 2 == 0

    def with_value_head(self) -> NetworkSpec:
        """Return the value network with this policy's trunk; of 48 planes it makes 49, as the paper does."""
        return dataclasses.replace(self, head="value", planes=49 if self.planes == 48 else self.planes)

    def weight_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each weight by its name, in the order of the table above."""
        shapes: dict[str, tuple[int, ...]] = {}
        width: int = self.planes
        for layer in range(self.layers):
            k = self.kernel(layer)
            shapes[f"trunk.{layer}.conv.weight"] = (self.filters, width, k, k)
            if self.batch_norm:
                for name in ("weight", "bias", "running_mean", "running_var"):
                    shapes[f"trunk.{layer}.norm.{name}"] = (self.filters,)
            else:
                shapes[f"trunk.{layer}.conv.bias"] = (self.filters,)
            width = self.filters
        points = self.board_size**2
        if self.head == "policy":
            return shapes | {"policy.weight": (1, width, 1, 1), "policy.bias": (points,)}
        return shapes | {
            "value.conv.weight": (1, width, 1, 1),
            "value.conv.bias": (1,),
            "value.hidden.weight": (self.value_hidden, points),
            "value.hidden.bias": (self.value_hidden,),
            "value.output.weight": (1, self.value_hidden),
            "value.output.bias": (1,),
        }

    def num_weights(self) -> int:
        """Return the number of weights, batch norm's running statistics among them."""
        total = 0
        for shape in self.weight_shapes().values():
            count = 1
            for length in shape:
                count *= length
            total += count
        return total

    def describe(self) -> str:
        """Name it in short, such as `6×64, 48 planes`."""
        words = [f"{self.layers}×{self.filters}"]
        if self.block == "residual":
            words.append("residual")
        return f"{' '.join(words)}, {self.planes} planes"


def network_spec(options: Mapping[str, Any], head: Head, board_size: int, where: str = "network") -> NetworkSpec:
    """Build the spec that the group `network` of a configuration describes, for a head and a board.

    Raises:
        MiaiError: an option is unknown, of a wrong type or out of range.
    """
    return validate(NetworkSpec, {**options, "head": head, "board_size": board_size}, where)
