"""Final results over a number that is swept, a line a group: for example over the step size α."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from miai.report import metrics as names
from miai.report import style
from miai.report.figures import Drawing, FigureKind
from miai.report.figures.final_results import shown
from miai.report.grouping import Facet
from miai.report.metrics import Metric
from miai.report.selection import Selection


@dataclass(frozen=True)
class Options:
    """`x`: the axis of the swept number; `auto` is logarithmic where it spans a factor of ten or more."""

    metrics: tuple[str, ...] = ()
    x: Literal["auto", "linear", "log"] = "auto"


def applies(selection: Selection, options: Options) -> str | None:
    if not selection.section.sweep:
        return "the section names no number that is swept"
    if len(selection.sweep_values) < 2:
        return f"{selection.parameter(selection.section.sweep)} takes one value only"
    if not shown(selection, options.metrics):
        return "no run holds these metrics"
    return None


def draw(selection: Selection, options: Options) -> Drawing:
    metrics = shown(selection, options.metrics)
    figure, panels, lowest = style.metric_panels(len(metrics), [facet.label for facet in selection.facets], 2.15)
    sweep = np.array(selection.sweep_values, dtype=np.float64)
    log = options.x == "log" or (options.x == "auto" and sweep[0] > 0 and sweep[-1] >= 10 * sweep[0])
    words, best = [], []
    for metric, own in zip(metrics, panels, strict=True):
        values = [_panel(selection, metric, facet, ax, log) for ax, facet in zip(own, selection.facets, strict=True)]
        own[0].set_ylabel(style.two_lines(metric.label))
        if metric.near_zero:
            kinds = [style.near_zero(ax, np.concatenate(values)) for ax in own]
            words.append(f"The axis of {metric.word} is {kinds[0]}.")
        else:
            for ax in own:
                style.within(ax, metric)
                if metric.digits == 0:
                    style.thousands(ax.yaxis)
        best += [_best(selection, metric, facet) for facet in selection.facets]
    label = selection.parameter(selection.section.sweep or "")
    for ax in lowest:  # The others share its axis.
        _ticks(ax, selection, sweep, log)
        ax.set_xlabel(f"{label} (logarithmic)" if log else label)
    style.legend(figure, [style.handle(g.style) for g in selection.groups], [g.label for g in selection.groups])
    caption = (
        f"Final results over {label}. Line: {selection.interval('bar')}; each run is a faint point. "
        f"Ringed: a group's best value. {' '.join(words)} {' '.join(filter(None, best))}"
    )
    return Drawing(figure, " ".join(caption.split()))


def _panel(selection: Selection, metric: Metric, facet: Facet, ax: Any, log: bool) -> np.ndarray:
    """Draw a panel; return all values that it has to show, of very long intervals a part."""
    drawn = [np.empty(0)]
    sweep = np.array(selection.sweep_values, dtype=np.float64)
    position = np.log(sweep) if log else sweep
    step = np.diff(position).min() * 0.05
    for i, group in enumerate(selection.groups):
        found = [selection.final(metric, group, facet, value) for value in selection.sweep_values]
        held = [place for place, estimate in enumerate(found) if estimate is not None]
        if not held:
            continue
        # Groups stand beside each other, so that their intervals can be told apart.
        beside = position[held] + (i - (len(selection.groups) - 1) / 2) * step
        x = np.exp(beside) if log else beside
        y, low, high = (np.array([float(found[place][k]) for place in held]) for k in range(3))  # type: ignore[index]
        look = group.style
        for at, place in zip(x, held, strict=True):
            runs = selection.finals(metric, group, facet, selection.sweep_values[place]).to_numpy()
            ax.plot(np.full(len(runs), at), runs, "o", color=look.colour, markersize=1.8, alpha=0.3, markeredgewidth=0)
        ax.plot(x, y, color=look.colour, linestyle=look.line, marker=look.marker, linewidth=1.2)
        ax.vlines(x, low, high, color=look.colour, linewidth=1.3)
        if metric.better:
            best = int(np.argmax(metric.better * y))
            ax.plot(x[best], y[best], "o", markersize=10, markerfacecolor="none", markeredgecolor=look.colour, zorder=5)
        drawn += [y, np.minimum(high, 2.5 * y.max())[np.isfinite(high) & (high > 0)]]
    if log:
        ax.set_xscale("log")
    return np.concatenate(drawn)


def _ticks(ax: Any, selection: Selection, sweep: np.ndarray, log: bool) -> None:
    """Write the swept values themselves where there is room."""
    if len(sweep) > 9:
        return
    from matplotlib.ticker import NullLocator

    shown = list(sweep)
    if log:  # Leave out values that would print over their neighbour.
        least = np.log10(sweep[-1] / sweep[0]) / 12
        shown = [sweep[0]]
        for value in sweep[1:]:
            if np.log10(value / shown[-1]) >= least:
                shown.append(value)
    ax.set_xticks(shown, [selection.value(selection.section.sweep or "", value) for value in shown])
    ax.xaxis.set_minor_locator(NullLocator())


def _best(selection: Selection, metric: Metric, facet: Facet) -> str:
    if not metric.better:
        return ""
    parts = []
    for group in selection.groups:
        found = [(value, selection.final(metric, group, facet, value)) for value in selection.sweep_values]
        held = [(metric.better * float(estimate.value), value) for value, estimate in found if estimate is not None]
        if held:
            value = max(held, key=lambda pair: pair[0])[1]
            parts.append(f"{group.label} {names.value_label(selection.section.sweep or '', value)}")
    where = f" ({facet.label})" if facet.label else ""
    return f"Best for {metric.word}{where}: {', '.join(parts)}." if parts else ""


FIGURE = FigureKind("Sensitivity", Options, applies, draw)
