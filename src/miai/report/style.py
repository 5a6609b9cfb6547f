"""How figures look: sizes, fonts, and a colour, line and marker for each algorithm that are the same in every figure.

Colours are Okabe and Ito's (2008), which colour-blind people tell apart; lines and markers say the same again in print.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from miai.report.metrics import Metric

WIDTH = 7.2
"""Inches: the width of a page's text, so that a figure is printed at its own size."""
INK = "#222222"
FAINT = "#8a8a8a"
BAND = 0.18
"""Opacity of an interval's band."""

LineStyle = Any
"""What Matplotlib takes as a line style: a name, or an offset with a pattern."""
SOLID: LineStyle = "-"
DASHED: LineStyle = (0, (5, 1.6))
DOTTED: LineStyle = (0, (1.2, 1.2))
DASH_DOT: LineStyle = (0, (6, 1.5, 1.2, 1.5))
LONG: LineStyle = (0, (9, 2))
DOUBLE_DOT: LineStyle = (0, (6, 1.5, 1.2, 1.5, 1.2, 1.5))
LINES = (SOLID, DASHED, DOTTED, DASH_DOT, LONG, DOUBLE_DOT)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")


@dataclass(frozen=True)
class Style:
    colour: str
    line: LineStyle
    marker: str


BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#B5559B"
SKY, ORANGE, BROWN, GREY, BLACK = "#56B4E9", "#E69F00", "#7A5230", "#6E6E6E", "#000000"

FIXED = {
    "mc": Style(VERMILLION, DASHED, "s"),
    "sarsa": Style(BLUE, SOLID, "o"),
    "q_learning": Style(GREEN, DASH_DOT, "^"),
    "afterstate": Style(PURPLE, DOTTED, "D"),
    "expected_sarsa": Style(SKY, LONG, "v"),
    "afterstate_q": Style(ORANGE, DOUBLE_DOT, "P"),
    "afterstate_mc": Style(BROWN, DASHED, "X"),
    "double_q": Style(BLACK, DASH_DOT, "<"),
    "n_step_sarsa": Style(GREY, SOLID, ">"),
    "flat_mc": Style(VERMILLION, DASHED, "s"),
    "ucb": Style(GREEN, DASH_DOT, "^"),
    "uct": Style(BLUE, SOLID, "o"),
}
ORDER = (*FIXED, "random", "advanced", "minimax", "mixture", "self", "table", "exponential", "linear", "constant")
"""Known values of parameters come first, in this order."""
CYCLE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BROWN, BLACK, GREY)


def styles(values: Sequence[Any]) -> dict[Any, Style]:
    """Give each of some values, in the order in which they are drawn, its style.

    That is the fixed one if it has one, a shade if all are numbers, else the next free colour.
    """
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if len(numbers) == len(values) and len(values) > 1:
        from matplotlib import colormaps
        from matplotlib.colors import to_hex

        shades = colormaps["viridis"](np.linspace(0.0, 0.85, len(values)))
        return {
            v: Style(to_hex(shades[i]), LINES[i % len(LINES)], MARKERS[i % len(MARKERS)]) for i, v in enumerate(values)
        }
    taken = {FIXED[value].colour for value in values if value in FIXED}
    free = [colour for colour in CYCLE if colour not in taken] or list(CYCLE)
    found, i = {}, 0
    for value in values:
        if value in FIXED:
            found[value] = FIXED[value]
        else:
            found[value] = Style(free[i % len(free)], LINES[i % len(LINES)], MARKERS[i % len(MARKERS)])
            i += 1
    return found


@contextmanager
def drawing() -> Iterator[None]:
    """Set Matplotlib's parameters for our figures, and set them back at the end."""
    import matplotlib as mpl
    import seaborn as sns

    ours: Any = {
        **sns.axes_style("ticks"),
        **sns.plotting_context("paper"),
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": 8.5,
        "axes.labelsize": 8.5,
        "axes.titlesize": 9,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.titlepad": 5,
        "xtick.labelsize": 8,
        "ytick.labelsize": 8,
        "legend.fontsize": 8.5,
        "legend.frameon": False,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 0.8,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "lines.linewidth": 1.5,
        "lines.markersize": 4,
        "axes.grid": True,
        "axes.grid.axis": "y",
        "grid.color": "#e6e6e6",
        "grid.linewidth": 0.6,
        "axes.axisbelow": True,
        "pdf.fonttype": 42,
        "svg.fonttype": "none",
        "axes.unicode_minus": True,
    }
    with mpl.rc_context(ours):
        yield


def panels(rows: int, columns: int, height: float, width: float = WIDTH, **share: Any) -> tuple[Figure, np.ndarray]:
    """Return a figure that no global list knows, and its axes [rows, columns]; `height` is a row's, in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height * rows + 0.35), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False, **share)


def grid_of(count: int, most_columns: int = 2) -> tuple[int, int]:
    """Rows and columns for so many panels."""
    columns = min(count, most_columns)
    return -(-count // columns), columns


def metric_panels(
    num_metrics: int, facets: Sequence[str], height: float, *, share_y: bool = False, share_x: bool = True
) -> tuple[Figure, list[list[Any]], list[Any]]:
    """Lay out panels for metrics: two a row, or with several facets a row a metric and a column a facet.

    Returns:
        The figure, each metric's panels, and the lowest panel of each column, where the horizontal axis is named.
    """
    if len(facets) > 1:
        figure, axes = panels(num_metrics, len(facets), height * 0.85, sharex=share_x or "row", sharey=share_y or "row")
        for ax, facet in zip(axes[0], facets, strict=True):
            ax.set_title(facet)
        return figure, [list(row) for row in axes], list(axes[-1])
    rows, columns = grid_of(num_metrics)
    figure, axes = panels(rows, columns, height, sharex=share_x, sharey=share_y)
    used, unused = list(axes.flat[:num_metrics]), axes.flat[num_metrics:]
    for ax in unused:
        ax.remove()
    lowest = used[-columns:]
    for ax in lowest:
        ax.tick_params(labelbottom=True)
    return figure, [[ax] for ax in used], lowest


def legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str], most_columns: int = 4) -> None:
    """Put one legend above all panels."""
    if not labels:
        return
    widest = max(len(label) for label in labels)
    columns = max(1, min(len(labels), most_columns, int(100 / (widest + 8))))
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, handlelength=3.2, columnspacing=1.6)


def handle(style: Style, line: bool = True) -> Any:
    """A legend's line with its marker, or the marker alone."""
    from matplotlib.lines import Line2D

    drawn: LineStyle = style.line if line else "none"
    return Line2D([], [], color=style.colour, linestyle=drawn, marker=style.marker, markersize=4.5)


def thousands(axis: Any) -> None:
    """Write ticks of an axis of whole numbers: 8,000, but 2.5 M."""
    from matplotlib.ticker import FuncFormatter

    def words(value: float, _: int | None) -> str:
        return f"{value / 1e6:g} M" if abs(value) >= 1e6 else f"{value:,.0f}".replace("-", "−")

    axis.set_major_formatter(FuncFormatter(words))


def near_zero(ax: Axes, values: np.ndarray, which: str = "y") -> str:
    """Make an axis logarithmic; if some of the `values` drawn on it are 0, linear below a power of ten, down to 0.

    Returns:
        What kind of axis it became, for the caption.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, SymmetricalLogLocator

    set_scale, axis = (ax.set_yscale, ax.yaxis) if which == "y" else (ax.set_xscale, ax.xaxis)
    set_limits = ax.set_ylim if which == "y" else ax.set_xlim
    plain = FuncFormatter(lambda value, _: "0" if value == 0 else f"{value:.7f}".rstrip("0").rstrip("."))
    values = values[np.isfinite(values)]
    positive = values[values > 0]
    if len(positive) and len(positive) == len(values):
        decades = np.log10(positive.max() / positive.min())
        set_scale("log")
        set_limits(positive.min() * 10 ** (-0.05 * decades - 0.02), positive.max() * 10 ** (0.05 * decades + 0.02))
        subs = (1.0,) if decades > 2 else (1.0, 2.0, 5.0)
        axis.set_major_locator(LogLocator(subs=subs, numticks=12))
        axis.set_minor_locator(LogLocator(subs=list(range(1, 10)), numticks=12))
        axis.set_minor_formatter(NullFormatter())
        axis.set_major_formatter(plain)
        return "logarithmic"
    smallest = positive.min() if len(positive) else 1e-3
    largest = max(float(values.max(initial=0)), float(smallest))
    # At most three decades: below, a mean is one run's rounding more or less.
    threshold = float(10.0 ** max(np.floor(np.log10(smallest)), np.floor(np.log10(largest)) - 2))
    set_scale("symlog", linthresh=threshold, linscale=0.6)
    set_limits(0, largest * 1.35)
    axis.set_major_locator(SymmetricalLogLocator(base=10, linthresh=threshold))
    axis.set_minor_locator(SymmetricalLogLocator(base=10, linthresh=threshold, subs=list(range(2, 10))))
    axis.set_major_formatter(plain)
    return f"logarithmic above {threshold:g} and linear from there to 0"


def within(ax: Axes, metric: Metric) -> None:
    """Keep a vertical axis to what the metric can be; where 0 is the best value it is on the axis."""
    low, high = ax.get_ylim()
    if metric.best == 0:
        high = high if ax.dataLim.y1 > 0 else 1.0
        low = -0.03 * high
    ax.set_ylim(low, min(high, metric.bounds[1]))


def two_lines(label: str) -> str:
    """Put the unit of an axis label on a line of its own."""
    return label.replace(" (", "\n(", 1)


def reference_line(ax: Axes, value: float, label: str, at_top: bool = True) -> None:
    """Draw a known value across a panel, its name at the right end."""
    ax.axhline(value, color=FAINT, linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
    text = ax.annotate(
        label,
        (1.0, value),
        xycoords=ax.get_yaxis_transform(),
        xytext=(-2, 2 if at_top else -2),
        textcoords="offset points",
        ha="right",
        va="bottom" if at_top else "top",
        fontsize=7,
        color="#5a5a5a",
    )
    text.set_in_layout(False)  # A long name must not squeeze the panel.


def spread(count: int, width: float) -> np.ndarray:
    """Offsets [count] in ±width that keep points apart: the golden ratio's sequence, the same at each drawing."""
    return ((np.arange(1, count + 1) * 0.6180339887498949) % 1.0 - 0.5) * 2 * width


def reference_lines(ax: Any, values: Mapping[str, float]) -> None:
    """Draw known values of the horizontal axis as lines, with their names above them."""
    for label, value in values.items():
        ax.axvline(value, color=FAINT, linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
        ax.annotate(
            label,
            (value, 1.0),
            xycoords=ax.get_xaxis_transform(),
            xytext=(-2, 1),
            textcoords="offset points",
            ha="right",
            va="bottom",
            fontsize=7,
            color="#5a5a5a",
        )
