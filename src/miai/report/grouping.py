"""How runs are told apart: groups with labels and styles, facets, what a section keeps, which seeds are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from miai.errors import MiaiError
from miai.report.load import StudyData
from miai.report.spec import Section
from miai.report.style import ORDER, Style, styles

MOST_NOTES = 8
"""So many groups with missing seeds are listed one by one."""


@dataclass(frozen=True)
class Group:
    key: tuple
    label: str
    style: Style


@dataclass(frozen=True)
class Facet:
    """`value` is `None` and `label` empty where the section has no facet."""

    value: Any
    label: str


Namer = Callable[[str, Any], str]
"""From a parameter and its value to how people read them."""


def make_groups(
    compare: Sequence[str], keys: Iterable[tuple], everywhere: Sequence[set], name: Namer
) -> tuple[Group, ...]:
    """Give each combination of compared values its label and style.

    Parameters that take one value only are left out of labels. The first that varies decides the colour, the second
    the line and marker.

    Args:
        compare: the compared parameters.
        keys: their values, a tuple a group.
        everywhere: the values of each in the whole study, so that a value has the same colour in each of its sections.
        name: how a value is written; the second and later parameters' numbers are written with their name.
    """
    keys = sorted(set(keys), key=lambda key: [rank(part) for part in key])
    varying = [i for i in range(len(compare)) if len({key[i] for key in keys}) > 1] or [0]
    colours = styles(ordered(everywhere[varying[0]]))
    inner = ordered({key[varying[1]] for key in keys}) if varying[1:] else []
    lines = list(styles([f"style {i}" for i in range(len(inner))]).values())
    groups = []
    for key in keys:
        style = colours[key[varying[0]]]
        if inner:
            like = lines[inner.index(key[varying[1]])]
            style = Style(style.colour, like.line, like.marker)
        label = " · ".join(name(compare[i], key[i]) for i in varying)
        groups.append(Group(key, label, style))
    return tuple(groups)


def missing_seeds(cells: Iterable[tuple], seeds: Iterable[Any]) -> tuple[int, dict[tuple, list]]:
    """Return how many seeds there are in all, and for each cell that lacks some, which.

    Args:
        cells: for each run, what it belongs to.
        seeds: each run's seed.
    """
    held: dict[tuple, set] = {}
    for cell, seed in zip(cells, seeds, strict=True):
        held.setdefault(cell, set()).add(seed)
    union = set().union(*held.values())
    lacking = {cell: sorted(union - own, key=rank) for cell, own in held.items() if own != union}
    return len(union), dict(sorted(lacking.items(), key=lambda item: [rank(part) for part in item[0]]))


def keep_runs(data: StudyData, section: Section, where: str) -> pd.DataFrame:
    """Return the rows of `data.runs` that belong to a section; a run that several of its stages share, once.

    Raises:
        MiaiError: if the section names stages and the runs carry none.
    """
    runs = data.runs
    if section.stages:
        if "stage" not in data.parameters:
            raise MiaiError(f"{where}.stages: the runs of {data.study!r} carry no stage.")
        runs = runs[runs["stage"].isin(section.stages)]
    for name, allowed in section.where.items():
        keep = [any(same(value, wanted) for wanted in allowed) for value in plain(runs[name])]
        runs = runs.loc[np.array(keep, bool)]
    return runs.drop_duplicates("run_id")


def same(value: Any, wanted: Any) -> bool:
    if (
        isinstance(value, (int, float))
        and isinstance(wanted, (int, float))
        and isinstance(value, bool) == isinstance(wanted, bool)
    ):
        return bool(np.isclose(value, wanted, rtol=1e-12, atol=0))
    return value == wanted


def plain(column: pd.Series) -> list:
    """A column's values as Python's own, `None` for what is missing."""
    return [None if value is None or value != value else value for value in column.tolist()]


def rank(value: Any) -> tuple:
    """Sort key for values of mixed types: known names in their own order, numbers, other texts by name, none last."""
    if value is None:
        return (3, 0, "")
    if isinstance(value, (bool, int, float)):
        return (1, float(value), "")
    return (0, ORDER.index(value), "") if value in ORDER else (2, 0, str(value))


def ordered(values: set) -> list:
    return sorted(values, key=rank)
