"""A section's numbers as tables: an overview, the results, and which differences are real. And in sentences."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from miai.report.comparison import holm, probability_of_improvement
from miai.report.events import TOLERANCE
from miai.report.metrics import EXPLOITABILITY, TABLE_SIZE, Metric, number
from miai.report.statistics import Estimate, wilson
from miai.report.tables import Table

if TYPE_CHECKING:
    from miai.report.grouping import Facet, Group
from miai.report.selection import Selection

SIGNIFICANT = 0.05


def overview(selection: Selection) -> Table:
    """One row a group: seeds, entries, unbeatable k of n, and each metric's mean with its interval."""
    metrics = [metric for metric in selection.metrics if metric.name != TABLE_SIZE]
    sizes, exploits = selection.resolve((TABLE_SIZE,)), selection.resolve((EXPLOITABILITY,))
    columns = [*_place_columns(selection), "seeds" if not selection.pooled else "runs", *(size.label for size in sizes)]
    columns += [f"unbeatable{_seat(metric)}" for metric in exploits] + [f"{metric.word}, mean" for metric in metrics]
    rows, records = [], []
    for cell in _cells(selection):
        group, facet, sweep = cell
        row = [*_place(selection, *cell), f"{selection.count(group, facet, sweep):,}"]
        record: dict[str, Any] = {**_key(selection, *cell), "runs": selection.count(group, facet, sweep)}
        for size in sizes:
            mean = selection.final(size, group, facet, sweep, "mean")
            row.append("–" if mean is None else number(float(mean.value), 0))
            record[f"{size.name} mean"] = np.nan if mean is None else float(mean.value)
        for metric in exploits:
            text, numbers = _unbeatable(selection, metric, *cell)
            row.append(text)
            record.update(numbers)
        for metric in metrics:
            mean = selection.final(metric, group, facet, sweep, "mean")
            row.append(_with_interval(mean, metric))
            record.update(_numbers(metric.name, mean))
        rows.append(tuple(row))
        records.append(record)
    note = "Brackets: 95 % interval over seeds."
    if exploits:
        note += " Unbeatable: exploitability 0 at the end, with a 95 % Wilson interval."
    return Table("overview", "Overview", tuple(columns), tuple(rows), pd.DataFrame(records), note)


def results(selection: Selection) -> Table:
    """One row a metric and group: interquartile mean and mean with intervals, spread, extremes."""
    metrics = list(dict.fromkeys([*selection.metrics, *selection.resolve((TABLE_SIZE,))]))
    columns = ("result", *_place_columns(selection), "seeds", "IQM", "95 %", "mean", "95 %", "lowest", "highest")
    rows, records = [], []
    for metric in metrics:
        for cell in _cells(selection):
            values = selection.finals(metric, *cell).to_numpy()
            if not len(values):
                continue
            middle = selection.final(metric, *cell, "iqm")
            mean = selection.final(metric, *cell, "mean")
            low, high = float(values.min()), float(values.max())
            shown = [
                *_split(middle, metric),
                *_split(mean, metric),
                number(low, metric.digits),
                number(high, metric.digits),
            ]
            rows.append((metric.label, *_place(selection, *cell), f"{len(values):,}", *shown))
            records.append(
                {
                    "metric": metric.name,
                    **_key(selection, *cell),
                    "runs": len(values),
                    **_numbers("iqm", middle),
                    **_numbers("mean", mean),
                    "standard deviation": float(values.std(ddof=1)) if len(values) > 1 else np.nan,
                    "lowest": low,
                    "highest": high,
                }
            )
    note = (
        "IQM: mean of the middle half of the seeds, with a percentile bootstrap interval. Mean: with a studentised "
        "bootstrap interval (Wilson where a result takes two values only; Student's t below five seeds)."
    )
    return Table("results", "Results", columns, tuple(rows), pd.DataFrame(records), note)


def differences(selection: Selection) -> Table:
    """One row a metric and pair of groups: is the difference real?"""
    columns = [
        "result",
        *_place_columns(selection, with_group=False),
        "first",
        "second",
        "pairs",
        "difference",
        "95 %",
        "d",
        "P(first better)",
    ]
    columns += ["p", "p (Holm)", "verdict"]
    rows, records = [], []
    unpaired = False
    for metric in selection.metrics:
        found = []
        for facet in selection.facets:
            for sweep in selection.sweep_values:
                for first, second in combinations(selection.groups, 2):
                    compared = selection.compare(metric, first, second, facet, sweep)
                    if compared is None:
                        unpaired = True
                    else:
                        found.append((facet, sweep, first, second, compared))
        adjusted = holm(np.array([entry[-1].p_value for entry in found]))
        for (facet, sweep, first, second, compared), p_holm in zip(found, adjusted, strict=True):
            better = probability_of_improvement(
                (metric.better or 1) * selection.finals(metric, first, facet, sweep).to_numpy(),
                (metric.better or 1) * selection.finals(metric, second, facet, sweep).to_numpy(),
            )
            difference, real = compared.difference, p_holm < SIGNIFICANT
            leader = first if (metric.better or 1) * difference.value > 0 else second
            word = "better" if metric.better else "higher"
            verdict = f"{leader.label} {word}" if real else "not told apart"
            shared = _place(selection, None, facet, sweep)
            rows.append(
                (
                    metric.label,
                    *shared,
                    first.label,
                    second.label,
                    f"{compared.num_pairs:,}",
                    *_split(difference, metric, signed=True),
                    number(compared.effect, 2),
                    number(float(better.value), 2),
                    p_value(compared.p_value),
                    p_value(float(p_holm)),
                    verdict,
                )
            )
            records.append(
                {
                    "metric": metric.name,
                    **_key(selection, None, facet, sweep),
                    "first": first.label,
                    "second": second.label,
                    "pairs": compared.num_pairs,
                    **_numbers("difference", difference),
                    "effect size d": compared.effect,
                    **_numbers("probability first better", better),
                    "p": compared.p_value,
                    "p holm": float(p_holm),
                }
            )
    if unpaired:
        selection.note("Some groups share no seeds, or hold several runs of one: the table of differences lacks them.")
    note = (
        "Difference: first − second on common seeds, mean with a 95 % studentised bootstrap interval. d: mean over "
        "standard deviation of the differences (Hedges). p: sign-flip permutation test, two-sided; Holm's correction "
        "over all rows of one result. Verdict at 0.05."
    )
    return Table("differences", "Is the difference real?", tuple(columns), tuple(rows), pd.DataFrame(records), note)


def findings(selection: Selection) -> tuple[str, ...]:
    """Say in a sentence for each metric which group is best, and which others cannot be told apart from it."""
    sentences = []
    if len(selection.groups) < 2 or selection.section.sweep:
        return ()
    for metric in selection.metrics:
        for facet in selection.facets:
            held = [
                (group, found)
                for group in selection.groups
                if (found := selection.final(metric, group, facet, None, "mean"))
            ]
            if not metric.better or len(held) < 2:
                continue
            best, found = max(held, key=lambda pair: metric.better * float(pair[1].value))
            others = [group for group, _ in held if group is not best]
            tests = [selection.compare(metric, best, other, facet) for other in others]
            where = f" ({facet.label})" if facet.label else ""
            word = metric.word[0].upper() + metric.word[1:]
            sentence = f"{word}{where}: {best.label} is best, {_with_interval(found, metric)}"
            if any(test is None or test.num_pairs < 2 for test in tests):
                sentences.append(f"{sentence}; too few common seeds for a test.")
                continue
            adjusted = holm(np.array([test.p_value for test in tests if test is not None]))
            close = [other.label for other, p in zip(others, adjusted, strict=True) if p >= SIGNIFICANT]
            if len(close) == len(others):
                sentence += "; no other is told apart from it"
            elif close:
                sentence += f"; not told apart from it: {', '.join(close)}"
            else:
                sentence += "; every other is worse (p < 0.05, Holm)"
            sentences.append(sentence + ".")
    return tuple(sentences)


MAKERS = {"overview": overview, "results": results, "differences": differences}


def _cells(selection: Selection) -> list[tuple[Group, Facet, Any]]:
    return [
        (group, facet, sweep)
        for facet in selection.facets
        for group in selection.groups
        for sweep in selection.sweep_values
        if selection.count(group, facet, sweep)
    ]


def _place_columns(selection: Selection, with_group: bool = True) -> list[str]:
    section = selection.section
    columns = [selection.parameter(section.facet)] if section.facet and len(selection.facets) > 1 else []
    columns += [selection.compared] if with_group else []
    return [*columns, selection.parameter(section.sweep)] if section.sweep else columns


def _place(selection: Selection, group: Group | None, facet: Facet, sweep: Any) -> list[str]:
    section = selection.section
    place = [selection.value(section.facet, facet.value)] if section.facet and len(selection.facets) > 1 else []
    if group:  # Under the one compared parameter's name, its number stands alone.
        place += [selection.value(section.compare[0], group.key[0]) if len(section.compare) == 1 else group.label]
    return [*place, selection.value(section.sweep, sweep)] if section.sweep else place


def _key(selection: Selection, group: Group | None, facet: Facet, sweep: Any) -> dict[str, Any]:
    section = selection.section
    key = {section.facet: facet.value} if section.facet else {}
    if group:
        key.update(zip(section.compare, group.key, strict=True))
    return {**key, section.sweep: sweep} if section.sweep else key


def _seat(metric: Metric) -> str:
    return f" as {metric.label.partition(' as ')[2][:1]}" if " as " in metric.label else ""


def _unbeatable(
    selection: Selection, metric: Metric, group: Group, facet: Facet, sweep: Any
) -> tuple[str, dict[str, Any]]:
    values = selection.finals(metric, group, facet, sweep).to_numpy()
    if not len(values):
        return "–", {}
    count = int((np.abs(values) <= TOLERANCE).sum())
    share = wilson(count, len(values))
    text = f"{count} of {len(values)} [{float(share.low):.2f}, {float(share.high):.2f}]"
    name = f"unbeatable{_seat(metric)}"
    return text, {
        name: count,
        f"{name} of": len(values),
        f"{name} low": float(share.low),
        f"{name} high": float(share.high),
    }


def _with_interval(found: Estimate | None, metric: Metric) -> str:
    value, interval = _split(found, metric)
    return value if interval == "–" else f"{value} {interval}"


def _split(found: Estimate | None, metric: Metric, signed: bool = False) -> tuple[str, str]:
    if found is None:
        return "–", "–"
    digits = 1 if metric.digits == 0 else metric.digits
    value, low, high = (number(float(part), digits) for part in found)
    if signed and float(found.value) > 0:
        value = f"+{value}"
    return value, "–" if np.isnan(found.low) else f"[{low}, {high}]"


def _numbers(name: str, found: Estimate | None) -> dict[str, float]:
    value, low, high = (np.nan,) * 3 if found is None else (float(part) for part in found)
    return {name: value, f"{name} low": low, f"{name} high": high}


def p_value(p: float) -> str:
    """Write a p-value: three decimals, or a power of ten where these would be 0.001 or less."""
    if p >= 0.001:
        return f"{p:.3f}"
    digit, exponent = f"{p:.0e}".split("e")
    return f"{digit} · 10{str(int(exponent)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
