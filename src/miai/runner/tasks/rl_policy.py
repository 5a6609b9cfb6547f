"""Task `rl_policy`: a policy network made stronger by playing against earlier versions of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miai.references import Reference
from miai.runner.task import Config, Task

if TYPE_CHECKING:
    from miai.alphago.reinforce import Reinforcement
    from miai.alphago.self_play import Results
    from miai.runner.context import RunContext


def check(config: Config) -> None:
    """Refuse what cannot be run; no file is read."""
    from miai.alphago.reinforce import ReinforceSettings

    ReinforceSettings.of(config)


def inputs(config: Config) -> dict[str, Reference]:
    """Return the networks and the data set that the run needs, by role."""
    from miai.networks.weights import NETWORK_FILE
    from miai.records.game_set import GAMES_FILE

    artifacts = {"sl": NETWORK_FILE, "value": NETWORK_FILE, "data": GAMES_FILE}
    return {role: Reference(config[role], file) for role, file in artifacts.items() if config[role] is not None}


def name_of(config: Config) -> str:
    return f"rl_policy-{config['learn_from']}-s{config['seed']}"


def rl_policy(config: Config, context: RunContext) -> None:
    from miai.alphago.reinforce import Reinforcement, ReinforceSettings
    from miai.networks.weights import NETWORK_FILE, save_network

    settings = ReinforceSettings.of(config)
    training = Reinforcement(settings, context.inputs, context.workers)
    state = context.load_checkpoint()
    if state is not None:
        training.restore(state)
    while not training.is_done:
        row = training.block(lambda updates: context.progress(updates, settings.num_updates))
        context.log(training.games, row)
        context.save_checkpoint(training.state())
    final = test(training)
    context.log(training.games, final)
    context.final({**final, "rl/best_update": training.best_update})
    path = context.work / NETWORK_FILE
    meta = {
        "task": "rl_policy",
        "fingerprint": context.fingerprint,
        "learn_from": settings.learn_from,
        "updates": training.best_update,
        "from": training.sl.meta,
    }
    save_network(path, training.sl.spec, training.best, meta)
    context.artifact(path)
    context.conclude(conclusion(training, final))


def test(training: Reinforcement) -> dict[str, float]:
    """Measure the version that is kept, in new games: the match that chose it flatters it."""
    games = training.settings.test_games
    sampled, greedy = training.measure(training.best, games, "test")
    control = training.measure_control(games)
    return {
        **_metrics("test/win_rate", sampled),
        **_metrics("test/argmax_win_rate", greedy),
        **_metrics("test/control_win_rate", control),
        "test/distinct_games": sampled.distinct_games,
        "test/moves_per_game": sampled.mean_moves,
    }


def _metrics(name: str, results: Results) -> dict[str, float]:
    """Return a share of games won, a draw being none, with its 95 % interval."""
    from miai.arena import wilson_interval

    low, high = wilson_interval(results.wins, results.games)
    return {name: results.win_rate, f"{name}_low": low, f"{name}_high": high}


def conclusion(training: Reinforcement, final: dict[str, float]) -> str:
    """Say what came of it."""

    def share(name: str) -> str:
        low, high = 100 * final[f"{name}_low"], 100 * final[f"{name}_high"]
        return f"{100 * final[name]:.1f} % ({low:.1f} to {high:.1f})"

    return "\n".join(
        [
            f"Kept: the version after {training.best_update:,} of {training.updates:,} updates.",
            f"Against the SL policy, {training.settings.test_games:,} games each, seats swapped:",
            f"  both sampled at temperature 1      {share('test/win_rate')} won",
            f"  both by their most probable move   {share('test/argmax_win_rate')} won",
            f"  control: SL argmax, SL sampled     {share('test/control_win_rate')} won",
        ]
    )


TASK = Task(
    name="rl_policy",
    sources=(
        "alphago/__init__.py",
        "alphago/expert_games.py",
        "alphago/game_batch.py",
        "alphago/optimisation.py",
        "alphago/policy_gradient.py",
        "alphago/reinforce.py",
        "alphago/self_play.py",
        "alphago/training.py",
        "compiled.py",
        "games",
        "kinds.py",
        "networks",
        "records",
        "references.py",
        "rng.py",
        "runner/tasks/rl_policy.py",
        "search",
        "tensor_file.py",
    ),
    run=rl_policy,
    name_of=name_of,
    inputs=inputs,
    check=check,
    irrelevant=("threads",),
    product="network.safetensors",
)
