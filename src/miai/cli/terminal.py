"""What commands print to: tables and lines for people, nothing else."""

from __future__ import annotations

from rich.console import Console

PLAIN_WIDTH = 120
"""Columns where the output is no terminal, so that tables in logs are not squeezed to 80."""


def console() -> Console:
    """Return a console on standard output."""
    made = Console(highlight=False)
    return made if made.is_terminal else Console(highlight=False, width=PLAIN_WIDTH)


def show_number(value: float) -> str:
    """Write a metric: whole numbers plainly, others with six decimals."""
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) >= 1 else f"{value:.6f}"
