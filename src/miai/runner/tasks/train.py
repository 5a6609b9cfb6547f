"""Task `train`: one tabular training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miai.references import Reference
from miai.runner.task import Config, Task

if TYPE_CHECKING:
    from miai.runner.context import RunContext

TABLE_FILE = "table.npz"


def check(config: Config) -> None:
    """Refuse what cannot be run. Cheap: no graph is built, no file is read."""
    from miai.games.small import games
    from miai.tabular.settings import TrainSettings

    games.build(TrainSettings.of(config).game).rules()


def inputs(config: Config) -> dict[str, Reference]:
    """Return the saved tables that the run starts from or plays against, by role."""
    from miai.tabular.settings import TrainSettings

    return {role: Reference(name, TABLE_FILE) for role, name in TrainSettings.of(config).tables().items()}


def name_of(config: Config) -> str:
    return f"{config['algorithm']['name']}-{config['opponent']['name']}-{config['seat']}-s{config['seed']}"


def train(config: Config, context: RunContext) -> None:
    from miai.tabular.settings import TrainSettings
    from miai.tabular.training import Trainer

    settings = TrainSettings.of(config)
    trainer = Trainer(settings, context.inputs)
    num_games = settings.numbers.num_games
    row: dict[str, float] = {}
    for step, row in trainer.run(on_games=lambda done: context.progress(done, num_games)):
        context.log(step, row)
    tested = trainer.test()
    if tested:
        context.log(num_games, tested)
    measured = {name: value for name, value in row.items() if not name.startswith("train/")}
    context.final({**measured, **tested, "table/bound": trainer.bound})
    path = context.work / TABLE_FILE
    trainer.table(context.fingerprint).save(path, trainer.graph)
    context.artifact(path)


TASK = Task(
    name="train",
    sources=(
        "compiled.py",
        "games/game.py",
        "games/graph.py",
        "games/small",
        "kinds.py",
        "npz.py",
        "rng.py",
        "runner/tasks/train.py",
        "schedules.py",
        "tabular",
    ),
    run=train,
    name_of=name_of,
    inputs=inputs,
    check=check,
    preload=("miai.tabular.training",),
)
