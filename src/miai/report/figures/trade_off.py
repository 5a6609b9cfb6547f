"""Optimality gap against exploitability: for the second player both cannot be zero at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from miai.report import style
from miai.report.figures import Drawing, FigureKind
from miai.report.grouping import Facet
from miai.report.metrics import EXPLOITABILITY, Metric
from miai.report.selection import Selection


@dataclass(frozen=True)
class Options:
    x: str = "eval/optimality_gap"
    y: str = EXPLOITABILITY


def pairs(selection: Selection, options: Options) -> list[tuple[Metric, Metric]]:
    """The two metrics, for each seat that a table plays."""
    x, y = selection.resolve((options.x,)), selection.resolve((options.y,))
    return list(zip(x, y, strict=False)) if len(x) == len(y) else []


def applies(selection: Selection, options: Options) -> str | None:
    return None if pairs(selection, options) else f"no run holds both {options.x} and {options.y}"


def draw(selection: Selection, options: Options) -> Drawing:
    panels = [(x, y, facet) for x, y in pairs(selection, options) for facet in selection.facets]
    rows, columns = style.grid_of(len(panels), 3 if len(panels) > 2 else 2)
    single = len(panels) == 1
    figure, axes = style.panels(rows, columns, 3.4 if single else 2.7, width=4.6 if single else style.WIDTH)
    words = ""
    for ax, (x, y, facet) in zip(axes.flat, panels, strict=False):
        words = _panel(selection, x, y, facet, ax)
        seat = x.label.partition(" as ")[2][:1]
        ax.set_title(" · ".join(filter(None, (f"as {seat}" if seat else "", facet.label))))
    for ax in axes.flat[len(panels) :]:
        ax.remove()
    style.legend(
        figure,
        [style.handle(g.style, line=False) for g in selection.groups],
        [g.label for g in selection.groups],
        most_columns=2 if single else 4,
    )
    caption = (
        f"Each run is a point ({selection.seeds()} a group), equal ones are one point of as many times the area; "
        f"edged: the group's mean. Groups are moved apart a little. The lower left corner is best.{words}"
    )
    return Drawing(figure, caption)


def _panel(selection: Selection, x: Metric, y: Metric, facet: Facet, ax: Any) -> str:
    from matplotlib.transforms import ScaledTranslation

    points = []
    middle = (len(selection.groups) - 1) / 2
    for i, group in enumerate(selection.groups):
        a, b = selection.finals(x, group, facet), selection.finals(y, group, facet)
        both = a.index.intersection(b.index)
        if not len(both):
            continue
        look, across, up = group.style, a[both].to_numpy(), b[both].to_numpy()
        places, counts = np.unique(np.round(np.stack([across, up]), 9), axis=1, return_counts=True)
        # Groups stand a little above each other, so that equal results are seen.
        beside = ScaledTranslation(0, (middle - i) * 4.5 / 72, ax.figure.dpi_scale_trans)
        ax.scatter(
            *places,
            s=9 * counts,
            marker=look.marker,
            color=look.colour,
            alpha=0.5,
            linewidth=0,
            clip_on=False,
            transform=ax.transData + beside,
        )
        ax.plot(
            across.mean(),
            up.mean(),
            linestyle="none",
            marker=look.marker,
            color=look.colour,
            markersize=7.5,
            markeredgecolor=style.INK,
            markeredgewidth=1.1,
            zorder=5,
            clip_on=False,
        )
        points.append((across, up))
        ax.update_datalim(places.T)  # What is drawn beside its place does not count for the limits by itself.
    ax.autoscale_view()
    ax.set_xlabel(x.label)
    ax.set_ylabel(y.label)
    ax.grid(visible=True, axis="both")
    kinds = []
    for which, metric, i in (("x", x, 0), ("y", y, 1)):
        if metric.near_zero and points:
            kinds.append(
                f"the axis of {metric.word} is {style.near_zero(ax, np.concatenate([p[i] for p in points]), which)}"
            )
    if not y.near_zero:
        style.within(ax, y)
    # A little room around, so that points on an edge are seen whole.
    ax.spines[["left", "bottom"]].set_position(("outward", 12))
    words = "; ".join(kinds)
    return f" {words[:1].upper()}{words[1:]}." if words else ""


FIGURE = FigureKind("Two aims at once", Options, applies, draw)
