"""What the `report:` block of a study's YAML may say.

```yaml
report:
  title: …            # default: the study's name
  question: …         # one sentence; printed at the top
  finding: …          # what was found, in your words; printed below the question
  labels: {name: label}   # how metrics, parameters and values are written
  sections: [ … ]     # one or more; a study with one section may write its keys directly under report
```

A section picks runs, groups them and draws them:

```yaml
  - title: Fair setting
    text: …                      # what this section asks
    stages: [compare]            # default: every stage
    where: {opponent.name: random, alpha: [0.1, 0.2]}   # keep runs whose parameter has one of these values
    compare: algorithm.name      # the parameter, or list of parameters, whose values are compared
    facet: seat                  # a panel for each value; `board` stands for game.rows × game.cols
    sweep: alpha                 # a number that is swept: figures show metrics over it, tables have a row a value
    metrics: [eval/win, eval/exploitability]   # default: metrics.DEFAULTS
    statistic: mean              # or iqm; what curves and points with intervals show
    reference: {eval/win: 0.9948}              # or {label: value}: known values, drawn as lines
    figures: [learning_curves, {improvement: {metrics: [eval/win]}}]   # default: all that fit
    tables: [overview, results, differences]   # default: all three
```

Figures and their options: one file each in `figures/`.
"""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from miai.errors import MiaiError, choose

Options = TypeVar("Options")
TABLES = ("overview", "results", "differences")
STATISTICS = ("mean", "iqm")


@dataclass(frozen=True)
class FigureRequest:
    """A figure that a section asks for by name. `options` are checked by the figure's own dataclass."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """Some of a study's runs, grouped and drawn. See the module for the meaning of the fields.

    `figures` is `None` where the section leaves the choice to what fits.
    """

    title: str = ""
    text: str = ""
    stages: tuple[str, ...] = ()
    where: Mapping[str, tuple] = field(default_factory=dict)
    compare: tuple[str, ...] = ("algorithm.name",)
    facet: str | None = None
    sweep: str | None = None
    metrics: tuple[str, ...] = ()
    statistic: str = "mean"
    reference: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    figures: tuple[FigureRequest, ...] | None = None
    tables: tuple[str, ...] = TABLES

    @property
    def slug(self) -> str:
        """The title as part of a file name."""
        return re.sub(r"[^a-z0-9]+", "_", self.title.lower()).strip("_")


@dataclass(frozen=True)
class ReportSpec:
    """A study's whole report."""

    title: str
    question: str = ""
    finding: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    sections: tuple[Section, ...] = (Section(),)

    @classmethod
    def from_mapping(cls, block: Mapping[str, Any] | None, study: str) -> ReportSpec:
        """Read the `report:` block of a study.

        Raises:
            MiaiError: on a key, a type or a choice that is not allowed, or two sections of one title.
        """
        where = f"study {study!r}, report"
        block = dict(_mapping(block or {}, where))
        sections = block.pop("sections", None)
        of_report = {f.name for f in dataclasses.fields(cls)} - {"sections"}
        own = {key: block.pop(key) for key in list(block) if key in of_report}
        if sections is None:
            parsed = [_section(block, where, extra=of_report | {"sections"})]
        else:
            if block:
                choose(next(iter(block)), of_report | {"sections"}, where)
            if not isinstance(sections, Sequence) or isinstance(sections, str) or not sections:
                raise MiaiError(f"{where}.sections: expected a list of sections, got {sections!r}.")
            parsed = [_section(entry, f"{where}.sections[{i}]") for i, entry in enumerate(sections)]
            slugs = [section.slug for section in parsed]
            if len(parsed) > 1 and (len(set(slugs)) < len(slugs) or "" in slugs):
                raise MiaiError(f"{where}.sections: each needs a title of its own, got {[s.title for s in parsed]}.")
        text = {key: _text(own.get(key, default), f"{where}.{key}") for key, default in _text_defaults(study).items()}
        labels = {str(k): str(v) for k, v in _mapping(own.get("labels", {}), f"{where}.labels").items()}
        return cls(**text, labels=labels, sections=tuple(parsed))


def parse_options(kind: type[Options], given: Mapping[str, Any], where: str) -> Options:
    """Make the dataclass `kind` of a YAML mapping. Its fields may be str, bool, int, float, tuples of these, or None.

    Raises:
        MiaiError: on an unknown key or a value of another type.
    """
    hints = typing.get_type_hints(kind)
    values = {}
    for key, value in _mapping(given, where).items():
        choose(str(key), hints, where)
        values[key] = _convert(value, hints[key], f"{where}.{key}")
    return kind(**values)


def _text_defaults(study: str) -> dict[str, str]:
    return {"title": study, "question": "", "finding": ""}


def _section(entry: Any, where: str, extra: set[str] | None = None) -> Section:
    entry = _mapping(entry, where)
    allowed = {f.name for f in dataclasses.fields(Section)}
    for key in entry:
        choose(str(key), allowed | (extra or set()), where)
    values: dict[str, Any] = {}
    for key in ("title", "text"):
        values[key] = _text(entry.get(key, ""), f"{where}.{key}")
    for key in ("facet", "sweep"):
        value = entry.get(key)
        values[key] = None if value is None else _text(value, f"{where}.{key}")
    for key in ("stages", "metrics"):
        values[key] = _texts(entry.get(key, ()), f"{where}.{key}")
    values["compare"] = _texts(entry.get("compare", "algorithm.name"), f"{where}.compare")
    if not values["compare"]:
        raise MiaiError(f"{where}.compare: name a parameter at least.")
    values["statistic"] = choose(str(entry.get("statistic", "mean")), STATISTICS, f"{where}.statistic")
    values["tables"] = tuple(
        choose(name, TABLES, f"{where}.tables") for name in _texts(entry.get("tables", TABLES), f"{where}.tables")
    )
    values["where"] = {
        str(name): tuple(allowed) if isinstance(allowed, (list, tuple)) else (allowed,)
        for name, allowed in _mapping(entry.get("where", {}), f"{where}.where").items()
    }
    values["reference"] = {
        str(metric): _reference(lines, f"{where}.reference.{metric}")
        for metric, lines in _mapping(entry.get("reference", {}), f"{where}.reference").items()
    }
    values["figures"] = _figures(entry.get("figures"), f"{where}.figures")
    return Section(**values)


def _reference(lines: Any, where: str) -> dict[str, float]:
    named = lines if isinstance(lines, Mapping) else {"best possible": lines}
    return {str(label): _convert(value, float, f"{where}.{label}") for label, value in named.items()}


def _figures(entries: Any, where: str) -> tuple[FigureRequest, ...] | None:
    if entries is None:
        return None
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        raise MiaiError(f"{where}: expected a list of names, or of {{name: options}}, got {entries!r}.")
    requests = []
    for entry in entries:
        if isinstance(entry, str):
            requests.append(FigureRequest(entry))
        elif isinstance(entry, Mapping) and len(entry) == 1:
            [(name, options)] = entry.items()
            requests.append(FigureRequest(str(name), dict(_mapping(options or {}, f"{where}.{name}"))))
        else:
            raise MiaiError(f"{where}: expected a name or {{name: options}}, got {entry!r}.")
    return tuple(requests)


def _mapping(value: Any, where: str) -> Mapping:
    if not isinstance(value, Mapping):
        raise MiaiError(f"{where}: expected keys with values, got {value!r}.")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise MiaiError(f"{where}: expected a text, got {value!r}.")
    return value.strip()


def _texts(value: Any, where: str) -> tuple[str, ...]:
    entries = [value] if isinstance(value, str) else value
    if not isinstance(entries, Sequence) or not all(isinstance(entry, str) for entry in entries):
        raise MiaiError(f"{where}: expected a name or a list of names, got {value!r}.")
    return tuple(entries)


def _convert(value: Any, kind: Any, where: str) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        if value is None and type(None) in arguments:
            return None
        [inner] = [argument for argument in arguments if argument is not type(None)]
        return _convert(value, inner, where)
    if origin is typing.Literal:
        return choose(str(value), arguments, where)
    if origin is tuple:
        entries = value if isinstance(value, (list, tuple)) else [value]
        return tuple(_convert(entry, arguments[0], where) for entry in entries)
    if kind is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
        return value
    raise MiaiError(f"{where}: expected {kind.__name__}, got {value!r}.")
