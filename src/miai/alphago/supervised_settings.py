"""What the training of a policy network on experts' moves can be told: types and ranges, in one place."""

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
SMALLEST_BOARD = 2


@dataclass(config=STRICT, kw_only=True)
class SupervisedSettings:
    """A whole training; `conf/sl_policy.yaml` says what each option means."""

    seed: Annotated[int, Field(ge=0, lt=2**63)]
    data: Annotated[str, Field(min_length=1)]
    init: Annotated[str, Field(min_length=1)] | None
    collections: tuple[str, ...] | None
    num_positions: AtLeastOne | None
    batch_size: AtLeastOne
    num_epochs: AtLeastOne | None
    epoch_positions: AtLeastOne | None
    max_minutes: Annotated[float, Field(gt=0)] | None
    patience: AtLeastOne | None
    valid_positions: AtLeastOne | None
    test_positions: AtLeastOne | None
    precision: Literal["auto", "float32", "bfloat16"]
    device: Literal["auto", "cpu", "cuda"]
    threads: AtLeastOne | None

    def __post_init__(self) -> None:
        if self.num_epochs is None and self.max_minutes is None:
            raise ValueError("num_epochs or max_minutes: at least one of them is needed")
        if self.collections == ():
            raise ValueError("collections: a list of at least one, or null for all")


@dataclasses.dataclass(frozen=True)
class SupervisedTask:
    """Settings, optimisation and network of a training."""

    settings: SupervisedSettings
    optimisation: Optimisation
    network: Mapping[str, Any]

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> SupervisedTask:
        """Build from the composed configuration of a run of task `sl_policy`.

        Raises:
            MiaiError: something is unknown, of a wrong type, out of range, or does not go together.
        """
        optimisation = dict(config["optimisation"])
        optimisation["lr_drops"] = _as_tuple(optimisation["lr_drops"])
        settings = {field: config[field] for field in SupervisedSettings.__dataclass_fields__ if field in config}
        settings["test_positions"] = config["test"]["positions"]
        settings["collections"] = _as_tuple(settings["collections"])
        task = cls(
            validate(SupervisedSettings, settings, ""),
            validate(Optimisation, optimisation, "optimisation"),
            dict(config["network"]),
        )
        if task.spec(SMALLEST_BOARD).planes == 49:
            raise MiaiError("network.planes: 4, 12 or 48 of a policy; the 49th plane is the value network's.")
        return task

    def spec(self, board_size: int) -> NetworkSpec:
        """Return the network's spec for a board. Raises `MiaiError` if it is none."""
        return network_spec(self.network, "policy", board_size)


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
