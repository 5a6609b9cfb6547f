"""Games until a run is unbeatable for good, as an empirical distribution over seeds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from miai.report import events, style
from miai.report.figures import Drawing, FigureKind
from miai.report.figures.learning_curves import label_steps
from miai.report.metrics import EXPLOITABILITY
from miai.report.selection import Selection


@dataclass(frozen=True)
class Options:
    """`metric`: what has to stay 0."""

    metric: str = EXPLOITABILITY
    step: str = "games"


def applies(selection: Selection, options: Options) -> str | None:
    if selection.section.sweep:
        return f"{selection.parameter(selection.section.sweep)} is swept: see the figure over it"
    metrics = selection.resolve((options.metric,))
    if not any(
        selection.curves(metric, group, facet)
        for metric in metrics
        for group in selection.groups
        for facet in selection.facets
    ):
        return f"no run holds {options.metric} over {options.step}"
    return None


def draw(selection: Selection, options: Options) -> Drawing:
    panels = [(m, f) for m in selection.resolve((options.metric,)) for f in selection.facets]
    rows, columns = style.grid_of(len(panels), 3 if len(panels) > 2 else 2)
    figure, axes = style.panels(rows, columns, 2.7 if len(panels) == 1 else 2.5, sharey=True, sharex=True)
    spacing, ends = set(), set()
    for ax, (metric, facet) in zip(axes.flat, panels, strict=False):
        handles, labels = [], []
        for group in selection.groups:
            times, horizons = selection.times(metric, group, facet)
            if not len(times):
                continue
            found = events.distribution(times)
            end = horizons.max()
            ends |= set(horizons.tolist())
            x = np.concatenate(([0.0], found.times, [end]))
            y = np.concatenate(([0.0], found.share, found.share[-1:] if len(found.share) else [0.0]))
            look = group.style
            ax.step(x, y, where="post", color=look.colour, linestyle=look.line, linewidth=1.7)
            ax.plot(end, y[-1], marker=look.marker, color=look.colour, markersize=4.5, clip_on=False, zorder=5)
            handles.append(style.handle(look))
            labels.append(f"{group.label} ({np.isfinite(times).sum()} of {len(times)})")
            curves = selection.curves(metric, group, facet)
            if curves is not None and len(curves.steps) > 1:
                spacing.add(int(np.diff(curves.steps).max()))
        seat = metric.label.partition(" as ")[2][:1]
        ax.set_title(" · ".join(filter(None, (f"as {seat}" if seat else "", facet.label))))
        ax.legend(handles, labels, loc="best", handlelength=3.0, fontsize=7.5 if len(panels) > 1 else 8.5)
        ax.set_ylim(-0.02, 1.02)
        label_steps(ax, options.step)
    for ax in axes[:, 0]:
        ax.set_ylabel("share of runs unbeatable")
    for ax in axes.flat[len(panels) :]:
        ax.remove()
    resolution = f" Seen at checkpoints every {max(spacing):,} {options.step}." if spacing else ""
    horizon = " Runs end at different numbers of games; each counts to its own end." if len(ends) > 1 else ""
    word = selection.metric(options.metric).word
    caption = (
        f"Share of runs that are unbeatable for good: from that checkpoint to the end, {word} stays 0. In brackets: "
        f"how many of all runs get there; those that never do stay in the denominator.{resolution}{horizon}"
    )
    return Drawing(figure, caption)


FIGURE = FigureKind("Games until unbeatable", Options, applies, draw)
