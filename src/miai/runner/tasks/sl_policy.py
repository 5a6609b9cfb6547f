"""Task `sl_policy`: a policy network learns to predict experts' moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miai.references import Reference
from miai.runner.task import Config, Task

if TYPE_CHECKING:
    from miai.alphago.supervised import SupervisedTraining
    from miai.runner.context import RunContext

SOURCES = (
    "alphago/accuracy.py",
    "alphago/examples.py",
    "alphago/optimisation.py",
    "alphago/prefetch.py",
    "alphago/supervised.py",
    "alphago/supervised_settings.py",
    "alphago/training.py",
    "compiled.py",
    "games",
    "kinds.py",
    "networks/__init__.py",
    "networks/batches.py",
    "networks/evaluator.py",
    "networks/features.py",
    "networks/openvino_network.py",
    "networks/policy.py",
    "networks/spec.py",
    "networks/torch_evaluator.py",
    "networks/torch_network.py",
    "networks/weights.py",
    "records",
    "rng.py",
    "runner/tasks/sl_policy.py",
    "tensor_file.py",
)
GAMES = "data"
INIT = "init"
"""Roles of the inputs."""


def check(config: Config) -> None:
    """Refuse what cannot be run. Cheap: no file is read, PyTorch is not imported."""
    from miai.alphago.supervised_settings import SMALLEST_BOARD, SupervisedTask

    SupervisedTask.of(config).spec(SMALLEST_BOARD)


def inputs(config: Config) -> dict[str, Reference]:
    """Return the set of games, and the network to start from if there is one."""
    from miai.alphago.supervised_settings import SupervisedTask
    from miai.networks.weights import NETWORK_FILE
    from miai.records.game_set import GAMES_FILE

    settings = SupervisedTask.of(config).settings
    found = {GAMES: Reference(settings.data, GAMES_FILE)}
    return found if settings.init is None else {**found, INIT: Reference(settings.init, NETWORK_FILE)}


def name_of(config: Config) -> str:
    network = config["network"]
    block = "r" if network["block"] == "residual" else ""
    size = "" if config["num_positions"] is None else f"-n{config['num_positions']}"
    return f"sl-{block}{network['layers']}x{network['filters']}-p{network['planes']}{size}-s{config['seed']}"


def sl_policy(config: Config, context: RunContext) -> None:
    from miai.alphago import needs_torch
    from miai.alphago.supervised_settings import SupervisedTask
    from miai.networks.weights import NETWORK_FILE, load_network, save_network
    from miai.records.game_set import GameSet

    needs_torch("sl_policy")
    from miai.alphago.supervised import SupervisedTraining

    task = SupervisedTask.of(config)
    init = load_network(context.inputs[INIT]) if INIT in context.inputs else None
    training = SupervisedTraining(task, GameSet.load(context.inputs[GAMES]), init, context.workers)
    saved = context.load_checkpoint()
    if saved is not None:
        training.restore(saved)
    context.logger.info(
        "%s: %d weights; %d positions to train on, %d to validate, %d to test; %s on %s",
        training.spec.describe(),
        training.spec.num_weights(),
        len(training.train),
        len(training.valid),
        len(training.test_set),
        training.learner.precision,
        training.learner.device,
    )
    for step, row in training.epochs(on_step=lambda: _show_progress(training, context)):
        context.log(step, row)
        context.save_checkpoint(training.state())
    tested = training.test(on_positions=lambda done: context.progress(done, len(training.test_set)))
    context.log(training.positions, tested)
    context.final(
        {
            "valid/best_loss": training.best_loss,
            "train/positions": float(training.positions),
            "train/minutes": training.seconds / 60,
            **tested,
        }
    )
    meta = {
        "task": "sl_policy",
        "fingerprint": context.fingerprint,
        "positions": training.positions,
        "valid_loss": float(training.best_loss),
        "test_top1": tested["test/top1"],
    }
    path = context.work / NETWORK_FILE
    save_network(path, training.spec, training.best, meta)
    context.artifact(path)


def _show_progress(training: SupervisedTraining, context: RunContext) -> None:
    """Count positions, up to those that the budget is going to allow."""
    expected = training.positions / max(training.progress, 1e-9)
    context.progress(training.positions, max(training.positions, round(expected)))


TASK = Task(
    name="sl_policy",
    sources=SOURCES,
    run=sl_policy,
    name_of=name_of,
    inputs=inputs,
    check=check,
    irrelevant=("threads",),
    product="network.safetensors",
    preload=("miai.networks.batches",),
)
