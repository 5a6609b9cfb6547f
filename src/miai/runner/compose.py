"""Composing configurations by Hydra, quickly.

Composing takes a tenth of a second, which is long when a sweep has thousands of jobs. So Hydra composes once for each
set of choices (algorithm=mc), values (alpha=0.2) are set in a plain copy of that (see `template`), and the seed in a
copy of this. All ways give the same configuration; a test compares them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import DictConfig, OmegaConf

from miai import project
from miai.runner.compose_errors import one_line_errors
from miai.runner.options import choice_names
from miai.runner.template import Template

VERSION_BASE = "1.3"
"""Of Hydra's behaviour."""

_KEY_AND_VALUE = re.compile(r"(?P<key>[a-z_]\w*(\.\w+)*)=")
_SEED = re.compile(r"seed=(0|[1-9]\d*)")
_SEED_IS_USED = re.compile(r"\$\{[^}]*\bseed\b")


class ProjectConfSearchPath(SearchPathPlugin):
    """Looks into the project's own `conf/` first: a user adds and overrides YAML without touching the package.

    It is registered by hand, because other Hydra applications of the same environment must not meet it.
    """

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        own = project.root() / "conf"
        if own.is_dir() and own != project.shipped_conf():
            search_path.prepend(provider="project", path=f"file://{own}")


def prepare_hydra() -> None:
    """Register what Hydra has to know of Miai. Safe to repeat."""
    if not OmegaConf.has_resolver("miai.mlruns"):
        OmegaConf.register_new_resolver("miai.mlruns", lambda: str(project.mlruns()))
        OmegaConf.register_new_resolver("miai.pid", lambda: str(os.getpid()))
    plugins = Plugins.instance()  # Before the import: it executes the modules of Hydra's plugins, even a second time.
    from hydra_plugins.miai import MiaiLauncher, MiaiSweeper

    # Hydra finds plugins by looking into folders, where an editable install has none.
    for plugin in (ProjectConfSearchPath, MiaiLauncher, MiaiSweeper):
        plugins.register(plugin)


class Composer:
    """Composes the jobs of a sweep.

    Args:
        config_name: the primary configuration, for error messages.
        compose_base: composes it with a list of overrides.
    """

    def __init__(self, config_name: str, compose_base: Callable[[list[str]], DictConfig]) -> None:
        self._config_name = config_name
        self._compose_base = compose_base
        self._parser = OverridesParser.create()
        self._values: dict[str, tuple[str, Any] | None] = {}
        self._templates: dict[tuple[str, ...], Template | None] = {}
        self._shared: dict[tuple[str, ...], dict[str, Any] | None] = {}

    def compose(self, overrides: Sequence[str]) -> dict[str, Any]:
        """Return the plain configuration of one job. Jobs that differ in their seed alone share what is inside it.

        Raises:
            MiaiError: the overrides do not compose; one line.
        """
        with one_line_errors(self._config_name):
            seeds = [override for override in overrides if _SEED.fullmatch(override)]
            others = tuple(override for override in overrides if not _SEED.fullmatch(override))
            if others not in self._shared:
                self._shared[others] = self._without_seed(others)
            shared = self._shared[others]
            if shared is None:
                return plain(self._compose_base(list(overrides)))
            return {**shared, "seed": int(seeds[-1].removeprefix("seed="))} if seeds else dict(shared)

    def _without_seed(self, overrides: tuple[str, ...]) -> dict[str, Any] | None:
        """Compose all but the seed; `None` if that cannot be set afterwards."""
        values = [value for override in overrides if (value := self._value(override)) is not None]
        choices = tuple(override for override in overrides if self._value(override) is None)
        if choices not in self._templates:
            base = OmegaConf.to_container(_own_part(self._compose_base(list(choices))), resolve=False)
            assert isinstance(base, dict)
            self._templates[choices] = Template.of({str(key): value for key, value in base.items()})
        template = self._templates[choices]
        filled = None if template is None or template.refers_to("seed") else template.fill(values)
        if filled is not None:
            return filled if "seed" in filled else None
        config = self._compose_base(list(overrides))
        return plain(config) if "seed" in config and not _depends_on_seed(_own_part(config)) else None

    def _value(self, override: str) -> tuple[str, Any] | None:
        """Return key and value of an override that only sets a value, and `None` for any other."""
        if override not in self._values:
            self._values[override] = self._parse(override)
        return self._values[override]

    def _parse(self, override: str) -> tuple[str, Any] | None:
        found = _KEY_AND_VALUE.match(override)
        if found is None or found["key"].startswith("hydra") or choice_names(found["key"]):
            return None
        [parsed] = self._parser.parse_overrides([override])
        return None if parsed.is_sweep_override() else (found["key"], parsed.value())


@contextmanager
def composing(config_name: str) -> Iterator[Composer]:
    """Compose from the primary configuration `conf/<config_name>.yaml`.

    Raises:
        MiaiError: what Hydra refuses, in one line.
    """
    prepare_hydra()
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(project.shipped_conf()), version_base=VERSION_BASE):
        yield Composer(config_name, lambda overrides: compose(config_name, overrides))


def compose_one(config_name: str, overrides: Sequence[str]) -> dict[str, Any]:
    """Compose a single plain configuration.

    Raises:
        MiaiError: the overrides do not compose; one line.
    """
    with composing(config_name) as composer:
        return composer.compose(overrides)


def plain(config: DictConfig) -> dict[str, Any]:
    """Resolve a composed configuration to plain dicts, lists and values, without Hydra's own part.

    Raises:
        OmegaConfBaseException: a mandatory value is missing, or an interpolation does not resolve.
    """
    container = OmegaConf.to_container(_own_part(config), resolve=True, throw_on_missing=True)
    assert isinstance(container, dict)
    return {str(key): value for key, value in container.items()}


def _own_part(config: DictConfig) -> DictConfig:
    """Leave out Hydra's part. Keys that are not there may not be set, as in what Hydra composes."""
    own = OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])
    OmegaConf.set_struct(own, True)
    return own


def _depends_on_seed(config: DictConfig) -> bool:
    """Whether anything in a configuration, such as a name, is written in terms of the seed."""
    return _SEED_IS_USED.search(str(OmegaConf.to_container(config, resolve=False))) is not None
