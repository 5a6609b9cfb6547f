"""Composing configurations by Hydra, quickly.

Composing takes tens of milliseconds, which is long when a sweep has hundreds of jobs that differ in their seed alone.
So a configuration is composed once for each set of overrides without the seed, and the seed is set in a copy. Both ways
give the same configuration; a test compares them.
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
from hydra.core.plugins import Plugins
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import DictConfig, OmegaConf

from miai import project
from miai.runner.compose_errors import one_line_errors

VERSION_BASE = "1.3"
"""Of Hydra's behaviour."""

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
        self._bases: dict[tuple[str, ...], dict[str, Any] | None] = {}

    def compose(self, overrides: Sequence[str]) -> dict[str, Any]:
        """Return the plain configuration of one job. Jobs that differ in their seed alone share what is inside it.

        Raises:
            MiaiError: the overrides do not compose; one line.
        """
        with one_line_errors(self._config_name):
            seeds = [override for override in overrides if _SEED.fullmatch(override)]
            others = tuple(override for override in overrides if not _SEED.fullmatch(override))
            if not seeds:
                return plain(self._compose_base(list(overrides)))
            if others not in self._bases:
                config = self._compose_base(list(others))
                self._bases[others] = plain(config) if "seed" in config and not _depends_on_seed(config) else None
            base = self._bases[others]
            if base is None:
                return plain(self._compose_base(list(overrides)))
            return {**base, "seed": int(seeds[-1].removeprefix("seed="))}


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
    own = OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])
    container = OmegaConf.to_container(own, resolve=True, throw_on_missing=True)
    assert isinstance(container, dict)
    return {str(key): value for key, value in container.items()}


def _depends_on_seed(config: DictConfig) -> bool:
    """Whether anything in a configuration, such as a name, is written in terms of the seed."""
    return _SEED_IS_USED.search(str(OmegaConf.to_container(config, resolve=False))) is not None
