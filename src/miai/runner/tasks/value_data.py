"""Task `value_data`: positions for a value network, one a game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.errors import MiaiError
from miai.kinds import STRICT, validate
from miai.references import Reference
from miai.runner.task import Config, Task

if TYPE_CHECKING:
    from miai.alphago.value_data import ValueData
    from miai.runner.context import RunContext

Share = Annotated[float, Field(ge=0, lt=1)]


@dataclass(config=STRICT, kw_only=True)
class _Settings:
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    sl: str | None
    rl: str | None
    positions: Annotated[int, Field(ge=1)]
    komi: float
    first_move: Annotated[int, Field(ge=1)]
    last_move: Annotated[int, Field(ge=1)] | None
    temperature: Annotated[float, Field(ge=0)]
    valid_share: Share
    test_share: Share
    unit_games: Annotated[int, Field(ge=1)]
    runtime: Literal["auto", "torch", "openvino"]
    precision: Literal["auto", "float32", "bfloat16"]

    def __post_init__(self) -> None:
        if self.valid_share + self.test_share >= 1:
            raise ValueError("valid_share, test_share: below 1 together, or nothing is left to train on")
        if self.last_move is not None and self.last_move < self.first_move:
            raise ValueError(f"last_move: from first_move, {self.first_move}, not {self.last_move}")


def _settings(config: Config) -> _Settings:
    from miai.games.go.game import check_komi

    settings = validate(_Settings, {name: config[name] for name in _Settings.__dataclass_fields__}, "")
    for role in ("sl", "rl"):
        if getattr(settings, role) is None:
            raise MiaiError(f"{role}: a policy network is needed: a run of {role}_policy, or a file.")
    try:
        check_komi(settings.komi)
    except ValueError as error:
        raise MiaiError(f"komi: {error}.") from None
    return settings


def check(config: Config) -> None:
    """Refuse what cannot be run; no file is read."""
    _settings(config)


def inputs(config: Config) -> dict[str, Reference]:
    """Return the two networks, by role."""
    from miai.networks.weights import NETWORK_FILE

    return {role: Reference(config[role], NETWORK_FILE) for role in ("sl", "rl") if config[role] is not None}


def name_of(config: Config) -> str:
    return f"value_data-{config['positions']}-s{config['seed']}"


def value_data(config: Config, context: RunContext) -> None:
    from miai.alphago.game_batch import game_limit
    from miai.alphago.value_data import POSITIONS_FILE, Unit, ValueData, fitting_last, make_unit
    from miai.networks.evaluator import Inference
    from miai.networks.weights import check_board_size, check_head, load_network

    settings = _settings(config)
    sl, rl = (load_network(context.inputs[role]) for role in ("sl", "rl"))
    for role, network in (("sl", sl), ("rl", rl)):
        check_head(context.inputs[role], network.spec, "policy")
        check_board_size(context.inputs[role], network.spec, sl.spec.board_size)
    size = sl.spec.board_size
    last = fitting_last(size) if settings.last_move is None else settings.last_move
    if not settings.first_move <= last <= game_limit(size) - 3:
        raise MiaiError(
            f"last_move: from {settings.first_move} to {game_limit(size) - 3} on {size}×{size}, not {last}."
        )
    units = {
        f"unit {number}": Unit(
            sl=str(context.inputs["sl"]),
            rl=str(context.inputs["rl"]),
            inference=Inference(settings.runtime, precision=settings.precision),
            temperature=settings.temperature,
            num_games=min(settings.unit_games, settings.positions - number * settings.unit_games),
            size=size,
            komi=settings.komi,
            first=settings.first_move,
            last=last,
            seed=settings.seed,
            number=number,
        )
        for number in range(-(-settings.positions // settings.unit_games))
    }
    results = list(context.map(make_unit, units, sizes={key: unit.num_games for key, unit in units.items()}).values())
    data = ValueData.of_units(results, size, settings.komi, settings.seed, settings.valid_share, settings.test_share)
    redrawn = sum(result["redrawn"] for result in results)
    path = context.work / POSITIONS_FILE
    meta = {
        "task": "value_data",
        "fingerprint": context.fingerprint,
        "first_move": settings.first_move,
        "last_move": last,
        "sl": sl.meta,
        "rl": rl.meta,
    }
    data.save(path, meta)
    context.artifact(path)
    final = metrics(data, redrawn)
    context.final(final)
    context.conclude(
        f"{len(data):,} positions of as many games of {final['value_data/mean_length']:.0f} moves on average; the mean "
        f"result is {final['value_data/mean_z']:+.3f} for Black, {final['value_data/mean_mover_z']:+.3f} for who is to "
        f"move. {redrawn:,} games were over too early and were drawn again."
    )


def metrics(data: ValueData, redrawn: int) -> dict[str, float]:
    """Return what is reported of the data."""
    return {
        "value_data/positions": len(data),
        "value_data/train": int((data.split == 0).sum()),
        "value_data/valid": int((data.split == 1).sum()),
        "value_data/test": int((data.split == 2).sum()),
        "value_data/mean_z": float(data.winner.mean()),
        "value_data/mean_mover_z": float(data.mover_results().mean()),
        "value_data/mean_ply": float(data.ply.mean()),
        "value_data/mean_length": float(data.lengths.mean()),
        "value_data/redrawn": redrawn,
    }


TASK = Task(
    name="value_data",
    sources=(
        "alphago/__init__.py",
        "alphago/game_batch.py",
        "alphago/self_play.py",
        "alphago/value_data.py",
        "compiled.py",
        "games",
        "kinds.py",
        "networks",
        "records",
        "references.py",
        "rng.py",
        "runner/tasks/value_data.py",
        "search",
        "tensor_file.py",
    ),
    run=value_data,
    name_of=name_of,
    inputs=inputs,
    check=check,
    product="positions.safetensors",
    preload=("miai.alphago.value_data",),
    spreads=True,
)
