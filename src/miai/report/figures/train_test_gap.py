"""An error on what was learnt from beside the same on what was not, over training: how much is known by heart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from miai.report import style
from miai.report.figures import Drawing, FigureKind
from miai.report.figures.learning_curves import label_steps
from miai.report.grouping import Facet, Group
from miai.report.metrics import Metric
from miai.report.selection import Selection


@dataclass(frozen=True)
class Options:
    """`train`, `held_out`: the two metrics; `label`: what both are. `step`: what a step of the runs is."""

    train: str = "value/mse_train"
    held_out: str = "value/mse_valid"
    label: str = "mean of (z − v)², z = ±1"
    step: str = "positions"


def applies(selection: Selection, options: Options) -> str | None:
    metrics = selection.resolve((options.train, options.held_out))
    if len(metrics) < 2:
        return f"no run holds both {options.train} and {options.held_out}"
    for group in selection.groups:
        for facet in selection.facets:
            curves = [selection.curves(metric, group, facet) for metric in metrics]
            if all(curve is not None and len(curve.steps) > 1 for curve in curves):
                return None
    return "no run holds more than one checkpoint of these metrics"


def draw(selection: Selection, options: Options) -> Drawing:
    train, held_out = selection.resolve((options.train, options.held_out))
    cells = [(group, facet) for facet in selection.facets for group in selection.groups]
    cells = [cell for cell in cells if selection.band(held_out, *cell) is not None]
    rows, columns = style.grid_of(len(cells), 2)
    width = style.WIDTH if columns > 1 else 0.72 * style.WIDTH
    figure, axes = style.panels(rows, columns, 2.5, width, sharey=True, sharex=True)
    ends = []
    for ax, (group, facet) in zip(axes.flat, cells, strict=False):
        place = " · ".join(filter(None, (group.label, facet.label)))
        gap = _panel(selection, (train, held_out), group, facet, ax)
        ax.set_title(place)
        ends.append(f"{place} {gap:+.3f}".replace("-", "−"))
    for ax in axes.flat[len(cells) :]:
        ax.remove()
    for ax in axes[-1]:
        if ax.figure is not None:
            label_steps(ax, options.step)
    for row in axes:
        row[0].set_ylabel(options.label)
    looks = [style.handle(style.Style(style.INK, line, "")) for line in (style.DASHED, style.SOLID)]
    style.legend(figure, looks, ["learnt from", "held out"])
    caption = (
        f"{held_out.word[0].upper()}{held_out.word[1:]} over {options.step}, and the same of what was learnt from. "
        f"The gap at the end: {'; '.join(ends)}. Line: {selection.interval()}."
    )
    return Drawing(figure, caption)


def _panel(selection: Selection, pair: tuple[Metric, Metric], group: Group, facet: Facet, ax: Any) -> float:
    """Draw both curves and shade what is between them; return the difference at the end."""
    ends, drawn = [], []
    for metric, line in zip(pair, (style.DASHED, style.SOLID), strict=True):
        found = selection.band(metric, group, facet)
        if found is None:
            ends.append(np.nan)
            continue
        steps, estimate = found
        ax.fill_between(steps, estimate.low, estimate.high, color=group.style.colour, alpha=style.BAND, linewidth=0)
        ax.plot(steps, estimate.value, color=group.style.colour, linestyle=line)
        ends.append(float(estimate.value[-1]))
        drawn.append((steps, estimate.value))
    if len(drawn) == 2 and np.array_equal(drawn[0][0], drawn[1][0]):
        ax.fill_between(drawn[0][0], drawn[0][1], drawn[1][1], color=style.FAINT, alpha=0.15, linewidth=0)
    return ends[1] - ends[0]


FIGURE = FigureKind("Learnt and held out", Options, applies, draw)
