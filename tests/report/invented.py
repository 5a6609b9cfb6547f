"""Invented studies: frames shaped like those of real ones, so that reports can be tested without training."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from miai.report.load import StudyData

ALGORITHMS = ("mc", "sarsa", "q_learning", "afterstate")
FIRST = {"mc": (0.0150, 8621), "sarsa": (0.0060, 6877), "q_learning": (0.0065, 6671), "afterstate": (0.0055, 2707)}
"""Final optimality gap and table size of the first player, roughly as real runs have them."""
BOUNDS = {"3x3": (8631, 2739), "3x4": (246_000, 76_000), "4x4": (11_700_000, 3_100_000)}


def study(
    grid: dict[str, tuple],
    num_seeds: int = 30,
    num_checkpoints: int = 100,
    stage: str = "compare",
    drop: frozenset[tuple] = frozenset(),
    artifact=None,
) -> StudyData:
    """Return a study over a grid of parameters × seeds; `drop` holds pairs (algorithm, seed) to leave out."""
    grid = {
        "algorithm.name": ALGORITHMS,
        "opponent.name": ("random",),
        "alpha": (0.1,),
        "num_games": (100_000,),
        **grid,
    }
    names = [*grid, "seed"]
    rows, histories = [], []
    for values in product(*grid.values(), range(num_seeds)):
        settings = dict(zip(names, values, strict=True))
        if (settings["algorithm.name"], settings["seed"]) in drop:
            continue
        history = curves(settings, num_checkpoints)
        run_id = f"run-{len(rows):05d}"
        name = "-".join(str(value) for value in values)
        entry = "afterstate" if settings["algorithm.name"] == "afterstate" else "state_action"
        fixed = {"stage": stage, "gamma": 0.9, "algorithm.entry": entry}
        finals = {metric: values[-1] for metric, values in history.items() if metric != "step"}
        rows.append({"run_id": run_id, "name": name, "fingerprint": f"f{run_id}", **fixed, **settings, **finals})
        histories.append(pd.DataFrame({"run_id": run_id, **history}))
    parameters = ["stage", "gamma", "algorithm.entry", *names]
    return StudyData(
        "invented", pd.DataFrame(rows), parameters, history=pd.concat(histories, ignore_index=True), artifact=artifact
    )


def curves(settings: dict, num_checkpoints: int) -> dict[str, np.ndarray]:
    """Invent one run's metrics over its games."""
    kind = settings["algorithm.name"]
    generator = np.random.default_rng(
        [settings["seed"], *(sum(map(ord, str(v))) for k, v in settings.items() if k != "seed")]
    )
    luck = np.random.default_rng(settings["seed"]).normal()
    games = settings["num_games"]
    steps = np.round(np.arange(1, num_checkpoints + 1) * games / num_checkpoints).astype(np.int64)
    gap, size = FIRST.get(kind, (0.01, 7000))
    pairs, afters = BOUNDS[settings.get("board", "3x3")]
    size = size * (afters / 2739 if kind == "afterstate" else pairs / 8631)
    off = 1 + 0.5 * np.log10(settings["alpha"] / 0.1) ** 2
    hard = {"random": 1.0, "advanced": 1.6, "minimax": 4.0}.get(settings["opponent.name"], 1.3)
    gap = gap * off * hard * np.exp(0.25 * generator.normal() + 0.2 * luck)
    decay = {"mc": 9_000, "sarsa": 8_000, "q_learning": 7_000, "afterstate": 3_500}.get(kind, 8_000)
    gaps = gap + 0.45 * np.exp(-steps / decay) * np.exp(0.2 * generator.normal(size=num_checkpoints))
    tied = generator.geometric(0.5) * decay * 2.5 if generator.random() < 0.9 else np.inf
    exploitability = np.where(
        steps > tied, 0.0, np.exp(-steps / decay / 3) * generator.choice([0.0, 0.33, 1.0], num_checkpoints)
    )
    exploitability = exploitability if np.isfinite(tied) else np.maximum(exploitability, 0.04)
    best = 191 / 192
    win = best - gaps * 0.9
    return {
        "step": steps,
        "train/epsilon": 0.01 + 0.99 * np.exp(-steps / 10_000),
        "train/win_rate": np.clip(win - 0.3 * np.exp(-steps / 10_000), 0, 1),
        "table/size": np.round(size * (1 - 0.6 * np.exp(-steps / decay)) * np.exp(0.002 * generator.normal())).clip(
            max=afters if kind == "afterstate" else pairs
        ),
        "table/bound": np.full(num_checkpoints, float(afters if kind == "afterstate" else pairs)),
        "eval/win": win,
        "eval/draw": 1 - win - gaps * 0.05,
        "eval/loss": gaps * 0.05,
        "eval/value": best - gaps,
        "eval/optimality_gap": gaps,
        "eval/exploitability": exploitability,
        "eval/rms_error": 0.05 * off
        + 0.3 * np.exp(-steps / decay / 2) * np.exp(0.1 * generator.normal(size=num_checkpoints)),
    }


def write_table(path: Path, kind: str, seed: int) -> Path:
    """Write a small table file with the nine opening moves, as pairs or as after-states."""
    generator = np.random.default_rng(seed)
    values = np.array([0.71, 0.68, 0.71, 0.68, 0.79, 0.68, 0.71, 0.68, 0.71]) + 0.02 * generator.normal(size=9)
    boards = np.zeros((9, 9), dtype=np.int8)
    actions = np.arange(9, dtype=np.int16)
    if kind == "afterstate":
        boards, actions = np.eye(9, dtype=np.int8), np.full(9, -1, dtype=np.int16)
    np.savez(path, boards=boards, actions=actions, values=values, visits=np.ones(9, np.int64), meta=np.array("{}"))
    return path
