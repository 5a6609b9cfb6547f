"""How tables grow with the board, and how much smaller one group's are than another's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from miai.errors import choose
from miai.report import style
from miai.report.figures import Drawing, FigureKind
from miai.report.figures.table_size import KINDS, bounds
from miai.report.grouping import Facet, Group
from miai.report.metrics import TABLE_SIZE
from miai.report.selection import SEED, Selection
from miai.report.statistics import estimate


@dataclass(frozen=True)
class Options:
    """`baseline`: the value of the compared parameter that others are measured against; by default the first."""

    baseline: str | None = None


def applies(selection: Selection, options: Options) -> str | None:
    if len(selection.facets) < 2:
        return "the section has no facet with two values (the size of the board)"
    if not selection.resolve((TABLE_SIZE,)):
        return f"no run holds {TABLE_SIZE}"
    return None


def draw(selection: Selection, options: Options) -> Drawing:
    size = selection.metric(TABLE_SIZE)
    facets = sorted(selection.facets, key=lambda facet: max(bounds(selection, facet), default=0.0))
    baseline = _baseline(selection, options)
    figure, axes = style.panels(1, 2, 2.9)
    left, right = axes[0]
    places = np.arange(len(facets), dtype=np.float64)
    shifts = (np.arange(len(selection.groups)) - (len(selection.groups) - 1) / 2) * 0.09
    for group, shift in zip(selection.groups, shifts, strict=True):
        look = group.style
        found = [selection.final(size, group, facet) for facet in facets]
        there = [i for i, one in enumerate(found) if one is not None]
        x = places[there] + shift
        y, low, high = (np.array([float(found[i][k]) for i in there]) for k in range(3))  # type: ignore[index]
        _points(left, x, y, low, high, look)
        if group is baseline:
            continue
        ratios = [_ratio(selection, group, baseline, facet) for facet in facets]
        there = [i for i, one in enumerate(ratios) if one is not None]
        y, low, high = (np.array([ratios[i][k] for i in there]) for k in range(3))  # type: ignore[index]
        _points(right, places[there] + shift, y, low, high, look)
    known = False
    for place, facet in zip(places, facets, strict=True):
        for value, kind in bounds(selection, facet).items():
            known = True
            left.plot([place - 0.3, place + 0.3], [value] * 2, color=style.FAINT, linewidth=1, zorder=1)
            if place == places[-1] and kind in KINDS.values():
                left.annotate(
                    kind,
                    (place - 0.3, value),
                    xytext=(-3, 0),
                    textcoords="offset points",
                    fontsize=7,
                    ha="right",
                    va="center",
                    color="#5a5a5a",
                    zorder=6,
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
                )
        exact = {kind: value for value, kind in bounds(selection, facet).items()}
        if set(KINDS.values()) <= set(exact):
            ratio = exact["after-states"] / exact["state–action pairs"]
            right.plot([place - 0.3, place + 0.3], [ratio] * 2, color=style.FAINT, linewidth=1, zorder=1)
    left.set_yscale("log")
    left.set_ylabel(f"{size.label}, logarithmic")
    right.set_ylabel(f"table size relative to {baseline.label}")
    right.set_ylim(0, max(1.08, right.get_ylim()[1]))
    right.axhline(1, color=style.FAINT, linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
    facet_name = selection.section.facet or ""
    for ax in (left, right):
        ax.set_xticks(places, [selection.value(facet_name, facet.value) for facet in facets])
        ax.set_xlim(-0.5, len(facets) - 0.5)
        ax.set_xlabel(selection.parameter(facet_name))
    style.legend(figure, [style.handle(g.style) for g in selection.groups], [g.label for g in selection.groups])
    exact_words = " Grey bars: the exact numbers of entries that the games have, and their ratio." if known else ""
    caption = (
        f"Left: entries at the end ({selection.interval('bar')}). Right: the same relative to {baseline.label}, "
        f"paired by seed.{exact_words}"
    )
    return Drawing(figure, caption)


def _baseline(selection: Selection, options: Options) -> Group:
    if options.baseline is None:
        return selection.groups[0]
    by_value = {str(part): group for group in selection.groups for part in group.key}
    return by_value[choose(options.baseline, by_value, "scaling.baseline")]


def _points(ax: Any, x: np.ndarray, y: np.ndarray, low: np.ndarray, high: np.ndarray, look: style.Style) -> None:
    ax.plot(x, y, color=look.colour, linestyle=look.line, marker=look.marker, linewidth=1.1)
    ax.vlines(x, low, high, color=look.colour, linewidth=1.6)


def _ratio(selection: Selection, group: Group, baseline: Group, facet: Facet) -> tuple[float, float, float] | None:
    size = selection.metric(TABLE_SIZE)
    ours, theirs = selection.finals(size, group, facet), selection.finals(size, baseline, facet)
    shared = ours.index.intersection(theirs.index)
    if not len(shared):
        return None
    found = estimate(ours[shared].to_numpy() / theirs[shared].to_numpy(), "mean", seed=SEED)
    return float(found.value), float(found.low), float(found.high)


FIGURE = FigureKind("Growth with the board", Options, applies, draw, by_default=False)
