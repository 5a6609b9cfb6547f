"""Task `tournament`: matches among several players, and the ratings that come of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.errors import choose
from miai.kinds import STRICT, validate
from miai.runner import matches
from miai.runner.task import Config, Task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from miai.arena import Match, MatchSummary, PlayedGame, Tournament
    from miai.ratings import RatingList
    from miai.runner.context import RunContext


@dataclass(config=STRICT, kw_only=True)
class _Options:
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    pairing: Literal["round_robin", "adaptive"]
    rounds: Annotated[int, Field(ge=1)]
    matches_per_round: Annotated[int, Field(ge=1)] | None
    games_per_pairing: Annotated[int, Field(ge=2, multiple_of=2)]
    anchor: str | None
    opening_moves: Annotated[int, Field(ge=0)]
    max_moves: Annotated[int, Field(ge=1)] | None

    @classmethod
    def of(cls, config: Config) -> _Options:
        return validate(cls, {name: config[name] for name in cls.__dataclass_fields__}, "")


def settle(config: Config) -> dict[str, Any]:
    """Return the configuration with the players' options in place of what names them."""
    own = {key: value for key, value in config.items() if key != "player"}
    return {**own, "players": list(matches.players_of(config))}


def build_tournament(config: Config, players: Sequence[Mapping[str, Any]]) -> Tournament:
    """Make the tournament of a configuration. Raises `MiaiError` for what is not allowed."""
    from miai.arena import Tournament

    options = _Options.of(config)
    tournament = Tournament(
        players=tuple(players),
        game=config["game"],
        games_per_pairing=options.games_per_pairing,
        seed=options.seed,
        opening_moves=options.opening_moves,
        max_moves=options.max_moves,
    )
    if options.anchor is not None:
        choose(options.anchor, tournament.names, "anchor")
    return tournament


def check(config: Config) -> None:
    """Refuse what cannot be run; files are not opened, engines not started."""
    from miai.games.start import start_game

    start_game(config["game"])
    listed = matches.players_of(config)
    _Options.of(config)
    if all("label" in options and options["label"] for options in listed):
        whole = build_tournament(config, listed)
        whole.match(whole.names[0], whole.names[1])


def name_of(config: Config) -> str:
    size = config["game"].get("size")
    game = config["game"]["name"] + (f" {size}×{size}" if size else "")
    return f"{len(config['players'])} players, {game}, s{config['seed']}"


def at_terminal(config: Config) -> bool:
    return matches.is_at_terminal(matches.players_of(config))


def tournament(config: Config, context: RunContext) -> None:
    from miai.arena import MatchSummary, rate

    options = _Options.of(config)
    players = matches.with_files(matches.players_of(config), context.inputs)
    whole = build_tournament(config, players)
    anchor = options.anchor or whole.names[0]
    for other in whole.names[1:]:
        matches.rehearse(whole.match(whole.names[0], other))
    here = matches.is_at_terminal(players)
    games: dict[str, list[PlayedGame]] = {}
    total = options.rounds * _matches_a_round(options, len(players)) * options.games_per_pairing
    for number in range(options.rounds):
        before = sum(map(len, games.values()))
        pairings = _round(whole, options, [MatchSummary.of(played) for played in games.values()], number)
        games |= matches.play_all(context, pairings, before=before, total=total, here=here)
        played = [MatchSummary.of(of_match) for of_match in games.values()]
        ratings = rate(played, anchor=anchor if any(anchor in summary.players for summary in played) else None)
        context.log(sum(map(len, games.values())), _rating_metrics(ratings, over_rounds=True))
    matches.keep_games(context, games)
    matches.keep_results(context, played)
    context.final({**_rating_metrics(ratings), **_game_metrics(games, played)})
    context.conclude(conclusion(ratings, played))


def _matches_a_round(options: _Options, num_players: int) -> int:
    if options.pairing == "round_robin":
        return num_players * (num_players - 1) // 2
    return options.matches_per_round or num_players


def _round(whole: Tournament, options: _Options, played: Sequence[MatchSummary], number: int) -> dict[str, Match]:
    """Return the matches of a round, by a name that is theirs alone in the tournament."""
    if options.pairing == "round_robin":
        pairings = whole.round_robin(number)
    else:
        pairings = whole.narrowing_round(played, _matches_a_round(options, len(whole.players)), number)
    return {
        f"round {number + 1}, match {index + 1}, {' vs '.join(str(side['label']) for side in match.players)}": match
        for index, match in enumerate(pairings)
    }


def _rating_metrics(ratings: RatingList, *, over_rounds: bool = False) -> dict[str, float]:
    """Return Elo and its interval by player; at the end, also score and number of games."""
    found: dict[str, float] = {}
    for rating in ratings.ratings:
        place = f"rating/{matches.metric_name(rating.player)}"
        found |= {f"{place}/elo": rating.elo, f"{place}/low": rating.low, f"{place}/high": rating.high}
        if not over_rounds:
            found |= {f"{place}/score": rating.score, f"{place}/games": float(rating.num_games)}
    return found


def _game_metrics(games: Mapping[str, Sequence[PlayedGame]], played: Sequence[MatchSummary]) -> dict[str, float]:
    all_games = [game for of_match in games.values() for game in of_match]
    return {
        "tournament/games": float(len(all_games)),
        "tournament/matches": float(len(games)),
        "tournament/faults": float(sum(summary.faults + summary.opponent_faults for summary in played)),
        "tournament/distinct_games": float(sum(summary.distinct_games for summary in played)),
        "tournament/mean_moves": sum(len(game.moves) for game in all_games) / len(all_games),
    }


def conclusion(ratings: RatingList, played: Sequence[MatchSummary]) -> str:
    """Say how a tournament ended: the rating list, and what has to be known with it."""
    faults: dict[str, int] = {}
    for summary in played:
        for name, count in zip(summary.players, (summary.faults, summary.opponent_faults), strict=True):
            faults[name] = faults.get(name, 0) + count
    rows = [
        [
            rating.player,
            f"{rating.elo:+.0f}".replace("-", "−"),
            f"{rating.low:.0f} to {rating.high:.0f}".replace("-", "−"),
            f"{100 * rating.score:.1f} %",
            f"{rating.num_games:,}",
            f"{faults[rating.player]}",
        ]
        for rating in ratings.ratings
    ]
    games = sum(summary.total.num_games for summary in played)
    distinct = sum(summary.distinct_games for summary in played)
    lines = [
        matches.text_table(["", "Elo", "95 %", "score", "games", "faults"], rows),
        f"Elo is relative to {ratings.anchor}. {games:,} games in {len(played):,} matches, {distinct:,} distinct.",
    ]
    lines += [f"Note: {note}." for note in ratings.notes]
    return "\n".join(lines)


TASK = Task(
    name="tournament",
    sources=(*matches.SOURCES, "runner/tasks/tournament.py"),
    run=tournament,
    name_of=name_of,
    inputs=matches.inputs_of,
    check=check,
    settle=settle,
    at_terminal=at_terminal,
    product=matches.GAMES_FILE,
    preload=("miai.arena", "miai.search"),
    spreads=True,
)
