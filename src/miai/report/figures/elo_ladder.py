"""A rating list as a ladder: every player's Elo with its interval, the strongest on top."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from miai.ratings import RatingList, fit_ratings
from miai.report import games, style
from miai.report.figures import Drawing, FigureKind
from miai.report.selection import Selection
from miai.report.tables import Table


@dataclass(frozen=True)
class Options:
    """`anchor`: the player whose rating is 0; by default, and if it has no games, the weakest.

    `faults`: count games lost by a fault.
    """

    anchor: str | None = None
    faults: bool = True


def applies(selection: Selection, options: Options) -> str | None:
    return None if games.has_games(selection) else games.NO_GAMES


def rate(selection: Selection, options: Options) -> RatingList:
    """Rate the players of all games of the section."""
    scores = games.pair_scores(selection, faults=options.faults)
    players = sorted({name for score in scores for name in (score.first, score.second)})
    if options.anchor in players:
        return fit_ratings(scores, anchor=options.anchor)
    if options.anchor is not None:
        selection.note(f"{options.anchor} has no games here: ratings are relative to the weakest player.")
    return fit_ratings(scores, anchor=fit_ratings(scores).ratings[-1].player)


def draw(selection: Selection, options: Options) -> Drawing:
    ratings = rate(selection, options)
    entries = ratings.ratings
    labels = [games.player_label(selection, rating.player) for rating in entries]
    figure, axes = style.panels(1, 1, max(1.6, 0.6 + 0.27 * len(entries)))
    ax = axes[0, 0]
    for place, rating in enumerate(entries):
        look = style.FIXED.get(rating.player.split(" ")[0], style.Style(style.INK, style.SOLID, "o"))
        ax.plot([rating.low, rating.high], [place, place], color=look.colour, linewidth=1.5, solid_capstyle="butt")
        ax.plot(rating.elo, place, marker=look.marker, color=look.colour, markersize=5.5)
        ax.annotate(
            f"{rating.elo:.0f}".replace("-", "−"),
            (rating.elo, place),
            xytext=(0, 4),
            textcoords="offset points",
            ha="center",
            fontsize=7,
        )
    ax.set_yticks(range(len(entries)), labels)
    ax.set_ylim(len(entries) - 0.5, -0.7)
    ax.grid(visible=True, axis="x")
    ax.grid(visible=False, axis="y")
    ax.tick_params(axis="y", length=0)
    style.thousands(ax.xaxis)
    ax.set_xlabel("Elo (400 points: ten wins to one loss)")
    total = sum(rating.num_games for rating in entries) // 2
    for note in ratings.notes:
        selection.note(f"{note}.")
    without = "" if options.faults else " Games that ended by a fault do not count."
    anchor = games.player_label(selection, ratings.anchor)
    caption = (
        f"Bradley–Terry ratings of {len(entries)} players from {total:,} games, relative to "
        f"{anchor}, whose rating is 0. Bar: 95 % interval of the difference from it.{without}"
    )
    return Drawing(figure, caption, _table(ratings, labels))


def _table(ratings: RatingList, labels: list[str]) -> Table:
    rows, records = [], []
    for label, rating in zip(labels, ratings.ratings, strict=True):
        elo, low, high = (f"{value:.0f}".replace("-", "−") for value in (rating.elo, rating.low, rating.high))
        rows.append((label, elo, f"[{low}, {high}]", games.share(rating.score), f"{rating.num_games:,}"))
        records.append(
            {
                "player": rating.player,
                "elo": rating.elo,
                "low": rating.low,
                "high": rating.high,
                "score": rating.score,
                "games": rating.num_games,
            }
        )
    note = "Elo: Bradley and Terry's model, a draw being half a point; 95 % interval relative to the anchor."
    columns = ("player", "Elo", "95 %", "score", "games")
    return Table("ratings", "Ratings", columns, tuple(rows), pd.DataFrame(records), note)


FIGURE = FigureKind("Elo ladder", Options, applies, draw)
