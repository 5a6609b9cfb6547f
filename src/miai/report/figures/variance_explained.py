"""How much of the variance of a result each factor, and each interaction, explains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from miai.report import style
from miai.report.figures import Drawing, FigureKind
from miai.report.metrics import TABLE_SIZE, Metric, number
from miai.report.selection import Selection
from miai.report.tables import Table
from miai.report.variance import HIGHER, SEEDS, Decomposition, Share, decompose

MOST_TERMS = 12


@dataclass(frozen=True)
class Options:
    """`factors`: the parameters; by default all that vary. `order`: the largest interaction that is shown by itself."""

    factors: tuple[str, ...] = ()
    metrics: tuple[str, ...] = (TABLE_SIZE, "eval/value")
    order: int = 2


def factors(selection: Selection, options: Options) -> tuple[str, ...]:
    """Return the factors: parameters that vary, without those that others decide."""
    if options.factors:
        return tuple(name for name in options.factors if name in selection.varying)
    shown = [name for name in (*selection.section.compare, selection.section.facet, selection.section.sweep) if name]
    return tuple(name for name in (*shown, *selection.pooled) if name in selection.varying)


def applies(selection: Selection, options: Options) -> str | None:
    if len(factors(selection, options)) < 2:
        return "fewer than two parameters vary"
    if not selection.resolve(options.metrics):
        return f"no run holds {' or '.join(options.metrics)}"
    return None


def draw(selection: Selection, options: Options) -> Drawing:
    metrics = selection.resolve(options.metrics)
    names = factors(selection, options)
    found = {metric.name: _decompose(selection, metric, names, options.order) for metric in metrics}
    terms = _terms(list(found.values()))
    figure, axes = style.panels(1, len(metrics), 0.6 + 0.23 * len(terms), sharey=True, sharex=True)
    labels = [_label(selection, term) for term in terms]
    for ax, metric in zip(axes[0], metrics, strict=True):
        by_term = {share.term: share for share in found[metric.name].shares}
        for place, term in enumerate(terms):
            share = by_term[term].eta_squared
            colour = style.FAINT if term in (SEEDS, HIGHER) else style.BLUE if len(term) == 1 else style.SKY
            ax.barh(place, share, height=0.68, color=colour)
            text = "< 0.1 %" if share < 0.0005 else f"{share * 100:.1f} %"
            ax.annotate(text, (share, place), xytext=(3, 0), textcoords="offset points", va="center", fontsize=7.5)
        ax.set_yticks(range(len(terms)), labels)
        ax.set_ylim(len(terms) - 0.4, -0.6)
        ax.set_xlim(0, 1.14)
        ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100"])
        ax.set_xlabel("share of variance η² (%)")
        ax.set_title(metric.word)
        ax.grid(visible=True, axis="x")
        ax.grid(visible=False, axis="y")
        ax.tick_params(axis="y", length=0)
    balanced = all(one.balanced for one in found.values())
    count = max(one.num_values for one in found.values())
    design = (
        "The design is balanced, so shares add up to 100 %."
        if balanced
        else "The design is not balanced: shares are of type II and need not add up to 100 %."
    )
    if not balanced:
        selection.note("Variance explained: not every combination of settings has equally many runs.")
    caption = (
        f"Share η² of the variance of final results over {count:,} runs (analysis of variance, type II). Dark: one "
        f"factor by itself; light: an interaction (×), beyond what its factors do; grey: what is left. {design}"
    )
    return Drawing(figure, caption, _table(selection, metrics, found))


def _decompose(selection: Selection, metric: Metric, names: tuple[str, ...], order: int) -> Decomposition:
    values = selection.all_finals(metric)
    rows = selection.runs.loc[values.index]
    return decompose(values.to_numpy(), {name: rows[name].to_numpy() for name in names}, order)


def _terms(found: list[Decomposition]) -> list[tuple[str, ...]]:
    """Terms in the order of their largest share; what is left comes last."""
    largest: dict[tuple[str, ...], float] = {}
    for one in found:
        for share in one.shares:
            largest[share.term] = max(largest.get(share.term, 0.0), share.eta_squared)
    ranked = sorted((term for term in largest if term not in (SEEDS, HIGHER)), key=lambda term: -largest[term])
    return [*ranked[:MOST_TERMS], *(term for term in (HIGHER, SEEDS) if term in largest)]


def _label(selection: Selection, term: tuple[str, ...]) -> str:
    return term[0] if term in (SEEDS, HIGHER) else " × ".join(selection.parameter(name) for name in term)


def _table(selection: Selection, metrics: tuple[Metric, ...], found: dict[str, Decomposition]) -> Table:
    records: list[dict[str, Any]] = []
    rows = []
    for metric in metrics:
        shares: tuple[Share, ...] = found[metric.name].shares
        for share in sorted(shares, key=lambda share: -share.eta_squared):
            label = _label(selection, share.term)
            records.append(
                {
                    "metric": metric.name,
                    "term": " x ".join(share.term),
                    "sum_of_squares": share.sum_of_squares,
                    "degrees_of_freedom": share.degrees_of_freedom,
                    "eta_squared": share.eta_squared,
                    "omega_squared": share.omega_squared,
                }
            )
            percents = (f"{number(value * 100, 1)} %" for value in (share.eta_squared, share.omega_squared))
            rows.append((metric.word, label, f"{share.degrees_of_freedom:,}", *percents))
    columns = ("result", "source", "degrees of freedom", "η²", "ω²")
    return Table("variance", "Variance explained", columns, tuple(rows), pd.DataFrame(records))


FIGURE = FigureKind("Variance explained", Options, applies, draw, by_default=False)
