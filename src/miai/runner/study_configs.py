"""Studies for plain Hydra: `miai train +experiment=td_comparison` runs what `miai sweep td_comparison` does.

Each stage becomes a configuration of the group `experiment` whose Hydra part asks for a multirun of the stage's grid,
so no `-m` is
needed. A stage that waits for another's results has none.
"""

from __future__ import annotations

from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf

from miai.runner.compose import options_of
from miai.runner.studies import Stage, Study, _spell_value, load_study_file, study_names

GROUP = "experiment"


def register_studies(config_name: str) -> None:
    """Put every stage of task `config_name` that needs no other into Hydra's store of configurations."""
    for name in study_names():
        study = load_study_file(name)
        own = [stage for stage in study.stages if stage.task == config_name and stage.select is None]
        for stage in own:
            for index, case in enumerate(stage.cases):
                node = stage_config(study, stage, case)
                suffix = f"_{index}" if len(stage.cases) > 1 else ""
                _store(f"{name}.{stage.name}{suffix}", node)
                if stage is study.stages[0] and index == 0:
                    _store(name, node)


def stage_config(study: Study, stage: Stage, case: dict[str, Any]) -> dict[str, Any]:
    """Return a stage, with one of its cases, as a configuration of package `_global_`."""
    fixed = {**{key: value for key, value in stage.overrides.items() if key not in stage.grid}, **case}
    groups = {key: value for key, value in fixed.items() if options_of(key)}
    values = OmegaConf.create({})
    for key, value in fixed.items():
        if key not in groups:
            OmegaConf.update(values, key, value)
    swept = {key: ",".join(map(_spell_value, choices)) for key, choices in stage.grid.items() if key not in case}
    swept["seed"] = ",".join(map(str, stage.seeds))
    return {
        "defaults": [*({f"override /{group}": choice} for group, choice in groups.items()), "_self_"],
        **OmegaConf.to_container(values),  # type: ignore[dict-item]
        "study": study.name,
        "stage": stage.name,
        "hydra": {"mode": "MULTIRUN", "sweeper": {"params": swept}},
    }


def _store(name: str, node: dict[str, Any]) -> None:
    ConfigStore.instance().store(group=GROUP, name=name, node=node, package="_global_")
