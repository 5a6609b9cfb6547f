"""The runs of one section, grouped: what every figure and table asks its numbers from.

A *group* is a value of what the section compares (an algorithm), a *facet* a value of what it splits panels by.
Estimates are kept, so that figures and tables that need the same ones compute them once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import pandas as pd

from miai.errors import MiaiError, choose
from miai.report import events, metrics
from miai.report.comparison import PairedComparison, compare_paired
from miai.report.grouping import MOST_NOTES, Facet, Group, keep_runs, make_groups, missing_seeds, ordered, plain
from miai.report.load import StudyData
from miai.report.metrics import Metric
from miai.report.spec import Section
from miai.report.statistics import Estimate, Statistic, describe, estimate

SEED = 0
"""Seed of all resampling: the same runs give the same report."""
ExactValues = Callable[[Mapping[str, Any], tuple[int, ...]], Mapping[int, float] | None]
"""From a run's parameters and the cells played so far to the exact value of each move by cell, `None` if unknown."""
NOT_A_SETTING = ("seed", "stage", "study")
"""Parameters whose values do not make two runs different experiments."""


@dataclass(frozen=True)
class Curves:
    """A metric over a run's steps: `steps` [num_points], `values` [num_runs, num_points]."""

    steps: np.ndarray
    values: np.ndarray


class Selection:
    """One section's runs.

    Attributes:
        section, data: what it was made from.
        runs: the rows of `data.runs` that the section keeps.
        groups, facets: in the order in which they are drawn; one facet without a label if the section names none.
        sweep_values: ascending values of the swept parameter; `(None,)` if there is none.
        metrics: what the section shows of what its runs hold.
        exact: gives the exact value of each move by cell for a run's parameters, where the caller knows it.
        notes: what a reader has to know; figures and tables add to it.
    """

    def __init__(
        self,
        data: StudyData,
        section: Section,
        labels: Mapping[str, str] | None = None,
        exact: ExactValues | None = None,
    ) -> None:
        self.data, self.section, self.labels = data, section, dict(labels or {})
        self.exact = exact
        where = f"report of {data.study!r}" + (f", section {section.title!r}" if section.title else "")
        named = (*section.compare, *filter(None, (section.facet, section.sweep)), *section.where)
        if section.stages and "stage" in data.parameters and not data.runs["stage"].isin(section.stages).any():
            # Nobody knows yet which parameters the runs of these stages will have.
            self.runs = data.runs.iloc[:0].reindex(columns=list(dict.fromkeys([*data.runs.columns, *named])))
        else:
            for name in named:
                choose(name, data.parameters, f"{where}: parameter")
            self.runs = keep_runs(data, section, where)
        self._notes: dict[str, None] = {}
        self._kept: dict[tuple, Any] = {}
        self._keys = list(zip(*(plain(self.runs[name]) for name in section.compare), strict=True))
        self._facet_values = plain(self.runs[section.facet]) if section.facet else [None] * len(self.runs)
        self._sweep_values = plain(self.runs[section.sweep]) if section.sweep else [None] * len(self.runs)
        everywhere = [set(plain(data.runs[name])) if name in data.runs else set() for name in section.compare]
        self.groups = make_groups(section.compare, self._keys, everywhere, self._name)
        self.facets = tuple(
            Facet(
                value, f"{self.parameter(section.facet)}: {self.value(section.facet, value)}" if section.facet else ""
            )
            for value in ordered(set(self._facet_values))
        )
        self.sweep_values = tuple(ordered(set(self._sweep_values)))
        if section.sweep and not all(isinstance(v, (int, float)) for v in self.sweep_values):
            raise MiaiError(f"{where}.sweep: {section.sweep!r} takes values that are not numbers: {self.sweep_values}.")
        self.metrics = self.resolve(section.metrics or metrics.DEFAULTS)
        if section.metrics:
            for name in section.metrics:
                if not self.resolve((name,)):
                    self.note(f"No run holds the metric {name}: left out.")
        self._note_pooling()
        self._note_seeds()

    # Names

    def parameter(self, name: str) -> str:
        return metrics.parameter_label(name, self.labels)

    def value(self, name: str, value: object) -> str:
        return metrics.value_label(name, value, self.labels)

    def _name(self, parameter: str, value: object) -> str:
        """A value that speaks for itself, or with its parameter's name where it is a number."""
        text = self.value(parameter, value)
        return text if isinstance(value, str) else f"{self.parameter(parameter)} {text}"

    def metric(self, name: str) -> Metric:
        return metrics.describe(name, self.labels)

    def resolve(self, names: tuple[str, ...]) -> tuple[Metric, ...]:
        """Return the metrics of these names that some run holds; one for each seat, where some table plays both."""
        found = dict.fromkeys(column for name in names for column in metrics.seats_of(name, self.available))
        return tuple(self.metric(name) for name in found)

    @cached_property
    def available(self) -> tuple[str, ...]:
        """Metrics, final or over steps, that at least one run of the section holds."""
        finals = [name for name in self.data.metrics if self.runs[name].notna().any()]
        history = self.data.history
        held = history[history["run_id"].isin(set(self.runs["run_id"]))]
        over_steps = [name for name in held.columns[2:] if held[name].notna().any()]
        return tuple(dict.fromkeys([*finals, *over_steps]))

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(self._notes)

    def note(self, text: str) -> None:
        self._notes[text] = None

    # Runs

    @property
    def compared(self) -> str:
        return " and ".join(self.parameter(name) for name in self.section.compare)

    def rows(self, group: Group | None = None, facet: Facet | None = None, sweep: Any = None) -> pd.DataFrame:
        """Return the runs of a group, a facet and a swept value; each may be left open."""
        chosen = [
            (group is None or key == group.key)
            and (facet is None or facet.label == "" or own == facet.value)
            and (sweep is None or swept == sweep)
            for key, own, swept in zip(self._keys, self._facet_values, self._sweep_values, strict=True)
        ]
        return self.runs[chosen]

    def count(self, group: Group | None = None, facet: Facet | None = None, sweep: Any = None) -> int:
        return len(self.rows(group, facet, sweep))

    @property
    def varying(self) -> tuple[str, ...]:
        """Settings that take more than one value in the section."""
        return tuple(
            name for name in self.data.parameters if name not in NOT_A_SETTING and len(set(plain(self.runs[name]))) > 1
        )

    @cached_property
    def pooled(self) -> tuple[str, ...]:
        """Settings that vary inside a group: its runs are then more than seeds of one experiment."""
        shown = [name for name in (*self.section.compare, self.section.facet, self.section.sweep) if name]
        names = sorted(self.varying, key=lambda name: not name.endswith(".name"))
        return tuple(name for name in self.independent((*shown, *names)) if name not in shown)

    def independent(self, names: Iterable[str]) -> tuple[str, ...]:
        """Leave out of some parameters those that earlier ones decide, as `schedule.name` decides `schedule.decay`."""
        kept: list[str] = []
        for name in dict.fromkeys(names):
            cells = list(zip(*(plain(self.runs[known]) for known in kept), strict=True)) or [()] * len(self.runs)
            if len(set(zip(cells, plain(self.runs[name]), strict=True))) > len(set(cells)):
                kept.append(name)
        return tuple(kept)

    def seeds(self, counts: list[int] | None = None) -> str:
        """Say how many seeds stand behind each group, for a caption."""
        counts = counts or [
            c for g in self.groups for f in self.facets for s in self.sweep_values if (c := self.count(g, f, s))
        ]
        low, high = min(counts, default=0), max(counts, default=0)
        word = "runs" if self.pooled else "seed" if high == 1 else "seeds"
        return f"{low} {word}" if low == high else f"{low} to {high} {word}"

    def interval(self, mark: str = "band", statistic: str | None = None) -> str:
        """Say for a caption what is drawn: the statistic, over how many seeds, with which interval."""
        statistic = statistic or self.section.statistic
        counts = [c for g in self.groups for f in self.facets for s in self.sweep_values if (c := self.count(g, f, s))]
        words = {"mean": "mean", "iqm": "interquartile mean (of the middle half)"}[statistic]
        kinds = dict.fromkeys(describe(cast(Statistic, statistic), count) for count in sorted(counts, reverse=True))
        return f"{words} over {self.seeds(counts)}; {mark}: {', or '.join(kinds)}"

    # Numbers

    def finals(self, metric: Metric, group: Group, facet: Facet, sweep: Any = None) -> pd.Series:
        """Return a metric's final values, indexed by what pairs runs of two groups: the seed, and pooled settings."""
        key = ("finals", metric.name, group.key, facet.value, sweep)
        if key not in self._kept:
            rows = self.rows(group, facet, sweep)
            values = self._finals(metric.name, rows)
            by = [name for name in ("seed", *self.pooled) if name in rows.columns]
            index = list(zip(*(plain(rows[name]) for name in by), strict=True)) if by else list(rows["run_id"])
            series = pd.Series(values, index=pd.Index(index, tupleize_cols=False), dtype=np.float64)
            self._kept[key] = series[np.isfinite(series.to_numpy())]
        return self._kept[key]

    def all_finals(self, metric: Metric) -> pd.Series:
        """Return a metric's final values of all runs that hold it, indexed as `runs` is."""
        values = pd.Series(self._finals(metric.name, self.runs), self.runs.index)
        return values[np.isfinite(values.to_numpy())]

    def final(
        self, metric: Metric, group: Group, facet: Facet, sweep: Any = None, statistic: str | None = None
    ) -> Estimate | None:
        """Estimate a metric's final value, or `None` if no run holds it."""
        statistic = statistic or self.section.statistic
        key = ("final", metric.name, group.key, facet.value, sweep, statistic)
        if key not in self._kept:
            values = self.finals(metric, group, facet, sweep).to_numpy()
            self._kept[key] = (
                estimate(values, cast(Statistic, statistic), seed=SEED, bounds=metric.bounds) if len(values) else None
            )
        return self._kept[key]

    def curves(self, metric: Metric, group: Group, facet: Facet) -> Curves | None:
        """Return a metric over steps for all runs of a group, or `None` if no run holds it.

        Where checkpoints differ, values are interpolated linearly on the steps of the run that has fewest, within the
        range that all cover.
        """
        key = ("curves", metric.name, group.key, facet.value)
        if key not in self._kept:
            self._kept[key] = self._align(metric, group, facet)
        return self._kept[key]

    def band(self, metric: Metric, group: Group, facet: Facet) -> tuple[np.ndarray, Estimate] | None:
        """Return steps [num_points] and the section's statistic with its interval at each."""
        curves = self.curves(metric, group, facet)
        if curves is None:
            return None
        key = ("band", metric.name, group.key, facet.value)
        if key not in self._kept:
            statistic = cast(Statistic, self.section.statistic)
            self._kept[key] = estimate(curves.values, statistic, seed=SEED, bounds=metric.bounds)
        return curves.steps, self._kept[key]

    def times(self, metric: Metric, group: Group, facet: Facet, sweep: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Return for each run when a metric becomes 0 for good (`events.NEVER` if it does not), and its last step."""
        times, horizons = [], []
        for steps, values in self._all_series(metric, self.rows(group, facet, sweep)):
            if len(steps):
                times.append(events.first_lasting_zero(steps, values))
                horizons.append(float(steps[-1]))
        return np.array(times), np.array(horizons)

    def compare(
        self, metric: Metric, first: Group, second: Group, facet: Facet, sweep: Any = None
    ) -> PairedComparison | None:
        """Compare the final values of two groups on the seeds that both have, or `None` if there are none."""
        if self.groups.index(first) > self.groups.index(second):
            opposite = self.compare(metric, second, first, facet, sweep)
            return opposite and opposite.reversed()
        key = ("compare", metric.name, first.key, second.key, facet.value, sweep)
        if key not in self._kept:
            a, b = self.finals(metric, first, facet, sweep), self.finals(metric, second, facet, sweep)
            shared = [pair for pair in a.index if pair in set(b.index)]
            unique = a.index.is_unique and b.index.is_unique
            self._kept[key] = (
                compare_paired(a[shared].to_numpy(), b[shared].to_numpy(), seed=SEED) if shared and unique else None
            )
        return self._kept[key]

    def keep(self, key: tuple, make: Callable[[], Any]) -> Any:
        """Return what was kept under a key, made at the first time."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def _seats(self, rows: pd.DataFrame) -> list:
        return plain(rows["seat"]) if "seat" in self.data.parameters else [None] * len(rows)

    def _finals(self, name: str, rows: pd.DataFrame) -> np.ndarray:
        """Return a metric's final values [num_rows]: as logged at the end, else of the last checkpoint, else NaN."""
        values = np.full(len(rows), np.nan)
        for i, (run_id, seat) in enumerate(zip(rows["run_id"], self._seats(rows), strict=True)):
            column = metrics.column_for(name, seat)
            if column in self.data.finals:
                values[i] = self.data.finals[column][run_id]
            elif column is not None:
                _, over_steps = self._series(run_id, column)
                values[i] = over_steps[-1] if len(over_steps) else np.nan
        return values

    def _series(self, run_id: str, name: str | None) -> tuple[np.ndarray, np.ndarray]:
        rows = self.data.rows.get(run_id)
        if rows is None or name is None or name not in self.data.columns:
            return np.empty(0, np.int64), np.empty(0)
        values = self.data.columns[name][rows]
        there = np.isfinite(values)
        return self.data.columns["step"][rows][there], values[there]

    def _all_series(self, metric: Metric, rows: pd.DataFrame) -> list[tuple[np.ndarray, np.ndarray]]:
        return [
            self._series(run_id, metrics.column_for(metric.name, seat))
            for run_id, seat in zip(rows["run_id"], self._seats(rows), strict=True)
        ]

    def _align(self, metric: Metric, group: Group, facet: Facet) -> Curves | None:
        rows = self.rows(group, facet)
        series = self._all_series(metric, rows)
        held = [(steps, values) for steps, values in series if len(steps)]
        if not held:
            return None
        where = " · ".join(filter(None, (group.label, facet.label)))
        if len(held) < len(series):
            self.note(f"{where}: {len(series) - len(held)} of {len(series)} runs hold no {metric.word} over games.")
        steps = held[0][0]
        if all(np.array_equal(steps, own) for own, _ in held[1:]):
            return Curves(steps, np.stack([values for _, values in held]))
        start, end = max(own[0] for own, _ in held), min(own[-1] for own, _ in held)
        steps = min((own for own, _ in held), key=len)
        steps = steps[(steps >= start) & (steps <= end)]
        if not len(steps):
            self.note(f"{where}: runs share no range of games, so no curve of {metric.word} is drawn.")
            return None
        self.note(
            "Checkpoints differ between runs of one group; its curves are interpolated linearly on the coarsest ones, "
            f"up to the {end:,} games that all its runs played."
        )
        return Curves(steps, np.stack([np.interp(steps, own, values) for own, values in held]))

    # Making

    def _note_pooling(self) -> None:
        if self.pooled:
            names = ", ".join(
                f"{self.parameter(name)} ({len(set(plain(self.runs[name])))} values)" for name in self.pooled
            )
            self.note(
                f"Groups pool runs that differ in more than their seed: {names}. Means and intervals then cover these "
                "settings too, and differences are paired on them."
            )

    def _note_seeds(self) -> None:
        """Say which seeds are missing where."""
        if self.runs.empty:
            return
        if "seed" not in self.data.parameters:
            self.note("Runs carry no seed: they cannot be paired.")
            return
        shown = filter(None, (*self.section.compare, self.section.facet, self.section.sweep, *self.pooled))
        by = [name for name in dict.fromkeys(shown) if name in self.section.compare or name in self.varying]
        cells = zip(*(plain(self.runs[name]) for name in by), strict=True)
        total, lacking = missing_seeds(cells, plain(self.runs["seed"]))
        for cell, missing in list(lacking.items())[:MOST_NOTES]:
            name = " · ".join(self._name(parameter, value) for parameter, value in zip(by, cell, strict=True))
            listed = ", ".join(map(str, missing[:10])) + (f" and {len(missing) - 10} more" if len(missing) > 10 else "")
            self.note(
                f"Unbalanced seeds: {name} has {total - len(missing)} of {total}; missing: {listed}. "
                "Paired differences use the seeds that both groups have."
            )
        if len(lacking) > MOST_NOTES:
            self.note(f"Unbalanced seeds in {len(lacking) - MOST_NOTES} more groups.")
