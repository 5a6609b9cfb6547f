"""`make audit`: what it says of known vulnerabilities, and that the list of licences is that of the lock files."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import miai

REQUIREMENTS = Path(miai.__file__).parents[2] / "requirements"

pytestmark = pytest.mark.skipif(not (REQUIREMENTS / "audit.py").is_file(), reason="not run from a checkout")

STAND_IN = """import json, pathlib, sys
lock = pathlib.Path(sys.argv[sys.argv.index("--requirement") + 1]).name
assert "--disable-pip" in sys.argv and "--require-hashes" in sys.argv
answer = json.loads(pathlib.Path(__file__).with_suffix(".json").read_text())[lock]
if isinstance(answer, str):
    print("Traceback (most recent call last):", answer, sep="\\n", file=sys.stderr)
    sys.exit(1)
print(json.dumps({"dependencies": answer, "fixes": []}))
sys.exit(any(package.get("vulns") for package in answer))
"""
NUMPY = {"name": "numpy", "version": "1.0", "vulns": []}
BAD = {"name": "bad", "version": "2.0", "vulns": [{"id": "CVE-1", "fix_versions": ["2.1", "3.0"], "aliases": []}]}
WORSE = {"name": "worse", "version": "1", "vulns": [{"id": "CVE-2", "fix_versions": [], "aliases": []}]}
UNKNOWN = {"name": "numpy", "skip_reason": "Dependency not found on PyPI"}


def audit(folder: Path, answers: dict) -> subprocess.CompletedProcess:
    """Run the script beside empty lock files, with a stand-in for pip-audit."""
    (folder / "audit.py").write_text((REQUIREMENTS / "audit.py").read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "pip_audit.py").write_text(STAND_IN)
    (folder / "pip_audit.json").write_text(json.dumps(answers))
    for name in answers:
        (folder / name).touch()
    command = [sys.executable, "audit.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_nothing_known(tmp_path):
    done = audit(tmp_path, {"a.lock": [NUMPY], "b.lock": [NUMPY]})
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        "make audit: 0 known vulnerabilities in 1 packages.\n",
        "",
    )


def test_vulnerable_packages_are_listed_once(tmp_path):
    done = audit(tmp_path, {"a.lock": [NUMPY, BAD], "b.lock": [BAD, WORSE]})
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "bad==2.0: CVE-1, fixed in 2.1, 3.0 (a.lock)",
        "worse==1: CVE-2, not fixed yet (b.lock)",
        "make audit: 2 known vulnerabilities in 3 packages.",
    ]


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ({"a.lock": [UNKNOWN]}, "not looked up: numpy: Dependency not found on PyPI"),
        (
            {"a.lock": "ConnectionError: no route", "b.lock": [NUMPY]},
            "not looked up: a.lock: ConnectionError: no route",
        ),
    ],
)
def test_what_could_not_be_looked_up_is_no_good_news(tmp_path, answers, why):
    done = audit(tmp_path, answers)
    assert done.returncode == 2
    first, last = done.stderr.splitlines()
    assert first == why
    assert last.endswith("1 could not be looked up.")
    assert "incomplete" in last


@pytest.fixture
def licences() -> ModuleType:
    specification = importlib.util.spec_from_file_location("licences", REQUIREMENTS / "licences.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_list_of_licences_names_what_the_locks_pin(licences):
    document = licences.DOCUMENT.read_text(encoding="utf-8")
    listed = {row["name"]: row["locks"] for row in licences.ROW.finditer(document)}
    assert listed == {name: ", ".join(locks) for name, locks in licences.pinned().items()}, "run: make audit"
    assert len(listed) > 100
    licence = {row["name"]: row["licence"] for row in licences.ROW.finditer(document)}
    assert (licence["numba"], licence["pydantic"]) == ("BSD License", "MIT")


def test_a_licence_is_what_the_package_states(licences):
    from email.message import EmailMessage

    def said(**headers) -> str:
        message = EmailMessage()
        for name, value in headers.items():
            message[name.replace("_", "-")] = value
        return licences.licence_of(type("Some", (), {"metadata": message})())

    assert said(License_Expression="MIT", License="no", Classifier="License :: OSI Approved :: BSD License") == "MIT"
    assert said(License="no", Classifier="License :: OSI Approved :: BSD License") == "BSD License"
    assert said(License="Apache 2.0", Classifier="License :: OSI Approved") == "Apache 2.0"
    assert said() == "not stated"
