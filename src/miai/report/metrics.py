"""How metrics, parameters and their values are written: one place, so that every figure and table says the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

SEATS = {"first": "X", "second": "O"}
EXPLOITABILITY = "eval/exploitability"
TABLE_SIZE = "table/size"
TABLE_BOUND = "table/bound"


@dataclass(frozen=True)
class Metric:
    """A metric as people read it.

    Attributes:
        name: its path in the store.
        label: the axis label, with the unit where there is one.
        better: +1 if higher is better, −1 if lower is, 0 if neither.
        bounds: the range that a true mean cannot leave.
        best: the best possible value, where it is the same for every game and opponent.
        near_zero: whether what matters happens close to 0, so that the axis is logarithmic.
        digits: decimals in tables.
    """

    name: str
    label: str
    better: int = 0
    bounds: tuple[float, float] = (-np.inf, np.inf)
    best: float | None = None
    near_zero: bool = False
    digits: int = 4

    @property
    def word(self) -> str:
        """The label without its unit, for titles and sentences."""
        return self.label.split(" (")[0]


SHARE = (0.0, 1.0)
FROM_ZERO = (0.0, np.inf)
SQUARES = "((z − v)²)"
DEFAULTS = ("eval/win", "eval/optimality_gap", EXPLOITABILITY, "eval/rms_error")
"""What a section shows unless it says otherwise, of what its runs hold."""

KNOWN = {
    metric.name: metric
    for metric in (
        Metric("eval/win", "win rate", +1, SHARE),
        Metric("eval/draw", "draw rate", 0, SHARE),
        Metric("eval/loss", "loss rate", -1, SHARE, best=0.0, near_zero=True),
        Metric("eval/value", "value (wins − losses, a game)", +1, (-1.0, 1.0)),
        Metric("eval/optimality_gap", "optimality gap (value)", -1, (0.0, 2.0), best=0.0, near_zero=True),
        Metric(EXPLOITABILITY, "exploitability (value)", -1, (0.0, 2.0), best=0.0),
        Metric("eval/rms_error", "RMS error of entries (value)", -1, FROM_ZERO, best=0.0, near_zero=True),
        Metric("train/win_rate", "win rate in training", +1, SHARE),
        Metric("train/draw_rate", "draw rate in training", 0, SHARE),
        Metric("train/loss_rate", "loss rate in training", -1, SHARE),
        Metric("train/epsilon", "exploration rate ε", 0, SHARE),
        Metric("train/alpha", "step size α", 0, SHARE),
        Metric(TABLE_SIZE, "table size (entries)", 0, FROM_ZERO, digits=0),
        Metric(TABLE_BOUND, "largest possible table (entries)", 0, FROM_ZERO, digits=0),
        Metric("test/wins", "wins in the sampled test (games)", +1, FROM_ZERO, digits=1),
        Metric("test/draws", "draws in the sampled test (games)", 0, FROM_ZERO, digits=1),
        Metric("test/losses", "losses in the sampled test (games)", -1, FROM_ZERO, best=0.0, digits=1),
        Metric("test/distinct_games", "distinct games in the sampled test", 0, FROM_ZERO, digits=1),
        Metric("match/score", "score (points a game)", +1, SHARE),
        Metric("match/games", "games", 0, FROM_ZERO, digits=0),
        Metric("match/distinct_games", "distinct games", 0, FROM_ZERO, digits=0),
        Metric("match/mean_moves", "length of a game (moves)", 0, FROM_ZERO, digits=1),
        Metric("match/simulations_per_second", "simulations (a second)", 0, FROM_ZERO, digits=0),
        Metric("match/seconds_per_move", "time (seconds a move)", 0, FROM_ZERO),
        Metric("train/loss", "loss in training", -1, FROM_ZERO, digits=3),
        Metric("train/top1", "moves predicted in training", +1, SHARE, digits=3),
        Metric("train/top5", "among the first five in training", +1, SHARE, digits=3),
        Metric("train/learning_rate", "learning rate", 0, FROM_ZERO),
        Metric("train/positions_per_s", "speed of learning (positions a second)", 0, FROM_ZERO, digits=0),
        Metric("train/positions", "positions learnt", 0, FROM_ZERO, digits=0),
        Metric("train/minutes", "time of learning (minutes)", 0, FROM_ZERO, digits=1),
        Metric("valid/loss", "loss on held-out games (−ln p)", -1, FROM_ZERO, digits=3),
        Metric("valid/top1", "moves predicted (share of held-out positions)", +1, SHARE, digits=3),
        Metric("valid/top5", "among the first five (share of held-out positions)", +1, SHARE, digits=3),
        Metric("test/loss", "test loss (−ln p)", -1, FROM_ZERO, digits=3),
        Metric("test/top1", "moves predicted (share of test positions)", +1, SHARE, digits=3),
        Metric("test/top5", "among the first five (share of test positions)", +1, SHARE, digits=3),
        Metric("test/averaged/loss", "test loss over eight symmetries (−ln p)", -1, FROM_ZERO, digits=3),
        Metric("test/averaged/top1", "moves predicted, over eight symmetries", +1, SHARE, digits=3),
        Metric("test/averaged/top5", "among the first five, over eight symmetries", +1, SHARE, digits=3),
        Metric("rl/win_rate", "sampled win rate (against SL)", +1, SHARE, digits=3),
        Metric("rl/argmax_win_rate", "argmax win rate (against SL)", +1, SHARE, digits=3),
        Metric("rl/best_win_rate", "win rate of the best version so far", +1, SHARE, digits=3),
        Metric("rl/pool_win_rate", "win rate against the pool", 0, SHARE, digits=3),
        Metric("rl/moves_per_game", "length of a game (moves)", 0, FROM_ZERO, digits=1),
        Metric("rl/pool_size", "versions in the pool", 0, FROM_ZERO, digits=0),
        Metric("rl/entropy", "entropy of the policy (nats)", 0, FROM_ZERO, digits=3),
        Metric("rl/gradient_norm", "norm of the gradient", 0, FROM_ZERO),
        Metric("test/win_rate", "sampled win rate (against SL)", +1, SHARE, digits=3),
        Metric("test/argmax_win_rate", "argmax win rate (against SL)", +1, SHARE, digits=3),
        Metric("test/control_win_rate", "control: SL argmax (win rate against SL sampled)", 0, SHARE, digits=3),
        Metric("value/mse_train", f"error on training positions {SQUARES}", -1, FROM_ZERO, digits=3),
        Metric("value/mse_valid", f"error on held-out positions {SQUARES}", -1, FROM_ZERO, digits=3),
        Metric("value/gap", f"gap of the errors {SQUARES}", -1, digits=3),
        Metric("test/mse", f"test error {SQUARES}", -1, FROM_ZERO, digits=3),
        Metric("test/mse_train", f"error on training positions {SQUARES}", -1, FROM_ZERO, digits=3),
        Metric("test/gap", f"gap of the errors {SQUARES}", -1, digits=3),
        Metric("test/last/mse", f"test error, last weights {SQUARES}", -1, FROM_ZERO, digits=3),
        Metric("test/last/mse_train", f"training error, last weights {SQUARES}", -1, FROM_ZERO, digits=3),
        Metric("test/last/gap", f"gap, last weights {SQUARES}", -1, digits=3),
        Metric("test/mse_constant", f"error of the mean result {SQUARES}", 0, FROM_ZERO, digits=3),
        Metric("test/sign_accuracy", "results foreseen (share of positions)", +1, SHARE, digits=3),
        Metric("test/rollouts_1/mse", f"error of 1 playout {SQUARES}", -1, FROM_ZERO, digits=3),
        Metric("test/rollouts_10/mse", f"error of 10 playouts {SQUARES}", -1, FROM_ZERO, digits=3),
        Metric("test/rollouts_100/mse", f"error of 100 playouts {SQUARES}", -1, FROM_ZERO, digits=3),
        Metric("test/rollouts_at_equal_time", "playouts in the time of a value", 0, FROM_ZERO, digits=1),
        Metric("value_data/positions", "positions", 0, FROM_ZERO, digits=0),
        Metric("records/games", "games", 0, FROM_ZERO, digits=0),
    )
}

PARAMETERS = {
    "algorithm.name": "algorithm",
    "opponent.name": "opponent",
    "schedule.name": "ε schedule",
    "alpha_schedule.name": "α schedule",
    "alpha": "step size α",
    "gamma": "discount γ",
    "num_games": "training games",
    "num_checkpoints": "checkpoints",
    "initial_value": "initial value",
    "tie_breaking": "ties",
    "game.rows": "rows",
    "game.cols": "columns",
    "game.k": "in a row",
    "game.name": "game",
    "player.name": "player",
    "player.label": "player",
    "player.num_simulations": "simulations a move",
    "player.c_uct": "exploration constant C",
    "player.rave": "RAVE",
    "player.priors": "priors",
    "player.playout": "playouts",
    "player.level": "level",
    "player.mixing": "mixing λ",
    "player.c_puct": "c_puct",
    "network.planes": "planes",
    "network.layers": "layers",
    "network.filters": "filters",
    "network.batch_norm": "batch norm",
    "num_positions": "positions to learn from",
    "positions": "positions",
    "positions_per_game": "positions of a game",
    "opponent.label": "opponent",
    "seat": "seat",
    "stage": "stage",
}

VALUES = {
    "mc": "Monte Carlo",
    "sarsa": "SARSA",
    "q_learning": "Q-learning",
    "afterstate": "AfterState",
    "expected_sarsa": "Expected SARSA",
    "afterstate_q": "AfterState Q-learning",
    "afterstate_mc": "AfterState Monte Carlo",
    "double_q": "Double Q-learning",
    "n_step_sarsa": "n-step SARSA",
    "flat_mc": "flat Monte Carlo",
    "ucb": "UCB",
    "uct": "UCT",
    "gnugo": "GNU Go",
    "perfect": "perfect play",
    "rave": "RAVE",
    "policy": "policy network",
    "apv_mcts": "APV-MCTS",
    "sl_policy": "SL policy",
    "rl_policy": "RL policy",
    "rollout_policy": "rollout policy",
}
PLAYER = "player.label"
"""The parameter that names a match's first player, by its kind and what differs from the kind's defaults."""
SEAT_VALUES = {"first": "X (first)", "second": "O (second)", "both": "both seats"}


def split_seat(name: str) -> tuple[str, str | None]:
    """Split `eval/first/win` into `eval/win` and `first`; a metric without a seat comes back as it is, with `None`."""
    parts = name.split("/")
    if len(parts) > 2 and parts[-2] in SEATS:
        return "/".join([*parts[:-2], parts[-1]]), parts[-2]
    return name, None


def seats_of(name: str, available: Iterable[str]) -> tuple[str, ...]:
    """Return the columns that show metric `name`: where some tables play both seats, one for each seat, else itself."""
    available = set(available)
    head, _, tail = name.rpartition("/")
    of_seats = tuple(column for seat in SEATS if (column := f"{head}/{seat}/{tail}") in available) if head else ()
    return of_seats or ((name,) if name in available else ())


def column_for(name: str, seat: object) -> str | None:
    """Return the column that holds metric `name` in a run that plays `seat`; `None` if the metric is of another seat.

    A run of one seat logs `eval/win`, a run of both logs `eval/first/win` and `eval/second/win`: the same thing.
    """
    base, own = split_seat(name)
    if own is None or seat not in SEATS:
        return name
    return base if seat == own else None


def describe(name: str, labels: Mapping[str, str] | None = None) -> Metric:
    """Return how to show metric `name`. An unknown one is shown under its own name; `labels` go first."""
    base, seat = split_seat(name)
    metric = KNOWN.get(base, Metric(base, base))
    label = (labels or {}).get(base, metric.label)
    if seat is not None:
        word, opening, unit = label.partition(" (")
        label = f"{word} as {SEATS[seat]}{opening}{unit}"
    return replace(metric, name=name, label=(labels or {}).get(name, label))


def parameter_label(name: str, labels: Mapping[str, str] | None = None) -> str:
    return (labels or {}).get(name) or PARAMETERS.get(name, name.removesuffix(".name").replace("_", " "))


def value_label(parameter: str, value: object, labels: Mapping[str, str] | None = None) -> str:
    """Return how a parameter's value is written: `sarsa` as SARSA, 0.1 as 0.1, 100000 as 100,000."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "not set"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer, float, np.floating)):
        plain = float(value)
        return f"{int(plain):,}" if plain.is_integer() and abs(plain) < 1e15 else f"{plain:g}"
    text = str(value)
    if labels and text in labels:
        return labels[text]
    if parameter in (PLAYER, "opponent.label"):
        return _player(text, labels)
    if parameter == "seat":
        return SEAT_VALUES.get(text, text)
    return VALUES.get(text, text.replace("_", " "))


def _player(name: str, labels: Mapping[str, str] | None) -> str:
    """Write `uct num_simulations=1000 rave=true` as UCT, 1,000 simulations, RAVE; a name that was given as it is."""
    kind, *options = name.split(" ")
    if any(not re.fullmatch(r"\w+=[^\s=]+", option) for option in options):
        return name
    words = [value_label("player.name", kind, labels)]
    for option in options:
        key, _, value = option.partition("=")
        word = parameter_label(f"player.{key}", labels)
        if key == "num_simulations" and value.isdigit():
            words.append(f"{int(value):,} simulations")
        else:
            words.append(word if value == "true" else f"{word} {value}")
    return ", ".join(words)


def number(value: float, digits: int) -> str:
    """Write a number with thousands separators: "–" for what is not there, ∞ for never.

    What would be rounded to 0 without being 0 is written as `< 0.0001`.
    """
    if value is None or np.isnan(value):
        return "–"
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:,.{digits}f}"
    if digits and value and float(text.replace(",", "")) == 0:
        return f"{'<' if value > 0 else '>'} {'' if value > 0 else '−'}{10.0**-digits:.{digits}f}"
    return text.replace("-", "−")
