"""Runs commands one after another in this process, as a shell would; used by test_howto.

Reads a JSON list of command lines from standard input, and writes one JSON line for each to the file named by its
argument: the exit code, the seconds it took, and what was printed.
"""

from __future__ import annotations

import contextlib
import io
import json
import runpy
import shlex
import sys
import time
import traceback
from pathlib import Path


def run(command: str) -> int:
    program, *arguments = shlex.split(command)
    if program == "miai":
        from miai.cli.main import main

        return main(arguments)
    if program == "python":
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")
        return 0
    raise ValueError(f"{command}: a guide's console commands are `miai …` and `python …`")


def main() -> None:
    with Path(sys.argv[1]).open("w", encoding="utf-8") as results:
        for command in json.load(sys.stdin):
            printed, began = io.StringIO(), time.perf_counter()
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                try:
                    code = run(command)
                except SystemExit as stop:
                    code = stop.code if isinstance(stop.code, int) else 1
                except Exception:
                    traceback.print_exc()
                    code = 1
            entry = {"command": command, "code": code, "seconds": time.perf_counter() - began}
            results.write(json.dumps({**entry, "printed": printed.getvalue()}) + "\n")
            results.flush()


if __name__ == "__main__":
    main()
