"""A match in numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import NormalDist

from miai.arena.game import End, PlayedGame
from miai.games.game import FIRST, SECOND
from miai.ratings import PairScore

LEVEL = 0.95


@dataclass(frozen=True)
class Tally:
    """Wins, draws and losses from one player's side."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def num_games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Points per game, a draw being half a point; NaN without games."""
        return (self.wins + self.draws / 2) / self.num_games if self.num_games else math.nan

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return Wilson's interval of the score.

        Draws count as half a win and half a loss, as if the score were a proportion of wins; since drawn games vary
        less than that, the interval is then too wide rather than too narrow.
        """
        return wilson_interval(self.wins + self.draws / 2, self.num_games, level)

    def plus(self, outcome: int) -> Tally:
        return Tally(self.wins + (outcome > 0), self.draws + (outcome == 0), self.losses + (outcome < 0))

    def reversed(self) -> Tally:
        """Return the same games from the other player's side."""
        return Tally(self.losses, self.draws, self.wins)

    def __str__(self) -> str:
        if not self.num_games:
            return "no games"
        low, high = self.interval()
        return f"{self.wins}/{self.draws}/{self.losses} = {self.score:.1%} [{low:.1%}, {high:.1%}]"


def wilson_interval(points: float, num_games: int, level: float = LEVEL) -> tuple[float, float]:
    """Return Wilson's (1927) score interval of a proportion, `points` of `num_games`; (0, 1) without games."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level!r}")
    if not 0 <= points <= num_games:
        raise ValueError(f"points must be from 0 to {num_games}, got {points!r}")
    if num_games == 0:
        return 0.0, 1.0
    z2 = NormalDist().inv_cdf(0.5 + level / 2) ** 2
    p = points / num_games
    centre = (p + z2 / (2 * num_games)) / (1 + z2 / num_games)
    half = math.sqrt(z2) / (1 + z2 / num_games) * math.sqrt(p * (1 - p) / num_games + z2 / (4 * num_games**2))
    # At the ends the formula gives 0 and 1 but for rounding.
    return (centre - half if points else 0.0), (centre + half if points < num_games else 1.0)


def _per_second(count: int, seconds: float) -> float:
    return count / seconds if seconds else 0.0


@dataclass(frozen=True)
class MatchSummary:
    """A match in numbers, from the side of its first player (the one with the first move in game 0).

    Attributes:
        total: all games; one that ended by a fault is lost by whom it was the fault of.
        without_faults: the games in which nobody was at fault.
        as_first, as_second: all games by seat.
        faults, opponent_faults: games lost by a fault of the match's first and second player.
        distinct_games: how many different sequences of moves there are: far fewer than games means that the
            games are copies of each other and the interval means little.
        ends: how many games ended which way.
    """

    players: tuple[str, str]
    total: Tally
    without_faults: Tally
    as_first: Tally
    as_second: Tally
    faults: int
    opponent_faults: int
    distinct_games: int
    mean_moves: float
    seconds_per_move: tuple[float, float]
    simulations_per_second: tuple[float, float]
    ends: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, games: Iterable[PlayedGame]) -> MatchSummary:
        """Count the games of one match, in any order. Raises `ValueError` if there are none."""
        played = sorted(games, key=lambda game: game.number)
        if not played:
            raise ValueError("there are no games to sum up")
        total = without_faults = as_first = as_second = Tally()
        faults = [0, 0]
        seconds, moves, simulations = [0.0, 0.0], [0, 0], [0, 0]
        ends = {end.value: 0 for end in End}
        for game in played:
            seat = FIRST if game.number % 2 == 0 else SECOND
            outcome = game.outcome * seat
            total = total.plus(outcome)
            if seat == FIRST:
                as_first = as_first.plus(outcome)
            else:
                as_second = as_second.plus(outcome)
            if game.fault:
                faults[0 if game.fault.seat == seat else 1] += 1
            else:
                without_faults = without_faults.plus(outcome)
            ends[game.end.value] += 1
            for player, turn in ((0, seat), (1, -seat)):
                moves[player] += game.decisions[0 if turn == FIRST else 1]
                seconds[player] += game.seconds[0 if turn == FIRST else 1]
                simulations[player] += game.simulations[0 if turn == FIRST else 1]
        head = played[0]
        return cls(
            players=head.players if head.number % 2 == 0 else head.players[::-1],
            total=total,
            without_faults=without_faults,
            as_first=as_first,
            as_second=as_second,
            faults=faults[0],
            opponent_faults=faults[1],
            distinct_games=len({game.moves for game in played}),
            mean_moves=sum(len(game.moves) for game in played) / len(played),
            seconds_per_move=(seconds[0] / max(1, moves[0]), seconds[1] / max(1, moves[1])),
            simulations_per_second=(_per_second(simulations[0], seconds[0]), _per_second(simulations[1], seconds[1])),
            ends={end: count for end, count in ends.items() if count},
        )

    def pair_score(self, *, faults: bool = True) -> PairScore:
        """Return the result as `ratings` takes it, with or without the games that ended by a fault."""
        tally = self.total if faults else self.without_faults
        return PairScore(*self.players, tally.wins, tally.draws, tally.losses)

    def metrics(self) -> dict[str, float]:
        """Return the numbers by name, finite, from the side of the match's first player."""
        low, high = self.total.interval()
        values = {
            "games": self.total.num_games,
            "wins": self.total.wins,
            "draws": self.total.draws,
            "losses": self.total.losses,
            "score": self.total.score,
            "score_low": low,
            "score_high": high,
            "as_first/score": self.as_first.score,
            "as_second/score": self.as_second.score,
            "without_faults/games": self.without_faults.num_games,
            "without_faults/score": self.without_faults.score,
            "faults": self.faults,
            "opponent_faults": self.opponent_faults,
            "distinct_games": self.distinct_games,
            "mean_moves": self.mean_moves,
            "seconds_per_move": self.seconds_per_move[0],
            "opponent_seconds_per_move": self.seconds_per_move[1],
            "simulations_per_second": self.simulations_per_second[0],
            "opponent_simulations_per_second": self.simulations_per_second[1],
        }
        return {name: float(value) for name, value in values.items() if math.isfinite(value)}

    def __str__(self) -> str:
        first, second = self.players
        lines = [
            f"{first} against {second}: {self.total} (wins/draws/losses, 95 % interval)",
            f"  with the first move {self.as_first}; with the second {self.as_second}",
            f"  {self.distinct_games} distinct games of {self.total.num_games}, {self.mean_moves:.0f} moves on average",
        ]
        if self.faults or self.opponent_faults:
            lines.append(
                f"  ended by a fault: {self.faults} of {first}, {self.opponent_faults} of {second}; "
                f"without these {self.without_faults}"
            )
        return "\n".join(lines)
