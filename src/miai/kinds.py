"""Kinds of a thing that the configuration names: one file a kind, found by looking into a folder.

A kind is a pydantic dataclass that a module of the package exposes as `KIND`; the module's name is the kind's
name in YAML. The fields of the dataclass are the options of the kind: their types, ranges and defaults stand
there and nowhere else.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from pydantic import ConfigDict, ValidationError
from pydantic_core import ArgsKwargs

from miai.errors import MiaiError, choose

T = TypeVar("T")

STRICT = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)
"""For the dataclasses of options: unknown keys, wrong types, NaN and infinities are refused."""


def validate(cls: type[T], mapping: Mapping[str, Any], where: str) -> T:
    """Build the pydantic dataclass `cls` from `mapping`.

    Raises:
        MiaiError: the first thing that is wrong, as `where.key: what is allowed, not the value`.
    """
    for key in mapping:
        if not isinstance(key, str):
            raise MiaiError(f"{'.'.join(filter(None, [where, str(key)]))}: there is no such option.")
    try:
        return cls(**mapping)
    except ValidationError as error:
        raise MiaiError(one_line(error, where)) from None
    except UnicodeEncodeError:  # pydantic cannot write a complaint that repeats half of a surrogate pair.
        raise MiaiError(f"{where or cls.__name__}: a text holds signs that are no Unicode.") from None


def one_line(error: ValidationError, where: str) -> str:
    """Put the first complaint of a validation into one line."""
    first = error.errors(include_url=False)[0]
    input_value = first["input"]
    key = ".".join([*filter(None, [where]), *(str(part) for part in first["loc"])])
    if first["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        return f"{key}: there is no such option."
    if first["type"] in ("missing", "missing_argument"):
        return f"{key}: a value is needed."
    message = first["msg"].removeprefix("Value error, ")
    if isinstance(input_value, ArgsKwargs):
        return f"{key}: {message}."  # a complaint about several options together, which names them itself
    return f"{key}: {message}, not {input_value!r}."


class Kinds(Generic[T]):
    """The kinds of one package, by name.

    Args:
        package: name of the package whose modules are the kinds; a module without `KIND` is not one.
        what: the word for error messages, and the prefix of the options' paths, such as `opponent`.
    """

    def __init__(self, package: str, what: str) -> None:
        self.package = package
        self.what = what
        self._classes: dict[str, type[T]] | None = None

    @property
    def classes(self) -> dict[str, type[T]]:
        if self._classes is None:
            found = {}
            for module_info in pkgutil.iter_modules(importlib.import_module(self.package).__path__):
                module = importlib.import_module(f"{self.package}.{module_info.name}")
                if hasattr(module, "KIND"):
                    found[module_info.name.rstrip("_")] = module.KIND
            self._classes = dict(sorted(found.items()))
        return self._classes

    def names(self) -> tuple[str, ...]:
        return tuple(self.classes)

    def build(self, mapping: Mapping[str, Any], where: str | None = None) -> T:
        """Build the kind that `mapping["name"]` names from the other keys.

        Raises:
            MiaiError: no such kind, or an option that it does not have, or a value out of its range.
        """
        where = self.what if where is None else where
        options = dict(mapping)
        name = options.pop("name", None)
        if not isinstance(name, str):
            raise MiaiError(f"{where}.name: a value is needed; allowed: {', '.join(self.names())}.")
        return validate(self.classes[choose(name, self.names(), where)], options, where)
