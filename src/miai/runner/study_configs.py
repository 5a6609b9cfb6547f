"""Studies for plain Hydra: `miai train +experiment=td_comparison` runs what `miai sweep td_comparison` does.

Each stage becomes a configuration of the group `experiment` whose Hydra part asks for a multirun of the stage's grid,
so no `-m` is needed. Its name is the study's where the study is one such stage; else `STUDY.STAGE`, and for a stage
with several cases `STUDY.STAGE.0` and so on. A stage that takes settings or files from another's results has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf

from miai.errors import MiaiError, choose
from miai.runner.options import STUDIES, choice_names
from miai.runner.overrides import spell_value
from miai.runner.studies import Stage, Study, load_study_file, study_names


def choose_experiment(name: str, task: str) -> str:
    """Return the name if it is a choice of `+experiment=` for a task, the project's own YAML among them.

    Raises:
        MiaiError: it is not; what it is instead, or what is allowed.
    """
    parts: dict[str, str] = {}
    for study in study_names():
        try:
            parts |= {part: stage.task for part, stage, _ in experiments_of(load_study_file(study))}
        except MiaiError:
            if study == name.split(".")[0]:
                raise
    own = [other for other in parts if other.startswith(f"{name}.")]
    if own:
        raise MiaiError(f"{STUDIES}: {name} is run in parts: {', '.join(own)}.")
    if parts.get(name, task) != task:
        raise MiaiError(f"{STUDIES}: {name} is not for this command. Run: miai {parts[name]} +{STUDIES}={name}")
    return choose(name, [*(part for part in parts if parts[part] == task), *choice_names(STUDIES)], STUDIES)


def register_studies(config_name: str, wanted: str | None = None) -> None:
    """Put stages of task `config_name` into Hydra's store of configurations.

    Args:
        wanted: the name of the one that is asked for; by default, all.

    Raises:
        MiaiError: the file of the one that is wanted cannot be read.
    """
    for name in study_names():
        if wanted is not None and wanted.split(".")[0] != name:
            continue
        try:
            study = load_study_file(name)
        except MiaiError:
            if wanted is not None:
                raise
            continue
        for part, stage, case in experiments_of(study):
            if stage.task == config_name:
                node = stage_config(study, stage, case)
                ConfigStore.instance().store(group=STUDIES, name=part, node=node, package="_global_")


def stage_config(study: Study, stage: Stage, case: dict[str, Any]) -> dict[str, Any]:
    """Return a stage, with one of its cases, as a configuration of package `_global_`."""
    swept = {key: values for key, values in {"seed": stage.seeds, **stage.grid}.items() if key not in case}
    fixed = {key: value for key, value in {**stage.overrides, **case}.items() if key not in swept}
    groups = {key: value for key, value in fixed.items() if choice_names(key.partition("@")[0])}
    values = OmegaConf.create({})
    for key, value in fixed.items():
        if key not in groups:
            OmegaConf.update(values, key, value)
    return {
        "defaults": [*({f"override /{group}": choice} for group, choice in groups.items()), "_self_"],
        **OmegaConf.to_container(values),  # type: ignore[dict-item]
        "study": study.name,
        "stage": stage.name,
        "hydra": {
            "mode": "MULTIRUN",
            "sweeper": {"params": {key: ",".join(map(spell_value, choices)) for key, choices in swept.items()}},
        },
    }


def experiments_of(study: Study) -> Iterator[tuple[str, Stage, dict[str, Any]]]:
    """Yield the choices that a study becomes: name, stage, and which of the stage's cases."""
    for stage in study.stages:
        if stage.select is None and not stage.used:
            for index, case in enumerate(stage.cases):
                name = study.name if len(study.stages) == 1 else f"{study.name}.{stage.name}"
                yield (name if len(stage.cases) == 1 else f"{name}.{index}"), stage, case
