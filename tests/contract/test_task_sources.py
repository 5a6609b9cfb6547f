"""A task names every source that affects its results: or a run would count as done after an edit that changes it.

Sources are what the fingerprint hashes. Whatever a source imports from the package when it is loaded must be a source
too, but for what only speaks, finds files, or moves results about.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import miai
from miai.runner.task import Task, tasks

PACKAGE = Path(miai.__file__).parent
WITHOUT_EFFECT = (
    "errors.py",
    "plain_text.py",
    "project.py",
    "kernel_cache.py",
    "references.py",
    "runner",
    "tracking",
    "report",
)


def files_of(names: tuple[str, ...]) -> set[Path]:
    return {
        file
        for name in names
        for file in ([PACKAGE / name] if name.endswith(".py") else (PACKAGE / name).rglob("*.py"))
    }


def imported_files(file: Path) -> set[Path]:
    found: set[Path] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith("miai."):
                place = PACKAGE.joinpath(*name.split(".")[1:])
                found |= {place.with_suffix(".py"), place / "__init__.py"}
    return {place for place in found if place.is_file()}


@pytest.mark.parametrize("task", tasks().values(), ids=tasks())
def test_what_a_source_imports_is_a_source(task: Task):
    sources, without_effect = files_of(task.sources), files_of(WITHOUT_EFFECT)
    missing = {
        f"{file.relative_to(PACKAGE)} imports {other.relative_to(PACKAGE)}"
        for file in sources
        for other in imported_files(file) - sources - without_effect
    }
    assert not missing, sorted(missing)
