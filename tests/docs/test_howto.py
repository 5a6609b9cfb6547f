"""The guides of docs/howto work as written: their files go into a copy of the package, their commands run there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .markdown import ROOT, Block, blocks, console_commands

GUIDES = sorted((ROOT / "docs" / "howto").glob("*.md"))
COPIED = ("src", "conf", "experiments")


def apply_block(block: Block, root: Path) -> None:
    """Write the file that a block is, or make the edit that a `diff` block is."""
    assert block.title is not None
    path = root / block.title
    if block.language == "diff":
        path.write_text(edited(path.read_text(encoding="utf-8"), block.text), encoding="utf-8")
        return
    assert not path.exists(), f"{block.title}: a guide adds files, but this one is there already"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text, encoding="utf-8")


def edited(text: str, diff: str) -> str:
    """Apply a diff without line numbers: its old lines must stand in `text` exactly once."""
    lines = diff.splitlines()
    assert all(line[:1] in ("+", "-", " ", "") for line in lines), diff
    old = "\n".join(line[1:] for line in lines if line[:1] != "+")
    new = "\n".join(line[1:] for line in lines if line[:1] != "-")
    assert text.count(f"\n{old}\n") == 1, f"these lines are not in the file exactly once:\n{old}"
    return text.replace(f"\n{old}\n", f"\n{new}\n")


def test_an_edit_replaces_its_old_lines() -> None:
    assert edited("a\nb\nc\n", " b\n+d\n") == "a\nb\nd\nc\n"
    assert edited("a\nb\nc\n", "-b\n+d\n") == "a\nd\nc\n"


def test_an_edit_that_does_not_fit_is_refused() -> None:
    with pytest.raises(AssertionError, match="exactly once"):
        edited("a\nb\n", "-x\n+y\n")


def test_every_guide_works_as_written(tmp_path: Path) -> None:
    assert len(GUIDES) >= 4
    project = tmp_path / "project"
    for name in COPIED:
        shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
    commands = []
    for guide in GUIDES:
        for block in blocks(guide.read_text(encoding="utf-8")):
            if block.title is not None:
                apply_block(block, project)
            elif block.language == "console":
                commands += console_commands(block)
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("MIAI_", "HYDRA_"))}
    environment |= {
        "PYTHONPATH": str(project / "src"),
        "NUMBA_CACHE_DIR": str(tmp_path / "kernels"),
        "COLUMNS": "120",
    }
    results = tmp_path / "results.jsonl"
    subprocess.run(
        [sys.executable, str(Path(__file__).with_name("drive_commands.py")), str(results)],
        input=json.dumps(commands),
        text=True,
        cwd=project,
        env=environment,
        check=True,
        timeout=300,
    )
    done = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    assert [entry["command"] for entry in done] == commands
    failed = [f"$ {entry['command']}\n{entry['printed']}" for entry in done if entry["code"] != 0]
    assert not failed, "\n".join(failed)
    assert (project / "reports" / "ties" / "report.html").is_file()
    assert (project / "mlruns" / "mlflow.db").is_file(), "the copy was not the project that the commands worked on"
