"""Tournaments: which matches to play among several players, and the ratings that come of them."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from miai.arena.match import Match
from miai.arena.summary import MatchSummary
from miai.errors import MiaiError
from miai.players import OWN_BUDGET, Budget, name_player
from miai.ratings import RatingList, fit_ratings, next_pairings


@dataclass(frozen=True)
class Tournament:
    """Several players, a game, and how often a pair meets.

    Attributes:
        players: options of each, as `build_player` takes them; their names have to differ.
        game: options of the game, as `start_game` takes them.
        games_per_pairing: games of one match; even, so that seats are shared fairly.
        seed: of the tournament. A match's seed is derived from it, from the names of the two, and from the round, so
            that adding a player leaves the other matches as they are.
        opening_moves, max_moves, budget: as in `Match`.
    """

    players: tuple[Mapping[str, Any], ...]
    game: Mapping[str, Any]
    games_per_pairing: int = 20
    seed: int = 0
    opening_moves: int = 0
    max_moves: int | None = None
    budget: Budget = OWN_BUDGET

    def __post_init__(self) -> None:
        if len(self.players) < 2:
            raise MiaiError(f"players: a tournament needs at least 2, not {len(self.players)}.")
        names = self.names
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise MiaiError(f"players: two of them are called {twice!r}; tell them apart by `label`.")
        if self.games_per_pairing < 2 or self.games_per_pairing % 2:
            raise MiaiError(f"games_per_pairing: an even number from 2 is needed, not {self.games_per_pairing!r}.")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name_player(options, f"players.{i}") for i, options in enumerate(self.players))

    def match(self, first: str, second: str, round_number: int = 0, repeat: int = 0) -> Match:
        """Return the match of two players, by name, in a round from 0; `repeat` if they meet again in that round."""
        options = dict(zip(self.names, self.players, strict=True))
        for name in (first, second):
            if name not in options:
                raise ValueError(f"{name!r} does not take part; players: {', '.join(options)}")
        key = tuple(zlib.crc32(name.encode()) for name in (first, second))
        sequence = np.random.SeedSequence(self.seed, spawn_key=(*key, round_number, repeat))
        return Match(
            players=({**options[first], "label": first}, {**options[second], "label": second}),
            game=self.game,
            num_games=self.games_per_pairing,
            seed=int(sequence.generate_state(1)[0]),
            opening_moves=self.opening_moves,
            max_moves=self.max_moves,
            budget=self.budget,
        )

    def round_robin(self, round_number: int = 0) -> list[Match]:
        """Return a match of every pair."""
        return [self.match(first, second, round_number) for first, second in itertools.combinations(self.names, 2)]

    def narrowing_round(self, played: Iterable[MatchSummary], num_matches: int, round_number: int) -> list[Match]:
        """Return the matches that narrow the ratings' intervals most, given what was played; see `next_pairings`."""
        scores = [summary.pair_score() for summary in played]
        pairings = next_pairings(scores, self.names, num_pairings=num_matches, games_per_pairing=self.games_per_pairing)
        # A pair may be chosen twice; each match then needs games of its own.
        counts: dict[tuple[str, str], int] = {}
        matches = []
        for pair in pairings:
            repeat = counts.get(pair, 0)
            counts[pair] = repeat + 1
            matches.append(self.match(*pair, round_number, repeat))
        return matches


def rate(
    played: Sequence[MatchSummary], *, anchor: str | None = None, anchor_elo: float = 0.0, faults: bool = True
) -> RatingList:
    """Return the ratings that matches give.

    Args:
        anchor, anchor_elo: as in `fit_ratings`.
        faults: whether games that ended by a fault count as lost; without them, they count for nothing.

    Raises:
        MiaiError: as `fit_ratings`.
    """
    scores = [summary.pair_score(faults=faults) for summary in played]
    return fit_ratings(scores, anchor=anchor, anchor_elo=anchor_elo)
