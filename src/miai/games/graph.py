"""A small game as arrays: every reachable position, enumerated once, and the moves between them.

Learners, opponents and exact evaluation work on these arrays and know nothing of any particular game.

Shapes: S states (positions), E edges (legal moves from states that are not final).
"""

from __future__ import annotations

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

    States are sorted by ply (of the longest game that leads there), within a ply by key or discovery; 0 is the start.
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
            ValueError: the rules do not begin with the first player or do not alternate, a position can come back, or
                two positions have the same board.
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
        """Length of the longest game: whose turn it is changes exactly where a ply ends."""
        return int(np.count_nonzero(np.diff(self.arrays.to_play)))

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


def _too_large(rules: Rules[Any], max_states: int) -> MiaiError:
    rows, columns = rules.shape
    return MiaiError(
        f"game: {rules.name} on {rows}×{columns} has more than {max_states:,} positions; choose a smaller board or "
        "raise game.max_states."
    )


def _enumerate(rules: Rules[Any], max_states: int) -> GameGraph:
    """Enumerate by the rules of single positions: number them as they are discovered, then sort them by ply."""
    positions = [rules.initial()]
    numbers: dict[Hashable, int] = {positions[0]: 0}
    movers = [FIRST]
    outcomes: list[int] = []
    moves: list[tuple[int, ...]] = []
    children: list[list[int]] = []
    for number, position in enumerate(positions):  # which grows
        if rules.to_play(position) != movers[number]:
            raise ValueError(f"{rules.name}: the players do not alternate, the first beginning, at {position!r}")
        outcome = rules.outcome(position)
        moves.append(rules.legal_moves(position) if outcome is None else ())
        if outcome is None and not moves[-1]:
            raise ValueError(f"{rules.name}: no legal move, and no outcome, at {position!r}")
        outcomes.append(outcome or 0)
        children.append([])
        for move in moves[-1]:
            child = rules.play(position, move)
            if child not in numbers:
                numbers[child] = len(positions)
                positions.append(child)
                movers.append(-movers[number])
                if len(positions) > max_states:
                    raise _too_large(rules, max_states)
            children[-1].append(numbers[child])
    boards = np.stack([rules.board(position) for position in positions])
    if len(np.unique(boards, axis=0)) < len(boards):
        raise ValueError(f"{rules.name}: two positions have the same board, so a saved table could not tell them apart")
    order = np.argsort(_plies_of(rules, children), kind="stable")
    states = np.empty(len(order), np.uint32)
    states[order] = np.arange(len(order), dtype=np.uint32)
    return GameGraph(
        rules,
        GraphArrays(
            np.concatenate([[0], np.cumsum([len(moves[i]) for i in order])]).astype(np.uint32),
            states[np.concatenate([np.array(children[i], np.int64) for i in order])],
            np.array(movers, np.int8)[order],
            np.array(outcomes, np.int8)[order],
        ),
        np.concatenate([np.array(moves[i], np.int16) for i in order]),
        boards[order],
    )


def _plies_of(rules: Rules[Any], children: list[list[int]]) -> np.ndarray:
    """Return, for each position, the length of the longest game that leads to it, int64[S] (Kahn's algorithm)."""
    waits_for = np.bincount([child for reached in children for child in reached], minlength=len(children))
    plies = np.zeros(len(children), np.int64)
    ready = [0] if waits_for[0] == 0 else []
    for position in ready:  # which grows
        for child in children[position]:
            plies[child] = max(plies[child], plies[position] + 1)
            waits_for[child] -= 1
            if waits_for[child] == 0:
                ready.append(child)
    if len(ready) < len(children):
        raise ValueError(f"{rules.name}: a position can come back, so games need not end")
    return plies


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
            raise _too_large(rules, max_states)
        next_level = np.unique(child_keys)
        if count + len(next_level) > max_states:
            raise _too_large(rules, max_states)
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
