"""The Makefile: what it lists, what it sets up, and that it does nothing twice. Its tools are stand-ins that note how
they are called."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import miai

MAKEFILE = Path(miai.__file__).parents[2] / "Makefile"
TOOL = """#!/bin/sh
echo "$(basename "$0") $*" >> "{log}"
"""
PYTHON = """#!/bin/sh
case "$1" in
  -c) echo {verdict} ;;
  --version) echo "Python {version}" ;;
  *) echo "python $*" >> "{log}"
     mkdir -p .venv/bin
     for tool in python miai ruff mypy; do cp "{tool}" .venv/bin/$tool; done ;;
esac
"""
WITHOUT_TORCH = """#!/bin/sh
[ "$*" = "-c import torch" ] && exit 1"""
SKIP = 'importorskip("'
"""What a test says that is skipped without a package."""

pytestmark = pytest.mark.skipif(
    not MAKEFILE.is_file() or shutil.which("make") is None, reason="no Makefile, or no make"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A checkout with what the Makefile looks at."""
    (tmp_path / "requirements").mkdir()
    locks = [f"requirements/{name}.lock" for name in ("runtime", "dev", "alphago", "services", "cluster")]
    for name in (*locks, "pyproject.toml", "setup.py"):
        (tmp_path / name).touch()
    shutil.copy(MAKEFILE, tmp_path)
    _script(tmp_path / "tool", TOOL.format(log=tmp_path / "log"))
    _script(tmp_path / "new", _python(tmp_path, "ok", "3.12.1"))
    _script(tmp_path / "old", _python(tmp_path, "old", "3.10.4"))
    return tmp_path


def _python(folder: Path, verdict: str, version: str) -> str:
    return PYTHON.format(verdict=verdict, version=version, log=folder / "log", tool=folder / "tool")


def _script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def make(project: Path, *arguments: str, python: str = "new") -> subprocess.CompletedProcess:
    command = ["make", f"PYTHON={project / python}", *arguments]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)


def called(project: Path) -> list[str]:
    """What was called since the last time."""
    log = project / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return lines


def test_make_alone_lists_the_targets_with_a_line_each(project):
    done = make(project)
    assert done.returncode == 0
    targets = {line.split()[1]: line for line in done.stdout.splitlines()}
    assert {"help", "sweep", "alphago", "report", "ui", "play", "test", "test-alphago", "lint", "bench"} <= set(targets)
    assert all(len(line.split()) > 3 for line in targets.values())
    assert called(project) == []


def test_it_sets_up_what_is_missing_and_nothing_twice(project):
    assert make(project, "sweep").returncode == 0
    first = called(project)
    assert first[0] == "python -m venv --clear .venv"
    assert [line.split(" install ")[0] for line in first[1:3]] == ["python -m pip"] * 2
    assert first[3:] == ["miai sweep td_comparison", "miai report td_comparison"]
    assert make(project, "sweep", "ARGS=seed=0,1 num_games=50").returncode == 0
    overrides = "seed=0,1 num_games=50"
    assert called(project) == [f"miai sweep td_comparison {overrides}", f"miai report td_comparison {overrides}"]
    assert make(project, "lint").returncode == 0
    assert [line for line in called(project) if "install" in line] != []
    assert make(project, "lint").returncode == 0
    assert {line.split()[0] for line in called(project)} == {"ruff", "mypy"}
    for target in ("report", "ui", "play"):
        assert make(project, target).returncode == 0
        assert [line.split()[:2] for line in called(project)] == [["miai", target]]
    assert make(project, "report", "STUDY=course").returncode == 0
    assert called(project) == ["miai report course"]


def test_the_pipeline_installs_what_it_needs_once(project):
    assert make(project, "alphago").returncode == 0
    first = called(project)
    assert [line for line in first if "requirements/alphago.lock" in line]
    assert not [line for line in first if "torch==" in line], "the Python of the environment could import it"
    assert first[-2:] == ["miai sweep alphago_quick", "miai report alphago_quick"]
    assert make(project, "alphago", "ARGS=seed=1").returncode == 0
    assert called(project) == ["miai sweep alphago_quick seed=1", "miai report alphago_quick seed=1"]


def test_pytorch_is_installed_where_it_is_missing(project):
    _script(project / "tool", WITHOUT_TORCH + TOOL.removeprefix("#!/bin/sh").format(log=project / "log"))
    assert make(project, "alphago", "TORCH=torch==9.9").returncode == 0
    assert len([line for line in called(project) if line.endswith(" torch==9.9")]) == 1


def test_tests_that_need_pytorch_are_files_that_say_so(project):
    assert make(project, "test-alphago").returncode == 0
    [line] = [line for line in called(project) if " pytest " in line]
    root = MAKEFILE.parent
    named = [root / word for word in line.split() if word.startswith("tests/")]
    assert named
    assert all(path.exists() for path in named), named
    own = Path(__file__)
    saying = [path for path in (root / "tests").rglob("test_*.py") if SKIP in path.read_text(encoding="utf-8")]
    assert saying
    missing = [path for path in saying if path != own and not any(path.is_relative_to(place) for place in named)]
    assert not missing, f"make test-alphago leaves out {missing}"


def test_services_are_started_by_a_target_of_their_own(project, monkeypatch):
    _script(project / "initdb", "#!/bin/sh")  # Else it would be installed, where it is missing and we are root.
    monkeypatch.setenv("PATH", f"{project}{os.pathsep}{os.environ['PATH']}")
    assert make(project, "test-services").returncode == 0
    said = called(project)
    assert [line for line in said if "requirements/services.lock" in line]
    assert said[-1].startswith("python -m pytest -m services ")
    assert make(project, "test").returncode == 0
    assert called(project)[-1] == "python -m pytest -n 2 -m not slow and not services and not cluster"


def test_launchers_are_tried_by_a_target_of_their_own(project, monkeypatch):
    _script(project / "sbatch", "#!/bin/sh")  # Else Slurm would be installed, where it is missing and we are root.
    monkeypatch.setenv("PATH", f"{project}{os.pathsep}{os.environ['PATH']}")
    assert make(project, "test-launchers").returncode == 0
    said = called(project)
    assert [line for line in said if "requirements/cluster.lock" in line]
    assert said[-1] == "python -m pytest -rs tests/contract/test_launchers.py"


def test_a_new_lock_file_is_installed_once(project):
    make(project, "play")
    called(project)
    later = (project / ".venv" / ".runtime").stat().st_mtime + 5
    lock = project / "requirements" / "runtime.lock"
    lock.touch()
    os.utime(lock, (later, later))
    make(project, "play")
    assert len([line for line in called(project) if "install" in line]) == 2


@pytest.mark.parametrize(("python", "what"), [("old", "Python 3.10.4"), ("nosuch", "not there")])
def test_an_old_python_is_one_line(project, python, what):
    done = make(project, "sweep", python=python)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert f"Miai needs Python 3.11 or newer; {project / python} is {what}. Try: make PYTHON=python3.12" in line
    assert called(project) == []
    assert not (project / ".venv").exists()
