"""A small game as arrays: every reachable position, enumerated once, and the moves between them.

Learners, opponents and exact evaluation work on these arrays and know nothing of any particular game.

Shapes: S states (positions), E edges (legal moves from states that are not final).
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from miai.errors import MiaiError
from miai.games.game import FIRST, SECOND, Rules

Position = TypeVar("Position", bound=Hashable)


class BulkRules(Protocol):
    """What `Rules` may offer besides, to enumerate millions of positions: the same rules on arrays of keys.

    For games in which a move marks one cell, and marks stay. The position and its last move then determine the position
    before it, so after ply p a position has at most p // 2 + 1 predecessors: one for each mark of who moved last.
    """

    def bulk_initial(self) -> np.ndarray:
        """Return the key of the initial position, uint64[1]."""
        ...

    def bulk_outcome(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return `(final bool[n], outcome int8[n])`."""
        ...

    def bulk_children(self, keys: np.ndarray, to_play: int) -> tuple[np.ndarray, np.ndarray]:
        """Return `(legal bool[n, moves], children uint64[n, moves])`."""
        ...

    def bulk_boards(self, keys: np.ndarray) -> np.ndarray:
        """Return the cells, int8[n, cells]."""
        ...


class GraphArrays(NamedTuple):
    """The part of a graph that compiled kernels read."""

    edge_start: np.ndarray
    """uint32[S + 1].

    The edges of state s are `edge_start[s]` up to, not including, `edge_start[s + 1]`. None if final.
    """
    edge_child: np.ndarray
    """uint32[E]: the state that the move leads to; always greater than the state that it leaves."""
    to_play: np.ndarray
    """int8[S]: +1 or −1; of a final state, whose turn it would be."""
    outcome: np.ndarray
    """int8[S]: +1, −1 or 0 for a final state, 0 elsewhere."""


@dataclass(frozen=True, eq=False)
class GameGraph:
    """Every reachable position of a game.

    States are sorted by ply, and within a ply by key or discovery; 0 is the start.
    """

    rules: Rules[Any]
    arrays: GraphArrays
    edge_action: np.ndarray
    """int16[E]: the move, ascending within a state."""
    boards: np.ndarray
    """int8[S, cells]: +1 first player, −1 second, 0 empty; row-major."""

    @classmethod
    def of(cls, rules: Rules[Any], max_states: int = 10_000_000) -> GameGraph:
        """Enumerate a game.

        Raises:
            MiaiError: more than `max_states` positions are reachable.
            ValueError: the rules do not begin with the first player or do not alternate, a position repeats in a later
                ply, or two positions have the same board.
        """
        return _enumerate_bulk(rules, max_states) if hasattr(rules, "bulk_children") else _enumerate(rules, max_states)

    @property
    def num_states(self) -> int:
        return len(self.arrays.outcome)

    @property
    def num_edges(self) -> int:
        return len(self.arrays.edge_child)

    @cached_property
    def edge_state(self) -> np.ndarray:
        """uint32[E]: the state that the edge leaves."""
        degrees = np.diff(self.arrays.edge_start)
        return np.repeat(np.arange(self.num_states, dtype=np.uint32), degrees)

    @cached_property
    def is_final(self) -> np.ndarray:
        """bool[S]."""
        return np.diff(self.arrays.edge_start) == 0

    @cached_property
    def max_plies(self) -> int:
        """Length of the longest game."""
        depth = np.zeros(self.num_states, np.int32)
        # Within a ply no state depends on another, so one pass a ply settles all depths.
        for start, end in self._plies:
            edges = slice(self.arrays.edge_start[start], self.arrays.edge_start[end])
            depth[self.arrays.edge_child[edges]] = depth[start] + 1
        return int(depth.max())

    @cached_property
    def _plies(self) -> tuple[tuple[int, int], ...]:
        """First and last + 1 state of each ply: to_play changes exactly there."""
        changes = np.flatnonzero(np.diff(self.arrays.to_play)) + 1
        bounds = [0, *changes.tolist(), self.num_states]
        return tuple(itertools.pairwise(bounds))

    def decision_states(self, player: int) -> np.ndarray:
        """Return the states in which `player` (+1 or −1) has to move, int64[n]."""
        return np.flatnonzero(~self.is_final & (self.arrays.to_play == player))

    def num_state_actions(self, player: int) -> int:
        """Count (state, action) pairs of `player`: the exact bound of a state-action table."""
        return int(np.count_nonzero(self.arrays.to_play[self.edge_state] == player))

    def num_afterstates(self, player: int) -> int:
        """Count the boards that a move of `player` can lead to: the exact bound of an after-state table."""
        return int(np.count_nonzero(self.arrays.to_play[1:] == -player))

    @cached_property
    def _by_board(self) -> tuple[np.ndarray, np.ndarray]:
        """Boards as sorted byte strings, and the state of each."""
        strings = _byte_strings(self.boards)
        order = np.argsort(strings)
        return strings[order], order

    def find(self, board: np.ndarray) -> int:
        """Return the state of a board, int8[cells].

        Raises:
            KeyError: the board is not reachable.
            ValueError: the board is of another size.
        """
        state = int(self.find_all(board[None])[0])
        if state < 0:
            raise KeyError(f"the board {board.tolist()} cannot be reached")
        return state

    def find_all(self, boards: np.ndarray) -> np.ndarray:
        """Return the states of boards int8[n, cells] as int64[n]; −1 for a board that cannot be reached.

        Raises:
            ValueError: boards of another size.
        """
        if boards.shape[1:] != self.boards.shape[1:]:
            raise ValueError(f"boards of {boards.shape[1:]} cells; {self.rules.name} has {self.boards.shape[1]}")
        known, states = self._by_board
        wanted = _byte_strings(boards)
        places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        return np.where(known[places] == wanted, states[places], -1)

    def find_edge(self, state: int, action: int) -> int:
        """Return the edge of `action` in `state`.

        Raises:
            KeyError: the move is not legal there.
        """
        edge = int(self.find_edges(np.array([state]), np.array([action]))[0])
        if edge < 0:
            raise KeyError(f"move {action} is not legal in state {state}")
        return edge

    def find_edges(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Return the edges of moves, int64[n], given as states and actions; −1 where a move is not legal."""
        span = int(self.edge_action.max()) + 1
        keys = self.edge_state.astype(np.int64) * span + self.edge_action  # ascending, as edges are
        wanted = states.astype(np.int64) * span + actions
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        found = (keys[places] == wanted) & (actions >= 0) & (actions < span)
        return np.where(found, places, -1)


def _byte_strings(boards: np.ndarray) -> np.ndarray:
    """View each board as one string of bytes that NumPy can compare, void[n]."""
    boards = np.ascontiguousarray(boards, np.int8)
    return boards.view(np.dtype((np.void, boards.shape[1]))).ravel()


def _too_large(rules: Rules[Any], ply: int, max_states: int) -> MiaiError:
    rows, columns = rules.shape
    return MiaiError(
        f"game: {rules.name} on {rows}×{columns} has more than {max_states:,} positions (counted up to ply {ply}); "
        "choose a smaller board or raise game.max_states."
    )


def _enumerate(rules: Rules[Any], max_states: int) -> GameGraph:
    """Enumerate by the rules of single positions, in order of discovery."""
    level, player = [rules.initial()], FIRST
    positions: list[Hashable] = []
    degrees: list[int] = []
    actions: list[int] = []
    children: list[int] = []
    outcomes: list[int] = []
    movers: list[int] = []
    seen: set[Hashable] = set(level)
    for ply in range(max_states + 1):
        next_level: dict[Hashable, int] = {}
        offset = len(positions) + len(level)
        for position in level:
            if rules.to_play(position) != player:
                raise ValueError(f"{rules.name}: the players do not alternate, the first beginning, at {position!r}")
            outcome = rules.outcome(position)
            moves = rules.legal_moves(position) if outcome is None else ()
            if outcome is None and not moves:
                raise ValueError(f"{rules.name}: no legal move, and no outcome, at {position!r}")
            for move in moves:
                child = rules.play(position, move)
                if child in seen and child not in next_level:
                    raise ValueError(f"{rules.name}: {child!r} is reached in two different plies")
                seen.add(child)
                children.append(offset + next_level.setdefault(child, len(next_level)))
            actions.extend(moves)
            degrees.append(len(moves))
            outcomes.append(outcome or 0)
            movers.append(player)
        positions.extend(level)
        if len(positions) + len(next_level) > max_states:
            raise _too_large(rules, ply + 1, max_states)
        if not next_level:
            break
        level, player = list(next_level), -player
    boards = np.stack([rules.board(position) for position in positions])
    if len(np.unique(boards, axis=0)) < len(boards):
        raise ValueError(f"{rules.name}: two positions have the same board, so a saved table could not tell them apart")
    return GameGraph(
        rules,
        GraphArrays(
            np.concatenate([[0], np.cumsum(degrees)]).astype(np.uint32),
            np.array(children, np.uint32),
            np.array(movers, np.int8),
            np.array(outcomes, np.int8),
        ),
        np.array(actions, np.int16),
        boards,
    )


def _enumerate_bulk(rules: Any, max_states: int) -> GameGraph:
    """Enumerate a ply at a time by `BulkRules`. The states of a ply are sorted by key."""
    level, player = rules.bulk_initial(), FIRST
    count = 0
    keys, degrees, actions, children, outcomes, movers = [], [], [], [], [], []
    for ply in range(max_states + 1):
        final, outcome = rules.bulk_outcome(level)
        legal, child_keys = rules.bulk_children(level, player)
        legal &= ~final[:, None]
        child_keys = child_keys[legal]
        count += len(level)
        # A bound first: sorting the children of a hopeless game would take minutes.
        if count + len(child_keys) // (ply // 2 + 1) > max_states:
            raise _too_large(rules, ply + 1, max_states)
        next_level = np.unique(child_keys)
        if count + len(next_level) > max_states:
            raise _too_large(rules, ply + 1, max_states)
        keys.append(level)
        degrees.append(np.count_nonzero(legal, axis=1))
        actions.append(np.nonzero(legal)[1].astype(np.int16))
        children.append((count + np.searchsorted(next_level, child_keys)).astype(np.uint32))
        outcomes.append(outcome)
        movers.append(np.full(len(level), player, np.int8))
        if not len(next_level):
            break
        level, player = next_level, SECOND if player == FIRST else FIRST
    return GameGraph(
        rules,
        GraphArrays(
            np.concatenate([np.zeros(1, np.uint32), np.cumsum(np.concatenate(degrees), dtype=np.uint32)]),
            np.concatenate(children),
            np.concatenate(movers),
            np.concatenate(outcomes),
        ),
        np.concatenate(actions),
        np.concatenate([rules.bulk_boards(level) for level in keys]),
    )
