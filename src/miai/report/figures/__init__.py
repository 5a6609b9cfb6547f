"""The figures of a report. A figure is one file of this folder, found by its name; the file holds a `FIGURE`:

```python
@dataclass(frozen=True)
class Options:                      # what a study's YAML may set: {my_figure: {metrics: […]}}
    metrics: tuple[str, ...] = ()

def applies(selection: Selection, options: Options) -> str | None:
    ...                             # None, or why this section cannot have the figure

def draw(selection: Selection, options: Options) -> Drawing:
    ...                             # a Figure of style.panels(), and what it shows in words

FIGURE = FigureKind("My figure", Options, applies, draw)
```

`draw` runs inside `style.drawing()`. It asks all numbers from the selection, and says in the caption what a line, a
band and a point are and how many seeds stand behind them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from miai.errors import choose
from miai.report.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from miai.report.selection import Selection


@dataclass(frozen=True)
class Drawing:
    """A drawn figure, its caption, and the numbers behind it where the section's tables do not hold them."""

    figure: Figure
    caption: str
    table: Table | None = None


@dataclass(frozen=True)
class FigureKind:
    """What a file of this folder offers as `FIGURE`.

    Attributes:
        title: its heading on the page.
        options: a frozen dataclass with a default for every field.
        applies: `None` if the section can have the figure with these options, else why not.
        draw: draws it.
        by_default: whether a section that names no figures gets it where it applies.
    """

    title: str
    options: type
    applies: Callable[[Selection, Any], str | None]
    draw: Callable[[Selection, Any], Drawing]
    by_default: bool = True


READING_ORDER = ("final_results", "learning_curves", "table_size", "unbeatable", "improvement", "trade_off")
"""These come first on a page whose section names no figures; the others follow by name."""


@cache
def kinds() -> dict[str, FigureKind]:
    """Return every figure by name, in reading order."""
    names = sorted(
        (module.name for module in pkgutil.iter_modules(__path__)),
        key=lambda name: (READING_ORDER.index(name) if name in READING_ORDER else len(READING_ORDER), name),
    )
    return {name: importlib.import_module(f"{__name__}.{name}").FIGURE for name in names}


def kind(name: str, where: str) -> FigureKind:
    """Return a figure by name.

    Raises:
        MiaiError: if there is none of this name.
    """
    return kinds()[choose(name, kinds(), f"{where}.figures")]
