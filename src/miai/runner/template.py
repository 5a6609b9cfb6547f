"""A composed configuration whose values can be set anew, in a hundredth of the time that OmegaConf takes.

It stands for the plain cases only, which are nearly all of a sweep's: `alpha=0.2` where `alpha` is there and is no
group. Everywhere else it gives no answer, and Hydra has to be asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MISSING = "???"
"""What OmegaConf has in place of a value that the user has to give."""
_INTERPOLATION = "${"
_REFERENCE = re.compile(r"\$\{([A-Za-z_]\w*(?:\.\w+)*)\}")

Path = tuple[str, ...]


class Template:
    """A configuration in plain dicts and lists, with references such as `${alpha}` in it.

    Use `Template.of`, which tells whether there can be one.
    """

    def __init__(self, content: dict[str, Any], references: Mapping[Path, Path], missing: frozenset[Path]) -> None:
        self._content = content
        self._references = references
        self._missing = missing

    @classmethod
    def of(cls, content: dict[str, Any]) -> Template | None:
        """Return the template of an unresolved configuration; `None` if it interpolates otherwise than by `${a.b}`.

        Args:
            content: plain dicts and lists; it is kept, and not modified.
        """
        references: dict[Path, Path] = {}
        missing = set()
        for path, value in _texts(content, ()):
            found = _REFERENCE.fullmatch(value)
            if found:
                references[path] = tuple(found[1].split("."))
            elif _INTERPOLATION in value:
                return None
            elif value == MISSING:
                missing.add(path)
        inside_a_list = any(not isinstance(_parent(content, path), dict) for path in (*references, *missing))
        return None if inside_a_list else cls(content, references, frozenset(missing))

    def refers_to(self, key: str) -> bool:
        """Whether any value is written in terms of a top-level key."""
        return any(target[0] == key for target in self._references.values())

    def fill(self, values: Sequence[tuple[str, Any]]) -> dict[str, Any] | None:
        """Return a copy with values set and references resolved; `None` where this is no plain case.

        Args:
            values: keys as paths (`test.games`), with their values; of several of one key the last counts.
        """
        filled = _copy(self._content)
        set_paths = set()
        for key, value in values:
            path = tuple(key.split("."))
            place = _parent(filled, path)
            if not isinstance(place, dict) or path[-1] not in place or isinstance(place[path[-1]], dict):
                return None
            if isinstance(value, dict) or not _is_plain(value):
                return None
            place[path[-1]] = _copy(value)
            set_paths.add(path)
        if not self._missing <= set_paths:
            return None
        for path, target in self._references.items():
            if path not in set_paths:
                if target in self._references and target not in set_paths:
                    return None  # A reference to a reference.
                source = _parent(filled, target)
                if not isinstance(source, dict) or isinstance(source.get(target[-1], {}), dict):
                    return None
                _parent(filled, path)[path[-1]] = source[target[-1]]
        return filled


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield every text within a value, with the path to it."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, str(index)))


def _parent(content: Any, path: Path) -> Any:
    """Return what holds the last part of a path, or `None`."""
    for key in path[:-1]:
        content = content.get(key) if isinstance(content, dict) else None
    return content


def _is_plain(value: Any) -> bool:
    """Whether OmegaConf would keep a value as it is."""
    if isinstance(value, str):
        return _INTERPOLATION not in value and value != MISSING
    if isinstance(value, list):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    return value is None or isinstance(value, (bool, int, float))
