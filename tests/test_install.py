"""The package as it is installed: built into a wheel, put into an environment of its own, run from another folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

from miai import project

CHECKOUT = project.PACKAGE.parents[1]
SHIPPED = ("src", "conf", "experiments", "setup.py", "pyproject.toml", "README.md")

pytestmark = [
    pytest.mark.slow,  # A fresh environment compiles every kernel anew.
    pytest.mark.skipif(not project.is_checkout(CHECKOUT), reason="not run from a checkout"),
]

Run = Callable[..., str]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run the installed `miai`, from a folder that has nothing of the checkout above it."""
    work = tmp_path_factory.mktemp("install")
    source = work / "source"
    for name in SHIPPED:
        if (CHECKOUT / name).is_dir():
            shutil.copytree(CHECKOUT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        elif (CHECKOUT / name).exists():
            source.mkdir(exist_ok=True)
            shutil.copy(CHECKOUT / name, source)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    _call([*pip, "wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", work, source])
    _call([sys.executable, "-m", "venv", "--without-pip", work / "env"])
    python = work / "env" / "bin" / "python"
    [wheel] = work.glob("*.whl")
    _call([*pip, "--python", python, "install", "--no-deps", "--no-index", wheel])
    # The dependencies come from this environment. Its own .pth files are not followed there, so no editable miai is.
    [site_packages] = (work / "env" / "lib").glob("python*/site-packages")
    (site_packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    elsewhere = work / "elsewhere"
    elsewhere.mkdir()
    environment = {key: value for key, value in os.environ.items() if key not in ("MIAI_HOME", "PYTHONPATH")}

    def run(*arguments: str) -> str:
        return _call([python.with_name("miai"), *arguments], cwd=elsewhere, env=environment)

    run.site_packages = site_packages  # type: ignore[attr-defined]
    run.elsewhere = elsewhere  # type: ignore[attr-defined]
    return run


def _call(command: list, **options) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_wheel_ships_configurations_studies_pages_and_hydras_plugin(installed):
    package = installed.site_packages / "miai"
    for folder in ("conf", "experiments"):
        shipped = {file.relative_to(package / folder) for file in (package / folder).rglob("*.yaml")}
        assert shipped == {file.relative_to(CHECKOUT / folder) for file in (CHECKOUT / folder).rglob("*.yaml")}
    assert (package / "report" / "page.html").is_file()
    assert (installed.site_packages / "hydra_plugins" / "miai" / "__init__.py").is_file()
    sources = {file.relative_to(package) for file in package.rglob("*.py")}
    own = CHECKOUT / "src" / "miai"
    assert {file.relative_to(own) for file in own.rglob("*.py")} <= sources


def test_it_runs_from_any_folder(installed):
    assert "miai COMMAND --help" in installed("--help")
    assert "td_comparison" in installed("sweep", "--help")
    assert "opponent.p=0.8" in installed("train", "--help")
    tiny = ("num_games=200", "num_checkpoints=2", "test.games=10", "launcher=serial")
    assert "eval/win" in installed("train", *tiny)
    assert "2 runs, 2 to do." in installed("train", "-m", *tiny, "seed=1,2")
    assert "2 finished" in installed("sweep", "td_comparison", *tiny, "algorithm=mc,sarsa", "seed=0")
    page = installed("report", "td_comparison", *tiny, "algorithm=mc,sarsa", "seed=0").splitlines()[-1]
    assert Path(page) == installed.elsewhere / "reports" / "td_comparison" / "report.html"
    assert (installed.elsewhere / "mlruns" / "mlflow.db").is_file()
