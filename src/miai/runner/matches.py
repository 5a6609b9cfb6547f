"""What the tasks `match` and `tournament` share: who plays, the games as units of work, and what is kept of them.

Artifacts of a run:

| file | holds |
|---|---|
| `games.jsonl` | every game, a line each: players, moves, result. The same seed gives the same bytes |
| `games.zip` | every game of Go as SGF |
| `results.csv` | a line a match: who met whom, wins, draws, losses, faults |
| `faults/` | what was said between Miai and an engine in each game that ended by a fault |
"""

from __future__ import annotations

import csv
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from miai.errors import MiaiError
from miai.references import Reference
from miai.runner.task import Config

if TYPE_CHECKING:
    from miai.arena import Match, MatchSummary, PlayedGame
    from miai.runner.context import RunContext

GAMES_FILE = "games.jsonl"
RECORDS_FILE = "games.zip"
RESULTS_FILE = "results.csv"
FAULTS_FOLDER = "faults"
RESULTS = ("first", "second", "wins", "draws", "losses", "faults", "opponent_faults", "distinct_games", "mean_moves")
"""Columns of `results.csv`; `second` as in `miai.ratings.PairScore`, the others from the side of `first`."""

MOST_UNITS = 64
"""A match is cut into about so many units of work: players are made once a unit, and a killed run loses one a core."""

SOURCES = (
    "arena",
    "compiled.py",
    "games",
    "gtp/client.py",
    "gtp/protocol.py",
    "kinds.py",
    "networks",
    "npz.py",
    "players",
    "ratings.py",
    "records",
    "rng.py",
    "runner/matches.py",
    "search",
    "tabular/policies.py",
    "tabular/table.py",
    "tabular/targets.py",
    "tensor_file.py",
)
"""What the results of games depend on."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest date of a zip member. A real one would make equal files differ."""


# ---- who plays ----


def players_of(config: Config) -> tuple[dict[str, Any], ...]:
    """Return the options of the players that a configuration lists, checked, each with its name as `label`.

    A player made of files, such as a table, has none before the files are there, unless it was given one.

    Raises:
        MiaiError: no such player or option, or a value that is not allowed.
    """
    from miai.players import name_player, players
    from miai.players.lineup import line_up

    listed = []
    for index, options in enumerate(line_up(config["players"], config["player"])):
        where = f"players[{index}] ({options.get('name')})"
        if not players.build(options, where).files():
            options["label"] = name_player(options, where)
        listed.append(options)
    return tuple(listed)


def inputs_of(config: Config) -> dict[str, Reference]:
    """Return the runs and files that the players of a configuration are made of, by role."""
    from miai.players import players

    return {
        _role(index, option): reference
        for index, options in enumerate(players_of(config))
        for option, reference in players.build(options).files().items()
    }


def with_files(listed: Sequence[Mapping[str, Any]], inputs: Mapping[str, Path]) -> tuple[dict[str, Any], ...]:
    """Put the paths of files in place of what named them, and give players that are made of files their names.

    Raises:
        MiaiError: a file is not what its player needs.
    """
    from miai.players import players

    found = []
    for index, options in enumerate(listed):
        own = {option: str(inputs[role]) for option in options if (role := _role(index, option)) in inputs}
        filled = {**options, **own}
        found.append({**filled, "label": options.get("label") or players.build(filled).describe_files()})
    return tuple(found)


def _role(index: int, option: str) -> str:
    return f"players[{index}].{option}"


def is_at_terminal(listed: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a person plays: then games go on one after another, in the process that has the terminal."""
    return any(options["name"] == "human" for options in listed)


def rehearse(match: Match) -> None:
    """Make the players of a match and tell them of a game, so that what cannot work is said before anything is played.

    Raises:
        MiaiError: a player cannot be made, or cannot play this game, or not from both seats.
    """
    from miai.arena import build_players
    from miai.games.game import FIRST, SECOND
    from miai.games.start import start_game
    from miai.players.human import HumanPlayer
    from miai.players.table import TablePlayer

    players = build_players(match)
    try:
        for player in players:
            if not isinstance(player, HumanPlayer):  # who would be told of a game that never comes
                player.new_game(start_game(match.game))
            if isinstance(player, TablePlayer) and len(player.tables) < 2:
                learnt = "first" if FIRST in player.tables else "second"
                missing = "second" if SECOND not in player.tables else "first"
                raise MiaiError(
                    f"player {player.name}: its table has learnt the {learnt} seat alone, and seats are swapped; give "
                    f"a table that has learnt both, or one of the {missing} seat too (options run and second)."
                )
    finally:
        for player in players:
            player.close()


# ---- the games ----


def play_all(
    context: RunContext, matches: Mapping[str, Match], *, before: int = 0, total: int | None = None, here: bool = False
) -> dict[str, list[PlayedGame]]:
    """Play matches as units of work that are resumed and spread over processes.

    Args:
        matches: by a name that is theirs alone in this run.
        before, total: games played before, and all that there will be, for the progress bar.
        here: play in this process.

    Returns:
        the games of each match, in order of their numbers.
    """
    from miai.arena import PlayedGame, game_units, play_unit

    units, sizes = {}, {}
    for name, match in matches.items():
        for unit in game_units(match, _games_per_unit(match.num_games)):
            units[f"{name}/{unit.key}"] = unit
            sizes[f"{name}/{unit.key}"] = len(unit.numbers)
    results = context.map(play_unit, units, sizes=sizes, before=before, total=total, here=here)
    games: dict[str, list[PlayedGame]] = {name: [] for name in matches}
    for key, result in results.items():
        games[key.rpartition("/")[0]] += [PlayedGame.from_dict(plain) for plain in result["games"]]
    return games


def _games_per_unit(num_games: int) -> int:
    """Return an even number, so that pairs stay together; of the match alone, so that a resumed run cuts it alike."""
    return max(2, 2 * -(-num_games // (2 * MOST_UNITS)))


# ---- what is kept ----


def keep_games(context: RunContext, games: Mapping[str, Sequence[PlayedGame]]) -> None:
    """Keep the games of a run's matches as artifacts; see the table at the top."""
    path = context.work / GAMES_FILE
    with path.open("w", encoding="utf-8") as file:
        for name, played in games.items():
            for game in played:
                plain = game.to_dict()
                fault = plain["fault"] and {key: plain["fault"][key] for key in ("seat", "kind", "message")}
                known = {
                    key: plain[key] for key in ("number", "players", "outcome", "end", "result", "opening", "moves")
                }
                file.write(json.dumps({"match": name, **known, "fault": fault}) + "\n")
    context.artifact(path)
    if any(game.sgf for played in games.values() for game in played):
        records = context.work / RECORDS_FILE
        with zipfile.ZipFile(records, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, played in games.items():
                for game in played:
                    member = zipfile.ZipInfo(f"{file_name(name)}/{game.number:04}.sgf", _EPOCH)
                    member.compress_type = zipfile.ZIP_DEFLATED
                    archive.writestr(member, game.sgf)
        context.artifact(records)
    _keep_faults(context, games)


def _keep_faults(context: RunContext, games: Mapping[str, Sequence[PlayedGame]]) -> None:
    folder = context.work / FAULTS_FOLDER
    for name, played in games.items():
        for game in played:
            if game.fault is None:
                continue
            folder.mkdir(exist_ok=True)
            culprit = game.players[0 if game.fault.seat > 0 else 1]
            head = f"{name}, game {game.number}: {culprit}: {game.fault.kind}: {game.fault.message}"
            context.logger.warning("%s", head)
            (folder / f"{file_name(name)}-{game.number:04}.txt").write_text(
                f"{head}\n\n{game.fault.transcript}\n", encoding="utf-8"
            )
    if folder.is_dir():
        context.artifact(folder)


def keep_results(context: RunContext, summaries: Sequence[MatchSummary]) -> None:
    """Keep `results.csv`."""
    path = context.work / RESULTS_FILE
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(RESULTS)
        for summary in summaries:
            total = summary.total
            writer.writerow(
                [
                    *summary.players,
                    total.wins,
                    total.draws,
                    total.losses,
                    summary.faults,
                    summary.opponent_faults,
                    summary.distinct_games,
                    f"{summary.mean_moves:.2f}",
                ]
            )
    context.artifact(path)


def file_name(text: str) -> str:
    """Return a text as part of a file's name."""
    return re.sub(r"[^\w.@=-]+", "_", text, flags=re.ASCII).strip("._") or "_"


def metric_name(text: str) -> str:
    """Return a text as part of a metric's name."""
    return re.sub(r"[^\w.-]+", "_", text, flags=re.ASCII).strip("._") or "_"


# ---- for people ----


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as text: the first column to the left, the others to the right."""
    lines = [head, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
