"""A run's configuration as a store holds it. Whoever can write to the store has written it: it is read as plain data,
and nothing in it is instantiated, interpolated, or looked up in the environment."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import yaml

from miai.errors import MiaiError

MAX_BYTES = 1024 * 1024
"""Configurations have a few kilobytes."""
MAX_DEPTH = 32
_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a sign of UTF-16, which YAML lets one write, and no file can hold."""
TARGET = "_target_"
"""The key by which Hydra would be told what to call. No configuration of a run has a use for it."""


class _Loader(yaml.SafeLoader):
    """YAML without aliases: a few lines of them stand for more values than any memory holds."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it holds an alias")
        return super().compose_node(parent, index)


def read_config(path: Path, whose: str) -> dict[str, Any]:
    """Return a configuration: nested dicts, lists, texts, numbers, booleans and `None`.

    Args:
        whose: what error messages begin with, such as `run 1f3a: its config.yaml`.

    Raises:
        MiaiError: it is no YAML of that kind, too large, or names a `_target_`.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise _BadConfigError(f"it has more than {MAX_BYTES:,} bytes")
        # The loader is a safe one: it makes plain values only.
        config = yaml.load(content.decode("utf-8"), _Loader)  # noqa: S506
        if not isinstance(config, dict):
            raise _BadConfigError("it holds no keys with values")
        _check(config, 0)
    except _BadConfigError as error:
        raise MiaiError(f"{whose} is damaged: {error}.") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise MiaiError(f"{whose} is damaged: it is not plain YAML ({type(error).__name__}).") from None
    return config


class _BadConfigError(Exception):
    """What is wrong, for the one line of `read_config`."""


def _check(value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise _BadConfigError(f"it is nested more than {MAX_DEPTH} deep")
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise _BadConfigError(f"a key is {key!r}; texts are allowed")
            if key == TARGET:
                raise _BadConfigError(f"it names a {TARGET}, which Miai does not call")
            _check(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            _check(item, depth + 1)
    elif isinstance(value, str) and _SURROGATE.search(value):
        raise _BadConfigError(f"{value!r} is no text")
    elif isinstance(value, float) and math.isnan(value):
        raise _BadConfigError("a value is NaN")
    elif value is not None and not isinstance(value, (bool, int, float, str)):
        raise _BadConfigError(f"a value is a {type(value).__name__}; texts, numbers, true, false and null are allowed")
