"""How a configuration names a file that an earlier run made."""

from __future__ import annotations

from typing import NamedTuple


class Reference(NamedTuple):
    """A file, by its path or by the run whose artifact it is."""

    name: str
    """The path of a file; or a run: the beginning of its id, its name, or STUDY/NAME."""
    artifact: str
    """Which artifact of such a run is meant, such as `table.npz`."""
    may_be_folder: bool = False
    """Whether the path of a folder will do as well: all that is in it then counts as the content."""
