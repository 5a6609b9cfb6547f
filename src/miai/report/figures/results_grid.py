"""Final results of each group in each facet, as a heat map: for example algorithm × opponent."""

from __future__ import annotations

from typing import Any

import numpy as np

from miai.report import metrics as names
from miai.report import style
from miai.report.figures import Drawing, FigureKind
from miai.report.figures.final_results import Options, shown
from miai.report.metrics import Metric
from miai.report.selection import Selection

MOST_WITH_ALL_DIGITS = 3
"""Columns of cells that are wide enough for an interval with every digit."""


def applies(selection: Selection, options: Options) -> str | None:
    if selection.section.sweep:
        return f"{selection.parameter(selection.section.sweep)} is swept: see the figure over it"
    if len(selection.facets) < 2:
        return "the section has no facet with two values"
    if not shown(selection, options.metrics):
        return "no run holds these metrics"
    return None


def draw(selection: Selection, options: Options) -> Drawing:
    metrics = shown(selection, options.metrics)
    wide = len(selection.facets) > 4
    rows, columns = style.grid_of(len(metrics), 1 if wide else 2)
    height = 0.75 + 0.42 * len(selection.groups)
    figure, axes = style.panels(rows, columns, height, sharey=True)
    for ax, metric in zip(axes.flat, metrics, strict=False):
        _panel(selection, metric, ax)
        better = {1: " (higher is better)", -1: " (lower is better)", 0: ""}[metric.better]
        ax.set_title(metric.word + better)
    for ax in axes.flat[len(metrics) :]:
        ax.remove()
    caption = (
        f"Final results by {selection.compared} and {selection.parameter(selection.section.facet or '')}. "
        f"Upper number: {selection.interval('below it')}. Darker is better, or more; each panel has its own shades."
    )
    return Drawing(figure, caption)


def _panel(selection: Selection, metric: Metric, ax: Any) -> None:
    import seaborn as sns

    shape = (len(selection.groups), len(selection.facets))
    values, words = np.full(shape, np.nan), np.full(shape, "–", dtype=object)
    for i, group in enumerate(selection.groups):
        for j, facet in enumerate(selection.facets):
            estimate = selection.final(metric, group, facet)
            if estimate is None:
                continue
            digits = metric.digits if len(selection.facets) <= MOST_WITH_ALL_DIGITS else min(metric.digits, 3)
            values[i, j] = estimate.value
            words[i, j] = names.number(float(estimate.value), digits)
            if np.isfinite(estimate.low):
                low, high = (names.number(float(end), digits) for end in (estimate.low, estimate.high))
                words[i, j] += f"\n[{low}, {high}]"
    sns.heatmap(
        values,
        ax=ax,
        cmap="crest_r" if metric.better < 0 else "crest",
        annot=words,
        fmt="",
        annot_kws={"fontsize": 7 if len(selection.facets) <= MOST_WITH_ALL_DIGITS else 6.5},
        linewidths=1,
        linecolor="white",
        cbar=False,
        mask=np.isnan(values),
        xticklabels=[selection.value(selection.section.facet or "", facet.value) for facet in selection.facets],
        yticklabels=[group.label for group in selection.groups],
    )
    ax.grid(visible=False)
    ax.tick_params(length=0, rotation=0)


FIGURE = FigureKind("Results by facet", Options, applies, draw)
