"""Invented matches: runs shaped like those of real ones, with counts that can be checked by hand."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from miai.errors import MiaiError
from miai.report.load import StudyData

HEAD = "first,second,wins,draws,losses,faults,opponent_faults,distinct_games,mean_moves"


def row(player: str, simulations: int, wins: int, draws: int, losses: int, **more: object) -> dict[str, object]:
    """A run of a match against `gnugo`."""
    return {
        "task": "match",
        "player.name": player,
        "player.num_simulations": simulations,
        "player.label": f"{player} num_simulations={simulations}",
        "opponent.label": "gnugo",
        "seed": 0,
        "match/games": float(wins + draws + losses),
        "match/wins": float(wins),
        "match/draws": float(draws),
        "match/losses": float(losses),
        "match/faults": 0.0,
        "match/opponent_faults": 0.0,
        "match/distinct_games": float(wins + draws + losses),
        **more,
    }


def study(folder: Path, rows: list[dict[str, object]], results: list[str] | None = None) -> StudyData:
    frame = pd.DataFrame([{"run_id": f"r{i}", "name": f"r{i}", "fingerprint": "", **row} for i, row in enumerate(rows)])
    parameters = [name for name in frame.columns[3:] if "/" not in name]
    for i, entry in enumerate(rows):
        numbers = [int(float(str(entry.get(f"match/{name}", 0)))) for name in ("wins", "draws", "losses")]
        faults = [int(float(str(entry.get(f"match/{name}", 0)))) for name in ("faults", "opponent_faults")]
        line = f"{entry.get('player.label')},gnugo,{','.join(map(str, numbers + faults))},{sum(numbers)},60.00"
        (folder / f"r{i}.csv").write_text("\n".join([HEAD, *([line] if results is None else results)]) + "\n")

    def artifact(run_id: str, name: str) -> Path:
        if name != "results.csv":
            raise MiaiError(name)
        return folder / f"{run_id}.csv"

    empty = pd.DataFrame({"run_id": pd.Series(dtype=str), "step": pd.Series(dtype="int64")})
    return StudyData("invented", frame, parameters, history=empty, artifact=artifact)


SWEPT = [
    row("uct", 100, 10, 0, 30),
    row("uct", 1000, 30, 2, 8),
    row("ucb", 100, 4, 0, 36),
    row("ucb", 1000, 12, 0, 28, **{"match/opponent_faults": 3.0}),
    row("ucb", 1000, 8, 0, 32, seed=1),
]

LADDER = [
    "uct num_simulations=100,random,38,0,2,0,0,40,60.00",
    "flat_mc,random,30,0,10,0,0,40,60.00",
    "uct num_simulations=100,flat_mc,24,0,16,0,4,40,60.00",
]
TOURNAMENT = {"task": "tournament", "seed": 0, "tournament/games": 120.0}
