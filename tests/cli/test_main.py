"""What a newcomer meets first: the overview, help pages, versions, typing errors, completion in the shell."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import miai as package
from miai.cli.main import command_names, load_command, main

STUDIES = ("alpha_sensitivity", "course", "td_comparison")


def test_no_arguments_show_the_overview(miai):
    for arguments in ((), ("-h",), ("--help",), ("help",)):
        said = miai(*arguments)
        assert said.code == 0
        assert said.err == ""
        for name in command_names():
            assert f"\n  {name} " in said.out
        assert "MIAI_HOME" in said.out


def test_version(miai):
    assert miai("--version").out == f"miai {package.__version__}\n"


def test_the_package_is_the_command_too():
    done = subprocess.run([sys.executable, "-m", "miai", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"miai {package.__version__}\n"
    done = subprocess.run([sys.executable, "-m", "miai", "trian"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "train" in done.stderr


@pytest.mark.parametrize("name", command_names())
def test_every_command_has_a_page_that_fits(miai, home, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    said = miai(name, "--help")
    assert said.code == 0
    assert said.out.startswith(f"miai {name}\n\n")
    assert miai("help", name).out == said.out
    for example in load_command(name).EXAMPLES:
        assert f"\n  {example}\n" in said.out
    assert max(map(len, said.out.splitlines())) <= 120
    summary = load_command(name).__doc__.splitlines()[0]
    assert summary.endswith(".")
    assert len(summary) <= 90


def test_a_narrow_terminal_wraps(miai, home, monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    page = miai("train", "--help").out
    after_examples = page[page.index("Groups") :]
    assert [line for line in after_examples.splitlines() if len(line) > 84] == []  # paths of options are not broken


def test_the_page_of_a_study(miai, home):
    said = miai("sweep", "alpha_sensitivity", "--help")
    assert said.code == 0
    assert "280 runs of task train" in said.out
    assert "30 runs for each choice of task train, after stage grid" in said.out
    assert "alpha: for each algorithm, the one with the largest eval/value in grid" in said.out
    assert "  miai train +experiment=alpha_sensitivity.grid\n" in said.out
    assert miai("report", "alpha_sensitivity", "--help").out == said.out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["trian"], "miai: command: no such choice 'trian'; allowed: "),
        (["help", "trian"], "miai: command: no such choice 'trian'"),
        (["--verson"], "miai: command: no such choice '--verson'"),
        (["sweep"], "miai sweep: name a study: alpha_sensitivity, "),
        (["sweep", "td_comparisn"], "miai sweep: study: no such choice 'td_comparisn'; allowed: "),
        (["sweep", "td_comparisn", "--help"], "miai sweep: study: no such choice 'td_comparisn'; allowed: "),
        (["sweep", "--all"], "miai sweep: --all: there is no such flag; options are key=value. See --help."),
        (["sweep", "course", "opponents"], "miai sweep: 'opponents': a study is named already, 'course'; "),
        (["report"], "miai report: name a study: "),
        (["report", "td_comparison", "force=perhaps"], "miai report: force: true or false is allowed, not 'perhaps'."),
        (["sync", "now"], "miai sync: 'now' is not an override; write key=value, such as alpha=0.1."),
        (["sync", "adopt=1"], "miai sync: adopt: true or false is allowed, not 1."),
        (["ui", "port=http"], "miai ui: port: a whole number from 1 to 65535 is allowed, not 'http'."),
        (["ui", "port=70000"], "miai ui: port: a whole number from 1 to 65535 is allowed, not 70000."),
        (["ui", "hosts=0.0.0.0"], "miai ui: hosts: there is no such option."),
        (["ui", "tracking.uri=./mlruns"], "miai ui: tracking.uri: './mlruns' is a file store, which MLflow 3 no "),
    ],
)
def test_typing_errors(miai, home, arguments, line):
    assert miai(*arguments).refusal.startswith(line)


def test_home_that_is_no_folder(miai, tmp_path, monkeypatch):
    monkeypatch.setenv("MIAI_HOME", str(tmp_path / "nosuch"))
    assert miai("train", "num_games=10").refusal == f"miai train: MIAI_HOME: '{tmp_path}/nosuch' is not a folder."


def test_a_project_that_cannot_be_written(miai, empty_home):
    """A file stands where the folder has to be; so it is for root too, who may write everywhere."""
    (empty_home / "mlruns").write_text("in the way")
    for arguments in (["train", "num_games=10"], ["sweep", "td_comparison", "num_games=10", "launcher=serial"]):
        assert str(empty_home / "mlruns") in miai(*arguments).refusal
    (empty_home / "mlruns").unlink()
    assert list(empty_home.iterdir()) == []


def test_a_folder_that_was_removed(miai, tmp_path, monkeypatch):
    monkeypatch.delenv("MIAI_HOME", raising=False)
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert miai("train").refusal == (
        "miai train: the current folder has been removed; change to another one, or set MIAI_HOME."
    )


def test_a_store_that_is_damaged(miai, empty_home):
    (empty_home / "mlruns").mkdir()
    (empty_home / "mlruns" / "mlflow.db").write_bytes(b"words, words, words" * 1000)
    for arguments in (["evaluate", "x"], ["reproduce", "x"], ["report", "td_comparison"], ["ui"]):
        assert "cannot be reached: DatabaseError: file is not a database" in miai(*arguments).refusal
    said = miai("train", "num_games=50", "num_checkpoints=1")
    assert said.code == 0
    assert "Runs are kept in " in said.out


def test_a_terminal_without_greek():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    script = Path(sys.executable).with_name("miai")
    done = subprocess.run([script, "train", "--help"], env=environment, capture_output=True, text=True, check=True)
    assert "how ?, the step size, changes over the games" in done.stdout


def test_completion(miai, home, monkeypatch):
    def offered(line):
        monkeypatch.setenv("COMP_LINE", line)
        said = miai("-sc", "query=bash")
        assert said.code == 0
        assert said.err == ""
        return said.out.split()

    assert set(offered("miai ")) == set(command_names())
    assert set(offered("miai tr")) == set(command_names())
    assert set(STUDIES) <= set(offered("miai sweep "))
    assert offered("miai train algorithm=q") == ["algorithm=q_learning"]
    assert "algorithm=mc" in offered("miai sweep td_comparison algorithm=")
    assert "opponent.p=" in offered("miai train opponent=advanced opponent.")
    assert offered("miai evaluate RUN format=") in ([], ["format=table"])
    assert offered("miai nosuch ") == []
    monkeypatch.delenv("COMP_LINE")
    assert miai("-sc", "install=bash").out.rstrip().endswith(" -F hydra_bash_completion miai")


def test_output_that_nobody_reads():
    """`miai --help | head -1` ends quietly."""
    script = Path(sys.executable).with_name("miai")
    done = subprocess.run(f"{script} train --help | head -1", shell=True, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("miai train\n", "")


def test_main_takes_the_programs_own_arguments(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["miai", "--version"])
    assert main() == 0
    assert capsys.readouterr().out.startswith("miai ")
