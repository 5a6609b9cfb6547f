"""A configuration as MLflow's parameters: flat, legal, in one batch.

MLflow cuts long values silently and refuses keys with odd characters. The whole configuration is an artifact of the
run (`config.yaml`), so the parameters may be a subset; what is left out is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MAX_KEY = 250
MAX_VALUE = 6000
MAX_TAG = 8000
_ODD = re.compile(r"[^\w.\- /]", re.ASCII)
_LEGAL_NAME = re.compile(r"[\w.\- /]+", re.ASCII)


def flatten(config: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """Turn a nested configuration into parameters.

    Returns:
        (params, left_out): values by dotted key (`algorithm.alpha`), spelt as in YAML (`true`, `null`, `0.1`), lists
        as one value; and the keys whose value is too long for MLflow. Odd characters of a key become `_`.
    """
    params: dict[str, str] = {}
    left_out: list[str] = []
    for key, value in _leaves(config, ""):
        legal = _ODD.sub("_", key)
        text = spell(value)
        if len(text) > MAX_VALUE or len(legal) > MAX_KEY or legal in params:
            left_out.append(key)
        else:
            params[legal] = text
    return params, left_out


def spell(value: Any) -> str:
    """Spell a plain value as YAML's flow style does."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {spell(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(spell(item) for item in value) + "]"
    return str(value)


def check_metric_name(name: str) -> None:
    """Raise a `ValueError` unless `name` is a metric name that MLflow takes: a path such as `eval/win`."""
    parts = name.split("/")
    if not _LEGAL_NAME.fullmatch(name) or len(name) > MAX_KEY or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"metric name {name!r}: a path of letters, digits, '_', '-', '.' and spaces is allowed")


def _leaves(config: Mapping[str, Any], above: str) -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        path = f"{above}.{key}" if above else str(key)
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, path)
        else:
            yield path, value
