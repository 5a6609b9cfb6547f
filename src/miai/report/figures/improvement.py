"""How likely a run of one group beats a run of another, as a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from miai.report import style
from miai.report.comparison import probability_of_improvement
from miai.report.figures import Drawing, FigureKind
from miai.report.grouping import Facet
from miai.report.metrics import Metric
from miai.report.selection import Selection

MOST_GROUPS = 12
MOST_PANELS = 6


@dataclass(frozen=True)
class Options:
    metrics: tuple[str, ...] = ()


def shown(selection: Selection, options: Options) -> list[tuple[Metric, Facet]]:
    chosen = selection.resolve(options.metrics) if options.metrics else selection.metrics
    panels = [(metric, facet) for metric in chosen if metric.better for facet in selection.facets]
    return panels if options.metrics else panels[:MOST_PANELS]


def applies(selection: Selection, options: Options) -> str | None:
    if selection.section.sweep:
        return f"{selection.parameter(selection.section.sweep)} is swept: see the figure over it"
    if len(selection.groups) < 2:
        return "there is one group only"
    if len(selection.groups) > MOST_GROUPS:
        return f"there are {len(selection.groups)} groups; a matrix of more than {MOST_GROUPS} cannot be read"
    if not shown(selection, options):
        return "no run holds a metric of which it is known whether higher or lower is better"
    return None


def draw(selection: Selection, options: Options) -> Drawing:
    panels = shown(selection, options)
    rows, columns = style.grid_of(len(panels), 2)
    size = len(selection.groups)
    figure, axes = style.panels(rows, columns, max(2.0, 0.75 + 0.5 * size))
    for ax, (metric, facet) in zip(axes.flat, panels, strict=False):
        _panel(selection, metric, facet, ax, small=size > 4 or columns > 1)
        direction = "higher" if metric.better > 0 else "lower"
        ax.set_title(" · ".join(filter(None, (f"{metric.word} ({direction} is better)", facet.label))))
    for ax in axes.flat[len(panels) :]:
        ax.remove()
    caption = (
        f"Probability that a run of the row ends better than a run of the column, ties counted half "
        f"({selection.seeds()} a group). Below it: 95 % score interval (Newcombe 2006). Half: neither is better."
    )
    return Drawing(figure, caption)


def _panel(selection: Selection, metric: Metric, facet: Facet, ax: Any, small: bool) -> None:
    import seaborn as sns

    size = len(selection.groups)
    shares, words = np.full((size, size), np.nan), np.full((size, size), "", dtype=object)
    for i, row in enumerate(selection.groups):
        for j, column in enumerate(selection.groups):
            ours = metric.better * selection.finals(metric, row, facet).to_numpy()
            theirs = metric.better * selection.finals(metric, column, facet).to_numpy()
            if i == j or not len(ours) or not len(theirs):
                continue
            found = probability_of_improvement(ours, theirs)
            shares[i, j] = found.value
            words[i, j] = f"{float(found.value):.2f}"
            if np.isfinite(found.low):
                words[i, j] += f"\n[{float(found.low):.2f}, {float(found.high):.2f}]"
    labels = [group.label for group in selection.groups]
    sns.heatmap(
        shares,
        ax=ax,
        vmin=0,
        vmax=1,
        cmap=sns.diverging_palette(35, 245, s=75, l=60, as_cmap=True),
        annot=words,
        fmt="",
        annot_kws={"fontsize": 6.5 if small else 8},
        linewidths=1,
        linecolor="white",
        cbar=False,
        mask=np.isnan(shares),
        xticklabels=labels,
        yticklabels=labels,
    )
    ax.grid(visible=False)
    ax.tick_params(length=0)
    ax.tick_params(axis="x", rotation=0 if max(map(len, labels)) * size < 48 else 30)
    ax.tick_params(axis="y", rotation=0)


FIGURE = FigureKind("Probability of improvement", Options, applies, draw)
