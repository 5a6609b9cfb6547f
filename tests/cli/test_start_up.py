"""What is asked for often starts at once: the heavy libraries are imported where they are used, and nowhere else."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HEAVY = {"matplotlib", "mlflow", "numba", "openvino", "pandas", "pyarrow", "scipy", "seaborn", "sqlalchemy", "torch"}
PROGRAM = """
import sys
from miai.cli.main import main
code = main(sys.argv[1:])
print("LOADED", code, *sorted({name.partition(".")[0] for name in sys.modules}))
"""


@pytest.mark.parametrize(
    ("arguments", "may"),
    [
        (["--help"], set()),
        (["--version"], set()),
        (["train", "--help"], set()),
        (["match", "--help"], set()),
        (["sweep", "--help"], set()),
        (["sweep", "td_comparison", "--help"], set()),
        (["-sc", "query=bash"], set()),
        (["gtp", "player=random"], {"numba", "scipy"}),  # the board is compiled, and numba looks for scipy
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_heavy_libraries_are_not_imported(arguments, may, tmp_path):
    environment = {**os.environ, "MIAI_HOME": str(tmp_path), "COMP_LINE": "miai train alg"}
    command = [sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, input="quit\n")
    [line] = [line for line in done.stdout.splitlines() if line.startswith("LOADED ")]
    _, code, *loaded = line.split()
    assert code == "0", done.stderr
    assert HEAVY & {*loaded} <= may
