"""What a player thinks of a position, on the board: priors, chances to win, visits. From an analysis."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from miai.report import style
from miai.report.figures import Drawing, FigureKind
from miai.report.selection import Selection
from miai.report.tables import Table

ANALYSIS_FILE = "analysis.json"
"""An artifact of task `analyse`: a position, and of each player what it says of the moves."""
PARTS = {"prior": "prior P (%)", "value": "chance to win, (1 + Q) / 2 (%)", "visits": "visits N"}
COLUMNS_OF_GTP = "ABCDEFGHJKLMNOPQRST"
LISTED = 8
"""So many moves of a player are in the table."""


@dataclass(frozen=True)
class Options:
    """`parts`: what is drawn, of prior, value and visits; by default all that a player says."""

    parts: tuple[str, ...] = ()


def analyses(selection: Selection) -> list[dict[str, Any]]:
    """Return the analyses that the section's runs hold."""
    paths = (selection.data.artifact(run_id, ANALYSIS_FILE) for run_id in selection.runs["run_id"])
    return [json.loads(Path(path).read_text(encoding="utf-8")) for path in paths if path is not None]


def applies(selection: Selection, options: Options) -> str | None:
    return None if any(_rows(analyses(selection), options)) else f"no run holds {ANALYSIS_FILE} with words on moves"


def _rows(found: list[dict[str, Any]], options: Options) -> list[tuple[dict[str, Any], dict[str, Any], list[str]]]:
    """Return each position with a player and what it says of moves."""
    rows = []
    for analysis in found:
        for player in analysis["players"]:
            said = [part for part in PARTS if any(part in move for move in player["moves"])]
            said = [part for part in said if not options.parts or part in options.parts]
            if said:
                rows.append((analysis, player, said))
    return rows


def draw(selection: Selection, options: Options) -> Drawing:
    rows = _rows(analyses(selection), options)
    across = max(len(said) for *_, said in rows)
    figure, axes = style.panels(len(rows), across, 2.65, style.WIDTH * across / 3)
    for line, (analysis, player, said) in zip(axes, rows, strict=True):
        for ax, part in zip(line, said, strict=False):
            _board(ax, analysis)
            _words(ax, analysis, player, part)
            ax.set_title(PARTS[part], fontsize=8, loc="center")
        for ax in line[len(said) :]:
            ax.remove()
    return Drawing(figure, " ".join(map(_sentence, rows)) + _legend(rows), _table(rows))


def _legend(rows: list[tuple[dict[str, Any], dict[str, Any], list[str]]]) -> str:
    ringed = any(player["moves"] for _, player, _ in rows)
    return " The most visited or likeliest move has a frame; darker is more." if ringed else ""


def _sentence(row: tuple[dict[str, Any], dict[str, Any], list[str]]) -> str:
    analysis, player, _ = row
    side = ("Black" if analysis["to_play"] > 0 else "White") if _is_go(analysis) else "the player to move"
    after = f"after {' '.join(analysis['moves'])}" if analysis["moves"] else "at the start"
    thought = f", {player['simulations']:,.0f} simulations" if player["simulations"] else ""
    value = f", a chance to win of {100 * player['value']:.0f} %" if player["value"] is not None else ""
    return f"{player['player']}{thought}, as {side} {after}: plays {player['plays']}{value}."


def _is_go(analysis: dict[str, Any]) -> bool:
    return analysis["game"]["name"] == "go"


def _board(ax: Any, analysis: dict[str, Any]) -> None:
    """Draw lines and stones; rows of the board go down."""
    board = np.array(analysis["board"])
    rows, columns = board.shape
    half = 0.0 if _is_go(analysis) else 0.5
    for row in np.arange(rows + (half > 0)) - half:
        ax.plot([-half, columns - 1 + half], [row, row], color="#b9b0a0", linewidth=0.6, zorder=1)
    for column in np.arange(columns + (half > 0)) - half:
        ax.plot([column, column], [-half, rows - 1 + half], color="#b9b0a0", linewidth=0.6, zorder=1)
    for row, column in np.argwhere(board):
        _stone(ax, int(row), int(column), int(board[row, column]), int(row * columns + column) == analysis["last"])
    ax.set_xlim(-0.7, columns - 0.3)
    ax.set_ylim(rows - 0.3, -0.7)
    ax.set_aspect("equal")
    ax.grid(visible=False)
    if _is_go(analysis):
        ax.set_xticks(range(columns), list(COLUMNS_OF_GTP[:columns]), fontsize=6)
        ax.set_yticks(range(rows), [str(rows - row) for row in range(rows)], fontsize=6)
    else:
        ax.set_xticks(range(columns))
        ax.set_yticks(range(rows))
    ax.tick_params(length=0, pad=1)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _stone(ax: Any, row: int, column: int, owner: int, is_last: bool) -> None:
    from matplotlib.patches import Circle

    fill, edge = ("#222222", "#222222") if owner > 0 else ("white", "#222222")
    ax.add_patch(Circle((column, row), 0.45, facecolor=fill, edgecolor=edge, linewidth=0.8, zorder=3))
    if is_last:
        ax.plot(column, row, marker="s", markersize=2.5, color="white" if owner > 0 else "#222222", zorder=4)


def _words(ax: Any, analysis: dict[str, Any], player: dict[str, Any], part: str) -> None:
    """Write a number on each move that is worth one, on a square that is darker the larger it is."""
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    rows, columns = np.array(analysis["board"]).shape
    said = {move["cell"]: move[part] for move in player["moves"] if part in move and 0 <= move["cell"] < rows * columns}
    if part == "value":  # of moves that were never tried there is nothing to say
        tried = {move["cell"] for move in player["moves"] if move.get("visits", 1) > 0}
        said = {cell: value for cell, value in said.items() if cell in tried}
    if not said:
        return
    low, high = (min(said.values()), max(said.values())) if part == "value" else (0.0, max(said.values()))
    least = 0.01 * sum(said.values()) if part != "value" else -np.inf
    shades = colormaps["crest"]
    best = max(said, key=lambda cell: said[cell]) if part != "value" else None
    for cell, value in said.items():
        if value < least:
            continue
        row, column = divmod(cell, columns)
        share = (value - low) / (high - low) if high > low else 1.0
        colour = shades(0.9 * share)
        frame = {"edgecolor": style.VERMILLION, "linewidth": 1.2} if cell == best else {"edgecolor": "none"}
        ax.add_patch(
            Rectangle((column - 0.47, row - 0.47), 0.94, 0.94, facecolor=colour, alpha=0.85, zorder=2, **frame)
        )
        text = f"{value:.0f}" if part == "visits" else f"{100 * value:.0f}"
        size = min(7.0, 58 / max(rows, columns)) * (0.8 if len(text) > 2 else 1.0)
        ax.text(
            column,
            row,
            text,
            ha="center",
            va="center_baseline",
            fontsize=size,
            zorder=5,
            color="white" if share > 0.35 else style.INK,
        )


def _table(rows: list[tuple[dict[str, Any], dict[str, Any], list[str]]]) -> Table:
    words, records = [], []
    for analysis, player, _ in rows:
        for move in player["moves"][:LISTED]:
            shown = [
                f"{100 * move['prior']:.1f} %" if "prior" in move else "–",
                f"{100 * move['value']:.1f} %" if "value" in move else "–",
                f"{move['visits']:,.0f}" if "visits" in move else "–",
            ]
            words.append((player["player"], move["move"], *shown))
        after = " ".join(analysis["moves"])
        records += [{"player": player["player"], "after": after, **move} for move in player["moves"]]
    columns = ("player", "move", "prior", "chance to win", "visits")
    note = f"The {LISTED} most visited moves of each player; the file has all."
    return Table("moves", "Moves", columns, tuple(words), pd.DataFrame(records), note)


FIGURE = FigureKind("A position", Options, applies, draw)
