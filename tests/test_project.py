"""Where the project is, wherever a command is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from miai import project
from miai.errors import MiaiError


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """An invented checkout: what makes a folder one, and a folder deep in it."""
    (tmp_path / "a" / "src" / "miai").mkdir(parents=True)
    (tmp_path / "a" / "src" / "miai" / "__init__.py").touch()
    (tmp_path / "a" / "conf").mkdir()
    (tmp_path / "a" / "docs" / "deep").mkdir(parents=True)
    return tmp_path / "a"


@pytest.mark.parametrize("place", [".", "docs/deep", "src/miai"])
def test_the_nearest_checkout_above(checkout, place, monkeypatch):
    monkeypatch.delenv("MIAI_HOME", raising=False)
    monkeypatch.chdir(checkout / place)
    assert project.root() == checkout.resolve()
    assert project.mlruns() == checkout.resolve() / "mlruns"
    assert project.reports() == checkout.resolve() / "reports"


def test_the_current_folder_where_there_is_no_checkout(tmp_path, monkeypatch):
    monkeypatch.delenv("MIAI_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    assert project.root() == tmp_path.resolve()


def test_the_user_may_say_where(checkout, tmp_path, monkeypatch):
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(checkout)
    monkeypatch.setenv("MIAI_HOME", str(tmp_path / "home"))
    assert project.root() == (tmp_path / "home").resolve()
    monkeypatch.setenv("MIAI_HOME", "../home")
    assert project.root() == (tmp_path / "home").resolve()
    monkeypatch.setenv("MIAI_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(MiaiError, match=r"MIAI_HOME: .*nowhere' is not a folder"):
        project.root()


def test_the_package_finds_its_configuration():
    assert (project.shipped_conf() / "train.yaml").is_file()
    assert (project.shipped_experiments() / "td_comparison.yaml").is_file()
