"""The end of every run as a point, with each group's interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from miai.report import style
from miai.report.figures import Drawing, FigureKind
from miai.report.grouping import Facet
from miai.report.metrics import TABLE_SIZE, Metric
from miai.report.selection import Selection


@dataclass(frozen=True)
class Options:
    metrics: tuple[str, ...] = ()


def shown(selection: Selection, names: tuple[str, ...]) -> tuple[Metric, ...]:
    """Return the metrics that a figure of final results shows: those named, or the section's and the table size."""
    if names:
        return selection.resolve(names)
    return tuple(dict.fromkeys([*selection.metrics, *selection.resolve((TABLE_SIZE,))]))


def applies(selection: Selection, options: Options) -> str | None:
    if selection.section.sweep:
        return f"{selection.parameter(selection.section.sweep)} is swept: see the figure over it"
    if not shown(selection, options.metrics):
        return "no run holds these metrics"
    return None


def draw(selection: Selection, options: Options) -> Drawing:
    metrics = shown(selection, options.metrics)
    height = max(1.2, 0.5 + 0.3 * len(selection.groups))
    labels = [facet.label for facet in selection.facets]
    figure, panels, _ = style.metric_panels(len(metrics), labels, height, share_x=False, share_y=True)
    for metric, own in zip(metrics, panels, strict=True):
        for ax, facet in zip(own, selection.facets, strict=True):
            _panel(selection, metric, facet, ax)
        _stay_within(metric, own)
        if metric.digits == 0 and _spans_decades(selection, metric):
            for ax in own:
                ax.set_xscale("log")
        own[len(own) // 2].set_xlabel(metric.label)
    caption = (
        f"Each run's final value is a point ({selection.seeds()} a group). Diamond: {selection.interval('bar')}. "
        "Axes do not start at 0."
    )
    return Drawing(figure, caption)


def _panel(selection: Selection, metric: Metric, facet: Facet, ax: Any) -> None:
    for place, group in enumerate(selection.groups):
        values = selection.finals(metric, group, facet).to_numpy()
        estimate = selection.final(metric, group, facet)
        if estimate is None:
            continue
        look = group.style
        ax.plot(
            values,
            place - 0.14 + style.spread(len(values), 0.17),
            linestyle="none",
            marker=look.marker,
            markersize=3.2,
            color=look.colour,
            alpha=0.55,
            markeredgewidth=0,
        )
        if np.isfinite(estimate.low):
            ax.plot([estimate.low, estimate.high], [place + 0.26] * 2, color=style.INK, linewidth=1.3, zorder=3)
        ax.plot(estimate.value, place + 0.26, marker="D", color=style.INK, markersize=4, zorder=4)
    style.reference_lines(ax, selection.section.reference.get(metric.name, {}))
    ax.set_yticks(range(len(selection.groups)), [group.label for group in selection.groups])
    ax.set_ylim(len(selection.groups) - 0.45, -0.55)
    ax.grid(visible=True, axis="x")
    ax.grid(visible=False, axis="y")
    ax.tick_params(axis="y", length=0)
    ax.margins(x=0.04)
    ax.locator_params(axis="x", nbins=5 if len(selection.facets) < 3 else 4)
    if metric.digits == 0:
        style.thousands(ax.xaxis)


def _stay_within(metric: Metric, panels: Any) -> None:
    """Let the margin end where the metric must. Panels of one metric share their axis, so all are drawn by now."""
    highest = max(ax.dataLim.x1 for ax in panels)
    if highest < metric.bounds[1] < panels[0].get_xlim()[1]:
        panels[0].set_xlim(right=metric.bounds[1])


def _spans_decades(selection: Selection, metric: Metric) -> bool:
    """Whether counts differ so much, for example between boards, that the smaller ones would be one spot."""
    values = selection.all_finals(metric)
    return bool(len(values) and 0 < values.min() < values.max() / 30)


FIGURE = FigureKind("Final results", Options, applies, draw)
