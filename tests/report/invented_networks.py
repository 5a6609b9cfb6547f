"""Invented runs of value networks and of an analysis, with numbers that can be checked by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from miai.errors import MiaiError
from miai.report.load import StudyData

HEAD = "first_move,last_move,positions,value_mse,rollouts_1_mse,rollouts_10_mse"
BY_MOVE = {
    0: [HEAD, "0,9,30,0.90,1.60,1.10", "10,19,20,0.60,1.20,0.70", "20,29,10,0.20,0.60,"],
    1: [HEAD, "0,9,10,0.50,1.60,1.10", "10,19,20,0.40,1.20,0.70", "20,29,10,0.40,0.60,0.30"],
}
"""What each seed's run measured: errors by move, one of them unknown."""

ANALYSIS = {
    "format": 1,
    "game": {"name": "go", "size": 3},
    "moves": ["B2", "A3"],
    "to_play": 1,
    "last": 0,
    #  White at A3 (the last move), Black at B2; Black to play.
    "board": [[-1, 0, 0], [0, 1, 0], [0, 0, 0]],
    "players": [
        {
            "player": "APV-MCTS",
            "plays": "A2",
            "value": 0.75,
            "simulations": 100,
            "pv": ["A2", "B3"],
            "moves": [
                {"move": "A2", "cell": 3, "prior": 0.5, "value": 0.8, "visits": 60.0},
                {"move": "B3", "cell": 1, "prior": 0.3, "value": 0.6, "visits": 39.0},
                {"move": "C1", "cell": 8, "prior": 0.15, "value": 0.0, "visits": 0.0},
                {"move": "pass", "cell": -1, "prior": 0.05, "value": 0.3, "visits": 1.0},
            ],
        }
    ],
}
"""What a search might say of a position on 3×3."""


def value_study(folder: Path, ways: tuple[str, ...] = ("one", "all"), seeds: int = 2) -> StudyData:
    """Return runs of task `value`: with all positions of a game they learn by heart, with one a game they do not."""
    rows, histories = [], []
    for way in ways:
        for seed in range(seeds):
            run_id = f"{way}{seed}"
            steps = np.arange(1, 6) * 1000
            train = np.linspace(1.0, 0.2 if way == "all" else 0.6, 5)
            valid = np.array([1.0, 0.8, 0.7, 0.75, 0.9]) if way == "all" else train + 0.05
            (folder / f"{run_id}.csv").write_text("\n".join(BY_MOVE[seed]) + "\n")
            rows.append(
                {
                    "run_id": run_id,
                    "name": run_id,
                    "fingerprint": "",
                    "positions": way,
                    "seed": seed,
                    "test/mse": float(valid.min()),
                    "test/mse_constant": 1.0,
                    "test/rollouts_at_equal_time": 7.5,
                }
            )
            histories.append(
                pd.DataFrame({"run_id": run_id, "step": steps, "value/mse_train": train, "value/mse_valid": valid})
            )
    return StudyData(
        "invented",
        pd.DataFrame(rows),
        ["positions", "seed"],
        history=pd.concat(histories, ignore_index=True),
        artifact=_only("mse_by_move.csv", folder, "csv"),
    )


def position_study(folder: Path, analysis: dict = ANALYSIS) -> StudyData:
    """Return a run of task `analyse`."""
    (folder / "r0.json").write_text(json.dumps(analysis))
    frame = pd.DataFrame([{"run_id": "r0", "name": "r0", "fingerprint": "", "task": "analyse", "seed": 0}])
    empty = pd.DataFrame({"run_id": pd.Series(dtype=str), "step": pd.Series(dtype="int64")})
    return StudyData(
        "invented", frame, ["task", "seed"], history=empty, artifact=_only("analysis.json", folder, "json")
    )


def _only(artifact: str, folder: Path, ending: str):
    def find(run_id: str, name: str) -> Path:
        if name != artifact:
            raise MiaiError(name)
        return folder / f"{run_id}.{ending}"

    return find
