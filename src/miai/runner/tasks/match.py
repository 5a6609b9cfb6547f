"""Task `match`: two players, many games, and how often each of them won."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.errors import MiaiError
from miai.kinds import STRICT, validate
from miai.runner import matches
from miai.runner.task import Config, Task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from miai.arena import Match, MatchSummary, PlayedGame, Tally
    from miai.runner.context import RunContext

ROWS = 50
"""The score is logged over the games at about so many points."""


@dataclass(config=STRICT, kw_only=True)
class _Numbers:
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    games: Annotated[int, Field(ge=1)]
    opening_moves: Annotated[int, Field(ge=0)]
    max_moves: Annotated[int, Field(ge=1)] | None


def settle(config: Config) -> dict[str, Any]:
    """Return the configuration with its two players' options as `player` and `opponent`."""
    listed = matches.players_of(config)
    if len(listed) != 2:
        raise MiaiError(f"players: a match needs two, such as [uct,random], not {len(listed)}; see miai tournament.")
    own = {key: value for key, value in config.items() if key not in ("players", "player")}
    return {**own, "player": listed[0], "opponent": listed[1]}


def build_match(config: Config, players: Sequence[Mapping[str, Any]]) -> Match:
    """Make the match of a configuration. Raises `MiaiError` for what is not allowed."""
    from miai.arena import Match

    numbers = validate(_Numbers, {name: config[name] for name in _Numbers.__dataclass_fields__}, "")
    return Match(
        players=(players[0], players[1]),
        game=config["game"],
        num_games=numbers.games,
        seed=numbers.seed,
        opening_moves=numbers.opening_moves,
        max_moves=numbers.max_moves,
    )


def check(config: Config) -> None:
    """Refuse what cannot be run; files are not opened, engines not started."""
    from miai.games.start import start_game

    settled = settle(config)
    start_game(config["game"])
    build_match(config, (settled["player"], settled["opponent"]))


def name_of(config: Config) -> str:
    settled = settle(config)
    names = (settled[side].get("label") or settled[side]["name"] for side in ("player", "opponent"))
    return f"{' vs '.join(names)} s{config['seed']}"


def at_terminal(config: Config) -> bool:
    return matches.is_at_terminal(matches.players_of(config))


def match(config: Config, context: RunContext) -> None:
    from miai.arena import MatchSummary

    players = matches.with_files(matches.players_of(config), context.inputs)
    whole = build_match(config, players)
    matches.rehearse(whole)
    games = matches.play_all(context, {"match": whole}, here=matches.is_at_terminal(players))
    played = games["match"]
    _log_over_games(context, played)
    summary = MatchSummary.of(played)
    context.final({f"match/{name}": value for name, value in metrics(summary).items()})
    matches.keep_games(context, games)
    matches.keep_results(context, [summary])
    context.conclude(conclusion(summary))


def _log_over_games(context: RunContext, played: Sequence[PlayedGame]) -> None:
    from miai.arena import MatchSummary

    step = max(2, 2 * round(len(played) / ROWS / 2))
    for count in sorted({*range(step, len(played), step), len(played)}):
        summary = MatchSummary.of(played[:count])
        low, high = summary.total.interval()
        context.log(count, {"match/score": summary.total.score, "match/score_low": low, "match/score_high": high})


def metrics(summary: MatchSummary) -> dict[str, float]:
    """Return the numbers of a match, and the difference in Elo where it is finite."""
    from miai.ratings import elo_difference

    values = summary.metrics()
    return values | {
        name.replace("score", "elo"): elo
        for name in ("score", "score_low", "score_high")
        if math.isfinite(elo := elo_difference(values[name]))
    }


def conclusion(summary: MatchSummary) -> str:
    """Say how a match ended, from each player's side."""
    rows = []
    for side, (name, total, first, second) in enumerate(
        zip(
            summary.players,
            (summary.total, summary.total.reversed()),
            (summary.as_first, summary.as_second.reversed()),
            (summary.as_second, summary.as_first.reversed()),
            strict=True,
        )
    ):
        speed = summary.simulations_per_second[side]
        rows.append(
            [
                name,
                f"{total.wins}",
                f"{total.draws}",
                f"{total.losses}",
                percent(total.score),
                interval_text(total),
                elo_text(total),
                percent(first.score),
                percent(second.score),
                f"{(summary.faults, summary.opponent_faults)[side]}",
                f"{summary.seconds_per_move[side]:.3f}",
                f"{speed:,.0f}" if speed else "–",
            ]
        )
    head = ["", "wins", "draws", "losses", "score", "95 %", "Elo difference", "moving first", "second", "faults"]
    lines = [matches.text_table([*head, "s a move", "simulations/s"], rows)]
    games = summary.total.num_games
    distinct = f"{games:,} {'game' if games == 1 else 'games'}, {summary.distinct_games:,} of them distinct"
    lines.append(f"{distinct}, {summary.mean_moves:.0f} moves on average.")
    if summary.distinct_games < games:
        lines.append("Copies of a game tell nothing new: the interval is narrower than it should be.")
    if summary.faults or summary.opponent_faults:
        lines.append(
            f"Games that ended by a fault count as lost; without them {summary.players[0]} has "
            f"{summary.without_faults}. The transcripts are in the run's faults/."
        )
    return "\n".join(lines)


def percent(share: float) -> str:
    return "–" if math.isnan(share) else f"{100 * share:.1f} %"


def interval_text(tally: Tally) -> str:
    low, high = tally.interval()
    return f"{100 * low:.1f} to {100 * high:.1f}"


def elo_text(tally: Tally) -> str:
    """Return the difference in Elo that a score means, with its interval, such as `+72 (+20 to +130)`."""
    from miai.ratings import elo_difference

    value, low, high = (elo_difference(share) for share in (tally.score, *tally.interval()))
    return f"{_signed(value)} ({_signed(low)} to {_signed(high)})"


def _signed(value: float) -> str:
    if math.isinf(value):
        return "+∞" if value > 0 else "−∞"
    return f"{value:+.0f}".replace("-", "−")


TASK = Task(
    name="match",
    sources=(*matches.SOURCES, "runner/tasks/match.py"),
    run=match,
    name_of=name_of,
    inputs=matches.inputs_of,
    check=check,
    settle=settle,
    at_terminal=at_terminal,
    product=matches.GAMES_FILE,
    preload=("miai.arena", "miai.search"),
    spreads=True,
)
