"""What every searcher makes of a request: how long it may search, and what its tree has of the position already."""

from __future__ import annotations

from typing import Any, Protocol

from miai.games.game import Game


class _Budget(Protocol):
    @property
    def num_simulations(self) -> int | None: ...
    @property
    def seconds(self) -> float | None: ...


class _World(Protocol):
    def start_of(self, game: Any) -> Any: ...
    def tree_moves(self, game: Any, start: int) -> tuple[int, ...] | None: ...


def settle_budget(
    game: Game, own: _Budget, num_simulations: int | None, seconds: float | None
) -> tuple[int | None, float | None]:
    """Return the simulations and the seconds of a search: those that were asked for, or its own if none were.

    Raises:
        ValueError: the game is over, or a budget is not positive.
    """
    if game.is_over:
        raise ValueError("the game is over: there is nothing to search")
    if num_simulations is None and seconds is None:
        num_simulations, seconds = own.num_simulations, own.seconds
    if num_simulations is not None and num_simulations < 1:
        raise ValueError(f"num_simulations must be at least 1, got {num_simulations!r}")
    if seconds is not None and not seconds > 0:
        raise ValueError(f"seconds must be more than 0, got {seconds!r}")
    return num_simulations, seconds


class Standing:
    """The position that a tree stands at: how its game began, the moves since, and whose turn it is."""

    def __init__(self) -> None:
        self._position: tuple[Any, tuple[int, ...], int] | None = None

    def forget(self) -> None:
        """The tree is gone."""
        self._position = None

    def advance(self, world: _World, game: Game) -> tuple[int, ...] | None:
        """Go on to the game's position; return the tree's moves that lead there, `None` if none do."""
        before, self._position = self._position, (world.start_of(game), game.moves, game.to_play)
        if before is None:
            return None
        start, moves, to_play = self._position
        old_start, old_moves, old_turn = before
        # GTP may ask either side for a move: the same moves do not make it the same side's turn.
        turn = old_turn * (-1) ** (len(moves) - len(old_moves))
        if old_start == start and moves[: len(old_moves)] == old_moves and to_play == turn:
            return world.tree_moves(game, len(old_moves))
        return None
