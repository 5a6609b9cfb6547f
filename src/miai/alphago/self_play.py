"""Self-play of policy networks: many games at once, one call of each network a move.

Start reading at `play_games`. Who decides a move is data: `turns` names, for every game and every move, a network or a
uniform draw. So a match, a training game and the games of value data are the same function with other turns. A
game's randomness is a stream of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from miai.alphago.game_batch import NO_MOVE, PASS_MOVE, GameBatch, draw_moves, draw_uniform, game_limit
from miai.rng import generator

UNIFORM = -1
"""Among `turns`: the move is drawn uniformly among all legal points, own eyes included."""
OPENING = -2
"""Among `deciders`: the move was given."""
FORCED = -3
"""Among `deciders`: the move was a pass by rule (`alphago.game_batch`), so nobody decided it."""
AFTER_THE_END = -4
"""Among `deciders`: the game was over."""


class Policy(NamedTuple):
    """A policy network as a player.

    Attributes:
        evaluate: planes float32[n, P, N, N] → logits float32[n, N²].
        planes: P.
        temperature: of the softmax that a move is drawn from; 0 takes the most probable.
    """

    evaluate: Callable[[np.ndarray], np.ndarray]
    planes: int
    temperature: float = 1.0


@dataclass(frozen=True)
class PlayedGames:
    """Games that were played from the empty board to their end.

    Attributes:
        moves: int16[B, L], flat indices, −1 for a pass, `NO_MOVE` after the end.
        deciders: int8[B, L], whose decision each was: the entry of `turns`, `OPENING`, `FORCED`, or `AFTER_THE_END`.
        scores: float32[B], Black's area minus White's minus komi.
    """

    size: int
    komi: float
    moves: np.ndarray
    deciders: np.ndarray
    scores: np.ndarray

    @property
    def winners(self) -> np.ndarray:
        """+1 Black, −1 White, 0 a draw; int8[B]."""
        return np.sign(self.scores).astype(np.int8)

    @property
    def lengths(self) -> np.ndarray:
        """Moves of each game, passes included, int32[B]."""
        return (self.moves != NO_MOVE).sum(axis=1, dtype=np.int32)

    def moves_of(self, game: int) -> list[int]:
        """Return a game's moves."""
        return self.moves[game, : self.lengths[game]].tolist()

    def distinct(self) -> int:
        """Return how many games differ in at least one move."""
        return len(np.unique(self.moves, axis=0))


def game_streams(seed: int, role: str, count: int) -> np.ndarray:
    """Return a random stream for each of `count` games, uint64[count, 4]; see `miai.rng`."""
    return generator(seed, role).integers(1, 2**64, (count, 4), np.uint64, endpoint=False)


def seat_turns(one_is_black: np.ndarray, limit: int) -> np.ndarray:
    """Return the turns of games between networks 0 and 1, int8[B, limit]: 0 has Black in `one_is_black`, bool[B]."""
    black = np.where(np.asarray(one_is_black, bool), 0, 1)
    turns = np.empty((len(black), limit), np.int8)
    turns[:, 0::2] = black[:, None]
    turns[:, 1::2] = 1 - black[:, None]
    return turns


def draw_openings(size: int, length: int, streams: np.ndarray) -> np.ndarray:
    """Draw the first moves of games, each uniformly among the legal points outside own eyes; int16[B, length].

    Args:
        streams: uint64[B, 4], modified in place.

    Raises:
        ValueError: the opening is longer than half the board's points, where it could run into the end of a game.
    """
    if not 0 <= 2 * length <= size * size:
        raise ValueError(f"opening: from 0 to {size * size // 2} moves on {size}×{size}, got {length}")
    batch = GameBatch(len(streams), size, 0.0)
    games = batch.active()
    for _ in range(length):
        batch.play(games, draw_uniform(games, batch.allowed(games), streams))
    return batch.moves[:, :length].copy()


def play_games(
    policies: Sequence[Policy],
    turns: np.ndarray,
    size: int,
    komi: float,
    streams: np.ndarray,
    openings: np.ndarray | None = None,
) -> PlayedGames:
    """Play games to their end. The rules, and when a side passes, are those of `alphago.game_batch`.

    Args:
        turns: int8[B, L], who decides each move: an index of `policies`, or `UNIFORM`. L is the limit of moves of a
            game.
        streams: uint64[B, 4], modified in place. Equal streams, turns, openings and networks give equal games.
        openings: int16[B, K], the first moves of each game, trusted to be legal points.

    Raises:
        ValueError: shapes do not fit, or `turns` names nobody.
    """
    if turns.ndim != 2 or streams.shape != (len(turns), 4):
        raise ValueError(f"turns [B, L] and streams [B, 4] needed, got {turns.shape} and {streams.shape}")
    if turns.min() < UNIFORM or turns.max() >= len(policies):
        raise ValueError(f"turns: from {UNIFORM} to {len(policies) - 1}, got {turns.min()} to {turns.max()}")
    batch = GameBatch(len(turns), size, komi, turns.shape[1])
    deciders = np.full(turns.shape, AFTER_THE_END, np.int8)
    given = 0 if openings is None else openings.shape[1]
    while len(games := batch.active()):
        if openings is not None and batch.ply < given:
            decider, move = np.full(len(games), OPENING, np.int8), openings[games, batch.ply]
        else:
            decider, move = _decide(batch, policies, games, turns[games, batch.ply], streams)
        deciders[games, batch.ply] = decider
        batch.play(games, move)
    longest = int(batch.lengths().max())
    return PlayedGames(size, komi, batch.moves[:, :longest].copy(), deciders[:, :longest].copy(), batch.scores())


def _decide(
    batch: GameBatch, policies: Sequence[Policy], games: np.ndarray, turn: np.ndarray, streams: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return who decides in each of the games, int8[n], and the moves, int16[n]; `streams` is modified in place."""
    moves = np.full(len(games), PASS_MOVE)
    allowed = batch.allowed(games)
    decider = np.where(batch.has_to_pass(games, allowed), FORCED, turn).astype(np.int8)
    # A uniform draw stands outside the rule of passing: only where no point is legal is there a pass.
    drawing = turn == UNIFORM
    if drawing.any():
        moves[drawing] = draw_uniform(games[drawing], batch.allowed(games[drawing], eyes=True), streams)
        decider[drawing] = np.where(moves[drawing] == PASS_MOVE, FORCED, UNIFORM)
    for index, policy in enumerate(policies):
        rows = np.flatnonzero(decider == index)
        if len(rows):
            logits = policy.evaluate(batch.planes(games[rows], policy.planes))
            moves[rows] = draw_moves(games[rows], logits, allowed[rows], policy.temperature, streams)
    return decider, moves


class Decisions(NamedTuple):
    """Positions in which one policy decided, in a batch of at most so many.

    Attributes:
        planes: float32[n, P, N, N].
        allowed: uint8[n, N²], what it could play.
        moves: int64[n], what it played.
        games: int64[n], in which game.
        plies: int64[n], after so many moves.
    """

    planes: np.ndarray
    allowed: np.ndarray
    moves: np.ndarray
    games: np.ndarray
    plies: np.ndarray


def decisions(played: PlayedGames, index: int, num_planes: int, most: int) -> Iterator[Decisions]:
    """Yield every position in which policy `index` decided, by ply, then by game, in batches of at most `most`.

    The games are replayed, which is cheaper than to keep the planes of all their positions.
    """
    if most < 1:
        raise ValueError(f"most: 1 or more positions needed, got {most}")
    batch = GameBatch(len(played.moves), played.size, played.komi, max(2, played.moves.shape[1]))
    kept: list[Decisions] = []
    count = 0
    for ply in range(played.moves.shape[1]):
        chosen = np.flatnonzero(played.deciders[:, ply] == index)
        for games in np.split(chosen, range(most - count, len(chosen), most)) if len(chosen) else ():
            if len(games):
                moves = played.moves[games, ply].astype(np.int64)
                plies = np.full(len(games), ply, np.int64)
                kept.append(Decisions(batch.planes(games, num_planes), batch.allowed(games), moves, games, plies))
                count += len(games)
            if count == most:
                yield _join(kept)
                kept, count = [], 0
        going_on = np.flatnonzero(played.moves[:, ply] != NO_MOVE)
        batch.play(going_on, played.moves[going_on, ply])
    if kept:
        yield _join(kept)


def _join(parts: list[Decisions]) -> Decisions:
    return Decisions(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


class Results(NamedTuple):
    """What came out of a match, from the side of the first policy."""

    wins: int
    draws: int
    losses: int
    distinct_games: int
    mean_moves: float

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def win_rate(self) -> float:
        """Wins / games: a draw is not a win."""
        return self.wins / self.games


def play_match(
    one: Policy, other: Policy, num_games: int, size: int, komi: float, seed: int, role: str, opening: int = 0
) -> Results:
    """Play a match with the seats swapped: `one` has Black in the games of even number.

    Args:
        num_games: even.
        opening: each pair of games begins with so many random moves, the same for both.
        seed, role: of the randomness (`miai.rng`).

    Raises:
        ValueError: the number of games is odd or below 2, or the opening too long.
    """
    if num_games < 2 or num_games % 2:
        raise ValueError(f"num_games: an even number from 2, got {num_games}")
    one_is_black = np.arange(num_games) % 2 == 0
    openings = draw_openings(size, opening, game_streams(seed, f"{role} openings", num_games // 2)).repeat(2, axis=0)
    turns = seat_turns(one_is_black, game_limit(size))
    played = play_games((one, other), turns, size, komi, game_streams(seed, role, num_games), openings)
    return results_of(played, one_is_black)


def results_of(played: PlayedGames, one_is_black: np.ndarray) -> Results:
    """Count results from the side of the policy that has Black in `one_is_black`, bool[B]."""
    own = np.where(one_is_black, played.winners, -played.winners)
    return Results(
        wins=int((own > 0).sum()),
        draws=int((own == 0).sum()),
        losses=int((own < 0).sum()),
        distinct_games=played.distinct(),
        mean_moves=float(played.lengths.mean()),
    )
