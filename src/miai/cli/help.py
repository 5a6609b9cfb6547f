"""Help pages: what commands there are; for each its options, groups, defaults and examples; and what a study runs."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from miai.runner.options import Choice

MOST_COLUMNS = 110
NARROW = 14
MEDIUM = 22
WIDE = 28


def show_overview() -> None:
    """Print the commands."""
    from miai.cli.main import command_names, load_command

    lines = [
        "Miai: machines that learn to play board games.",
        "",
        "usage: miai COMMAND [RUN or STUDY] [key=value …]",
        "",
    ]
    column = 4 + max(map(len, command_names()))
    for name in command_names():
        lines += _entry(name, _summary(load_command(name)), column)
    lines += [
        "",
        "A first look:",
        "  miai sweep td_comparison && miai report td_comparison",
        "  miai match players=[uct,flat_mc] game.size=7 games=20",
        "",
        "miai COMMAND --help    a command's options, groups and examples",
        "miai --version         the version",
        'miai -sc install=bash  completion in the shell: eval "$(miai -sc install=bash)"; also zsh and fish',
        "",
        "Runs go to mlruns/ and reports to reports/, in the folder that MIAI_HOME names; else in the nearest",
        "checkout of Miai above the current folder; else in the current folder.",
    ]
    _say(lines)


def show_command(name: str, command: ModuleType, words: list[str]) -> None:
    """Print a command's page. After the name of a study, that of the study.

    Raises:
        MiaiError: there is no such study, or its file cannot be read.
    """
    if name in ("sweep", "report") and words and "=" not in words[0]:
        _say(list(_study(words[0])))
        return
    lines = [f"miai {name}", "", *(command.__doc__ or "").strip().splitlines(), "", "Examples:"]
    lines += [f"  {example}" for example in command.EXAMPLES]
    if command.CONFIG:
        lines += _configuration(command.CONFIG)
    if name in ("sweep", "report"):
        lines += ["", "Studies:"]
        lines += _studies()
        lines += ["", "A study takes the overrides of its task: see miai train --help."]
    _say(lines)


def _summary(command: ModuleType) -> str:
    return (command.__doc__ or "").strip().splitlines()[0]


def _configuration(config: str) -> Iterator[str]:
    """Yield the groups and the options of a primary YAML."""
    from miai.runner.options import choices, primary

    offered = primary(config)
    shown: set[str] = set()
    if offered.groups:
        yield from ("", "Groups (group=choice), their choices, and the options that a choice brings:")
    for group in offered.groups:
        if group.is_ready:
            continue
        yield ""
        yield from _entry(f"{group.key}={group.default}", group.comment, WIDE)
        if group.folder in shown:
            yield f"      the choices of {group.folder}; their options begin with {group.path}"
            continue
        shown.add(group.folder)
        for choice in choices(group.folder):
            yield from _choice(choice, group.path)
    for folder in dict.fromkeys(group.folder for group in offered.groups if group.is_ready):
        yield ""
        all_of_them = f"each {folder} by its name; for one with other options, {folder}.NAME.OPTION=VALUE"
        yield from _entry(f"{folder}.NAME", all_of_them, WIDE)
        names = {group.default for group in offered.groups if group.is_ready and group.folder == folder}
        for choice in choices(folder):
            if choice.name in names:
                yield from _choice(choice, f"{folder}.{choice.name}")
    yield from ("", "Options (key=value), with their defaults:", "")
    for option in offered.options:
        yield from _entry(f"{option.path}={option.default}", option.comment, WIDE)


def _choice(choice: Choice, path: str) -> Iterator[str]:
    yield from _entry(choice.name, choice.summary, WIDE, indent=6)
    options = [f"{path}.{option.path}={option.default}" for option in choice.options]
    yield from _wrapped(options, " " * WIDE)


def _studies() -> Iterator[str]:
    """Yield each study with its question."""
    from miai.runner.options import summary
    from miai.runner.studies import study_file, study_names

    for name in study_names():
        yield from _entry(name, summary(study_file(name)).removeprefix("Question: "), MEDIUM)


def _study(name: str) -> Iterator[str]:
    """Yield what a study asks and runs."""
    from miai.runner.studies import expand, load_study_file
    from miai.runner.study_configs import experiments_of

    study = load_study_file(name)
    yield f"Study {study.name}"
    yield ""
    yield from textwrap.wrap(study.question, _columns())
    yield ""
    yield "Stages:"
    for stage in study.stages:
        after = f", after stage {' and '.join(dict.fromkeys(stage.needed))}" if stage.needed else ""
        number = f"{len(expand(stage)):,} runs{' for each choice' if stage.select else ''}"
        yield from _entry(stage.name, f"{number} of task {stage.task}{after}", NARROW)
        settings = [f"{key}: {value}" for key, value in stage.overrides.items() if key not in stage.grid]
        settings += [f"{key}: {', '.join(map(str, values))}" for key, values in stage.grid.items()]
        settings += [
            f"case {', '.join(f'{key}: {value}' for key, value in case.items())}" for case in stage.cases if case
        ]
        if stage.select:
            chosen = stage.select
            best = "largest" if chosen.goal == "max" else "smallest"
            settings.append(
                f"{chosen.choose}: for each {chosen.by}, the one with the {best} {chosen.metric} in {chosen.of}"
            )
        for setting in settings:
            yield from _wrapped([setting], " " * NARROW)
    yield ""
    yield "Run it, and draw its figures:"
    yield f"  miai sweep {study.name} && miai report {study.name}"
    plain = [f"  miai {stage.task} +experiment={part}" for part, stage, _ in experiments_of(study)]
    if plain:
        yield "In plain Hydra:"
        yield from plain


def _entry(name: str, text: str, column: int, indent: int = 2) -> Iterator[str]:
    """Yield a name with a text beside it, from `column` on, wrapped."""
    first = f"{' ' * indent}{name}"
    if not text:
        yield first
        return
    if len(first) >= column:
        yield first
        first = ""
    lines = textwrap.wrap(text, max(20, _columns() - column), break_long_words=False, break_on_hyphens=False)
    yield f"{first:<{column}}{lines[0]}"
    yield from (" " * column + line for line in lines[1:])


def _wrapped(parts: list[str], prefix: str) -> Iterator[str]:
    """Yield parts, several a line, none broken in two if it can be helped."""
    text = "  ".join(part.replace(" ", "\u00a0") for part in parts)
    for line in textwrap.wrap(text, max(20, _columns() - len(prefix)), break_long_words=False, break_on_hyphens=False):
        yield prefix + line.replace("\u00a0", " ")


def _columns() -> int:
    return min(shutil.get_terminal_size((MOST_COLUMNS, 24)).columns, MOST_COLUMNS)


def _say(lines: list[str]) -> None:
    print("\n".join(lines))  # noqa: T201
