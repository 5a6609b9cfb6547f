"""A study: the runs that answer one question. Read from `experiments/<study>.yaml`, expanded into jobs.

```yaml
question: Which of the four learns faster and better?
task: train                          # the primary configuration, conf/train.yaml; a stage may name its own
overrides: {opponent: random}        # of every stage
stages:                              # or the keys of a single stage, directly
  - name: grid
    overrides: {num_games: 100000}
    grid: {algorithm: [mc, sarsa], alpha: [0.05, 0.1]}    # every combination
    cases:                           # or rows of overrides, each combined with the grid
      - {schedule: linear, gamma: 0.95}
    seeds: 30                        # seeds 0 to 29; or "range(100, 130)"; or a list
  - name: best
    needs: [grid]
    select: {of: grid, by: algorithm, choose: alpha, metric: eval/win, goal: max}
    seeds: range(100, 130)
  - name: ladder
    task: tournament
    overrides: {players: [random, {player: table, run: "@best"}]}   # what the run of stage best made
report: …                            # see report/spec.py
```

A stage with `select` runs one case for each value of `by`: the one whose value of `choose` had the best mean `metric`
over the seeds of stage `of`. `@STAGE`, where a file or a run is named, is the run of that earlier stage: its only one,
or of several the one with the same seed. Where several say the same key, the later of these counts: overrides, grid,
cases, select, the command line.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import Field
from pydantic.dataclasses import dataclass

from miai import project
from miai.errors import MiaiError, choose
from miai.kinds import STRICT, validate
from miai.runner.compose_errors import explain_yaml
from miai.runner.overrides import MOST_RUNS, check_number, spell, split_sweeps
from miai.tracking.failures import first_line

STAGE_KEYS = ("name", "task", "overrides", "grid", "cases", "seeds", "needs", "select")
MAIN_STAGE = "main"
OF_HYDRA = re.compile(r"[+~]*hydra\b|.*_target_")
"""A key by which Hydra would be told what to load, start or call: a study sets options of runs, and nothing else."""
_SEED_RANGE = re.compile(r"range\(\s*(\d{1,18})\s*(?:,\s*(\d{1,18})\s*)?\)")
OF_STAGE = re.compile(r"@([A-Za-z]\w*)")
"""A value that stands for the run of a stage."""


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
    """Of every job."""
    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] = Field(default_factory=dict)
    cases: Annotated[list[dict[str, Any]], Field(min_length=1)] = Field(default_factory=_no_case)
    seeds: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)] = Field(default_factory=lambda: [0])
    needs: list[str] = Field(default_factory=list)
    """Stages that have to be complete before."""
    select: Select | None = None

    @property
    def used(self) -> list[str]:
        """Stages whose runs it names by `@STAGE`."""
        texts = [text for values in (self.overrides, self.grid, self.cases) for text in _texts(values)]
        return list(dict.fromkeys(found[1] for text in texts if (found := OF_STAGE.fullmatch(text))))

    @property
    def needed(self) -> list[str]:
        """Stages that have to be complete before: those that it selects from or uses, too."""
        return list(dict.fromkeys([*self.needs, *([self.select.of] if self.select else []), *self.used]))


def _texts(value: Any) -> Iterator[str]:
    """All texts within a value of YAML."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


@dataclass(config=STRICT, kw_only=True)
class Study:
    """A study as its file says it."""

    name: str
    question: str
    stages: Annotated[list[Stage], Field(min_length=1)]
    report: dict[str, Any] = Field(default_factory=dict)


def study_folders() -> list[Path]:
    """Where studies are looked for: the project's own folder first, then the shipped one."""
    return list(dict.fromkeys(f for f in (project.root() / "experiments", project.shipped_experiments()) if f.is_dir()))


def study_names() -> list[str]:
    return sorted({file.stem for folder in study_folders() for file in folder.glob("*.yaml")})


def study_file(name: str) -> Path:
    """Return the file of a study.

    Raises:
        MiaiError: no such study.
    """
    choose(name, study_names(), "study")
    return next(file for folder in study_folders() if (file := folder / f"{name}.yaml").is_file())


def load_study_file(name: str) -> Study:
    """Read a study.

    Raises:
        MiaiError: no such study, or its file says something that is not allowed; where, and what is.
    """
    file = study_file(name)
    try:
        # OmegaConf reads YAML as Hydra does (1e-3 is a number), and refuses a key that stands twice.
        content = OmegaConf.to_container(OmegaConf.load(file), resolve=False)
    except yaml.YAMLError as error:
        raise MiaiError(explain_yaml(error)) from None
    except AssertionError:  # OmegaConf's word for a text that is, as YAML, neither keys with values nor a list.
        content = None
    except (OmegaConfBaseException, OSError, ValueError, RecursionError) as error:
        raise MiaiError(f"{file}: cannot be read: {first_line(error)}.") from None
    if not isinstance(content, dict) or not content:
        raise MiaiError(f"{file}: expected keys with values, such as question and grid.")
    return parse_study(name, {str(key): value for key, value in content.items()})


def parse_study(name: str, content: Mapping[str, Any]) -> Study:
    """Make a study of the content of its file.

    Raises:
        MiaiError: a key, a type or a reference between stages is not allowed, or a key would set Hydra itself.
    """
    where = f"study {name}"
    content = dict(content)
    common = content.pop("overrides", {})
    task = content.pop("task", "train")
    stages = content.pop("stages", None)
    if stages is None:
        stages = [{"name": MAIN_STAGE, **{key: content.pop(key) for key in STAGE_KEYS if key in content}}]
    if not isinstance(stages, list) or not all(isinstance(stage, dict) for stage in stages):
        raise MiaiError(f"{where}.stages: expected a list of stages.")
    if not isinstance(common, dict):
        raise MiaiError(f"{where}.overrides: expected keys with values, not {common!r}.")
    parsed = []
    for index, stage in enumerate(stages):
        place = f"{where}.stages[{index}]" if len(stages) > 1 else where
        overrides = stage.get("overrides", {})
        if not isinstance(overrides, dict):
            raise MiaiError(f"{place}.overrides: expected keys with values, not {overrides!r}.")
        stage = {"task": task, **stage, "overrides": {**common, **overrides}}
        stage["seeds"] = parse_seeds(stage.get("seeds", 1), f"{place}.seeds")
        if isinstance(stage.get("select"), dict):
            stage["select"] = validate(Select, stage["select"], f"{place}.select")
        parsed.append(validate(Stage, stage, place))
    for stage in parsed:
        _check_keys(stage, where)
    _check_order(parsed, where)
    return validate(Study, {"name": name, "stages": parsed, **content}, where)


def parse_seeds(value: Any, where: str) -> list[int]:
    """Read seeds: a count, `range(stop)`, `range(start, stop)`, or a list.

    Raises:
        MiaiError: it is none of these.
    """
    seeds: Sequence[Any] = []
    if _is_whole(value):
        seeds = range(value)
    elif isinstance(value, list):
        seeds = value
    elif isinstance(value, str) and (found := re.fullmatch(_SEED_RANGE, value)):
        seeds = range(*(int(group) for group in found.groups() if group is not None))
    if isinstance(seeds, range) and seeds.stop - seeds.start > MOST_RUNS:
        raise MiaiError(f"{where}: that is more than the {MOST_RUNS:,} runs that a sweep may have.")
    if not seeds or not all(map(_is_whole, seeds)) or min(seeds) < 0:
        allowed = "a count, range(stop), range(start, stop) or a list of numbers from 0"
        raise MiaiError(f"{where}: allowed are {allowed}, not {value!r}.")
    return list(seeds)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_keys(stage: Stage, where: str) -> None:
    """Refuse what would set Hydra itself."""
    for place, values in (("overrides", stage.overrides), ("grid", stage.grid), ("cases", stage.cases)):
        for key in _keys(values):
            if OF_HYDRA.match(key):
                raise MiaiError(f"{where}, stage {stage.name}: {place}: {key!r} is not for a study to set.")


def _keys(value: Any) -> Iterator[str]:
    """All keys within a value of YAML."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _keys(item)
    elif isinstance(value, list):
        for item in value:
            yield from _keys(item)


def _check_order(stages: Sequence[Stage], where: str) -> None:
    """Refuse two stages of one name, and a stage that needs what does not come before it."""
    earlier: list[str] = []
    for stage in stages:
        if stage.name in earlier:
            raise MiaiError(f"{where}: two stages are named {stage.name!r}.")
        for need in stage.needed:
            if need not in earlier:
                allowed = f"the stages before it are {', '.join(earlier)}" if earlier else "no stage comes before it"
                raise MiaiError(f"{where}, stage {stage.name}: needs stage {need!r}, but {allowed}.")
        earlier.append(stage.name)


def expand(stage: Stage, further: Sequence[str] = (), selected: Sequence[Mapping[str, Any]] = ({},)) -> list[list[str]]:
    """Return the overrides of each job of a stage, in Hydra's grammar.

    The seed varies slowest, so that a sweep that is stopped half-way has the same seeds of everything. A stage that
    selects keeps to what was selected, and to its own, fresh seeds: from the command line it takes how many.

    Args:
        further: overrides from the command line, sweeping ones too.
        selected: rows that `select` found.

    Raises:
        MiaiError: one of `further` cannot be read.
    """
    from_command_line = split_sweeps(further)
    if stage.select is not None:
        for key in (stage.select.by, stage.select.choose):
            from_command_line.pop(key, None)  # It has told in the stage that is selected from.
        if "seed" in from_command_line:
            stage = dataclasses.replace(stage, seeds=stage.seeds[: len(from_command_line.pop("seed"))])
    jobs: list[tuple[int, list[str]]] = []
    for case, choice in itertools.product(stage.cases, selected):
        axes = {
            "seed": [spell("seed", seed) for seed in stage.seeds],
            **{key: [spell(key, value)] for key, value in stage.overrides.items()},
            **{key: [spell(key, value) for value in values] for key, values in stage.grid.items()},
            **{key: [spell(key, value)] for key, value in {**case, **choice}.items()},
            **from_command_line,
        }
        check_number(axes.values())
        rank = {seed: place for place, seed in enumerate(axes["seed"])}
        jobs += [(rank[job[0]], list(job)) for job in itertools.product(*axes.values())]
    return [job for _, job in sorted(jobs, key=lambda ranked: ranked[0])]
