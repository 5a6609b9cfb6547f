"""Writes docs/licences.md: the licence of every package that a lock file pins, as the package itself states it.

    python requirements/licences.py [site-packages of other environments …]

A package that is installed nowhere here keeps the row that it has. `make audit` runs this.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

REQUIREMENTS = Path(__file__).parent
DOCUMENT = REQUIREMENTS.parent / "docs" / "licences.md"
UNPINNED = ("torch",)
"""Of the extra `alphago`, but in no lock file: which build is right depends on the machine."""
UNKNOWN = "not installed where this list was made"
LONGEST = 80

HEAD = """# Licences of the dependencies

What each package that `requirements/*.lock` pins says of its own licence, and PyTorch, which is not pinned. Packages of
tests, tools, services and launchers are in it too; what is needed to run Miai is pinned in `runtime` alone. The list is
made by `make audit`; a package that does not run on the machine where it was made has no entry. It is no legal advice.

| Package | Licence | Pinned in |
|---|---|---|
"""
ROW = re.compile(r"^\| (?P<name>[a-z0-9.-]+) \| (?P<licence>.*) \| (?P<locks>.*) \|$", re.M)
_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==", re.M)


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned() -> dict[str, list[str]]:
    """Return the locks that pin each package, by its canonical name."""
    found: dict[str, list[str]] = {name: ["–"] for name in UNPINNED}
    for lock in sorted(REQUIREMENTS.glob("*.lock")):
        for name in sorted({canonical(name) for name in _PIN.findall(lock.read_text(encoding="utf-8"))}):
            found.setdefault(name, []).append(lock.stem)
    # Whatever is needed at run time is in the lock of the tests too.
    return {name: ["runtime"] if "runtime" in locks else locks for name, locks in sorted(found.items())}


def licence_of(distribution: Distribution) -> str:
    """Return what a package states: an SPDX expression, else its classifiers, else the first line of its own words."""
    metadata = distribution.metadata
    if stated := metadata.get("License-Expression"):
        return stated
    classifiers = metadata.get_all("Classifier") or []
    named = [text.rpartition(" :: ")[2] for text in classifiers if text.startswith("License ::")]
    named = [text for text in named if text != "OSI Approved"]
    if named:
        return ", ".join(named)
    words = next((line.strip() for line in (metadata.get("License") or "").splitlines() if line.strip()), "")
    return words[:LONGEST] or "not stated"


def main(places: list[str]) -> int:
    known = {}
    if DOCUMENT.is_file():
        known = {row["name"]: row["licence"] for row in ROW.finditer(DOCUMENT.read_text(encoding="utf-8"))}
    for path in ([*places], sys.path):
        known |= {canonical(each.name): licence_of(each) for each in distributions(path=path)}
    rows = [
        f"| {name} | {known.get(name, UNKNOWN).replace('|', '/')} | {', '.join(locks)} |\n"
        for name, locks in pinned().items()
    ]
    temporary = DOCUMENT.with_suffix(".tmp")
    temporary.write_text(HEAD + "".join(rows), encoding="utf-8")
    temporary.replace(DOCUMENT)
    print(f"{DOCUMENT}: {len(rows)} packages.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
