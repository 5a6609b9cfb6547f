"""Help pages.

What commands there are, and for each its options, groups, defaults and an example, read from the YAML itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from miai import project

COLUMN = 24


def show_overview() -> None:
    from miai.cli.main import command_names, load_command

    lines = ["Miai: machines that learn to play board games.", "", "usage: miai COMMAND [key=value …]", ""]
    for name in command_names():
        lines.append(f"  {name:<12} {_summary(load_command(name))}")
    lines += ["", "miai COMMAND --help shows a command's options. MIAI_HOME names the folder of mlruns/ and reports/."]
    _say(lines)


def show_command(name: str, command: ModuleType) -> None:
    from miai.runner.studies import study_names

    lines = [f"miai {name}", "", *(command.__doc__ or "").strip().splitlines(), "", "Examples:"]
    lines += [f"  {example}" for example in command.EXAMPLES]
    if command.CONFIG:
        lines += ["", "Groups (group=choice; * is the default):", *_groups(command.CONFIG)]
        lines += ["", "Options (key=value):", *_options(command.CONFIG)]
    if name in ("sweep", "report"):
        lines += ["", f"Studies: {', '.join(study_names())}"]
    _say(lines)


def _summary(command: ModuleType) -> str:
    return (command.__doc__ or "").strip().splitlines()[0]


def _defaults(file: Path) -> list[str]:
    """Return the entries of a YAML's defaults list, as `group: choice` or a name."""
    block = re.search(r"^defaults:\n((?:\s+-.*\n)+)", file.read_text(encoding="utf-8"), re.M)
    return [line.strip("- \n") for line in block[1].splitlines()] if block else []


def _groups(config: str) -> Iterator[str]:
    from miai.runner.compose import options_of

    for entry in _defaults(project.shipped_conf() / f"{config}.yaml"):
        group, _, choice = entry.partition(": ")
        if not choice or group.startswith("override"):
            continue
        folder = group.split("@")[0]
        names = [f"{name}*" if name == choice else name for name in options_of(folder)]
        yield f"  {group}={'|'.join(names)}"
        if "@" not in group:
            yield from _group_options(folder)


def _group_options(folder: str) -> Iterator[str]:
    """Yield the options of each choice, under the group."""
    for file in sorted((project.shipped_conf() / folder).glob("*.yaml")):
        text = file.read_text(encoding="utf-8")
        first = text.splitlines()[0].removeprefix("# ")
        yield f"      {file.stem:<{COLUMN - 6}} {first}"
        for key, value in re.findall(r"^([a-z_]+): *([^#\n]*)", text, re.M):
            if key not in ("name", "defaults") and value.strip():
                yield f"      {'':<{COLUMN - 6}}   {folder}.{key}={value.strip()}"


def _options(config: str) -> Iterator[str]:
    """Yield each option of the primary YAML and of those it is built on, with its default and its comment."""
    folder = project.shipped_conf()
    bases = [entry for entry in _defaults(folder / f"{config}.yaml") if (folder / f"{entry}.yaml").is_file()]
    for name in (config, *bases):
        parent = ""
        for line in (folder / f"{name}.yaml").read_text(encoding="utf-8").splitlines():
            found = re.match(r"^(\s*)([a-z_]+): *([^#]*?)\s*(?:# *(.*))?$", line)
            if line.startswith("hydra:"):
                break
            if not found or found[2] == "defaults":
                continue
            indent, key, value, comment = found.groups()
            if not value:
                parent = f"{key}."
                continue
            key = f"{parent if indent else ''}{key}"
            yield f"  {f'{key}={value}':<{COLUMN}} {comment or ''}".rstrip()


def _say(lines: list[str]) -> None:
    print("\n".join(lines))  # noqa: T201
