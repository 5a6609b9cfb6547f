"""Ratings of players from the results of their games: Bradley and Terry's model on Elo's scale.

The model: A beats B with probability 1 / (1 + 10^(−(R_A − R_B) / 400)). A draw counts as half a win for each. The fit
is choix's (maximum likelihood, iterative Luce spectral ranking: Maystre and Grossglauser 2015); the intervals come from
the observed information at that fit, so they say how well the games determine a rating *relative to the anchor*, whose
own interval is therefore a point. Where games are drawn, half points vary less than the model thinks, and the intervals
are too wide rather than too narrow.

Start reading at `fit_ratings`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from miai.errors import MiaiError

ELO_PER_NAT = 400 / math.log(10)
"""Elo points of one unit of log-odds."""
LEVEL = 0.95
PRIOR_DRAWS = 1.0
MAX_ITERATIONS = 20_000


@dataclass(frozen=True)
class PairScore:
    """The games of two players, seen from the first. How often each had the first move is not told apart here."""

    first: str
    second: str
    wins: int = 0
    draws: int = 0
    losses: int = 0

    def __post_init__(self) -> None:
        if self.first == self.second:
            raise ValueError(f"a player does not play itself: {self.first!r}")
        if min(self.wins, self.draws, self.losses) < 0:
            raise ValueError(f"wins, draws and losses must be 0 or more, got {self}")

    @property
    def num_games(self) -> int:
        return self.wins + self.draws + self.losses


@dataclass(frozen=True)
class Rating:
    """One line of a rating list, in Elo. `low` and `high` bound the interval; `score` is points per game."""

    player: str
    elo: float
    low: float
    high: float
    num_games: int
    score: float
    group: int
    """Players of different groups have not been compared, not even through others."""


@dataclass(frozen=True)
class RatingList:
    """Ratings, the strongest first (group by group), and what must be said with them."""

    ratings: tuple[Rating, ...]
    anchor: str
    level: float
    notes: tuple[str, ...]
    players: tuple[str, ...]
    covariance: np.ndarray
    """[players, players] of the ratings, in Elo²; NaN between groups."""

    def __getitem__(self, player: str) -> Rating:
        for rating in self.ratings:
            if rating.player == player:
                return rating
        raise KeyError(player)

    def difference(self, first: str, second: str) -> tuple[float, float, float]:
        """Return first − second in Elo and its interval (low, high).

        Raises:
            MiaiError: the two have not been compared, not even through others.
        """
        a, b = self[first], self[second]
        if a.group != b.group:
            raise MiaiError(f"ratings: {first!r} and {second!r} cannot be compared; no chain of games joins them.")
        i, j = self.players.index(first), self.players.index(second)
        variance = self.covariance[i, i] + self.covariance[j, j] - 2 * self.covariance[i, j]
        half = _quantile(self.level) * math.sqrt(max(0.0, variance))
        elo = a.elo - b.elo
        return elo, elo - half, elo + half

    def probability_stronger(self, first: str, second: str) -> float:
        """Return the probability that the first is the stronger one, given the games (normal approximation)."""
        elo, low, high = self.difference(first, second)
        deviation = (high - low) / (2 * _quantile(self.level))
        return NormalDist().cdf(elo / deviation) if deviation else 0.5


def win_probability(elo_difference: float) -> float:
    """Return what the model expects of a player who is `elo_difference` stronger, in points per game."""
    return 1 / (1 + 10 ** (-elo_difference / 400))


def elo_difference(score: float) -> float:
    """Return how much stronger a player is who makes `score` points per game, from 0 (−∞) to 1 (∞), in Elo."""
    if not 0 <= score <= 1:
        raise ValueError(f"score must be from 0 to 1, got {score!r}")
    if score in (0, 1):
        return math.copysign(math.inf, score - 0.5)
    return 400 * math.log10(score / (1 - score))


def fit_ratings(
    scores: Iterable[PairScore],
    *,
    anchor: str | None = None,
    anchor_elo: float = 0.0,
    prior_draws: float = PRIOR_DRAWS,
    level: float = LEVEL,
) -> RatingList:
    """Fit ratings to results.

    Args:
        scores: games of pairs; a pair may come more than once.
        anchor: the player whose rating is `anchor_elo`; by default the alphabetically first. In a group of players that
            no chain of games joins to the anchor, the alphabetically first has that rating, and a note says so.
        prior_draws: virtual draws a player is given, spread over its opponents as its games are, so that one who has
            won every game has a finite rating. 0 is pure maximum likelihood.
        level: of the intervals, between 0 and 1.

    Raises:
        MiaiError: no games; an anchor that has none; or, with `prior_draws=0`, players that only won or only lost.
        ValueError: `level` or `prior_draws` out of range.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level!r}")
    if not (prior_draws >= 0 and math.isfinite(prior_draws)):
        raise ValueError(f"prior_draws must be 0 or more, got {prior_draws!r}")
    players, wins = win_matrix(scores)
    if not players:
        raise MiaiError("ratings: there are no games to rate.")
    if anchor is not None and anchor not in players:
        raise MiaiError(f"ratings: the anchor {anchor!r} has played no game; players: {', '.join(players)}.")
    groups = _components(wins + wins.T > 0)
    elo = np.full(len(players), np.nan)
    covariance = np.full((len(players), len(players)), np.nan)
    for members in groups:
        reference = next((i for i in members if players[i] == anchor), members[0])
        inside = np.ix_(members, members)
        matrix = wins[inside] + _prior(wins[inside], prior_draws)
        if prior_draws == 0:
            _check_estimable([players[i] for i in members], matrix)
        log_strength = _maximum_likelihood(matrix)
        origin = members.index(reference)
        elo[members] = anchor_elo + ELO_PER_NAT * (log_strength - log_strength[origin])
        covariance[inside] = ELO_PER_NAT**2 * _covariance(matrix, log_strength, origin)
    half = _quantile(level) * np.sqrt(np.diag(covariance))
    games, points = (wins + wins.T).sum(axis=1), wins.sum(axis=1)
    ratings = [
        Rating(
            player=players[i],
            elo=float(elo[i]),
            low=float(elo[i] - half[i]),
            high=float(elo[i] + half[i]),
            num_games=int(games[i]),
            score=float(points[i] / games[i]),
            group=number,
        )
        for number, members in enumerate(groups)
        for i in sorted(members, key=lambda member: -elo[member])
    ]
    return RatingList(
        ratings=tuple(ratings),
        anchor=anchor if anchor is not None else players[0],
        level=level,
        notes=tuple(_notes(players, wins, groups)),
        players=tuple(players),
        covariance=covariance,
    )


def next_pairings(
    scores: Iterable[PairScore],
    players: Sequence[str],
    *,
    num_pairings: int = 1,
    games_per_pairing: int = 2,
    prior_draws: float = PRIOR_DRAWS,
) -> list[tuple[str, str]]:
    """Choose whom to pair next, so that the intervals of all ratings narrow the most.

    As long as no chain of games joins all players, pairs that join two groups come first. After that, each choice is
    the pair whose games reduce the sum of the ratings' variances most (A-optimal design: the gain of
    `games_per_pairing` games at the current ratings), and the next choice counts on it.

    Args:
        scores: the games so far, none at first.
        players: all that take part, distinct, two at least.
    """
    if len(set(players)) != len(players) or len(players) < 2:
        raise ValueError(f"two or more distinct players are needed, got {list(players)!r}")
    if num_pairings < 1 or games_per_pairing < 1:
        raise ValueError(f"numbers of pairings and games must be 1 or more, got {num_pairings}, {games_per_pairing}")
    index = {player: i for i, player in enumerate(players)}
    met, played = win_matrix(scores)
    wins = np.zeros((len(players), len(players)))
    for i, first in enumerate(met):
        for j, second in enumerate(met):
            if first in index and second in index:
                wins[index[first], index[second]] = played[i, j]
    chosen = []
    for _ in range(num_pairings):
        i, j = _next_pair(wins, games_per_pairing, prior_draws)
        chosen.append((players[i], players[j]))
        wins[i, j] += games_per_pairing / 2
        wins[j, i] += games_per_pairing / 2
    return chosen


def win_matrix(scores: Iterable[PairScore]) -> tuple[list[str], np.ndarray]:
    """Return the players who have games, in alphabetical order, and [i, j] = the points of i against j."""
    counted = [score for score in scores if score.num_games]
    players = sorted({name for score in counted for name in (score.first, score.second)})
    index = {player: i for i, player in enumerate(players)}
    wins = np.zeros((len(players), len(players)))
    for score in counted:
        i, j = index[score.first], index[score.second]
        wins[i, j] += score.wins + score.draws / 2
        wins[j, i] += score.losses + score.draws / 2
    return players, wins


def _maximum_likelihood(wins: np.ndarray) -> np.ndarray:
    if len(wins) == 1:
        return np.zeros(1)
    import choix  # takes scipy with it

    try:
        return np.asarray(choix.ilsr_pairwise_dense(wins, max_iter=MAX_ITERATIONS, tol=1e-9 * len(wins)))
    except RuntimeError as error:
        raise MiaiError(f"ratings: the fit does not settle ({error}); raise prior_draws or play more games.") from None


def _prior(wins: np.ndarray, draws: float) -> np.ndarray:
    """Return half points for virtual draws: `draws` a player, in proportion to its games with each opponent."""
    games = wins + wins.T
    totals = games.sum(axis=1, keepdims=True)
    share = np.divide(games, totals, out=np.zeros_like(games), where=totals > 0)
    return draws * (share + share.T) / 4


def _information(wins: np.ndarray, log_strength: np.ndarray) -> np.ndarray:
    """Return minus the Hessian of the log-likelihood: the Laplacian of games weighted by p(1 − p)."""
    p = 1 / (1 + np.exp(log_strength[None, :] - log_strength[:, None]))
    weights = (wins + wins.T) * p * (1 - p)
    return np.diag(weights.sum(axis=1)) - weights


def _covariance(wins: np.ndarray, log_strength: np.ndarray, origin: int) -> np.ndarray:
    """Return the covariance of the strengths relative to player `origin`, whose row and column are 0."""
    others = [i for i in range(len(wins)) if i != origin]
    covariance = np.zeros_like(wins)
    if others:
        inside = np.ix_(others, others)
        covariance[inside] = np.linalg.inv(_information(wins, log_strength)[inside])
    return covariance


def _next_pair(wins: np.ndarray, num_games: int, prior_draws: float) -> tuple[int, int]:
    groups = _components(wins + wins.T > 0)
    if len(groups) > 1:
        # The smaller groups first, through the members who have played least.
        games = (wins + wins.T).sum(axis=1)
        a, b = sorted(groups, key=lambda members: (len(members), members))[:2]
        i, j = min(a, key=lambda k: (games[k], k)), min(b, key=lambda k: (games[k], k))
        return min(i, j), max(i, j)
    matrix = wins + _prior(wins, prior_draws)
    log_strength = _maximum_likelihood(matrix)
    # The pseudo-inverse is the covariance of the strengths relative to their mean: no player is privileged.
    covariance = np.linalg.pinv(_information(matrix, log_strength), hermitian=True)
    best, best_gain = (0, 1), -1.0
    for i in range(len(wins)):
        for j in range(i + 1, len(wins)):
            p = 1 / (1 + math.exp(log_strength[j] - log_strength[i]))
            information = num_games * p * (1 - p)
            column = covariance[:, i] - covariance[:, j]
            gain = information * float(column @ column) / (1 + information * float(column[i] - column[j]))
            if gain > best_gain * (1 + 1e-9):
                best, best_gain = (i, j), gain
    return best


def _components(joined: np.ndarray) -> list[list[int]]:
    """Return the groups of an undirected graph, [n, n] bool, each ascending, in order of their first member."""
    left = list(range(len(joined)))
    groups = []
    while left:
        group, front = {left[0]}, [left[0]]
        while front:
            new = set(np.flatnonzero(joined[front.pop()]).tolist()) - group
            group |= new
            front.extend(new)
        groups.append(sorted(group))
        left = [i for i in left if i not in group]
    return groups


def _check_estimable(players: list[str], wins: np.ndarray) -> None:
    """Raise unless every player can be reached from every other by a chain of wins (Ford 1957)."""
    reach = np.linalg.matrix_power((wins > 0).astype(float) + np.eye(len(players)), max(1, len(players) - 1)) > 0
    apart = [player for player, row, column in zip(players, reach, reach.T, strict=True) if not (row & column).all()]
    if apart:
        raise MiaiError(
            f"ratings: without prior draws no finite rating fits, since some players only won or only lost against "
            f"the others ({', '.join(apart)}); use prior_draws > 0."
        )


def _notes(players: list[str], wins: np.ndarray, groups: list[list[int]]) -> list[str]:
    notes = []
    if len(groups) > 1:
        names = "; ".join(", ".join(players[i] for i in members) for members in groups)
        notes.append(f"{len(groups)} groups of players have not been compared with each other: {names}")
    for i, player in enumerate(players):
        if wins[:, i].sum() == 0:
            notes.append(f"{player} won every game: its rating is a lower estimate that hangs on the prior")
        elif wins[i].sum() == 0:
            notes.append(f"{player} lost every game: its rating is an upper estimate that hangs on the prior")
    return notes


def _quantile(level: float) -> float:
    return NormalDist().inv_cdf(0.5 + level / 2)
