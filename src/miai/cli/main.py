"""The console script: finds the command, runs it, and turns what goes wrong into one line and an exit code.

Exit codes: 0 done; 1 a run failed; 2 bad input, or a file that cannot be read or written; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from types import ModuleType

from miai import kernel_cache
from miai.errors import MiaiError, choose
from miai.plain_text import visible

COMMANDS_PACKAGE = "miai.cli.commands"


def command_names() -> list[str]:
    package = importlib.import_module(COMMANDS_PACKAGE)
    return sorted(module.name for module in pkgutil.iter_modules(package.__path__))


def load_command(name: str) -> ModuleType:
    """Import a command: see `miai.cli.commands` for what such a module has.

    Raises:
        MiaiError: there is no such command.
    """
    return importlib.import_module(f"{COMMANDS_PACKAGE}.{choose(name, command_names(), 'command')}")


def main(arguments: list[str] | None = None) -> int:
    """Run one command. Returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # A terminal that has no α shows a question mark.
    if kernel_cache.complaint:
        print(f"miai: {kernel_cache.complaint}", file=sys.stderr)  # noqa: T201
    try:
        with _passwords_concealed(arguments) as shown:
            code = _dispatch(shown)
        sys.stdout.flush()
        return code
    except MiaiError as error:
        return _refuse(arguments, str(error))
    except KeyboardInterrupt:
        print("miai: stopped.", file=sys.stderr)  # noqa: T201
        return 130
    except BrokenPipeError:
        # Whoever read our output has gone; the interpreter must not complain when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _refuse(arguments, f"{error.filename or 'the system'}: {error.strerror or error}.")


@contextmanager
def _passwords_concealed(arguments: list[str]) -> Iterator[list[str]]:
    """Keep the password of a store's address from whatever reads, repeats or saves the arguments."""
    if not any("tracking.uri=" in argument for argument in arguments):
        yield arguments
        return
    from miai.tracking.credentials import concealed

    with concealed(arguments) as shown:
        yield shown


def _refuse(arguments: list[str], message: str) -> int:
    """Print one line, whatever the message looks like."""
    known = arguments and arguments[0] in command_names()
    line = " ".join([f"miai {arguments[0]}:" if known else "miai:", *message.split()])
    print(visible(line), file=sys.stderr)  # noqa: T201
    return 2


def _dispatch(arguments: list[str]) -> int:
    from miai.cli import help as help_pages

    if not arguments or arguments in (["-h"], ["--help"], ["help"]):
        help_pages.show_overview()
        return 0
    name, *rest = arguments
    if name in ("-V", "--version"):
        import miai

        print(f"miai {miai.__version__}")  # noqa: T201
        return 0
    if name in ("-sc", "--shell-completion", "--shell_completion"):
        from miai.cli.completion import complete

        return complete(rest)
    if name in ("help", "-h", "--help"):
        name, *rest = [*rest, "--help"]
    command = load_command(name)
    if any(argument in ("-h", "--help") for argument in rest):
        help_pages.show_command(name, command, [argument for argument in rest if not argument.startswith("-")])
        return 0
    return command.run(rest)
