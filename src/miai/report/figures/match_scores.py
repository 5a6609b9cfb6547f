"""Points per game of several players against common opponents, the best on top, with intervals over games."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from miai.report import games, style
from miai.report.figures import Drawing, FigureKind
from miai.report.grouping import Facet, Group
from miai.report.selection import Selection
from miai.report.tables import Table

SCORE = "match/score"


@dataclass(frozen=True)
class Options:
    """`against`: how the caption calls the opponents; by default by their names."""

    against: str | None = None


def applies(selection: Selection, options: Options) -> str | None:
    if not games.has_matches(selection):
        return games.NO_MATCHES
    if selection.section.sweep:
        return f"{selection.parameter(selection.section.sweep)} is swept: see the figure over it"
    return None


def draw(selection: Selection, options: Options) -> Drawing:
    rows, columns = style.grid_of(len(selection.facets), 2)
    figure, axes = style.panels(rows, columns, max(1.5, 0.75 + 0.33 * len(selection.groups)), sharex=True, sharey=True)
    with_faults = False
    groups = _by_score(selection)
    for ax, facet in zip(axes.flat, selection.facets, strict=False):
        with_faults |= _panel(selection, groups, facet, ax)
        ax.set_title(facet.label)
    for ax in axes.flat[len(selection.facets) :]:
        ax.remove()
    for ax in axes[-1]:
        ax.set_xlabel("score (points a game)")
    hollow = " Hollow: without the games that ended by a fault." if with_faults else ""
    caption = (
        f"Points a game against {games.against(selection, options.against)}, a draw being half a point, seats swapped. "
        f"Bar: 95 % Wilson interval over games.{hollow}"
    )
    return Drawing(figure, caption, _table(selection, groups))


def _by_score(selection: Selection) -> list[Group]:
    """Return the groups in order of their score in the first facet that they have games in."""

    def score(group: Group) -> float:
        cells = (games.counts(selection, group, facet) for facet in selection.facets)
        return next((-cell.tally.score for cell in cells if cell is not None), 0.0)

    return sorted(selection.groups, key=score)


def _panel(selection: Selection, groups: list[Group], facet: Facet, ax: Any) -> bool:
    """Draw a panel; return whether a game in it ended by a fault."""
    with_faults = False
    ax.axvline(0.5, color=style.FAINT, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    for place, group in enumerate(groups):
        cell = games.counts(selection, group, facet)
        if cell is None:
            continue
        look = group.style
        ax.plot(cell.tally.interval(), [place, place], color=look.colour, linewidth=1.6, solid_capstyle="butt")
        ax.plot(cell.tally.score, place, marker=look.marker, color=look.colour, markersize=5.5)
        if (cell.faults or cell.opponent_faults) and cell.without_faults.num_games:
            with_faults = True
            ax.plot(
                cell.without_faults.score,
                place,
                marker=look.marker,
                markersize=5.5,
                markerfacecolor="white",
                markeredgecolor=look.colour,
            )
    style.reference_lines(ax, selection.section.reference.get(SCORE, {}))
    ax.set_yticks(range(len(groups)), [group.label for group in groups])
    ax.set_ylim(len(groups) - 0.5, -0.5)
    ax.set_xlim(-0.02, 1.02)
    ax.grid(visible=True, axis="x")
    ax.grid(visible=False, axis="y")
    ax.tick_params(axis="y", length=0)
    return with_faults


def _table(selection: Selection, groups: list[Group]) -> Table:
    section = selection.section
    columns = [selection.parameter(section.facet)] if section.facet else []
    columns += [selection.compared, *games.COLUMNS]
    rows, records = [], []
    for facet in selection.facets:
        for group in groups:
            cell = games.counts(selection, group, facet)
            if cell is None:
                continue
            place = [selection.value(section.facet, facet.value)] if section.facet else []
            rows.append((*place, group.label, *cell.words()))
            key: dict[str, Any] = {section.facet: facet.value} if section.facet else {}
            records.append({**key, **dict(zip(section.compare, group.key, strict=True)), **cell.numbers()})
    return Table("numbers", "Games", tuple(columns), tuple(rows), pd.DataFrame(records), games.NOTE)


FIGURE = FigureKind("Scores", Options, applies, draw)
