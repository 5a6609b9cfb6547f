"""Task `records`: a data set of games of Go, imported from files or played by our own players."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.errors import MiaiError, choose
from miai.games.start import GO, start_game
from miai.kinds import STRICT, validate
from miai.records.filters import Filters, Reason
from miai.records.game_set import GAMES_FILE, SPLITS
from miai.references import Reference
from miai.runner import matches
from miai.runner.task import Config, Task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from miai.arena import Match
    from miai.records.gathering import Gathered, Gatherer
    from miai.runner.context import RunContext

PLAYED: dict[str, list[str]] = {"selfplay": ["rave@200"], "gtp": ["gnugo"]}
"""Sources that are played, and by whom if nobody is named. Any other source is a place with records."""

OF_PLAYING = ("players", "player", "games", "opening_moves", "max_moves", "seed")
"""Options that matter only where games are played. An import has nothing random: games are divided by hash."""
RULES = ("name", "size", "superko", "suicide")
"""Options of the game that matter where games are imported: komi and handicap are the records' own."""

PLAYED_FOLDER = "games"
"""Where the games that are played are, in the run's `games.zip`."""

SOURCE = "source"
"""The role of the place that is imported."""


@dataclass(config=STRICT, kw_only=True)
class _Numbers:
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    games: Annotated[int, Field(ge=1)]
    opening_moves: Annotated[int, Field(ge=0)]
    max_moves: Annotated[int, Field(ge=1)] | None
    source: Annotated[str, Field(min_length=1)]
    keep_beginnings: bool


def is_played(config: Config) -> bool:
    return config["source"] in PLAYED


def _with_players(config: Config) -> dict[str, Any]:
    """Fill in who plays, where nobody is named."""
    named = config["players"]
    return {**config, "players": PLAYED[config["source"]] if named is None else named}


def settle(config: Config) -> dict[str, Any]:
    """Return the configuration with its players' options, or, for an import, without what concerns players."""
    others = {key: value for key, value in config.items() if key not in OF_PLAYING}
    if not is_played(config):
        return {**others, "game": {key: config["game"][key] for key in RULES}}
    own = {key: config[key] for key in OF_PLAYING if key not in ("players", "player")}
    first, *second = _players(config)
    return {**others, **own, "player": first, "opponent": (second or [first])[0]}


def _players(config: Config) -> tuple[dict[str, Any], ...]:
    """Return the options of the one player, who plays itself, or of the two."""
    listed = matches.players_of(_with_players(config))
    if not 1 <= len(listed) <= 2:
        raise MiaiError(f"players: one, who plays itself, or two are needed, such as [rave@400], not {len(listed)}.")
    return listed


def build_match(config: Config, players: Sequence[Mapping[str, Any]]) -> tuple[Match, range]:
    """Make the match whose games are to be kept, and say which of its games these are.

    A match plays each opening twice, the seats swapped. Where a player plays itself that would be the same game but
    for chance, so only every other one is played.

    Raises:
        MiaiError: a value is not allowed.
    """
    from miai.arena import Match

    numbers = _numbers(config)
    step = 2 if len(players) == 1 else 1
    match = Match(
        players=(players[0], players[-1]),
        game=config["game"],
        num_games=step * numbers.games,
        seed=numbers.seed,
        opening_moves=numbers.opening_moves,
        max_moves=numbers.max_moves,
    )
    return match, range(0, match.num_games, step)


def _numbers(config: Config) -> _Numbers:
    return validate(_Numbers, {name: config[name] for name in _Numbers.__dataclass_fields__}, "")


def check(config: Config) -> None:
    """Refuse what cannot be run; files are not opened, engines not started."""
    choose(str(config["game"].get("name")), [GO], "game")
    start_game(config["game"])
    _numbers(config)
    _gatherer(config)
    if is_played(config):
        build_match(config, _players(config))


def inputs(config: Config) -> dict[str, Reference]:
    """Return the place that is imported, or what the players are made of."""
    if is_played(config):
        return matches.inputs_of(_with_players(config))
    return {SOURCE: Reference(config["source"], matches.RECORDS_FILE, may_be_folder=True)}


def name_of(config: Config) -> str:
    size = config["game"]["size"]
    name = re.sub(r"\W+", "_", Path(config["source"]).name.partition(".")[0]).strip("_") or "files"
    return f"records-{name}-{size}x{size}" + (f"-s{config['seed']}" if is_played(config) else "")


def at_terminal(config: Config) -> bool:
    return is_played(config) and matches.is_at_terminal(_players(config))


def records(config: Config, context: RunContext) -> None:
    from miai.records.gathering import LEFT_OUT_FILE, gather_place

    gatherer = _gatherer(config)
    if is_played(config):
        _play(config, context, gatherer)
    else:
        gather_place(gatherer, context.inputs[SOURCE], context.progress)
    gathered = gatherer.finish()
    gathered.games.save(context.work / GAMES_FILE)
    context.artifact(context.work / GAMES_FILE)
    gathered.write_left_out(context.work / LEFT_OUT_FILE)
    context.artifact(context.work / LEFT_OUT_FILE)
    context.final(metrics(gathered))
    context.conclude(conclusion(gathered))


def _gatherer(config: Config) -> Gatherer:
    from miai.records.gathering import Gatherer, SplitOptions

    return Gatherer(
        config["game"]["size"],
        validate(Filters, config["filter"], "filter"),
        validate(SplitOptions, config["split"], "split"),
        superko=config["game"]["superko"],
        suicide=config["game"]["suicide"],
        keep_beginnings=_numbers(config).keep_beginnings,
    )


def _play(config: Config, context: RunContext, gatherer: Gatherer) -> None:
    """Play the games, keep them as records too, and add them."""
    from miai.arena import End, GameUnit, PlayedGame, play_unit
    from miai.records import parse_sgf

    players = matches.with_files(_players(config), context.inputs)
    match, numbers = build_match(config, players)
    matches.rehearse(match)
    together = -(-len(numbers) // matches.MOST_UNITS)
    starts = range(0, len(numbers), together)
    units = [GameUnit(match, tuple(numbers[start : start + together])) for start in starts]
    results = context.map(
        play_unit,
        {unit.key: unit for unit in units},
        sizes={unit.key: len(unit.numbers) for unit in units},
        here=matches.is_at_terminal(players),
    )
    games = [PlayedGame.from_dict(plain) for result in results.values() for plain in result["games"]]
    matches.keep_games(context, {PLAYED_FOLDER: games})
    for game in games:
        name = f"{PLAYED_FOLDER}/{game.number:04}.sgf"
        if game.end is End.FAULT:
            gatherer.leave_out(name, Reason.FAULT, game.fault.message if game.fault else "")
            continue
        [record] = parse_sgf(game.sgf, name)
        gatherer.add(record, config["source"], opening=game.opening)


def metrics(gathered: Gathered) -> dict[str, float]:
    """Return the numbers of a data set."""
    games = gathered.games
    return {
        "records/games": float(len(games)),
        "records/moves": float(games.start[-1]),
        **{f"records/{split}/games": float(len(games.games(split))) for split in SPLITS},
        "records/left_out": float(len(gathered.left_out)),
        **{f"left_out/{reason}": float(count) for reason, count in gathered.counts().items()},
    }


def conclusion(gathered: Gathered) -> str:
    """Say which games there are, by collection and split, and what was left out."""
    from miai.records.gathering import LEFT_OUT_FILE, count_by_collection

    counted = list(count_by_collection(gathered.games))
    if len(counted) > 1:
        counted.append(("all", [sum(column) for column in zip(*(counts for _, counts in counted), strict=True)]))
    rows = [
        [name, f"{sum(counts[:-1]):,}", *(f"{count:,}" for count in counts), f"{counts[-1] / sum(counts[:-1]):.0f}"]
        for name, counts in counted
    ]
    lines = [matches.text_table(["collection", "games", *SPLITS, "moves", "moves a game"], rows)]
    if gathered.left_out:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in gathered.counts().items())
        lines.append(f"Left out: {reasons}. Each is named in the run's {LEFT_OUT_FILE}.")
    else:
        lines.append("Nothing was left out.")
    return "\n".join(lines)


TASK = Task(
    name="records",
    sources=(*matches.SOURCES, "runner/tasks/records.py", "tensor_file.py"),
    run=records,
    name_of=name_of,
    inputs=inputs,
    check=check,
    settle=settle,
    at_terminal=at_terminal,
    product=GAMES_FILE,
    preload=("miai.arena", "miai.search"),
    spreads=True,
)
