"""What stands behind a command: words (a run, a study) and overrides (key=value), in any order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from miai.errors import MiaiError

if TYPE_CHECKING:
    from miai.tracking import Store


def with_run(arguments: Sequence[str]) -> list[str]:
    """Turn the word that names a run into the override run=RUN.

    Raises:
        MiaiError: there are several words, or flags.
    """
    from miai.runner.overrides import spell

    word, overrides = one_word(arguments, "a run")
    return overrides if word is None else [spell("run", word), *overrides]


def with_study(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Return the name of the study, and the overrides.

    Raises:
        MiaiError: there is no word, or several, or flags.
    """
    word, overrides = one_word(arguments, "a study")
    if word is None:
        from miai.runner.studies import study_names

        raise MiaiError(f"name a study: {', '.join(study_names()) or 'there is none in experiments/'}.")
    return word, overrides


def one_word(arguments: Sequence[str], what: str) -> tuple[str | None, list[str]]:
    """Take the one word from among the overrides; `None` if there is none. A path may hold an equals sign."""
    words: list[str] = []
    overrides: list[str] = []
    for argument in arguments:
        if argument.startswith("-"):
            raise MiaiError(f"{argument}: there is no such flag; options are key=value. See --help.")
        is_word = not argument.startswith("~") and ("=" not in argument or Path(argument).is_file())
        (words if is_word else overrides).append(argument)
    if len(words) > 1:
        raise MiaiError(f"{words[1]!r}: {what} is named already, {words[0]!r}; the rest is key=value.")
    return (words[0] if words else None), overrides


def table_path(store: Store, reference: str) -> Path:
    """Return the file of a saved table: `reference` is a path, or a run of the store.

    Raises:
        MiaiError: neither is there.
    """
    path = Path(reference).expanduser()
    return path if path.suffix == ".npz" or path.is_file() else store.artifact(reference, "table.npz")


def flag(config: dict[str, Any], key: str) -> bool:
    """Return a setting that is true or false.

    Raises:
        MiaiError: it is something else.
    """
    value = config[key]
    if not isinstance(value, bool):
        raise MiaiError(f"{key}: true or false is allowed, not {value!r}.")
    return value


def whole_number(config: dict[str, Any], key: str, least: int, most: int | None = None) -> int:
    """Return a setting that is a whole number within limits; `key` may be a path such as test.games.

    Raises:
        MiaiError: it is something else.
    """
    value: Any = config
    for part in key.split("."):
        value = value[part]
    if isinstance(value, bool) or not isinstance(value, int) or value < least or (most is not None and value > most):
        allowed = f"a whole number from {least}" + (f" to {most}" if most is not None else "")
        raise MiaiError(f"{key}: {allowed} is allowed, not {value!r}.")
    return value


def text(config: dict[str, Any], key: str) -> str:
    """Return a setting that is a text. A run's id or a path may look like a number, which Hydra reads as one.

    Raises:
        MiaiError: it is something else.
    """
    value = config[key]
    if not isinstance(value, str) or not value:
        raise MiaiError(f"{key}: a text is allowed, not {value!r}; put it in quotes: \"{key}='…'\".")
    return value
