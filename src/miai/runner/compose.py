"""Composing configurations by Hydra, quickly and with errors of one line.

Composing takes tens of milliseconds, which is long when a sweep has hundreds of jobs that differ in their seed alone.
So a
configuration is composed once for each set of overrides without the plain numbers among them, and the numbers are set
in a copy. Both ways give the same configuration; a test compares them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from miai import project
from miai.errors import MiaiError, choose

VERSION_BASE = "1.3"
_PLAIN_NUMBER = re.compile(r"(?P<key>[a-z_][a-z_0-9.]*)=(?P<value>-?\d+)")
NUMBERS_SET_LATE = ("seed",)
"""Overrides of whole numbers that nothing else in the configuration depends on."""


class ProjectConfSearchPath(SearchPathPlugin):
    """Looks into the project's own `conf/` first, so that a user adds and overrides YAML without touching the
    package.
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
    from miai.runner.hydra_launcher import MiaiLauncher, MiaiSweeper

    plugins = Plugins.instance()
    for plugin in (ProjectConfSearchPath, MiaiLauncher, MiaiSweeper):
        plugins.register(plugin)


def plain(config: DictConfig) -> dict[str, Any]:
    """Resolve a composed configuration to plain dicts, lists and values, without Hydra's own part.

    Raises:
        MiaiError: a mandatory value is missing, or an interpolation does not resolve.
    """
    with one_line_errors():
        container = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    assert isinstance(container, dict)
    return {str(key): value for key, value in container.items() if key != "hydra"}


class Composer:
    """Composes the jobs of a sweep, each base configuration once.

    Args:
        compose_base: composes from a list of overrides.
    """

    def __init__(self, compose_base: Callable[[list[str]], DictConfig]) -> None:
        self._compose_base = compose_base
        self._bases: dict[tuple[str, ...], dict[str, Any]] = {}

    def compose(self, overrides: Sequence[str]) -> dict[str, Any]:
        """Return the plain configuration of one job.

        Raises:
            MiaiError: the overrides do not compose; one line.
        """
        late: dict[str, int] = {}
        early = []
        for override in overrides:
            number = _PLAIN_NUMBER.fullmatch(override)
            if number and number["key"] in NUMBERS_SET_LATE:
                late[number["key"]] = int(number["value"])
            else:
                early.append(override)
        key = tuple(early)
        if key not in self._bases:
            with one_line_errors():
                self._bases[key] = plain(self._compose_base(early))
        return {**self._bases[key], **late}


@contextmanager
def composing(config_name: str) -> Iterator[Composer]:
    """Compose from the primary configuration `conf/<config_name>.yaml`."""
    prepare_hydra()
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(project.shipped_conf()), version_base=VERSION_BASE):
        yield Composer(lambda overrides: compose(config_name, overrides))


def compose_one(config_name: str, overrides: Sequence[str]) -> dict[str, Any]:
    """Compose a single plain configuration.

    Raises:
        MiaiError: the overrides do not compose; one line.
    """
    with composing(config_name) as composer:
        return composer.compose(overrides)


def options_of(group: str) -> list[str]:
    """Return the choices of a group: its YAML files, the project's own among them."""
    folders = {project.shipped_conf() / group, project.root() / "conf" / group}
    return sorted({file.stem for folder in folders if folder.is_dir() for file in folder.glob("*.yaml")})


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn what Hydra and OmegaConf raise into a `MiaiError` of one line."""
    try:
        yield
    except (HydraException, OmegaConfBaseException) as error:
        raise MiaiError(_explain(error)) from error


def _explain(error: Exception) -> str:
    text = str(error)
    causes = " ".join(str(cause) for cause in _chain(error))
    if found := re.search(r"(?:Could not find|In '[^']*': Could not find) '([^']+)/([^'/]+)'", text):
        group, choice = found.groups()
        available = options_of(group)
        if available:
            try:
                choose(choice, available, group)
            except MiaiError as choice_error:
                return str(choice_error)
    if found := re.search(r"Could not override '([^']+)'", text):
        return _unknown_key(found[1], causes)
    if found := re.search(r"[Mm]issing mandatory value: ?([\w.]+)", causes):
        return f"{found[1]}: a value is needed."
    if found := re.search(r"Error parsing override '(.*?)'", text) or re.search(r"See .*?\n.*override '(.*?)'", text):
        return (
            f"the override {found[1]!r} cannot be read; allowed: key=value, such as alpha=0.1 (in quotes, if need be)."
        )
    if found := re.search(r"You must specify '([^']+)'", text):
        return f"{found[1]}: a choice is needed; allowed: {', '.join(options_of(found[1]))}."
    first = next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)
    return first if first.endswith(".") else f"{first}."


def _unknown_key(key: str, causes: str) -> str:
    import difflib

    keys = _known_keys()
    if key in keys or ("not in struct" not in causes and "defaults list" not in causes):
        detail = next(
            (line.strip() for line in causes.splitlines() if line.strip() and "Could not override" not in line), ""
        )
        return f"{key}: {detail or 'it cannot be overridden'}".rstrip(".") + "."
    near = difflib.get_close_matches(key, keys, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"{key}: there is no such option.{hint} See --help for the options."


def _known_keys() -> list[str]:
    """Keys of all primary configurations, for near misses."""
    keys: set[str] = set()
    for file in project.shipped_conf().glob("*.yaml"):
        keys |= set(_leaves(OmegaConf.to_container(OmegaConf.load(file), resolve=False)))
    return sorted(keys | {folder.name for folder in project.shipped_conf().iterdir() if folder.is_dir()})


def _leaves(node: Any, prefix: str = "") -> Iterator[str]:
    for key, value in node.items() if isinstance(node, dict) else ():
        if key not in ("defaults", "hydra"):
            yield f"{prefix}{key}"
            yield from _leaves(value, f"{prefix}{key}.")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def shipped_config_path() -> Path:
    return project.shipped_conf()
