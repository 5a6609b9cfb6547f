"""What the learnt tables think of the opening moves, beside the exact values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from miai.npz import load_npz
from miai.report import style
from miai.report.figures import Drawing, FigureKind
from miai.report.grouping import Facet, Group
from miai.report.selection import Selection

TABLE_FILE = "table.npz"
DECIDES = ("game.name", "game.rows", "game.cols", "game.k", "opponent.name", "gamma", "seat")
"""Parameters that exact values depend on."""
NO_ACTION = -1
"""In a table's `actions`: the entry is the after-state `boards[i]` itself."""


@dataclass(frozen=True)
class Options:
    """`after`: cells played before the move, alternately from the first player; empty for the opening move."""

    after: tuple[int, ...] = ()


def applies(selection: Selection, options: Options) -> str | None:
    for group in selection.groups:
        # One table of each group is read here: all of them are read when the figure is drawn.
        for run_id in selection.rows(group)["run_id"].head(1):
            path = selection.data.artifact(run_id, TABLE_FILE)
            if path is not None and np.isfinite(move_values(path, options.after)).any():
                return None
    where = f"after the moves {list(options.after)}" if options.after else "on the empty board"
    return f"no {TABLE_FILE} of these runs holds a value for a move {where}"


def draw(selection: Selection, options: Options) -> Drawing:
    maps = [
        ("\n".join(filter(None, (*group.label.split(" · "), facet.label))), found)
        for facet in selection.facets
        for group in selection.groups
        if len(found := _maps(selection, group, facet, options))
    ]
    rows, columns = _board(selection, maps[0][1].shape[1])
    means = [(label, np.full(found.shape[1], np.nan), len(found)) for label, found in maps]
    for (_, mean, _), (_, found) in zip(means, maps, strict=True):
        seen = np.isfinite(found).any(axis=0)
        mean[seen] = np.nanmean(found[:, seen], axis=0)
    truth = None
    exact = _exact(selection, options)
    if exact:
        truth = np.array([exact.get(cell, np.nan) for cell in range(rows * columns)])
        means.insert(0, ("exact", truth, 0))
    every = np.concatenate([mean for _, mean, _ in means])
    low, high = float(np.nanmin(every)), float(np.nanmax(every))
    across = min(len(means), 5)
    down = -(-len(means) // across)
    figure, axes = style.panels(down, across, 1.4 * max(1.0, rows / columns), width=style.WIDTH * across / 5)
    for ax, (label, mean, _) in zip(axes.flat, means, strict=False):
        compared_to = None if truth is None or mean is truth else truth.reshape(rows, columns)
        _draw_board(ax, mean.reshape(rows, columns), compared_to, low, high)
        ax.set_title(label, fontsize=8, fontweight="bold", loc="center")
    for ax in axes.flat[len(means) :]:
        ax.remove()
    counts = sorted({count for _, _, count in means if count})
    seeds = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    error = (
        " Second line: learnt minus exact. Exact values are those of best play by the learner against the opponent of "
        "the training, discounted as in the runs."
        if truth is not None
        else ""
    )
    after = f" after the moves {', '.join(map(str, options.after))}" if options.after else " on the empty board"
    caption = (
        f"Learnt value of each move{after}, mean over the tables of {seeds} {'run' if seeds == '1' else 'runs'}; "
        f"darker is better, on one scale for all boards. “–”: the move is in no table.{error}"
    )
    return Drawing(figure, caption)


def _draw_board(ax: Any, mean: np.ndarray, truth: np.ndarray | None, low: float, high: float) -> None:
    import seaborn as sns

    rows, columns = mean.shape
    words = np.full(mean.shape, "–", dtype=object)
    for cell in np.ndindex(mean.shape):
        if not np.isfinite(mean[cell]):
            continue
        words[cell] = f"{mean[cell]:.3f}".replace("-", "−")
        error = np.nan if truth is None else mean[cell] - truth[cell]
        if np.isfinite(error):
            words[cell] += f"\n{error:+.3f}".replace("-", "−")
    sns.heatmap(
        mean,
        ax=ax,
        vmin=low,
        vmax=high if high > low else low + 1e-9,
        cmap="crest",
        annot=words,
        fmt="",
        annot_kws={"fontsize": 7 if max(rows, columns) <= 3 else 5.5},
        linewidths=1.2,
        linecolor="white",
        cbar=False,
        square=True,
        xticklabels=False,
        yticklabels=False,
    )
    ax.grid(visible=False)


def _maps(selection: Selection, group: Group, facet: Facet, options: Options) -> np.ndarray:
    """Return the value of each move, [num_runs, cells], NaN where a table lacks it; no rows if no table has any."""
    found = []
    for run_id in selection.rows(group, facet)["run_id"]:
        path = selection.data.artifact(run_id, TABLE_FILE)
        if path is not None:
            try:
                values = move_values(path, options.after)
            except (ValueError, LookupError):
                selection.note(f"The {TABLE_FILE} of run {run_id} is damaged: left out of the values of moves.")
                continue
            if np.isfinite(values).any():
                found.append(values)
    widths = {len(values) for values in found}
    return np.stack(found) if len(widths) == 1 else np.empty((0, 0))


def move_values(path: Path, after: tuple[int, ...]) -> np.ndarray:
    """Return the value of each move, [cells], in the position after some moves; NaN where the table has no entry."""
    table = load_npz(path)
    boards, actions, values = table["boards"], table["actions"], table["values"]
    position = np.zeros(boards.shape[1], dtype=np.int8)
    for i, cell in enumerate(after):
        position[cell] = 1 if i % 2 == 0 else -1
    mover = 1 if len(after) % 2 == 0 else -1
    found = np.full(boards.shape[1], np.nan)
    # Only boards with as many marks as the position, or one more for after-states, can be meant.
    marks = np.count_nonzero(boards, axis=1)
    of_pairs = (actions != NO_ACTION) & (marks == len(after))
    of_pairs[of_pairs] = (boards[of_pairs] == position).all(axis=1)
    found[actions[of_pairs]] = values[of_pairs]
    for i in map(int, np.flatnonzero((actions == NO_ACTION) & (marks == len(after) + 1))):
        changed = np.flatnonzero(boards[i] != position)
        if len(changed) == 1 and boards[i, changed[0]] == mover:
            found[changed[0]] = values[i]
    return found


def _exact(selection: Selection, options: Options) -> Mapping[int, float] | None:
    """Ask for the exact values, unless the section's runs differ in what these depend on."""
    if selection.exact is None or set(DECIDES) & set(selection.varying):
        return None
    first = selection.runs.iloc[0]
    return selection.exact({name: first[name] for name in selection.data.parameters}, options.after)


def _board(selection: Selection, cells: int) -> tuple[int, int]:
    for name in ("game.rows", "game.cols"):
        if name not in selection.runs.columns or selection.runs[name].nunique() != 1:
            side = int(np.sqrt(cells))
            return (side, side) if side * side == cells else (1, cells)
    return int(selection.runs["game.rows"].iloc[0]), int(selection.runs["game.cols"].iloc[0])


FIGURE = FigureKind("Values of the opening moves", Options, applies, draw)
