"""No source of Miai has a way by which a file, a store or a name could run code; whoever adds one meets this test."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import miai

SOURCE = Path(miai.__file__).parents[1]
FILES = sorted(file for package in ("miai", "hydra_plugins") for file in (SOURCE / package).rglob("*.py"))

MODULES = {"cloudpickle", "code", "dill", "joblib", "marshal", "pickle", "runpy", "shelve"}
"""What unpickles, or runs what it reads."""

CALLS = {
    "__import__": "imports what it is told",
    "compile": "compiles code",
    "eval": "runs a text",
    "exec": "runs a text",
    "getstatusoutput": "starts a shell",
    "hydra.utils.call": "calls what a configuration names",
    "hydra.utils.get_class": "imports what a configuration names",
    "hydra.utils.get_method": "imports what a configuration names",
    "hydra.utils.get_object": "imports what a configuration names",
    "hydra.utils.instantiate": "calls what a configuration names",
    "instantiate": "calls what a configuration names",
    "np.load": "miai.npz reads archives: bounded, and without pickles",
    "numpy.load": "miai.npz reads archives: bounded, and without pickles",
    "np.fromregex": "reads a file by a pattern",
    "np.loadtxt": "decompresses without a bound",
    "np.genfromtxt": "decompresses without a bound",
    "os.popen": "starts a shell",
    "os.system": "starts a shell",
    "pd.eval": "runs a text",
    "pd.read_pickle": "unpickles",
    "pandas.read_pickle": "unpickles",
    "pydoc.locate": "imports what it is told",
    "shutil.unpack_archive": "writes where an archive says",
    "torch.hub.load": "runs downloaded code",
    "torch.jit.load": "runs the code in a file",
    "torch.load": "unpickles",
    "yaml.full_load": "makes objects",
    "yaml.load_all": "makes objects",
    "yaml.unsafe_load": "makes objects",
}
METHODS = {
    "extract": "writes where an archive says",
    "extractall": "writes where an archive says",
    "query": "a data frame's runs a text",
    "load_model": "unpickles models",
}

IMPORTERS = {
    "miai/alphago/__init__.py",
    "miai/cli/main.py",
    "miai/kinds.py",
    "miai/networks/evaluator.py",
    "miai/report/figures/__init__.py",
    "miai/runner/task.py",
    "miai/runner/launchers/__init__.py",
}
"""Files that may import a module whose name they have made: each takes names from a folder of the package alone."""

STARTERS = {
    "miai/cli/commands/ui.py": "MLflow's server, by this Python",
    "miai/gtp/client.py": "engines; see check_may_start",
    "miai/runner/launchers/slurm.py": "Slurm's own commands",
    "miai/tracking/origin.py": "git",
}
"""Files that may start programs."""


def relative(file: Path) -> str:
    return file.relative_to(SOURCE).as_posix()


def calls(file: Path) -> Iterator[tuple[str, ast.Call]]:
    """The names that are called, as they are written."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def imported(file: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


@pytest.mark.parametrize("file", FILES, ids=relative)
def test_no_source_runs_what_it_reads(file: Path):
    name = relative(file)
    assert not {module.partition(".")[0] for module in imported(file)} & MODULES
    assert not {module for module in imported(file) if CALLS.get(module)}
    for called, node in calls(file):
        last = called.rpartition(".")[2]
        assert called not in CALLS, f"{name}:{node.lineno}: {called} {CALLS[called]}"
        if "." in called:
            assert last not in METHODS, f"{name}:{node.lineno}: {called} {METHODS.get(last)}"
        for keyword in node.keywords:
            value = ast.unparse(keyword.value)
            assert (keyword.arg, value) != ("shell", "True"), f"{name}:{node.lineno}: starts a shell"
            assert (keyword.arg, value) != ("allow_pickle", "True"), f"{name}:{node.lineno}: unpickles"
            assert (keyword.arg, value) != ("trust_remote_code", "True"), f"{name}:{node.lineno}: runs downloaded code"


def test_yaml_is_read_by_safe_loaders():
    readers = {(relative(file), called) for file in FILES for called, _ in calls(file) if called.endswith("yaml.load")}
    assert readers == {("miai/runner/stored_config.py", "yaml.load")}
    from miai.runner import stored_config

    assert issubclass(stored_config._Loader, yaml.SafeLoader)
    assert stored_config._Loader.yaml_constructors == yaml.SafeLoader.yaml_constructors


def test_modules_are_imported_by_name_in_few_places():
    named = {relative(file) for file in FILES if any(called.endswith("import_module") for called, _ in calls(file))}
    assert named <= IMPORTERS


def test_programs_are_started_in_few_places():
    starts = ("subprocess.run", "subprocess.Popen", "subprocess.check_output", "os.execv", "os.execvp", "os.spawnv")
    found = {relative(file) for file in FILES if any(called in starts for called, _ in calls(file))}
    assert found <= set(STARTERS)


def test_archives_are_read_in_few_places_and_never_unpacked():
    found = {
        relative(file)
        for file in FILES
        if any(
            called.rpartition(".")[2] in ("ZipFile", "TarFile") or called == "tarfile.open" for called, _ in calls(file)
        )
    }
    assert found == {
        "miai/npz.py",
        "miai/records/files.py",
        "miai/runner/matches.py",  # writes one
        "miai/tabular/table.py",  # writes one
    }
