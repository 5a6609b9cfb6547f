"""Imports go one way: the layers of docs/architecture.md, and the libraries that only some packages may touch."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import miai

SOURCE = Path(miai.__file__).parent
DOCUMENT = SOURCE.parents[1] / "docs" / "architecture.md"

LAYERS = (
    (
        "errors",
        "project",
        "kernel_cache",
        "compiled",
        "kinds",
        "references",
        "rng",
        "tensor_file",
        "npz",
        "plain_text",
        "games",
    ),
    ("schedules", "search", "records"),
    ("tabular", "networks"),
    ("players", "arena", "ratings", "gtp"),
    ("alphago",),
    ("tracking",),
    ("report",),
    ("runner",),
    ("cli",),
)
"""Modules and packages of `miai`, from the lowest layer to the highest. `miai` itself is below all."""

LAYER_OF = {name: layer for layer, names in enumerate(LAYERS) for name in names}

ONLY_IN = {
    "mlflow": {"tracking"},
    "hydra": {"runner", "cli"},
    "omegaconf": {"runner", "cli"},
    "pandas": {"report", "tracking", "runner"},
    "seaborn": {"report"},
    "matplotlib": {"report"},
}
"""Libraries, and the packages of `miai` that may import them."""


def files() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] != "conf")


def part_of(file: Path) -> str:
    """The package or module of `miai` that a file belongs to; "" for the package's own `__init__`."""
    first = file.relative_to(SOURCE).parts[0]
    return {"__init__.py": "", "__main__.py": "cli"}.get(first, first.removesuffix(".py"))


def imports(file: Path) -> Iterator[tuple[str, bool]]:
    """Names of imported modules, and whether only a type checker imports them."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, id(node) in guarded
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative imports hide the layer"
            yield node.module, id(node) in guarded
            for alias in node.names:
                yield f"{node.module}.{alias.name}", id(node) in guarded


def imported_parts(file: Path) -> set[str]:
    found = {name.split(".")[1] for name, _ in imports(file) if name.startswith("miai.")}
    return {part for part in found if part in LAYER_OF}


def test_every_package_has_a_layer():
    parts = {part_of(file) for file in files()} - {""}
    assert parts <= set(LAYER_OF)


def test_the_document_says_the_same():
    rows = re.findall(r"^\| L(\d) \| (.*?) \|", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    documented = tuple(tuple(name.rstrip("/") for name in re.findall(r"`(.*?)`", names)) for _, names in rows)
    assert [int(number) for number, _ in rows] == list(range(len(LAYERS)))
    assert documented == LAYERS


@pytest.mark.parametrize("file", files(), ids=lambda file: file.relative_to(SOURCE).as_posix())
def test_a_file_imports_its_own_folder_and_lower_layers(file):
    part = part_of(file)
    if not part:
        assert imported_parts(file) <= {"kernel_cache"}
        return
    above = {name for name in imported_parts(file) if LAYER_OF[name] > LAYER_OF[part]}
    assert not above, f"{part} (L{LAYER_OF[part]}) imports {', '.join(sorted(above))}, which lies above it"


def test_modules_do_not_import_each_other_in_a_circle():
    # When they are loaded, that is: an import inside a function waits until it is needed.
    modules = {module_of(file): file for file in files()}
    needs = {}
    for module, file in modules.items():
        names = {
            name
            for node in ast.parse(file.read_text(encoding="utf-8")).body
            for name in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [f"{node.module}.{alias.name}" for alias in node.names]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        }
        found = {name if name in modules else name.rpartition(".")[0] for name in names}
        needs[module] = {name for name in found if name in modules} - {module}
    settled: set[str] = set()
    while ready := {module for module in needs if module not in settled and needs[module] <= settled}:
        settled |= ready
    assert settled == set(needs), {module: needs[module] - settled for module in needs if module not in settled}


def module_of(file: Path) -> str:
    parts = ("miai", *file.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("library", ONLY_IN)
def test_libraries_stay_where_they_belong(library):
    users = {
        part_of(file)
        for file in files()
        for name, for_types in imports(file)
        if name.split(".")[0] == library and not for_types
    }
    assert users <= ONLY_IN[library]
