"""What the documents say is there: links, commands, options, targets of make, studies."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from miai.cli.main import command_names, load_command
from miai.runner import options
from miai.runner.compose import compose_one
from miai.runner.studies import load_study_file, study_names
from miai.runner.task import tasks

from .markdown import ROOT, all_commands, anchors, blocks, documents, links

DOCUMENTS = [path for path in documents() if path.parent.name != "howto"]
"""The guides name options and studies that they add themselves; test_howto runs their commands."""

RUN_ID = "RUN_ID"
NOT_SHIPPED = "ties"
"""The study that a guide writes, and a page reports."""

NOT_OURS = ("http://", "https://")
LONGEST_LINE = 135
WORKPLACE = re.compile(r"TODO|FIXME|\bissue #?\d|/work/|/tmp/|/root/", re.I)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", documents(), ids=relative)
def test_links_resolve(path: Path) -> None:
    for link in links(read(path)):
        if link.startswith(NOT_OURS):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), f"{link} leads nowhere"
        if anchor:
            assert anchor in anchors(read(target)), f"{link}: no such heading"


def test_every_document_and_picture_is_linked() -> None:
    linked = {
        (path.parent / link.partition("#")[0]).resolve()
        for path in documents()
        for link in links(read(path))
        if not link.startswith(NOT_OURS)
    }
    there = {*ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/img/*"), *ROOT.glob("CHANGELOG.md")}
    assert not {relative(path) for path in there if path.resolve() not in linked}


@pytest.mark.parametrize("path", documents(), ids=relative)
def test_documents_speak_of_the_project_alone(path: Path) -> None:
    text = read(path)
    assert not WORKPLACE.search(text), WORKPLACE.search(text)
    in_tables = [
        line for line in text.splitlines() if len(line) > LONGEST_LINE and not line.startswith(("|", "$", "!"))
    ]
    assert not in_tables, "prose is wrapped"


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_commands_are_there_and_take_what_they_are_given(path: Path) -> None:
    targets = re.findall(r"^([a-z-]+):.*##", read(ROOT / "Makefile"), re.M)
    for program, *words in all_commands(read(path)):
        if program == "make":
            assert {word for word in words if "=" not in word} <= set(targets), f"make {' '.join(words)}"
        elif words[0] not in ("--help", "COMMAND"):
            assert words[0] in command_names(), f"miai {words[0]}"
            check_arguments(words[0], [word for word in words[1:] if word not in ("-m", "--help")])


def check_of_study(study: str, overrides: list[str]) -> None:
    """Every override is an option of one of the study's tasks at least."""
    stages = load_study_file(study).stages if study != NOT_SHIPPED else ()
    taken: set[str] = set()
    for task in {stage.task for stage in stages} or {"train"}:
        words = options.primary(task).first_words()
        own = [text for text in overrides if re.split(r"[=.@]", text)[0] in words]
        compose_one(task, own)
        taken |= {*own}
    assert taken == {*overrides}, study


def check_arguments(name: str, arguments: list[str]) -> None:
    """Compose what a command is given; a command that is only named has no arguments."""
    words = [word for word in arguments if "=" not in word]
    overrides = [first_of(word) for word in arguments if "=" in word]
    config = load_command(name).CONFIG
    if name in ("sweep", "report") and words:
        [study] = words
        assert study in (*study_names(), NOT_SHIPPED), study
        check_of_study(study, overrides)
        return
    if words:
        assert words == [RUN_ID], f"miai {name} {' '.join(words)}"
        overrides.append(f"run={RUN_ID}")
    if arguments and config is not None:
        composed = compose_one(config, overrides)
        options.primary(config).check(composed)
        if config in tasks():
            tasks()[config].check(composed)


def first_of(override: str) -> str:
    """Return the first of the values that an override sweeps over."""
    key, _, value = override.partition("=")
    if value.startswith("range("):
        return f"{key}=0"
    return override if value.startswith(("[", "{", "'", '"')) else f"{key}={value.split(',')[0]}"


@cache
def known_options() -> frozenset[str]:
    found: set[str] = set()
    for name in options.primary_names():
        primary = options.primary(name)
        found |= {*primary.names(), *(group.path for group in primary.groups)}
        for group in primary.groups:
            for choice in options.choices(group.folder):
                found |= {f"{group.path}.{option.path}" for option in choice.options}
    return frozenset(found)


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_options_in_the_text_are_there(path: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", read(path), flags=re.M | re.S)
    for code in re.findall(r"`([^`\n]+)`", prose):
        found = re.fullmatch(r"([a-z_][a-z_.@]*)=(\S+)", code)
        if found and found[2] not in ("True", "False"):  # those are Python's
            assert found[1] in known_options(), code


def test_python_in_documents_is_python() -> None:
    for path in documents():
        for block in blocks(read(path)):
            if block.language == "python":
                compile(block.text, relative(path), "exec")
