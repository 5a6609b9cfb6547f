"""What the training of a value network can be told: types and ranges, in one place. Needs no PyTorch."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.alphago.optimisation import Optimisation
from miai.errors import MiaiError
from miai.kinds import STRICT, validate
from miai.networks.spec import NetworkSpec, network_spec

AtLeastOne = Annotated[int, Field(ge=1)]


@dataclass(config=STRICT, kw_only=True)
class ValueSettings:
    """A whole training; `conf/value.yaml` says what each option means."""

    seed: Annotated[int, Field(ge=0, lt=2**63)]
    value_data: Annotated[str, Field(min_length=1)] | None
    data: Annotated[str, Field(min_length=1)] | None
    positions_per_game: Literal["one", "all"]
    init: Annotated[str, Field(min_length=1)] | None
    batch_size: AtLeastOne
    num_epochs: AtLeastOne
    epoch_positions: AtLeastOne | None
    patience: AtLeastOne | None
    valid_positions: AtLeastOne | None
    test_positions: AtLeastOne | None
    rollout_positions: Annotated[int, Field(ge=0)]
    rollouts: tuple[AtLeastOne, ...]
    precision: Literal["auto", "float32", "bfloat16"]
    device: Literal["auto", "cpu", "cuda"]
    threads: AtLeastOne | None

    def __post_init__(self) -> None:
        if (self.value_data is None) == (self.data is None):
            raise ValueError("value_data or data: one of them is needed, and only one")
        if not self.rollouts or any(a >= b for a, b in zip(self.rollouts, self.rollouts[1:], strict=False)):
            raise ValueError("test.rollouts: ascending numbers from 1 are needed")


@dataclasses.dataclass(frozen=True)
class ValueTask:
    """Settings, optimisation and network of a training."""

    settings: ValueSettings
    optimisation: Optimisation
    network: Mapping[str, Any]

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> ValueTask:
        """Build from the composed configuration of a run of task `value`.

        Raises:
            MiaiError: something is unknown, of a wrong type, out of range, or does not go together.
        """
        optimisation = {**config["optimisation"], "lr_drops": _as_tuple(config["optimisation"]["lr_drops"])}
        test = config["test"]
        measured = {
            "test_positions": test["positions"],
            "rollout_positions": test["rollout_positions"],
            "rollouts": _as_tuple(test["rollouts"]),
        }
        settings = {field: config[field] for field in ValueSettings.__dataclass_fields__ if field not in measured}
        task = cls(
            validate(ValueSettings, {**settings, **measured}, ""),
            validate(Optimisation, optimisation, "optimisation"),
            dict(config["network"]),
        )
        task.spec(9)
        return task

    def spec(self, board_size: int) -> NetworkSpec:
        """Return the network's spec for a board, with the colour to play where the network has 48 planes.

        Raises:
            MiaiError: it is none.
        """
        if self.network.get("planes") == 49:
            raise MiaiError("network.planes: 4, 12 or 48; the value network adds the 49th to 48.")
        return network_spec(self.network, "policy", board_size).with_value_head()


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
