"""Compiled kernels are kept apart by the sources that they are built from."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import miai
from miai import kernel_cache
from miai.kernel_cache import KERNEL_SOURCES, hash_sources, use_versioned_cache

PACKAGE = Path(miai.__file__).parent


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "games").mkdir()
    (tmp_path / "rng.py").write_text("SEED = 1\n")
    (tmp_path / "games" / "go.py").write_text("SIZE = 9\n")
    return tmp_path


def test_the_hash_is_of_paths_and_contents(package):
    names = ("rng.py", "games")
    before = hash_sources(names, package)
    assert hash_sources(names[::-1], package) == before
    (package / "games" / "notes.txt").write_text("no source")
    (package / "other.py").write_text("no source of these")
    assert hash_sources(names, package) == before
    (package / "games" / "go.py").write_bytes(b"SIZE = 9\r\n")
    assert hash_sources(names, package) == before  # a checkout with other line ends
    (package / "games" / "go.py").write_text("SIZE = 19\n")
    edited = hash_sources(names, package)
    assert edited != before
    (package / "games" / "go.py").rename(package / "games" / "chess.py")
    assert len({before, edited, hash_sources(names, package)}) == 3
    assert hash_sources(("rng.py", "not there"), package) == hash_sources(("rng.py",), package)


def test_every_file_with_kernels_is_among_the_sources():
    for file in PACKAGE.rglob("*.py"):
        names = {
            name
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            for name in (
                [node.module]
                if isinstance(node, ast.ImportFrom)
                else [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else []
            )
        }
        if any(name.split(".")[0] == "numba" or name.endswith("compiled") for name in names):
            assert file.relative_to(PACKAGE).parts[0] in KERNEL_SOURCES, f"{file} has kernels"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kernel_cache.platformdirs, "user_cache_dir", lambda name: str(tmp_path / name))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    return tmp_path / "miai" / "kernels"


def test_the_folder_is_named_after_the_sources(cache, monkeypatch):
    use_versioned_cache()
    chosen = Path(os.environ["NUMBA_CACHE_DIR"])
    assert chosen.parent == cache
    assert chosen.is_dir()
    assert chosen.name.endswith(hash_sources(KERNEL_SOURCES)[:16])
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setattr(kernel_cache, "hash_sources", lambda names: "edited" * 3)
    use_versioned_cache()
    assert Path(os.environ["NUMBA_CACHE_DIR"]) != chosen


def test_the_users_choice_is_kept(cache, tmp_path, monkeypatch):
    chosen = str(tmp_path / "somewhere" / "new")
    monkeypatch.setenv("NUMBA_CACHE_DIR", chosen)
    use_versioned_cache()
    assert os.environ["NUMBA_CACHE_DIR"] == chosen
    assert not cache.exists()


def test_a_choice_that_cannot_be_written_is_one_line_and_no_obstacle(tmp_path):
    chosen = tmp_path / "chosen"
    chosen.write_text("a file where a folder should be")
    command = [Path(sys.executable).with_name("miai"), "evaluate", "nosuch.npz"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(chosen), "MIAI_HOME": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    complaint, refusal = done.stderr.splitlines()
    assert (
        complaint == f"miai: NUMBA_CACHE_DIR: '{chosen}' cannot be written to; kernels are compiled anew, and not kept."
    )
    assert "nosuch.npz" in refusal


def test_folders_that_nothing_uses_go(cache):
    for name, days in (("old", 40), ("recent", 3)):
        (cache / name).mkdir(parents=True)
        (cache / name / "kernel").touch()
        age = time.time() - days * 86_400
        os.utime(cache / name, (age, age))
    use_versioned_cache()
    assert not (cache / "old").exists()
    assert (cache / "recent").exists()


def test_importing_the_package_is_enough_and_quick():
    program = (
        "import os, sys; import miai; assert os.environ['NUMBA_CACHE_DIR']; assert 'numba' not in sys.modules;"
        "assert 'numpy' not in sys.modules"
    )
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)


def test_a_home_that_cannot_be_written_leaves_no_kernels_behind(tmp_path):
    home = tmp_path / "home"
    home.write_text("a file where a folder should be")
    program = "import os, miai; print(os.environ['NUMBA_CACHE_DIR'], os.path.isdir(os.environ['NUMBA_CACHE_DIR']))"
    environment = {
        name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    }
    told = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        env={**environment, "HOME": str(home)},
        capture_output=True,
        text=True,
    )
    folder, existed = told.stdout.split()
    assert existed == "True"
    assert not Path(folder).exists()
