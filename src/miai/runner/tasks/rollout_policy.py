"""Task `rollout_policy`: a linear softmax policy for playouts is fitted to experts' moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miai.references import Reference
from miai.runner.task import Config, Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from miai.alphago.rollout_fit import RolloutFit
    from miai.runner.context import RunContext

GAMES = "data"
"""The role of the input."""

PARTS = 1000
"""Progress is shown in so many parts of an epoch."""


def check(config: Config) -> None:
    """Refuse what cannot be run; no file is read."""
    from miai.alphago.rollout_fit import RolloutSettings

    RolloutSettings.of(config)


def inputs(config: Config) -> dict[str, Reference]:
    from miai.alphago.rollout_fit import RolloutSettings
    from miai.records.game_set import GAMES_FILE

    return {GAMES: Reference(RolloutSettings.of(config).data, GAMES_FILE)}


def name_of(config: Config) -> str:
    return f"rollout-s{config['seed']}"


def rollout_policy(config: Config, context: RunContext) -> None:
    from miai.alphago.rollout_fit import RolloutFit, RolloutSettings
    from miai.networks.rollout_weights import ROLLOUT_FILE, save_rollout
    from miai.records.game_set import GameSet

    settings = RolloutSettings.of(config)
    fit = RolloutFit(settings, GameSet.load(context.inputs[GAMES]))
    saved = context.load_checkpoint()
    if saved is not None:
        fit.restore(saved)
    context.logger.info("%d games to learn from, %d to validate", len(fit.numbers), len(fit.valid))
    whole = PARTS * settings.num_epochs
    for row in fit.epochs(on_step=lambda done: context.progress(round(PARTS * done), whole)):
        context.log(fit.positions, row)
        context.save_checkpoint(fit.state())
    context.progress(whole, whole)
    tested = fit.test()
    measured = {**tested, **({"valid/best_loss": fit.best_loss} if len(fit.valid) else {})}
    if tested:
        context.log(fit.positions, tested)
    context.final(
        {**measured, "train/positions": float(fit.positions), "train/minutes": fit.seconds / 60},
    )
    meta = {
        "task": "rollout_policy",
        "fingerprint": context.fingerprint,
        "board_size": fit.games.board_size,
        "positions": fit.positions,
        **({"valid_loss": float(fit.best_loss)} if len(fit.valid) else {}),
        **({"test_top1": tested["test/top1"]} if tested else {}),
    }
    context.conclude(conclusion(fit, tested))
    path = context.work / ROLLOUT_FILE
    save_rollout(path, fit.best, meta)
    context.artifact(path)


def conclusion(fit: RolloutFit, tested: Mapping[str, float]) -> str:
    """Say how well the best weights predict the test split, in one line a collection."""
    lines = [f"{fit.positions:,} positions learnt from in {fit.epoch} epochs."]
    for name, value in tested.items():
        if name.endswith("/top1"):
            place = name.removeprefix("test/").removeprefix("collection/").removesuffix("top1").removesuffix("/")
            loss = tested[name.removesuffix("top1") + "loss"]
            lines.append(f"{place or 'test split'}: {100 * value:.1f} % of moves predicted, loss {loss:.3f}")
    return "\n".join(lines)


TASK = Task(
    name="rollout_policy",
    sources=(
        "alphago/__init__.py",
        "alphago/rollout_fit.py",
        "compiled.py",
        "games",
        "kinds.py",
        "networks/__init__.py",
        "networks/rollout_weights.py",
        "records",
        "rng.py",
        "runner/tasks/rollout_policy.py",
        "search",
        "tensor_file.py",
    ),
    run=rollout_policy,
    name_of=name_of,
    inputs=inputs,
    check=check,
    product="rollout.safetensors",
    preload=("miai.alphago.rollout_fit",),
)
