"""Task `value`: a value network learns what positions are worth."""

from __future__ import annotations

import csv
import time
from typing import TYPE_CHECKING

from miai.references import Reference
from miai.runner.task import Config, Task

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from miai.alphago.value import ValueTraining
    from miai.alphago.value_examples import ValueExamples
    from miai.networks.evaluator import Evaluator
    from miai.runner.context import RunContext

BY_MOVE_FILE = "mse_by_move.csv"
RANGE = 9
"""Test positions are put into ranges of moves, each a ninth of the board's points long (9 moves on 9×9, 40 on 19×19):
the same for every run of a board, so that runs can be averaged."""


def check(config: Config) -> None:
    """Refuse what cannot be run. Cheap: no file is read, PyTorch is not imported."""
    from miai.alphago.value_settings import ValueTask

    ValueTask.of(config)


def inputs(config: Config) -> dict[str, Reference]:
    """Return the positions or games, and the network to start from if there is one."""
    from miai.alphago.value_data import POSITIONS_FILE
    from miai.networks.weights import NETWORK_FILE
    from miai.records.game_set import GAMES_FILE

    artifacts = {"value_data": POSITIONS_FILE, "data": GAMES_FILE, "init": NETWORK_FILE}
    return {role: Reference(config[role], file) for role, file in artifacts.items() if config[role] is not None}


def name_of(config: Config) -> str:
    network = config["network"]
    trained = "init" if config["init"] is not None else f"{network['layers']}x{network['filters']}"
    source = "experts" if config["value_data"] is None else "selfplay"
    return f"value-{trained}-{source}-{config['positions_per_game']}-s{config['seed']}"


def value(config: Config, context: RunContext) -> None:
    from miai.alphago import needs_torch
    from miai.alphago.value_examples import load_expert_games, load_value_data
    from miai.alphago.value_settings import ValueTask
    from miai.networks.evaluator import Inference, make_evaluator
    from miai.networks.weights import NETWORK_FILE, Network, load_network, save_network

    needs_torch("value")
    from miai.alphago.value import ValueTraining

    task = ValueTask.of(config)
    settings = task.settings
    role, load = ("data", load_expert_games) if settings.value_data is None else ("value_data", load_value_data)
    examples = load(context.inputs[role], every=settings.positions_per_game == "all", seed=settings.seed)
    init = load_network(context.inputs["init"]) if "init" in context.inputs else None
    training = ValueTraining(task, examples, init, context.workers)
    saved = context.load_checkpoint()
    if saved is not None:
        training.restore(saved)
    total = settings.num_epochs * training.epoch_steps
    for step, row in training.epochs(on_step=lambda: context.progress(training.steps, total)):
        context.log(step, row)
        context.save_checkpoint(training.state())
    inference = Inference(device=settings.device, threads=training.threads)
    evaluator = make_evaluator(Network(training.spec, training.best, {}), inference)
    tested = test(training, evaluator, context.work / BY_MOVE_FILE)
    context.log(training.positions, tested)
    context.final({**tested, "value/best_mse_valid": float(training.best_mse)})
    context.artifact(context.work / BY_MOVE_FILE)
    path = context.work / NETWORK_FILE
    meta = {
        "task": "value",
        "fingerprint": context.fingerprint,
        "learnt_from": role,
        "positions_per_game": settings.positions_per_game,
        "test_mse": tested["test/mse"],
    }
    save_network(path, training.spec, training.best, meta)
    context.artifact(path)
    context.conclude(conclusion(training, tested))


def test(training: ValueTraining, evaluator: Evaluator, path: Path) -> dict[str, float]:
    """Measure the best weights and the last ones, and playouts beside them; write the errors by move to `path`."""
    import numpy as np

    from miai.alphago.rollout_values import rollout_values
    from miai.alphago.value import predict

    settings, test_set = training.settings, training.test_set

    def mse(values: np.ndarray, examples: ValueExamples) -> float:
        return float(np.square(examples.results - values).mean())

    predict(evaluator, test_set.take(slice(0, 1)), training.spec)  # what is compiled at the first call is not timed
    began = time.perf_counter()
    values = predict(evaluator, test_set, training.spec)
    value_seconds = (time.perf_counter() - began) / len(test_set)
    train_mse = mse(predict(evaluator, training.train_sample, training.spec), training.train_sample)
    found = {
        "test/mse": mse(values, test_set),
        "test/mse_train": train_mse,
        "test/mse_constant": mse(np.full(len(test_set), training.train.results.mean()), test_set),
        "test/sign_accuracy": float((values * test_set.results > 0).mean()),
        "test/last/mse": training.mse(test_set),
        "test/last/mse_train": training.mse(training.train_sample),
    }
    found["test/gap"] = found["test/mse"] - found["test/mse_train"]
    found["test/last/gap"] = found["test/last/mse"] - found["test/last/mse_train"]
    game_set = test_set.examples.game_set
    known = np.flatnonzero(~np.isnan(game_set.komi[test_set.examples.game]))
    count = min(settings.rollout_positions, len(known))
    chosen = known[np.arange(count) * len(known) // max(1, count)]
    part = test_set.take(chosen)
    columns = {"value": (np.arange(len(test_set)), values)}
    if len(part):
        game, ply = part.examples.game, part.examples.ply
        rollout_values(game_set, game[:1], ply[:1], game_set.komi[game[:1]], (1,), 0)
        began = time.perf_counter()
        means = rollout_values(game_set, game, ply, game_set.komi[game], settings.rollouts, settings.seed)
        rollout_seconds = (time.perf_counter() - began) / len(part) / settings.rollouts[-1]
        for column, playouts in enumerate(settings.rollouts):
            columns[f"rollouts_{playouts}"] = (chosen, means[:, column])
            found[f"test/rollouts_{playouts}/mse"] = mse(means[:, column], part)
        found["test/rollouts_at_equal_time"] = value_seconds / rollout_seconds
        found["test/us_per_rollout"] = 1e6 * rollout_seconds
    found["test/us_per_value"] = 1e6 * value_seconds
    write_by_move(path, test_set, columns)
    return found


def write_by_move(path: Path, test_set: ValueExamples, columns: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    """Write errors by ranges of moves: a row a range that has positions; empty where a column has none.

    Args:
        columns: by name, which of the test positions are meant, int64[n], and what is said of them, float[n].
    """
    import numpy as np

    ply = test_set.examples.ply
    width = max(1, test_set.examples.game_set.board_size**2 // RANGE)
    temporary = path.with_name(f".{path.name}.part")
    with temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["first_move", "last_move", "positions", *(f"{name}_mse" for name in columns)])
        for first in range(0, int(ply.max()) + 1, width):
            row: list[object] = [first, first + width - 1, int(((ply >= first) & (ply < first + width)).sum())]
            for chosen, said in columns.values():
                own = (ply[chosen] >= first) & (ply[chosen] < first + width)
                errors = np.square(test_set.results[chosen[own]] - said[own])
                row.append(f"{errors.mean():.6f}" if len(errors) else "")
            if row[2]:
                writer.writerow(row)
    temporary.replace(path)


def conclusion(training: ValueTraining, tested: dict[str, float]) -> str:
    """Say what came of it."""
    lines = [
        f"Mean of (z − v)², z = ±1, over {len(training.test_set):,} test positions: {tested['test/mse']:.3f}; "
        f"on training positions {tested['test/mse_train']:.3f}, a gap of {tested['test/gap']:+.3f}.",
        f"With the last weights {tested['test/last/mse']:.3f}, {tested['test/last/mse_train']:.3f}, "
        f"{tested['test/last/gap']:+.3f}; always the mean result: {tested['test/mse_constant']:.3f}.",
    ]
    for count in training.settings.rollouts:
        if f"test/rollouts_{count}/mse" in tested:
            lines.append(f"Mean of {count} playouts: {tested[f'test/rollouts_{count}/mse']:.3f}.")
    if "test/rollouts_at_equal_time" in tested:
        lines.append(f"In the time of one value there are {tested['test/rollouts_at_equal_time']:.1f} playouts.")
    return "\n".join(lines)


TASK = Task(
    name="value",
    sources=(
        "alphago/__init__.py",
        "alphago/examples.py",
        "alphago/expert_games.py",
        "alphago/game_batch.py",
        "alphago/optimisation.py",
        "alphago/prefetch.py",
        "alphago/rollout_values.py",
        "alphago/self_play.py",
        "alphago/training.py",
        "alphago/value.py",
        "alphago/value_data.py",
        "alphago/value_examples.py",
        "alphago/value_settings.py",
        "compiled.py",
        "games",
        "kinds.py",
        "networks",
        "records",
        "references.py",
        "rng.py",
        "runner/tasks/value.py",
        "search",
        "tensor_file.py",
    ),
    run=value,
    name_of=name_of,
    inputs=inputs,
    check=check,
    irrelevant=("threads",),
    product="network.safetensors",
)
