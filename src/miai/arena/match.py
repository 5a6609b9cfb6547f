"""Many games between two players: seats swapped, openings paired, each game reproducible by its number."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from miai.arena.game import PlayedGame, play_game
from miai.errors import MiaiError
from miai.games.game import PASS, Game
from miai.games.start import start_game
from miai.players import OWN_BUDGET, Budget, Player, build_player


@dataclass(frozen=True)
class Match:
    """Two players, a game, and how often.

    Games 2i and 2i + 1 are a pair: the same opening, the seats swapped.

    Attributes:
        players: options of the two, as `build_player` takes them.
        game: options of the game, as `start_game` takes them.
        num_games: 1 or more; even, if both players are to have each opening from both seats.
        seed: of the match; every game's streams are derived from it and from the game's number.
        opening_moves: so many random moves begin each game, drawn from those that do not end it.
        max_moves: as in `play_game`.
        budget: for every move of either player.
    """

    players: tuple[Mapping[str, Any], Mapping[str, Any]]
    game: Mapping[str, Any]
    num_games: int
    seed: int = 0
    opening_moves: int = 0
    max_moves: int | None = None
    budget: Budget = OWN_BUDGET

    def __post_init__(self) -> None:
        if self.num_games < 1:
            raise MiaiError(f"games: at least 1 is needed, not {self.num_games!r}.")
        if self.seed < 0:
            raise MiaiError(f"seed: 0 or more is needed, not {self.seed!r}.")
        if self.opening_moves < 0:
            raise MiaiError(f"opening_moves: 0 or more is needed, not {self.opening_moves!r}.")
        if self.max_moves is not None and self.max_moves <= self.opening_moves:
            raise MiaiError(
                f"max_moves: more than the {self.opening_moves} of the opening needed, not {self.max_moves!r}."
            )


def generator(seed: int, role: str, number: int) -> np.random.Generator:
    """Return the generator of a role in game (or pair) `number` of a match."""
    sequence = np.random.SeedSequence(seed, spawn_key=(zlib.crc32(role.encode()), number))
    return np.random.Generator(np.random.PCG64(sequence))


def build_players(match: Match) -> tuple[Player, Player]:
    """Make the two players, their names told apart if need be. Raises `MiaiError` as `build_player` does."""
    first = build_player(match.players[0], "players.0")
    try:
        second = build_player(match.players[1], "players.1")
    except BaseException:
        first.close()
        raise
    if first.name == second.name:
        second.name = f"{second.name} (2)"
    return first, second


def play_numbered(match: Match, number: int, players: tuple[Player, Player] | None = None) -> PlayedGame:
    """Play game `number` of a match, from 0; with `players` if they are there already, else with new ones.

    Raises:
        MiaiError: options that make no game or no player.
        ValueError: the match has no such game.
    """
    if not 0 <= number < match.num_games:
        raise ValueError(f"game number must be from 0 to {match.num_games - 1}, got {number}")
    with contextlib.ExitStack() as stack:
        if players is None:
            players = build_players(match)
            for player in players:
                stack.callback(player.close)
        game = start_game(match.game)
        play_opening(game, match.opening_moves, generator(match.seed, "opening", number // 2))
        order = players if number % 2 == 0 else players[::-1]
        return play_game(order, game, generator(match.seed, "game", number), match.budget, match.max_moves, number)


def play_opening(game: Game, num_moves: int, rng: np.random.Generator) -> None:
    """Play random moves that are no passes and do not end the game, fewer if there are none; in place."""
    for _ in range(num_moves):
        moves = [move for move in game.legal_moves() if move != PASS]
        for move in rng.permutation(moves).tolist():
            game.play(move)
            if not game.is_over:
                break
            game.undo()
        else:
            return


def play_match(match: Match, on_game: Callable[[PlayedGame], None] | None = None) -> list[PlayedGame]:
    """Play all games of a match, one after the other, with the same two players."""
    players = build_players(match)
    try:
        games = []
        for number in range(match.num_games):
            games.append(play_numbered(match, number, players))
            if on_game:
                on_game(games[-1])
        return games
    finally:
        for player in players:
            player.close()


@dataclass(frozen=True)
class GameUnit:
    """Some games of a match as a unit of work that can be sent to another process and done again."""

    match: Match
    numbers: tuple[int, ...]

    @property
    def key(self) -> str:
        return f"games-{self.numbers[0]:06}-{self.numbers[-1]:06}"


def game_units(match: Match, games_per_unit: int = 1) -> list[GameUnit]:
    """Cut a match into units. Players are made once a unit, so quick games go better in bundles."""
    if games_per_unit < 1:
        raise ValueError(f"games_per_unit must be at least 1, got {games_per_unit}")
    starts = range(0, match.num_games, games_per_unit)
    return [GameUnit(match, tuple(range(s, min(s + games_per_unit, match.num_games)))) for s in starts]


def play_unit(unit: GameUnit) -> dict[str, Any]:
    """Play the unit's games; return `{"games": […]}` as plain values, for `PlayedGame.from_dict`."""
    players = build_players(unit.match)
    try:
        return {"games": [play_numbered(unit.match, number, players).to_dict() for number in unit.numbers]}
    finally:
        for player in players:
            player.close()
