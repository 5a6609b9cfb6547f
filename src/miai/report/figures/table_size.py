"""Entries in the table over games, with the exact bounds as lines."""

from __future__ import annotations

from dataclasses import dataclass

from miai.report import style
from miai.report.figures import Drawing, FigureKind
from miai.report.figures.learning_curves import draw_bands, label_steps
from miai.report.grouping import Facet
from miai.report.metrics import TABLE_BOUND, TABLE_SIZE
from miai.report.selection import Selection

ENTRY = "algorithm.entry"
KINDS = {"state_action": "state–action pairs", "afterstate": "after-states"}
"""What the entries of a table are, by the parameter `ENTRY`."""


@dataclass(frozen=True)
class Options:
    step: str = "games"


def applies(selection: Selection, options: Options) -> str | None:
    size = selection.metric(TABLE_SIZE)
    if not any(selection.curves(size, group, facet) for group in selection.groups for facet in selection.facets):
        return f"no run holds {TABLE_SIZE} over {options.step}"
    return None


def draw(selection: Selection, options: Options) -> Drawing:
    size = selection.metric(TABLE_SIZE)
    rows, columns = style.grid_of(len(selection.facets), 3)
    exact = [bounds(selection, facet) for facet in selection.facets]
    alike = all(found == exact[0] for found in exact)
    figure, axes = style.panels(rows, columns, 2.7 if rows == columns == 1 else 2.2, sharex=True, sharey=alike)
    for ax, facet, found in zip(axes.flat, selection.facets, exact, strict=False):
        draw_bands(selection, size, facet, ax)
        for value, name in found.items():
            style.reference_line(ax, value, f"{value:,.0f} {name}")
        ax.set_title(facet.label)
        # Room above the highest bound for its name.
        ax.set_ylim(0, max([ax.get_ylim()[1], *(1.1 * value for value in found)]))
        style.thousands(ax.yaxis)
        label_steps(ax, options.step)
    for ax in axes[:, 0]:
        ax.set_ylabel(size.label)
    for ax in axes.flat[len(selection.facets) :]:
        ax.remove()
    style.legend(figure, [style.handle(g.style) for g in selection.groups], [g.label for g in selection.groups])
    words = " Grey lines: how many entries the game has, counted exactly; no table can be larger." if any(exact) else ""
    return Drawing(figure, f"Entries that were updated at least once. Line: {selection.interval()}.{words}")


def bounds(selection: Selection, facet: Facet) -> dict[float, str]:
    """Return the exact bounds on the table size that hold for the runs of a facet, with what they count."""
    bound = selection.metric(TABLE_BOUND)
    if bound.name not in selection.available:
        return {}
    found: dict[float, str] = {}
    values = selection.all_finals(bound)
    rows = selection.rows(facet=facet)
    for index, value in values[values.index.intersection(rows.index)].items():
        kind = str(rows.at[index, ENTRY]) if ENTRY in rows.columns else ""
        found.setdefault(float(value), KINDS.get(kind, "entries at most"))
    return dict(sorted(found.items()))


FIGURE = FigureKind("Table size", Options, applies, draw)
