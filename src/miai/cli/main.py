"""The console script: finds the command, runs it, and turns what goes wrong into one line and an exit code.

Exit codes: 0 done; 1 a run failed; 2 bad input; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from types import ModuleType

from miai.errors import MiaiError, choose

COMMANDS_PACKAGE = "miai.cli.commands"


def command_names() -> list[str]:
    package = importlib.import_module(COMMANDS_PACKAGE)
    return sorted(module.name for module in pkgutil.iter_modules(package.__path__))


def load_command(name: str) -> ModuleType:
    """Import a command: a module with a docstring, `EXAMPLES`, and `run(arguments) -> int`."""
    return importlib.import_module(f"{COMMANDS_PACKAGE}.{name}")


def main(arguments: list[str] | None = None) -> int:
    """Run one command. Returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        return _dispatch(arguments)
    except MiaiError as error:
        where = f"miai {arguments[0]}" if arguments and not arguments[0].startswith("-") else "miai"
        print(f"{where}: {error}", file=sys.stderr)  # noqa: T201
        return 2
    except KeyboardInterrupt:
        print("miai: stopped.", file=sys.stderr)  # noqa: T201
        return 130
    except BrokenPipeError:
        # Whoever read our output has gone; the interpreter must not complain when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _dispatch(arguments: list[str]) -> int:
    from miai.cli import help as help_pages

    if not arguments or arguments[0] in ("-h", "--help", "help"):
        help_pages.show_overview()
        return 0
    if arguments[0] in ("-V", "--version"):
        import miai

        print(f"miai {miai.__version__}")  # noqa: T201
        return 0
    name, *rest = arguments
    command = load_command(choose(name, command_names(), "command"))
    if any(argument in ("-h", "--help") for argument in rest):
        help_pages.show_command(name, command)
        return 0
    return command.run(rest)
