"""What commands print to: tables and lines for people, nothing else."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from miai.plain_text import visible

COUNTS = ("table/", "test/")
"""How the names of metrics begin that may count something."""

PLAIN_WIDTH = 120
"""Columns where the output is no terminal, so that tables in logs are not squeezed to 80."""


class _SafeConsole(Console):
    """A console on which no text that is shown can command the terminal, wherever it comes from.

    Colours and the movements of a progress bar are rich's own, and are not texts.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            shown = segment.text if segment.control else visible(segment.text)
            yield segment if shown == segment.text else Segment(shown, segment.style)


def console() -> Console:
    """Return a console on standard output."""
    made = _SafeConsole(highlight=False)
    return made if made.is_terminal else _SafeConsole(highlight=False, width=PLAIN_WIDTH)


def say(out: Console, text: str, style: str | None = None) -> None:
    """Print a text as it is: nothing in it is markup, and the terminal wraps it where it has to."""
    out.print(text, style=style, markup=False, soft_wrap=True)


def show_metric(name: str, value: float) -> str:
    """Write a metric: what is counted as a whole number, everything else with six decimals."""
    return f"{value:,.0f}" if name.startswith(COUNTS) and float(value).is_integer() else f"{value:.6f}"
