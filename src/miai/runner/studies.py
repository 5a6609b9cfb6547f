"""A study: the runs that answer one question. Read from `experiments/<study>.yaml`, expanded into jobs.

```yaml
question: Which of the four learns faster and better?
overrides: {opponent: random}        # of every stage
stages:                              # or the keys of a single stage, directly
  - name: grid
    task: train                      # the primary configuration, conf/train.yaml
    overrides: {num_games: 100000}
    grid: {algorithm: [mc, sarsa], alpha: [0.05, 0.1]}    # every combination
    cases:                           # or rows of overrides, each combined with the grid
      - {schedule: linear, gamma: 0.95}
    seeds: 30                        # seeds 0 to 29; or "range(100, 130)"; or a list
  - name: best
    needs: [grid]
    select: {of: grid, by: algorithm, choose: alpha, metric: eval/win, goal: max}
    seeds: range(100, 130)
report: …                            # see report/spec.py
```

A stage with `select` runs one case for each value of `by`: the one whose value of `choose` had the best mean `metric`
over
the seeds of stage `of`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field
from pydantic.dataclasses import dataclass

from miai import project
from miai.errors import MiaiError, choose
from miai.kinds import STRICT, validate

STAGE_KEYS = ("name", "task", "overrides", "grid", "cases", "seeds", "needs", "select")
MAIN_STAGE = "main"


@dataclass(config=STRICT, kw_only=True)
class Select:
    """Choose, for each value of `by`, the value of `choose` with the best mean final metric in an earlier stage."""

    of: str
    by: str
    choose: str
    metric: str
    goal: Literal["max", "min"] = "max"


def _no_case() -> list[dict[str, Any]]:
    return [{}]


@dataclass(config=STRICT, kw_only=True)
class Stage:
    """Jobs that may run at once."""

    name: str
    task: str = "train"
    overrides: dict[str, Any] = Field(default_factory=dict)
    grid: dict[str, list[Any]] = Field(default_factory=dict)
    cases: list[dict[str, Any]] = Field(default_factory=_no_case)
    seeds: list[Annotated[int, Field(ge=0)]] = Field(default_factory=lambda: [0])
    needs: list[str] = Field(default_factory=list)
    select: Select | None = None


@dataclass(config=STRICT, kw_only=True)
class Study:
    """A study as its file says it."""

    name: str
    question: str
    stages: list[Stage]
    report: dict[str, Any] = Field(default_factory=dict)


def study_folders() -> list[Path]:
    """Where studies are looked for: the project's own folder first, then the shipped one."""
    return list(dict.fromkeys(f for f in (project.root() / "experiments", project.shipped_experiments()) if f.is_dir()))


def study_names() -> list[str]:
    return sorted({file.stem for folder in study_folders() for file in folder.glob("*.yaml")})


def load_study_file(name: str) -> Study:
    """Read a study.

    Raises:
        MiaiError: no such study, or its file says something that is not allowed; where, and what is.
    """
    choose(name, study_names(), "study")
    file = next(folder / f"{name}.yaml" for folder in study_folders() if (folder / f"{name}.yaml").is_file())
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        first = str(error).replace("\n", " ")
        raise MiaiError(f"{file}: not YAML: {first}.") from None
    if not isinstance(content, dict):
        raise MiaiError(f"{file}: expected keys with values, not {type(content).__name__}.")
    return parse_study(name, content)


def parse_study(name: str, content: Mapping[str, Any]) -> Study:
    """Make a study of the content of its file.

    Raises:
        MiaiError: a key, a type or a reference between stages is not allowed.
    """
    where = f"study {name}"
    content = dict(content)
    common = content.pop("overrides", {})
    stages = content.pop("stages", None)
    if stages is None:
        stages = [{"name": MAIN_STAGE, **{key: content.pop(key) for key in STAGE_KEYS if key in content}}]
    if not isinstance(stages, list) or not all(isinstance(stage, dict) for stage in stages):
        raise MiaiError(f"{where}.stages: expected a list of stages.")
    if not isinstance(common, dict):
        raise MiaiError(f"{where}.overrides: expected keys with values, not {common!r}.")
    parsed = []
    for index, stage in enumerate(stages):
        place = f"{where}.stages[{index}]"
        stage = {**stage, "seeds": parse_seeds(stage.get("seeds", [0]), f"{place}.seeds")}
        select = stage.get("select")
        if isinstance(select, dict):
            stage["select"] = validate(Select, select, f"{place}.select")
        elif select is None:
            stage.pop("select", None)
        stage["overrides"] = {**common, **stage.get("overrides", {})}
        parsed.append(validate(Stage, stage, place))
    _check_order(parsed, where)
    return validate(Study, {"name": name, "stages": parsed, **content}, where)


def parse_seeds(value: Any, where: str) -> list[int]:
    """Read seeds: a count, `range(stop)`, `range(start, stop)`, or a list.

    Raises:
        MiaiError: it is none of these.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return list(range(value))
    if isinstance(value, str) and (found := re.fullmatch(r"range\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)", value)):
        numbers = [int(group) for group in found.groups() if group is not None]
        if seeds := list(range(*numbers)):
            return seeds
    if (
        isinstance(value, list)
        and value
        and all(isinstance(seed, int) and not isinstance(seed, bool) for seed in value)
    ):
        return value
    raise MiaiError(
        f"{where}: allowed are a count, range(stop), range(start, stop) or a list of numbers, not {value!r}."
    )


def _check_order(stages: Sequence[Stage], where: str) -> None:
    earlier: list[str] = []
    for stage in stages:
        if stage.name in earlier:
            raise MiaiError(f"{where}: two stages are named {stage.name!r}.")
        for need in [*stage.needs, *([stage.select.of] if stage.select else [])]:
            choose(need, earlier, f"{where}, stage {stage.name}: needs an earlier stage") if earlier else _no_earlier(
                where, stage.name, need
            )
        earlier.append(stage.name)


def _no_earlier(where: str, stage: str, need: str) -> None:
    raise MiaiError(f"{where}, stage {stage}: needs {need!r}, but no stage comes before it.")


def expand(stage: Stage, further: Sequence[str] = (), selected: Sequence[Mapping[str, Any]] = ({},)) -> list[list[str]]:
    """Return the overrides of each job of a stage, in Hydra's grammar.

    The seed varies slowest, so that a sweep that is stopped half-way has the same seeds of everything.

    Args:
        further: overrides from the command line. They take the place of the stage's own of the same key, in the
            grid too.
        selected: rows that `select` found.
    """
    own = _by_key(further)
    seeds = [f"seed={seed}" for seed in stage.seeds]
    axes = [own.pop("seed", seeds)]
    axes += [own.pop(key, [_spell(key, value) for value in values]) for key, values in stage.grid.items()]
    fixed = {key: [_spell(key, value)] for key, value in stage.overrides.items() if key not in stage.grid} | own
    jobs = []
    for case, choice in itertools.product(stage.cases, selected):
        row = {key: _spell(key, value) for key, value in {**case, **choice}.items()}
        here = [[override for override in axis if _key(override) not in row or _key(override) in own] for axis in axes]
        rest = {key: values for key, values in fixed.items() if key not in row or key in own}
        extra = [[override] for key, override in row.items() if key not in own]
        for combination in itertools.product(*(axis for axis in [*here, *rest.values(), *extra] if axis)):
            jobs.append(_groups_first(combination))
    if len(stage.cases) * len(selected) > 1:
        order = {seed: rank for rank, seed in enumerate(axes[0])}
        jobs.sort(key=lambda job: next((order[o] for o in job if o in order), 0))
    return jobs


def _groups_first(combination: Sequence[str]) -> list[str]:
    """A choice of a group brings that group's values, so single values come after the choices."""
    return sorted(combination, key=lambda override: "." in _key(override))


def _by_key(overrides: Sequence[str]) -> dict[str, list[str]]:
    """Split sweeping overrides (a=1,2 or a=range(3)) into single ones, by key, with Hydra's own parser."""
    from hydra.core.override_parser.overrides_parser import OverridesParser

    from miai.runner.compose import one_line_errors

    found: dict[str, list[str]] = {}
    with one_line_errors():
        for override in OverridesParser.create().parse_overrides(list(overrides)):
            key = override.get_key_element()
            if override.is_sweep_override():
                found[key] = [f"{key}={value}" for value in override.sweep_string_iterator()]
            else:
                found[key] = [f"{key}={override.get_value_element_as_str()}"]
    return found


def _key(override: str) -> str:
    return override.split("=", 1)[0]


def _spell(key: str, value: Any) -> str:
    """Spell one override in Hydra's grammar."""
    return f"{key}={_spell_value(value)}"


def _spell_value(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_spell_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_spell_value, value)) + "]"
    return str(value)


def hydra_command(stage: Stage, study: str) -> Iterator[str]:
    """Yield, for a stage without `select`, the equivalent `miai train -m` of each of its cases."""
    for case in stage.cases:
        overrides = {key: value for key, value in stage.overrides.items() if key not in {*case, *stage.grid}}
        parts = [_spell(key, value) for key, value in {**overrides, **case}.items()]
        parts += [
            f"{key}={','.join(map(_spell_value, values))}" for key, values in stage.grid.items() if key not in case
        ]
        first, last = stage.seeds[0], stage.seeds[-1] + 1
        consecutive = stage.seeds == list(range(first, last))
        seeds = f"range({first},{last})" if consecutive else ",".join(map(str, stage.seeds))
        parts += [f"seed={seeds}", f"study={study}", f"stage={stage.name}"]
        yield f"miai {stage.task} -m " + " ".join(
            f"'{part}'" if re.search(r"[(){}\[\],]", part) else part for part in parts
        )
