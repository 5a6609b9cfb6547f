"""Task `analyse`: what players think of one position."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.errors import MiaiError
from miai.kinds import STRICT, validate
from miai.runner import matches
from miai.runner.task import Config, Task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from miai.games.game import Game
    from miai.players.player import Decision
    from miai.runner.context import RunContext

ANALYSIS_FILE = "analysis.json"
FORMAT = 1
SHOWN = 5
"""So many moves of each player are told at the end."""


@dataclass(config=STRICT, kw_only=True)
class _Options:
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    moves: list[str]


def position(config: Config) -> Game:
    """Return the game after its moves.

    Raises:
        MiaiError: no such game, a move that is none or not legal, or nothing is left to play.
    """
    from miai.games.start import start_game

    game = start_game(config["game"])
    for i, text in enumerate(validate(_Options, {key: config[key] for key in ("seed", "moves")}, "").moves):
        try:
            game.play(game.parse_move(text))
        except ValueError as error:
            raise MiaiError(f"moves[{i}]: {error}.") from None
    if game.is_over:
        raise MiaiError("moves: the game is over after them, and there is nothing to think about.")
    return game


def settle(config: Config) -> dict[str, Any]:
    """Return the configuration with the players' options in place of what names them."""
    own = {key: value for key, value in config.items() if key != "player"}
    return {**own, "players": list(matches.players_of(config))}


def check(config: Config) -> None:
    """Refuse what cannot be run; files are not opened, engines not started."""
    listed = matches.players_of(config)
    if not listed:
        raise MiaiError("players: one at least is needed, such as [uct@1000].")
    if matches.is_at_terminal(listed):
        raise MiaiError("players: a person cannot be asked what they think.")
    position(config)


def name_of(config: Config) -> str:
    after = "-".join(config["moves"]) or "start"
    return f"analysis {after} s{config['seed']}"


def analyse(config: Config, context: RunContext) -> None:
    from miai.players import build_player
    from miai.rng import generator

    game = position(config)
    found = []
    for index, options in enumerate(matches.with_files(matches.players_of(config), context.inputs)):
        player = build_player(options, f"players[{index}]")
        try:
            player.new_game(game)
            decision = player.select_move(game, generator(context.seed, f"analysis {index}"))
        finally:
            player.close()
        found.append(opinion(game, player.name, decision))
        context.progress(index + 1, len(config["players"]))
    path = context.work / ANALYSIS_FILE
    path.write_text(json.dumps({**described(game, config), "players": found}, indent=1), encoding="utf-8")
    context.artifact(path)
    context.final(metrics(found))
    context.conclude(conclusion(game, found))


def described(game: Game, config: Config) -> dict[str, Any]:
    """Return the position as JSON holds it: board rows of +1 (first player), −1 and 0, the top row first."""
    return {
        "format": FORMAT,
        "game": dict(config["game"]),
        "moves": list(config["moves"]),
        "to_play": game.to_play,
        "last": int(game.moves[-1]) if game.moves else None,
        "board": board_rows(game),
    }


def board_rows(game: Game) -> list[list[int]]:
    from miai.games.game import RulesGame
    from miai.games.go import GoGame

    if isinstance(game, GoGame):
        return game.board.tolist()
    assert isinstance(game, RulesGame)
    return game.rules.board(game.position).reshape(game.rules.shape).tolist()


def opinion(game: Game, name: str, decision: Decision) -> dict[str, Any]:
    """Return what a player thinks as JSON holds it: its move, and what it says of each; values are chances to win."""
    said = {word: decision.info.get(key) or {} for word, key in PARTS.items()}
    moves = sorted(set().union(*said.values()), key=lambda move: (-said["visits"].get(move, 0), move))
    entries = []
    for move in moves:
        of_move = {word: float(values[move]) for word, values in said.items() if move in values}
        entries.append({"move": game.move_name(move), "cell": int(move), **of_move})
    value = decision.info.get("value")
    return {
        "player": name,
        "plays": _name(game, decision.move),
        "value": None if value is None else float(value),
        "simulations": decision.info.get("simulations"),
        "pv": _line(game, decision.info.get("pv") or ()),
        "moves": entries,
    }


PARTS = {"prior": "priors", "value": "values", "visits": "visits"}
"""What is kept of each move, by its name in a player's `info`."""


def _name(game: Game, move: int) -> str:
    from miai.games.game import RESIGN

    return "resign" if move == RESIGN else game.move_name(move)


def _line(game: Game, moves: Any) -> list[str]:
    return [_name(game, int(move)) for move in moves]


def metrics(found: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the numbers of an analysis."""
    values = {}
    for entry in found:
        place = f"analysis/{matches.metric_name(entry['player'])}"
        values[f"{place}/moves"] = float(len(entry["moves"]))
        if entry["value"] is not None:
            values[f"{place}/value"] = entry["value"]
        if entry["simulations"]:
            values[f"{place}/simulations"] = float(entry["simulations"])
    return values


def conclusion(game: Game, found: Sequence[Mapping[str, Any]]) -> str:
    """Show the position, and the moves that each player thought of most."""
    rows = []
    for entry in found:
        rows.append([entry["player"], entry["plays"], "", "", "", " ".join(entry["pv"][:8])])
        for said in entry["moves"][:SHOWN]:
            numbers = [
                f"{100 * said['prior']:.1f} %" if "prior" in said else "–",
                f"{100 * said['value']:.1f} %" if "value" in said else "–",
                f"{said['visits']:.0f}" if "visits" in said else "–",
            ]
            rows.append(["", said["move"], *numbers, ""])
    head = ["player", "move", "prior", "chance to win", "visits", "expected to follow"]
    return f"{game.render()}\n\n{matches.text_table(head, rows)}"


TASK = Task(
    name="analyse",
    sources=(*matches.SOURCES, "runner/tasks/analyse.py"),
    run=analyse,
    name_of=name_of,
    inputs=matches.inputs_of,
    check=check,
    settle=settle,
    product=ANALYSIS_FILE,
    preload=("miai.players", "miai.search"),
)
