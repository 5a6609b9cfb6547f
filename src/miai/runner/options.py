"""What the YAML of `conf/` offers: groups with their choices, options with their defaults and comments.

These stand in the YAML and nowhere else. Help pages, near misses for typing errors and the check for unknown keys
read them here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from miai import project
from miai.errors import MiaiError, choose, nearest

STUDIES = "experiment"
"""The group whose choices are studies (see `study_configs`); it is no folder of `conf/`."""

FIXED = ("task",)
"""Keys of a primary configuration that say what it is and are not for the user to change."""

_KEY = re.compile(
    r"(?P<indent> *)(?P<key>[\w.]+):(?: +(?P<value>\"[^\"]*\"|'[^']*'|[^#\s].*?))?(?: +#\s*(?P<comment>.*?))?\s*"
)
_ITEM = re.compile(r" *- +(?P<entry>[^#]+?)(?: +#\s*(?P<comment>.*?))?\s*")


@dataclass(frozen=True)
class Option:
    """An option.

    Attributes:
        path: as in `path=value`.
        default: as the YAML spells it; `???` where a value is needed.
        comment: what the YAML says of it.
    """

    path: str
    default: str
    comment: str


@dataclass(frozen=True)
class Group:
    """A group, of whose choices a configuration takes one.

    Attributes:
        folder: of `conf/`, where its choices are.
        path: where the options of the choice stand in the configuration.
    """

    folder: str
    path: str
    default: str
    comment: str

    @property
    def key(self) -> str:
        """As in `key=choice`."""
        return self.folder if self.folder == self.path else f"{self.folder}@{self.path}"

    @property
    def is_ready(self) -> bool:
        """Whether it stands for one choice under that choice's own name, beside others of its folder."""
        return self.path == f"{self.folder}.{self.default}"


@dataclass(frozen=True)
class Choice:
    """A choice of a group, with its own options, whose paths begin at the choice."""

    name: str
    summary: str
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Primary:
    """All that `conf/<name>.yaml` and the files that it is built on offer."""

    name: str
    groups: tuple[Group, ...]
    options: tuple[Option, ...]

    def names(self) -> list[str]:
        """Everything that may stand left of the equals sign, but for the options of choices."""
        return [group.key for group in self.groups] + [option.path for option in self.options]

    def first_words(self) -> set[str]:
        """The first words of everything that may stand left of the equals sign."""
        paths = [option.path for option in self.options] + [group.path for group in self.groups]
        return {path.partition(".")[0] for path in paths} | {group.folder for group in self.groups}

    def check(self, config: Mapping[str, Any]) -> None:
        """Refuse a composed configuration with a key that the YAML does not have, or without one that it has.

        Options inside groups are not looked at: whoever builds a thing of a group checks them.

        Raises:
            MiaiError: which key.
        """
        groups = {group.path: group for group in self.groups}
        leaves = {*groups, *(option.path for option in self.options)}
        parents = {path[:dot] for path in leaves for dot in _dots(path)}
        for path, value in _walk(config, "", parents):
            if path in groups and not isinstance(value, Mapping):
                _refuse_plain_value(groups[path], value)
            if path not in leaves and path not in FIXED:
                raise MiaiError(f"{path}: there is no such option.{nearest(path, self.names())}")
        for path in sorted(leaves):
            if not _has(config, path):
                raise MiaiError(f"{path}: a value is needed.")


def primary(name: str) -> Primary:
    """Read `conf/<name>.yaml` and the files that it is built on.

    Raises:
        MiaiError: there is no such file.
    """
    file = _find(name)
    if file is None:
        raise MiaiError(f"conf: there is no {name}.yaml in {' or '.join(map(str, conf_folders()))}.")
    groups: list[Group] = []
    further: list[Group] = []
    bases: list[Option] = []
    for entry, comment in _defaults(file):
        group, _, choice = entry.partition(": ")
        if not choice:
            if entry != "_self_" and _find(entry) is not None:
                base = primary(entry)
                further += base.groups
                bases += base.options
        elif not group.startswith("override "):
            folder, _, path = group.partition("@")
            groups.append(Group(folder, path or folder, choice, comment))
    own = {option.path: option for option in _options(file) if option.path not in FIXED}
    return Primary(name, (*groups, *further), (*own.values(), *(option for option in bases if option.path not in own)))


def primary_names() -> list[str]:
    return sorted({file.stem for folder in conf_folders() for file in folder.glob("*.yaml")})


def choice_names(folder: str) -> list[str]:
    """Return the choices of a group; of what is no group, none."""
    found: set[str] = set()
    for conf in conf_folders():
        with suppress(OSError, ValueError):  # A name that no file can have.
            found |= {file.stem for file in (conf / folder).glob("*.yaml")}
    return sorted(found)


def choices(folder: str) -> list[Choice]:
    """Return the choices of a group with their options."""
    found = []
    for name in choice_names(folder):
        file = _find(f"{folder}/{name}")
        assert file is not None
        found.append(Choice(name, summary(file), tuple(_choice_options(folder, file))))
    return found


def conf_folders() -> list[Path]:
    """Where YAML is looked for: the project's own `conf/` first, then the shipped one."""
    return list(dict.fromkeys(f for f in (project.root() / "conf", project.shipped_conf()) if f.is_dir()))


# ---- reading ----


def _find(name: str) -> Path | None:
    return next((file for folder in conf_folders() if (file := folder / f"{name}.yaml").is_file()), None)


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8", errors="replace").splitlines()


def summary(file: Path) -> str:
    """Return the comment in the first line of a YAML file."""
    first = next(iter(_lines(file)), "")
    return first.lstrip("# ").rstrip() if first.startswith("#") else ""


def _defaults(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the entries of the defaults list, with their comments."""
    lines = iter(_lines(file))
    for line in lines:
        if line.rstrip() == "defaults:":
            break
    for line in lines:
        found = _ITEM.fullmatch(line)
        if not found:
            return
        yield found["entry"], found["comment"] or ""


def _options(file: Path) -> Iterator[Option]:
    """Yield the keys of a YAML file in block style, but for its defaults list and Hydra's own."""
    parents: list[tuple[int, str]] = []
    for line in _lines(file):
        found = _KEY.fullmatch(line)
        if not found:
            continue
        depth = len(found["indent"])
        while parents and parents[-1][0] >= depth:
            parents.pop()
        path = ".".join([*(key for _, key in parents), found["key"]])
        if found["value"] is None:
            parents.append((depth, found["key"]))
        elif path.split(".")[0] not in ("defaults", "hydra"):
            yield Option(path, found["value"], found["comment"] or "")


def _choice_options(folder: str, file: Path) -> Iterator[Option]:
    """Yield a choice's own options, then those of the choices that it is built on or has as parts."""
    own = [option for option in _options(file) if option.path != "name"]
    yield from own
    for entry, _ in _defaults(file):  # Such as uct; or random@parts.random, whose options are further down.
        name, _, package = entry.partition("@")
        other = _find(f"{folder}/{name}")
        for option in _choice_options(folder, other) if other is not None else ():
            path = f"{package}.{option.path}" if package else option.path
            if path not in {known.path for known in own}:
                yield Option(path, option.default, option.comment)


# ---- checking ----


def _dots(path: str) -> list[int]:
    return [found.start() for found in re.finditer(r"\.", path)]


def _walk(config: Mapping[str, Any], prefix: str, parents: set[str]) -> Iterator[tuple[str, Any]]:
    """Yield paths and values, going down where the YAML has something further down."""
    for key, value in config.items():
        path = f"{prefix}{key}"
        if path in parents and isinstance(value, Mapping):
            yield from _walk(value, f"{path}.", parents)
        else:
            yield path, value


def _has(config: Any, path: str) -> bool:
    for key in path.split("."):
        if not isinstance(config, Mapping) or key not in config:
            return False
        config = config[key]
    return True


def _refuse_plain_value(group: Group, value: Any) -> None:
    """A choice was meant, and set like a value."""
    choose(str(value), choice_names(group.folder), group.path)
    raise MiaiError(f"{group.path}: to choose {value}, write {group.key}={value}.")
