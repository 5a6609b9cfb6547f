"""Errors of a value network by move number, beside those of playouts: Silver et al. (2016), Fig. 2b."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from miai.report import style
from miai.report.figures import Drawing, FigureKind
from miai.report.grouping import Facet, Group
from miai.report.selection import Selection
from miai.report.tables import Table

BY_MOVE_FILE = "mse_by_move.csv"
"""An artifact of task `value`: a row a range of moves; errors in columns that end in `_mse`, empty where unknown."""
FIRST, LAST, POSITIONS, ENDING = "first_move", "last_move", "positions", "_mse"
NETWORK = "value"
CONSTANT, EQUAL_TIME = "test/mse_constant", "test/rollouts_at_equal_time"


@dataclass(frozen=True)
class Options:
    """`playouts`: numbers of playouts whose errors are drawn too; by default all that were measured."""

    playouts: tuple[int, ...] = ()


def applies(selection: Selection, options: Options) -> str | None:
    for run_id in selection.runs["run_id"]:
        if selection.data.artifact(run_id, BY_MOVE_FILE) is not None:
            return None
    return f"no run holds {BY_MOVE_FILE}"


def draw(selection: Selection, options: Options) -> Drawing:
    from matplotlib.ticker import MaxNLocator

    cells = [(group, facet) for facet in selection.facets for group in selection.groups]
    found = [(*cell, table) for cell in cells if (table := errors(selection, *cell)) is not None]
    rows, columns = style.grid_of(len(found), 2)
    width = style.WIDTH if columns > 1 else 0.72 * style.WIDTH
    figure, axes = style.panels(rows, columns, 2.7, width, sharex=True, sharey=True)
    names = _lines(found[0][2].columns, options)
    looks = _looks(names)
    for ax, (group, facet, table) in zip(axes.flat, found, strict=False):
        _panel(ax, table, looks)
        constant = selection.finals(selection.metric(CONSTANT), group, facet)
        if len(constant):
            style.reference_line(ax, float(constant.mean()), "always the mean result", at_top=False)
        if len(found) > 1:
            ax.set_title(" · ".join(filter(None, (group.label, facet.label))))
    for ax in axes.flat[len(found) :]:
        ax.remove()
    for ax in axes[-1]:
        ax.set_xlabel("moves before the position")
        ax.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    for row in axes:
        row[0].set_ylabel("mean of (z − v)², z = ±1")
        row[0].set_ylim(bottom=0)
    handles = [style.handle(look) for look in looks.values()]
    style.legend(figure, handles, [_label(name) for name in looks], most_columns=2 * columns)
    counts = sum(int(table[POSITIONS].sum()) for *_, table in found)
    equal = selection.all_finals(selection.metric(EQUAL_TIME))
    time = f" In the time of one value there are {equal.mean():.1f} playouts." if len(equal) else ""
    caption = (
        "Error of what is said of a test position, by the moves before it: of the value network, and of the mean "
        f"result of playouts; {counts:,} positions, of {selection.seeds()}. 0 is perfect.{time}"
    )
    return Drawing(figure, caption, _table(selection, found, list(looks)))


def errors(selection: Selection, group: Group, facet: Facet) -> pd.DataFrame | None:
    """Return the errors by range of moves of a group's runs, each range a mean over its positions; `None` without any.

    Runs whose ranges are not those of the first one are left out, with a note.
    """
    tables: list[pd.DataFrame] = []
    for run_id in selection.rows(group, facet)["run_id"]:
        path = selection.data.artifact(run_id, BY_MOVE_FILE)
        if path is not None:
            tables.append(_read(path))
    if not tables:
        return None
    width = _width(tables[0])
    alike = [table for table in tables if _width(table) == width]
    if len(alike) < len(tables):
        selection.note(
            f"{group.label}: {len(tables) - len(alike)} of {len(tables)} runs have other ranges of moves, and are left "
            "out of the errors by move."
        )
    joined = pd.concat(alike)
    names = [name for name in joined.columns if name.endswith(ENDING)]
    rows = []
    for (first, last), own in joined.groupby([FIRST, LAST], sort=True):
        row = {FIRST: first, LAST: last, POSITIONS: own[POSITIONS].sum()}
        for name in names:
            known = own[own[name].notna()]
            row[name] = np.average(known[name], weights=known[POSITIONS]) if len(known) else np.nan
        rows.append(row)
    return pd.DataFrame(rows)


def _read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path)


def _width(table: pd.DataFrame) -> int:
    return int(table[LAST].iloc[0] - table[FIRST].iloc[0])


def _lines(columns: Any, options: Options) -> list[str]:
    names = [str(name).removesuffix(ENDING) for name in columns if str(name).endswith(ENDING)]
    chosen = {f"rollouts_{count}" for count in options.playouts}
    return [name for name in names if name == NETWORK or not chosen or name in chosen]


def _looks(names: list[str]) -> dict[str, style.Style]:
    """The network in a colour of its own, playouts in shades: the more, the darker."""
    playouts = [name for name in names if name != NETWORK]
    shades = style.styles(range(len(playouts) + 1))
    looks = {name: shades[len(playouts) - 1 - i] for i, name in enumerate(playouts)}
    return {NETWORK: style.Style(style.VERMILLION, style.SOLID, "o"), **looks}


def _label(name: str) -> str:
    if name == NETWORK:
        return "value network"
    count = int(name.rpartition("_")[2])
    return "1 playout" if count == 1 else f"mean of {count:,} playouts"


def _panel(ax: Any, table: pd.DataFrame, looks: dict[str, style.Style]) -> None:
    middle = (table[FIRST] + table[LAST]) / 2
    for name, look in looks.items():
        known = table[f"{name}{ENDING}"].notna()
        ax.plot(
            middle[known], table[f"{name}{ENDING}"][known], color=look.colour, linestyle=look.line, marker=look.marker
        )


def _table(selection: Selection, found: list[tuple[Group, Facet, pd.DataFrame]], names: list[str]) -> Table:
    several = len(found) > 1
    rows, frames = [], []
    for group, facet, table in found:
        place = " · ".join(filter(None, (group.label, facet.label)))
        for record in table.to_dict("records"):
            said = [record[f"{name}{ENDING}"] for name in names]
            words = ["–" if np.isnan(value) else f"{value:.3f}" for value in said]
            span = f"{record[FIRST]:.0f} to {record[LAST]:.0f}"
            rows.append((*([place] if several else []), span, f"{record[POSITIONS]:,.0f}", *words))
        frames.append(table.assign(runs=place))
    columns = (*([selection.compared] if several else []), "moves", "positions", *map(_label, names))
    note = "Mean of (z − v)², z = ±1 from the side to move, over the test positions of each range."
    return Table("errors", "Errors by move", columns, tuple(rows), pd.concat(frames, ignore_index=True), note)


FIGURE = FigureKind("Errors by move", Options, applies, draw)
