"""Metrics over games, a line a group, with an interval over seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from miai.report import style
from miai.report.figures import Drawing, FigureKind
from miai.report.grouping import Facet
from miai.report.metrics import TABLE_SIZE, Metric
from miai.report.selection import Selection


@dataclass(frozen=True)
class Options:
    """`x`: the axis of games. `step`: what a step of the runs is, for the label."""

    metrics: tuple[str, ...] = ()
    x: Literal["linear", "log"] = "linear"
    step: str = "games"


def shown(selection: Selection, options: Options) -> tuple[Metric, ...]:
    chosen = selection.resolve(options.metrics) if options.metrics else selection.metrics
    return tuple(
        metric
        for metric in chosen
        if (metric.name != TABLE_SIZE or options.metrics)
        and any(_moves(selection, metric, facet) for facet in selection.facets)
    )


def applies(selection: Selection, options: Options) -> str | None:
    if not shown(selection, options):
        return "no run holds more than one checkpoint of these metrics"
    return None


def draw(selection: Selection, options: Options) -> Drawing:
    metrics = shown(selection, options)
    figure, panels, lowest = style.metric_panels(len(metrics), [facet.label for facet in selection.facets], 2.15)
    scales = [_panels(selection, metric, own) for metric, own in zip(metrics, panels, strict=True)]
    for ax in lowest:
        label_steps(ax, options.step, options.x)
    style.legend(figure, [style.handle(g.style) for g in selection.groups], [g.label for g in selection.groups])
    words = "; ".join(metric.word for metric in metrics)
    caption = f"{words[0].upper()}{words[1:]} over {options.step}. Line: {selection.interval()}."
    return Drawing(figure, " ".join([caption, *filter(None, scales)]))


def label_steps(ax: Any, step: str, scale: str = "linear") -> None:
    """Label an axis of steps, in thousands where there are many."""
    if scale == "log":
        ax.set_xscale("log")
        ax.set_xlabel(f"{step} (logarithmic)")
        style.thousands(ax.xaxis)
        return
    ax.set_xlim(left=0)
    most = ax.get_xlim()[1]
    if most >= 10_000:
        ax.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:,g}")
        ax.set_xlabel(f"{step} (thousands)")
    else:
        style.thousands(ax.xaxis)
        ax.set_xlabel(step)


def draw_bands(selection: Selection, metric: Metric, facet: Facet, ax: Any) -> np.ndarray:
    """Draw every group's line and band into a panel; return all values that the lines take."""
    drawn = [np.empty(0)]
    last = 0
    for i, group in enumerate(selection.groups):
        found = selection.band(metric, group, facet)
        if found is None:
            continue
        steps, estimate = found
        look = group.style
        every = max(1, len(steps) // 8)
        ax.fill_between(steps, estimate.low, estimate.high, color=look.colour, alpha=style.BAND, linewidth=0)
        ax.plot(
            steps,
            estimate.value,
            color=look.colour,
            linestyle=look.line,
            marker=look.marker,
            # Markers of different groups start at different points, so that they do not hide each other.
            markevery=(min(i * every // max(len(selection.groups), 1), len(steps) - 1), every),
        )
        drawn.append(estimate.value)
        last = max(last, int(steps[-1]))
    if last:
        ax.set_xlim(right=last * 1.02)
    return np.concatenate(drawn)


def _panels(selection: Selection, metric: Metric, axes: list[Any]) -> str:
    values = [draw_bands(selection, metric, facet, ax) for ax, facet in zip(axes, selection.facets, strict=True)]
    axes[0].set_ylabel(style.two_lines(metric.label))
    words = ""
    if metric.near_zero:
        for ax in axes:
            words = style.near_zero(ax, np.concatenate(values))
        words = f"The axis of {metric.word} is {words}; 0 is the best possible."
    else:
        for ax in axes:
            style.within(ax, metric)
    for ax in axes:
        for label, value in selection.section.reference.get(metric.name, {}).items():
            style.reference_line(ax, value, label)
    return words


def _moves(selection: Selection, metric: Metric, facet: Facet) -> bool:
    return any(
        (curves := selection.curves(metric, group, facet)) is not None and len(curves.steps) > 1
        for group in selection.groups
    )


FIGURE = FigureKind("Learning curves", Options, applies, draw)
