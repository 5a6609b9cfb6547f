"""Who scores how much against whom, as a matrix, the strongest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from miai.ratings import fit_ratings
from miai.report import games, style
from miai.report.figures import Drawing, FigureKind
from miai.report.selection import Selection
from miai.report.tables import Table

MOST_PLAYERS = 16


@dataclass(frozen=True)
class Options:
    """`faults`: count games lost by a fault."""

    faults: bool = True


def applies(selection: Selection, options: Options) -> str | None:
    return None if games.has_games(selection) else games.NO_GAMES


def draw(selection: Selection, options: Options) -> Drawing:
    import seaborn as sns

    scores = games.pair_scores(selection, faults=options.faults)
    players = [rating.player for rating in fit_ratings(scores).ratings]
    if len(players) > MOST_PLAYERS:
        selection.note(f"The matrix shows the {MOST_PLAYERS} strongest of {len(players)} players.")
        players = players[:MOST_PLAYERS]
    tallies = games.tallies(scores)
    size = len(players)
    shares, words = np.full((size, size), np.nan), np.full((size, size), "", dtype=object)
    records: list[dict[str, Any]] = []
    for i, row in enumerate(players):
        for j, column in enumerate(players):
            tally = tallies.get((row, column))
            if tally is None or not tally.num_games:
                continue
            low, high = tally.interval()
            shares[i, j] = tally.score
            words[i, j] = f"{100 * tally.score:.0f}\n[{100 * low:.0f}, {100 * high:.0f}]"
            records.append(
                {
                    "player": row,
                    "opponent": column,
                    "games": tally.num_games,
                    "wins": tally.wins,
                    "draws": tally.draws,
                    "losses": tally.losses,
                    "score": tally.score,
                    "low": low,
                    "high": high,
                }
            )
    labels = [games.player_label(selection, name) for name in players]
    numbered = [f"{label}  {i + 1}" for i, label in enumerate(labels)]
    figure, axes = style.panels(1, 1, max(2.2, 0.8 + 0.42 * size))
    ax = axes[0, 0]
    sns.heatmap(
        shares,
        ax=ax,
        vmin=0,
        vmax=1,
        cmap=sns.diverging_palette(35, 245, s=75, l=60, as_cmap=True),
        annot=words,
        fmt="",
        annot_kws={"fontsize": 7 if size < 9 else 5.5},
        linewidths=1,
        linecolor="white",
        cbar=False,
        mask=np.isnan(shares),
        xticklabels=[str(i + 1) for i in range(size)],
        yticklabels=numbered,
    )
    ax.grid(visible=False)
    ax.tick_params(length=0, rotation=0)
    ax.set_xlabel("opponent")
    caption = (
        "Points of a hundred that the row scores against the column, a draw being half a point, with a 95 % Wilson "
        "interval over games. Players are in order of their ratings. Blank: the two have not met."
    )
    rows = tuple(
        (
            games.player_label(selection, entry["player"]),
            games.player_label(selection, entry["opponent"]),
            *(f"{entry[key]:,}" for key in ("games", "wins", "draws", "losses")),
            games.share(entry["score"]),
            f"[{100 * entry['low']:.1f}, {100 * entry['high']:.1f}]",
        )
        for entry in records
        if players.index(entry["player"]) < players.index(entry["opponent"])
    )
    columns = ("player", "opponent", "games", "wins", "draws", "losses", "score", "95 %")
    return Drawing(figure, caption, Table("pairs", "Pairs", columns, rows, pd.DataFrame(records)))


FIGURE = FigureKind("Who beats whom", Options, applies, draw)
