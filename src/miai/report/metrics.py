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
