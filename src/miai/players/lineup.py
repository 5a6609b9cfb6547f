"""Who takes part: players named in a list, and the options that each ends up with.

A *ready player* is a kind of player with options, under a name: one YAML of `conf/player/`. A list of players names
them, and may change them on the spot:

| entry | means |
|---|---|
| `uct` | the ready player of that name |
| `uct@2000` | the same with 2,000 simulations a move |
| `{player: uct, c_uct: 0.5}` | the same with other options |
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any

from miai.errors import MiaiError, choose
from miai.players.player import players

SIMULATIONS = "num_simulations"
READY = "player"
"""The key of an entry that names the ready player."""
_ENTRY = re.compile(r"(?P<name>[^@]+)(?:@(?P<simulations>\d[\d_]*))?")


def line_up(
    entries: Iterable[Any], ready: Mapping[str, Mapping[str, Any]], where: str = "players"
) -> tuple[dict[str, Any], ...]:
    """Return the options of each player of a list, its kind as `name`; see the table above for what an entry may be.

    Args:
        ready: options of the ready players, by name.
        where: what error messages call the list.

    Raises:
        MiaiError: an entry is none of these, or there is no such player; options are checked by `build_player`.
    """
    if isinstance(entries, (str, Mapping)) or not isinstance(entries, Iterable):
        raise MiaiError(f"{where}: a list is needed, such as [uct,random], not {entries!r}.")
    return tuple(_options(entry, ready, f"{where}[{i}]") for i, entry in enumerate(entries))


def _options(entry: Any, ready: Mapping[str, Mapping[str, Any]], where: str) -> dict[str, Any]:
    if isinstance(entry, Mapping):
        changes = {str(key): value for key, value in entry.items()}
        if READY not in changes:
            raise MiaiError(f"{where}: {READY}: a ready player is needed; allowed: {', '.join(sorted(ready))}.")
        own = _options(changes.pop(READY), ready, where)
        if "name" in changes:
            raise MiaiError(f"{where}.name: there is no such option; {READY} names the ready player.")
        return {**own, **changes}
    found = _ENTRY.fullmatch(entry) if isinstance(entry, str) else None
    if found is None:
        raise MiaiError(
            f"{where}: a name, name@simulations or {{{READY}: name, option: value}} is allowed, not {entry!r}."
        )
    options = dict(ready[choose(found["name"], ready, where)])
    if found["simulations"]:
        kind = players.classes[choose(str(options.get("name")), players.names(), where)]
        if SIMULATIONS not in {field.name for field in dataclasses.fields(kind)}:
            raise MiaiError(f"{where}: {entry!r}: {found['name']} does not count simulations.")
        options[SIMULATIONS] = int(found["simulations"])
    return options
