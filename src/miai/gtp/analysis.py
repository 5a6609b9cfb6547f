"""What a search thinks, in the formats that Sabaki, Lizzie and their kin draw: `lz-analyze` and `kata-analyze`.

A report is one line, a list of `info move … pv …`. Chances to win are the mover's: of 10,000 in lz, of 1 in kata.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from miai.gtp.board import GtpBoard
from miai.gtp.protocol import colour, syntax_error, whole
from miai.players import Decision

DEFAULT_INTERVAL = 100
"""Hundredths of a second between reports."""
LEAST_INTERVAL = 1

_IGNORED = ("ownership", "movesownership", "ownershipstdev", "pvvisits", "pvedgevisits", "rootinfo", "noresultvalue")
"""Asked for by controllers that know KataGo; what Miai does not compute is left out of the reports, as they expect."""


@dataclass(frozen=True)
class AnalysisRequest:
    """The arguments of an analysis: whose move, hundredths of a second between reports, how many moves at most."""

    colour: int
    interval: int = DEFAULT_INTERVAL
    max_moves: int | None = None


def parse_request(args: tuple[str, ...], to_play: int) -> AnalysisRequest:
    """Read `[colour] [interval] [key value]…`, the colour and the interval in either order.

    Raises:
        GtpError: a syntax error, or a key that asks for another search than Miai does (`avoid`, `allow`).
    """
    side, interval, max_moves = to_play, DEFAULT_INTERVAL, None
    words = list(args)
    while words and (words[0].lower() in ("b", "w", "black", "white") or words[0].isdigit()):
        word = words.pop(0)
        if word.isdigit():
            interval = whole(word)
        else:
            side = colour(word)
    while words:
        key = words.pop(0).lower()
        if not words:
            raise syntax_error(f"{key!r} needs a value")
        value = words.pop(0)
        if key == "interval":
            interval = whole(value)
        elif key == "maxmoves":
            max_moves = whole(value, 1)
        elif key not in _IGNORED:
            raise syntax_error(f"{key!r} is not supported; supported: interval, maxmoves")
    return AnalysisRequest(side, max(LEAST_INTERVAL, interval), max_moves)


def lz_line(decision: Decision, board: GtpBoard, max_moves: int | None = None) -> str:
    return _line(decision, board, max_moves, lambda share: f"{round(10_000 * share)}")


def kata_line(decision: Decision, board: GtpBoard, max_moves: int | None = None) -> str:
    return _line(decision, board, max_moves, lambda share: f"{share:.4f}")


def _line(decision: Decision, board: GtpBoard, max_moves: int | None, share: Callable[[float], str]) -> str:
    """Return a report, the most visited move first; empty if nothing is known yet."""
    info = decision.info
    visits, values, priors = info.get("visits", {}), info.get("values", {}), info.get("priors", {})
    pv = tuple(info.get("pv", ()))
    # The principal variation's first move leads among moves of equal visits.
    order = sorted(visits, key=lambda move: (-visits[move], move != (pv[0] if pv else None), move))
    if not order and pv:  # the player knew what to do without looking, as when a pass wins
        order, visits, values = [pv[0]], {pv[0]: 0}, {pv[0]: info.get("value", 0.5)}
    parts = []
    for rank, move in enumerate(order[:max_moves]):
        words = ["info", "move", board.name(move), "visits", str(visits[move])]
        if move in values:
            words += ["winrate", share(values[move])]
        if move in priors:
            words += ["prior", share(priors[move])]
        line = pv if pv and pv[0] == move else (move,)
        parts.append(" ".join([*words, "order", str(rank), "pv", *(board.name(step) for step in line)]))
    return " ".join(parts)
