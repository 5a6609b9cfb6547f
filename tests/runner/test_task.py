"""Tasks are found by themselves, and wrong ones named."""

from __future__ import annotations

from pathlib import Path

import pytest

from miai.errors import MiaiError
from miai.runner.task import Task, tasks
from runner.sample_tasks import count, name_of

TASK_FILE = """
from dataclasses import replace
from runner.sample_tasks import COUNT
TASK = replace(COUNT, name={name!r})
"""


def package(folder: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> str:
    name = f"tasks_of_{folder.name.replace('-', '_')}"
    (folder / name).mkdir()
    (folder / name / "__init__.py").touch()
    for module, text in files.items():
        (folder / name / f"{module}.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    return name


def test_every_file_of_the_package_is_a_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"a": TASK_FILE.format(name="one"), "b": TASK_FILE.format(name="two"), "_shared": "X = 1"}
    found = tasks(package(tmp_path, monkeypatch, **files))
    assert {name: task.name for name, task in found.items()} == {"one": "one", "two": "two"}


def test_two_tasks_of_one_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = package(tmp_path, monkeypatch, a=TASK_FILE.format(name="one"), b=TASK_FILE.format(name="one"))
    with pytest.raises(MiaiError, match=rf"{name}\.b: the task's name 'one' is taken by {name}\.a"):
        tasks(name)


def test_a_file_without_a_task_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MiaiError, match="must define TASK"):
        tasks(package(tmp_path, monkeypatch, a="TASK = 1"))


def test_a_function_that_workers_could_not_find_is_refused() -> None:
    with pytest.raises(ValueError, match="<lambda> is not a module-level function"):
        Task("t", sources=("errors.py",), run=count, name_of=lambda config: "name")


def test_a_source_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'t': no such source .*: gone\.py"):
        Task("t", sources=("errors.py", "gone.py"), run=count, name_of=name_of)
