"""Points per game against a common opponent over a number that is swept: over simulations, or over C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from miai.report import games, style
from miai.report.figures import Drawing, FigureKind
from miai.report.grouping import Facet
from miai.report.selection import Selection
from miai.report.tables import Table


@dataclass(frozen=True)
class Options:
    """`x`: the axis of the swept number; `auto` is logarithmic where it spans a factor of ten or more.

    `against`: how the caption calls the opponents; by default by their names.
    """

    x: Literal["auto", "linear", "log"] = "auto"
    against: str | None = None


def applies(selection: Selection, options: Options) -> str | None:
    if not games.has_matches(selection):
        return games.NO_MATCHES
    if not selection.section.sweep:
        return "the section names no number that is swept"
    if len(selection.sweep_values) < 2:
        return f"{selection.parameter(selection.section.sweep)} takes one value only"
    return None


def draw(selection: Selection, options: Options) -> Drawing:
    sweep = np.array(selection.sweep_values, dtype=np.float64)
    log = options.x == "log" or (options.x == "auto" and sweep[0] > 0 and sweep[-1] >= 10 * sweep[0])
    rows, columns = style.grid_of(len(selection.facets), 2)
    width = style.WIDTH if columns > 1 else 0.72 * style.WIDTH
    figure, axes = style.panels(rows, columns, 2.6, width, sharex=True, sharey=True)
    for ax, facet in zip(axes.flat, selection.facets, strict=False):
        _panel(selection, facet, ax, sweep, log)
        ax.set_title(facet.label)
    for ax in axes.flat[len(selection.facets) :]:
        ax.remove()
    label = selection.parameter(selection.section.sweep or "")
    for ax in axes[-1]:
        ax.set_xlabel(f"{label} (logarithmic)" if log else label)
    for row in axes:
        row[0].set_ylabel("score (points a game)")
    if len(selection.groups) > 1:
        handles = [style.handle(group.style) for group in selection.groups]
        style.legend(figure, handles, [group.label for group in selection.groups])
    table, few, many = _table(selection)
    against = games.against(selection, options.against)
    count = f"{few:,}" if few == many else f"{few:,} to {many:,}"
    caption = (
        f"Points a game against {against}, a draw being half a point; {count} games a point, seats swapped. "
        "Bar: 95 % Wilson interval over games. Dashed: as strong as the opponent."
    )
    return Drawing(figure, caption, table)


def _panel(selection: Selection, facet: Facet, ax: Any, sweep: np.ndarray, log: bool) -> None:
    position = np.log(sweep) if log else sweep
    step = np.diff(position).min() * 0.06
    ax.axhline(0.5, color=style.FAINT, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    for i, group in enumerate(selection.groups):
        found = [games.counts(selection, group, facet, value) for value in selection.sweep_values]
        held = [place for place, cell in enumerate(found) if cell is not None]
        if not held:
            continue
        # Groups stand beside each other, so that their intervals can be told apart.
        beside = position[held] + (i - (len(selection.groups) - 1) / 2) * step
        x = np.exp(beside) if log else beside
        tallies = [cell.tally for cell in found if cell is not None]
        low, high = np.array([tally.interval() for tally in tallies]).T
        look = group.style
        ax.plot(x, [tally.score for tally in tallies], color=look.colour, linestyle=look.line, marker=look.marker)
        ax.vlines(x, low, high, color=look.colour, linewidth=1.3)
    if log:
        ax.set_xscale("log")
    _ticks(ax, selection, sweep)
    ax.set_ylim(-0.02, 1.02)


def _ticks(ax: Any, selection: Selection, sweep: np.ndarray) -> None:
    from matplotlib.ticker import NullLocator

    if len(sweep) <= 9:
        ax.set_xticks(sweep, [selection.value(selection.section.sweep or "", value) for value in sweep])
        ax.xaxis.set_minor_locator(NullLocator())
        ax.tick_params(axis="x", rotation=45 if len(sweep) > 7 else 0)


def _table(selection: Selection) -> tuple[Table, int, int]:
    """Return the numbers behind the figure, and the fewest and the most games of a point."""
    section = selection.section
    columns = [selection.parameter(section.facet)] if section.facet else []
    columns += [selection.compared, selection.parameter(section.sweep or ""), *games.COLUMNS]
    rows, records, numbers = [], [], []
    for facet in selection.facets:
        for group in selection.groups:
            for value in selection.sweep_values:
                cell = games.counts(selection, group, facet, value)
                if cell is None:
                    continue
                numbers.append(cell.tally.num_games)
                place = [selection.value(section.facet, facet.value)] if section.facet else []
                rows.append((*place, group.label, selection.value(section.sweep or "", value), *cell.words()))
                key: dict[str, Any] = {section.facet: facet.value} if section.facet else {}
                key |= {**dict(zip(section.compare, group.key, strict=True)), str(section.sweep): value}
                records.append({**key, **cell.numbers()})
    made = Table("numbers", "Games", tuple(columns), tuple(rows), pd.DataFrame(records), games.NOTE)
    return made, min(numbers), max(numbers)


FIGURE = FigureKind("Strength", Options, applies, draw)
