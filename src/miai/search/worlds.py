"""The two games that a search can stand on, behind one face: Go's compiled board, and the graph of a small game.

A `World` knows the position that is searched, runs simulations on a thread's tree, and translates the tree's moves.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from miai.errors import MiaiError
from miai.games.game import FIRST, PASS, Game, RulesGame
from miai.games.go import GoGame
from miai.games.go.board import BLACK, PASS_POINT, POINTS, WHITE, flat_to_point, point_to_flat
from miai.games.graph import GameGraph
from miai.search.config import SearchConfig
from miai.search.go import Position, new_workspace, simulate
from miai.search.playouts import LEARNED, PATTERN, UNIFORM
from miai.search.small import new_graph_workspace, simulate_on_graph
from miai.search.tree import Tree


class World(Protocol):
    """A game as a search sees it."""

    def knows(self, game: Game) -> bool:
        """Tell whether this world can look at that game."""
        ...

    def start_of(self, game: Game) -> Hashable:
        """Return what tells this game's beginning and rules from another's: a tree is only kept within one."""
        ...

    def look_at(self, game: Game) -> None:
        """Search this position from now on."""
        ...

    def is_allowed(self, move: int) -> bool:
        """Tell whether the tree's move is legal in the position that is looked at."""
        ...

    def new_workspace(self) -> Any:
        """Return what a thread needs besides its tree."""
        ...

    def simulate(self, tree: Tree, work: Any, rng: np.ndarray, count: int) -> None:
        """Run simulations; all arrays are modified in place."""
        ...

    def line(self, moves: list[int]) -> tuple[int, ...]:
        """Translate a line of the tree's moves, from the position that is looked at, into the game's."""
        ...

    def tree_moves(self, game: Game, start: int) -> tuple[int, ...] | None:
        """Translate the game's moves from number `start` on into the tree's; `None` if a tree cannot follow them."""
        ...


class GoWorld:
    """Go on the compiled board."""

    def __init__(self, config: SearchConfig) -> None:
        self.rule = config.rule()
        self.playout = {"uniform": UNIFORM, "pattern": PATTERN, "learned": LEARNED}[config.playout]
        self.policy = config.rollout
        self.size = 0

    def knows(self, game: Game) -> bool:
        return isinstance(game, GoGame)

    def start_of(self, game: Game) -> Hashable:
        assert isinstance(game, GoGame)
        return game.start_key, game.size, game.komi, game.superko, game.suicide

    def look_at(self, game: Game) -> None:
        assert isinstance(game, GoGame)
        self.size = game.size
        allowed = np.zeros(POINTS, np.uint8)
        for move in game.legal_moves():
            if move != PASS:
                allowed[int(flat_to_point(move, game.size))] = 1
        cells, liberties = game.state
        self.position = Position(
            cells=cells,
            liberties=liberties,
            to_play=BLACK if game.to_play == FIRST else WHITE,
            passes=int(bool(game.moves) and game.moves[-1] == PASS),
            komi=game.komi,
            allowed=allowed,
        )

    def is_allowed(self, move: int) -> bool:
        return move == PASS_POINT or bool(self.position.allowed[move])

    def new_workspace(self) -> Any:
        return new_workspace()

    def simulate(self, tree: Tree, work: Any, rng: np.ndarray, count: int) -> None:
        simulate(tree, self.position, self.rule, self.playout, self.policy, work, rng, count)

    def line(self, moves: list[int]) -> tuple[int, ...]:
        return tuple(point_to_flat(move, self.size) for move in moves)

    def tree_moves(self, game: Game, start: int) -> tuple[int, ...] | None:
        assert isinstance(game, GoGame)
        movers = [mover for mover, _ in game.history[max(start - 1, 0) :]] + [game.to_play]
        if any(mover == following for mover, following in pairwise(movers)):
            return None  # One side moved twice: the tree's nodes are the other side's.
        return tuple(int(flat_to_point(move, game.size)) for move in game.moves[start:])


class GraphWorld:
    """A small game on its graph."""

    def __init__(self, config: SearchConfig, game: RulesGame[Any]) -> None:
        for option, plain in (("playout", "uniform"), ("rave", False), ("priors", False)):
            if getattr(config, option) != plain:
                raise MiaiError(f"{option}={getattr(config, option)}: only for Go; on {game.name} allowed: {plain}.")
        self.rule = config.rule()
        self.rules = game.rules
        self.graph = GameGraph.of(game.rules)
        self.state = 0

    def knows(self, game: Game) -> bool:
        return isinstance(game, RulesGame) and game.rules == self.rules

    def start_of(self, game: Game) -> Hashable:
        return game.name

    def look_at(self, game: Game) -> None:
        self.state = 0
        for move in game.moves:
            self.state = int(self.graph.arrays.edge_child[self.graph.find_edge(self.state, move)])

    def is_allowed(self, move: int) -> bool:
        return True

    def new_workspace(self) -> Any:
        most = int(np.diff(self.graph.arrays.edge_start).max())
        return new_graph_workspace(self.graph.max_plies, most)

    def simulate(self, tree: Tree, work: Any, rng: np.ndarray, count: int) -> None:
        simulate_on_graph(tree, self.graph.arrays, self.state, self.rule, work, rng, count)

    def line(self, moves: list[int]) -> tuple[int, ...]:
        state, line = self.state, []
        for move in moves:
            edge = int(self.graph.arrays.edge_start[state]) + move
            line.append(int(self.graph.edge_action[edge]))
            state = int(self.graph.arrays.edge_child[edge])
        return tuple(line)

    def tree_moves(self, game: Game, start: int) -> tuple[int, ...] | None:
        state, moves = 0, []
        for move in game.moves:
            edge = self.graph.find_edge(state, move)
            moves.append(edge - int(self.graph.arrays.edge_start[state]))
            state = int(self.graph.arrays.edge_child[edge])
        return tuple(moves[start:])


def world_for(game: Game, config: SearchConfig) -> World:
    """Return the world of a game.

    Raises:
        MiaiError: no search knows the game, the game is too large for its graph, or an option does not go with it.
    """
    if isinstance(game, GoGame):
        return GoWorld(config)
    if isinstance(game, RulesGame):
        return GraphWorld(config, game)
    raise MiaiError(f"search: {game.name} is neither Go nor a small game given by its rules.")
