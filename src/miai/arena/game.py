"""One game between two players, from the opening to the result."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from miai.games.game import FIRST, RESIGN, SECOND, Game
from miai.gtp.client import EngineFault
from miai.players import OWN_BUDGET, Budget, Player

if TYPE_CHECKING:
    from miai.games.go import GoGame

MOVES_PER_POINT = 3
"""A game of Go is stopped after this many moves for each point of the board, and scored as it stands."""


class End(StrEnum):
    """What ended a game."""

    RULES = "rules"
    RESIGNATION = "resignation"
    MOVE_LIMIT = "move_limit"
    FAULT = "fault"
    """A player broke down or broke the rules."""


@dataclass(frozen=True)
class Fault:
    """Who was at fault (+1 first player, −1 second) and how."""

    seat: int
    kind: str
    message: str
    transcript: str = ""


@dataclass(frozen=True)
class PlayedGame:
    """A game that was played.

    Attributes:
        players: names, (first player's, second player's).
        outcome: +1, −1 or 0 from the first player's side.
        moves: all of them, the opening's included.
        opening: how many of the moves were drawn at random before the players took over.
        result: for people, such as `B+3.5`.
        decisions: how many moves each was asked for, (first player, second player).
        seconds: thinking time, likewise.
        simulations: what each has said that it simulated, likewise; 0 for players that do not simulate.
        sgf: the record of a game of Go, else empty.
        number: the game's number in its match; even: the match's first player has the first move.
    """

    players: tuple[str, str]
    outcome: int
    end: End
    moves: tuple[int, ...]
    opening: int
    result: str
    decisions: tuple[int, int]
    seconds: tuple[float, float]
    simulations: tuple[int, int] = (0, 0)
    fault: Fault | None = None
    sgf: str = ""
    number: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as JSON knows them; `from_dict` is the way back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> PlayedGame:
        """Read what `to_dict` gave, also after it has been JSON. `KeyError` or `TypeError` if it is no such thing."""
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()
        }
        fault = plain["fault"]
        return cls(**{**fields, "end": End(plain["end"]), "fault": Fault(**fault) if fault else None})


def play_game(
    players: Sequence[Player],
    game: Game,
    rng: np.random.Generator,
    budget: Budget = OWN_BUDGET,
    max_moves: int | None = None,
    number: int = 0,
) -> PlayedGame:
    """Play a game to its end.

    Args:
        players: the first player and the second.
        game: where they begin; it may have moves already, which count as the opening. It is played on in place.
        rng: each player gets a stream of its own, spawned from it.
        budget: for every move of either player.
        max_moves: the game is stopped after that many moves in all; by default three for each point in Go, no limit in
            other games. A game of Go that is stopped has the outcome of its score, another is drawn.
        number: is kept in the result.

    Raises:
        ValueError: a player of Miai's own answered with an illegal move, which is a bug in it.
    """
    first, second = players
    go = _as_go(game)
    if max_moves is None and go:
        max_moves = MOVES_PER_POINT * go.size**2
    streams = dict(zip((FIRST, SECOND), rng.spawn(2), strict=True))
    seats = {FIRST: first, SECOND: second}
    seconds = {FIRST: 0.0, SECOND: 0.0}
    decisions = {FIRST: 0, SECOND: 0}
    simulations = {FIRST: 0, SECOND: 0}
    opening = len(game.moves)
    fault = resigned = None
    for seat, player in seats.items():
        try:
            player.new_game(game.copy())
        except EngineFault as error:
            fault = fault or _fault(seat, error)
    while not game.is_over and fault is None and (max_moves is None or len(game.moves) < max_moves):
        seat = game.to_play
        decisions[seat] += 1
        start = time.perf_counter()
        try:
            decision = seats[seat].select_move(game, streams[seat], budget)
        except EngineFault as error:
            fault = _fault(seat, error)
            break
        finally:
            seconds[seat] += time.perf_counter() - start
        simulations[seat] += int(decision.info.get("simulations", 0))
        move = decision.move
        if move == RESIGN:
            resigned = seat
            break
        if not game.is_legal(move):
            raise ValueError(f"{seats[seat].name} answered {move!r}, which is illegal in\n{game.render()}")
        game.play(move)
    if fault:
        outcome, end = -fault.seat, End.FAULT
    elif resigned is not None:
        outcome, end = -resigned, End.RESIGNATION
    elif game.is_over:
        outcome, end = game.outcome() or 0, End.RULES
    else:
        outcome, end = _sign(go.score()) if go else 0, End.MOVE_LIMIT
    return PlayedGame(
        players=(first.name, second.name),
        outcome=outcome,
        end=end,
        moves=tuple(int(move) for move in game.moves),
        opening=opening,
        result=_result_text(go, outcome, end),
        decisions=(decisions[FIRST], decisions[SECOND]),
        seconds=(seconds[FIRST], seconds[SECOND]),
        simulations=(simulations[FIRST], simulations[SECOND]),
        fault=fault,
        sgf=_sgf(go, (first.name, second.name), outcome, end) if go else "",
        number=number,
    )


def _fault(seat: int, error: EngineFault) -> Fault:
    return Fault(seat, error.kind.value, str(error), error.transcript)


def _as_go(game: Game) -> GoGame | None:
    """Return the game if it is one of Go: by its name, since importing the engine would make other games wait."""
    return cast("GoGame", game) if game.name == "go" else None


def _sign(score: float) -> int:
    return FIRST if score > 0 else SECOND if score < 0 else 0


def _result_text(go: GoGame | None, outcome: int, end: End) -> str:
    if outcome == 0:
        return "0"
    winner = ("BW" if go else "XO")[0 if outcome == FIRST else 1]
    if end is End.RESIGNATION:
        return f"{winner}+R"
    if end is End.FAULT:
        return f"{winner}+F"
    return f"{winner}+{abs(go.score()):g}" if go else f"{winner}+"


def _sgf(go: GoGame, players: tuple[str, str], outcome: int, end: End) -> str:
    from miai.records import Result, record_game, write_sgf

    return write_sgf(record_game(go, players=players, result=Result.parse(_result_text(go, outcome, end))))
