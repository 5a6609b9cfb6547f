"""Games between players as figures need them: counts of wins, draws and losses, pooled over the runs of a cell.

A run of task `match` holds its counts as metrics; it and a run of task `tournament` hold who met whom in `results.csv`.
A game is what is counted, so intervals are over games, not over runs.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from miai.arena.summary import Tally
from miai.ratings import PairScore
from miai.report.grouping import Facet, Group, plain
from miai.report.metrics import PLAYER
from miai.report.selection import Selection

GAMES = "match/games"
"""A run that holds this metric is a match."""
COUNTS = ("match/wins", "match/draws", "match/losses")
FAULTS, OPPONENT_FAULTS, DISTINCT = "match/faults", "match/opponent_faults", "match/distinct_games"
RESULTS_FILE = "results.csv"
FEW = 3
"""So many opponents are named in a caption."""
NO_MATCHES = "no run is a match between players"
NO_GAMES = "no run is a match or a tournament"


@dataclass(frozen=True)
class Counts:
    """The games of a cell, from the side of the match's first player; a game lost by a fault counts as lost."""

    tally: Tally
    faults: int
    opponent_faults: int
    distinct: int

    @property
    def without_faults(self) -> Tally:
        """The games in which nobody was at fault."""
        return Tally(self.tally.wins - self.opponent_faults, self.tally.draws, self.tally.losses - self.faults)

    def words(self) -> tuple[str, ...]:
        """Return the row of a table under `COLUMNS`."""
        tally = self.tally
        low, high = tally.interval()
        counted = (tally.num_games, tally.wins, tally.draws, tally.losses)
        others = (self.faults, self.opponent_faults, self.distinct)
        interval = f"[{100 * low:.1f}, {100 * high:.1f}]"
        return (*(f"{n:,}" for n in counted), share(tally.score), interval, *(f"{n:,}" for n in others))

    def numbers(self) -> dict[str, float]:
        """Return the same by name, for a file."""
        tally = self.tally
        low, high = tally.interval()
        return {
            "games": tally.num_games,
            "wins": tally.wins,
            "draws": tally.draws,
            "losses": tally.losses,
            "score": tally.score,
            "low": low,
            "high": high,
            "faults": self.faults,
            "opponent faults": self.opponent_faults,
            "distinct games": self.distinct,
        }


COLUMNS = ("games", "wins", "draws", "losses", "score", "95 %", "faults", "opponent's faults", "distinct games")
NOTE = (
    "Score: points a game, a draw being half a point, with a 95 % Wilson interval over games. A game that ended by a "
    "fault is lost by the player at fault."
)


def has_matches(selection: Selection) -> bool:
    return GAMES in selection.data.metrics and bool(selection.runs[GAMES].notna().any())


def has_games(selection: Selection) -> bool:
    """Whether a run of the section has met somebody; asked without reading artifacts."""
    return has_matches(selection) or (
        "tournament/games" in selection.data.metrics and bool(selection.runs["tournament/games"].notna().any())
    )


def counts(selection: Selection, group: Group, facet: Facet, sweep: Any = None) -> Counts | None:
    """Pool the games of a cell's matches; `None` if it has none."""
    rows = selection.rows(group, facet, sweep)
    rows = rows[rows[GAMES].notna()]
    if rows.empty:
        return None
    totals = {name: round(float(rows[name].sum())) for name in (*COUNTS, FAULTS, OPPONENT_FAULTS, DISTINCT)}
    tally = Tally(*(totals[name] for name in COUNTS))
    return Counts(tally, totals[FAULTS], totals[OPPONENT_FAULTS], totals[DISTINCT])


def pair_scores(selection: Selection, *, faults: bool = True) -> list[PairScore]:
    """Return who met whom in the section's runs, one entry a match.

    Args:
        faults: whether games that ended by a fault count as lost by the player at fault; else they do not count.
    """
    scores, missing = [], 0
    for run_id in selection.runs["run_id"]:
        path = selection.data.artifact(run_id, RESULTS_FILE)
        if path is None:
            missing += 1
            continue
        with path.open(encoding="utf-8", newline="") as file:
            scores += [_pair(row, faults) for row in csv.DictReader(file)]
    if missing:
        selection.note(f"{missing} of {len(selection.runs)} runs hold no {RESULTS_FILE}: their games are left out.")
    return scores


def _pair(row: dict[str, str], faults: bool) -> PairScore:
    wins, losses = int(row["wins"]), int(row["losses"])
    if not faults:
        wins, losses = wins - int(row["opponent_faults"]), losses - int(row["faults"])
    return PairScore(row["first"], row["second"], wins, int(row["draws"]), losses)


def tallies(scores: Iterable[PairScore]) -> dict[tuple[str, str], Tally]:
    """Add matches up by pair, each pair from both sides."""
    found: dict[tuple[str, str], Tally] = {}
    for score in scores:
        for names, wins, losses in (
            ((score.first, score.second), score.wins, score.losses),
            ((score.second, score.first), score.losses, score.wins),
        ):
            old = found.get(names, Tally())
            found[names] = Tally(old.wins + wins, old.draws + score.draws, old.losses + losses)
    return found


def player_label(selection: Selection, name: str) -> str:
    """Return how a player's name is written: `uct num_simulations=1000` as UCT, 1,000 simulations."""
    return selection.value(PLAYER, name)


def against(selection: Selection, given: str | None) -> str:
    """Say who the opponents of the section's matches are: as `given`, or by their names if they are few."""
    if given is not None:
        return given
    names: dict[str, None] = {}
    if "opponent.label" in selection.data.parameters:
        names = dict.fromkeys(str(name) for name in plain(selection.runs["opponent.label"]) if name is not None)
    if not 1 <= len(names) <= FEW:
        return "a common opponent" if not names else f"{len(names)} opponents"
    return " and ".join(player_label(selection, name) for name in names)


def share(value: float) -> str:
    return "–" if np.isnan(value) else f"{100 * value:.1f} %"
