"""The search tree: one growing set of arrays, an entry an edge (a move and the node that it leads to).

The children of a node lie side by side, so that selection reads memory in order. An edge takes `BYTES_PER_EDGE` bytes,
and a tree never holds more than the number of edges that it was made for: when it is full, leaves are no longer
expanded, and the statistics of what is there go on.

Values are sums of results from the **first player's** side, each in [0, 1]: 1 if the first player (Black) won, 0 if the
second did, ½ for a draw. Whoever reads a value turns it to the mover's side; none is stored turned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from miai.compiled import kernel
from miai.games.go.compiled import inlined

ROOT = 0
NO_CHILDREN = 0
"""The root is nobody's child, so edge 0 in `first_child` says "not expanded"."""

MAX_CHILDREN = 512
"""A node has at most so many: a Go board of 19 × 19 has 361 points, and there is the pass."""

EDGE_FIELDS = slice(2, None)
"""The arrays of a `Tree` that hold a number for each edge."""


class Tree(NamedTuple):
    """E edges, of which the first `used[0]` are in use; edge 0 stands for the root. Kernels modify it in place."""

    used: np.ndarray
    """int64[1]."""
    scores: np.ndarray
    """float32[MAX_CHILDREN]: scratch of selection."""
    move: np.ndarray
    """uint16[E]: a point of the Go board, or the number of a move within its state of a game graph."""
    num_children: np.ndarray
    """uint16[E]."""
    first_child: np.ndarray
    """uint32[E], or `NO_CHILDREN`."""
    visits: np.ndarray
    """int32[E]: N of the papers, the playouts through the edge."""
    value: np.ndarray
    """float64[E]: W of the papers, the sum of their results for the first player."""
    rave_visits: np.ndarray
    """float32[E]: playouts in which the same player made this move later on (all moves as first), by weight."""
    rave_value: np.ndarray
    """float32[E]: the sum of their results for the first player, by weight."""
    prior_visits: np.ndarray
    """float32[E]: virtual playouts that heuristic knowledge counts for when the edge is made."""
    prior_value: np.ndarray
    """float32[E]: the sum of their results for the first player."""


BYTES_PER_EDGE = 2 + 2 + 4 + 4 + 8 + 4 + 4 + 4 + 4


def new_tree(max_edges: int) -> Tree:
    """Return a tree of only a root, for at most `max_edges` edges. Memory is taken as the tree grows."""
    if not 1 <= max_edges < 2**32:
        raise ValueError(f"max_edges must be from 1 to 2**32 - 1, got {max_edges!r}")
    tree = Tree(
        used=np.zeros(1, np.int64),
        scores=np.empty(MAX_CHILDREN, np.float32),
        move=np.empty(max_edges, np.uint16),
        num_children=np.empty(max_edges, np.uint16),
        first_child=np.empty(max_edges, np.uint32),
        visits=np.empty(max_edges, np.int32),
        value=np.empty(max_edges, np.float64),
        rave_visits=np.empty(max_edges, np.float32),
        rave_value=np.empty(max_edges, np.float32),
        prior_visits=np.empty(max_edges, np.float32),
        prior_value=np.empty(max_edges, np.float32),
    )
    reset(tree)
    return tree


@inlined
def signed(number: int) -> np.int64:
    """Widen an unsigned number from an array, so that Numba keeps sums and ranges of it whole."""
    return np.int64(number)


@inlined
def clear_edge(tree: Tree, edge: int, move: int) -> None:
    """Make an edge without any experience; the tree is modified in place."""
    tree.move[edge] = move
    tree.num_children[edge] = 0
    tree.first_child[edge] = NO_CHILDREN
    tree.visits[edge] = 0
    tree.value[edge] = 0.0
    tree.rave_visits[edge] = 0.0
    tree.rave_value[edge] = 0.0
    tree.prior_visits[edge] = 0.0
    tree.prior_value[edge] = 0.0


@kernel
def reset(tree: Tree) -> None:
    """Forget all but an empty root; the tree is modified in place."""
    clear_edge(tree, ROOT, 0)
    tree.used[0] = 1


@inlined
def add_children(tree: Tree, node: int, moves: np.ndarray, count: int) -> bool:
    """Expand a node by `moves[:count]`, if there is room; the tree is modified in place. Tell whether there was."""
    first = tree.used[0]
    if count == 0 or first + count > len(tree.move):
        return False
    for i in range(count):
        clear_edge(tree, first + i, moves[i])
    tree.first_child[node] = first
    tree.num_children[node] = count
    tree.used[0] = first + count
    return True


@inlined
def back_up(tree: Tree, path: np.ndarray, length: int, result: float) -> None:
    """Count one playout for every edge of the path; `result` is the first player's. The tree is modified in place."""
    for i in range(length):
        tree.visits[path[i]] += np.int32(1)
        tree.value[path[i]] += result


@njit(cache=True, nogil=True)
def promote(tree: Tree, child: int) -> None:
    """Make a child of the root the new root, keep what lies below it, and forget the rest; modified in place.

    Blocks of siblings keep their order and move down. A block always lies behind its parent, so one sweep upwards
    meets every parent first, and never writes over what it has still to read.
    """
    used = tree.used[0]
    # By the old first edge of a block: its length while it waits to be moved, then its new first edge.
    waiting = np.zeros(used, np.uint16)
    moved_to = np.zeros(used, np.uint32)
    _move_edge(tree, child, ROOT)
    if tree.first_child[ROOT] != NO_CHILDREN:
        waiting[tree.first_child[ROOT]] = tree.num_children[ROOT]
    free = 1
    for first in range(1, used):
        if waiting[first] == 0:
            continue
        moved_to[first] = free
        for edge in range(first, first + waiting[first]):
            if tree.first_child[edge] != NO_CHILDREN:
                waiting[tree.first_child[edge]] = tree.num_children[edge]
            _move_edge(tree, edge, free)
            free += 1
    for edge in range(free):
        if tree.first_child[edge] != NO_CHILDREN:
            tree.first_child[edge] = moved_to[tree.first_child[edge]]
    tree.used[0] = free


@inlined
def _move_edge(tree: Tree, source: int, to: int) -> None:
    tree.move[to] = tree.move[source]
    tree.num_children[to] = tree.num_children[source]
    tree.first_child[to] = tree.first_child[source]
    tree.visits[to] = tree.visits[source]
    tree.value[to] = tree.value[source]
    tree.rave_visits[to] = tree.rave_visits[source]
    tree.rave_value[to] = tree.rave_value[source]
    tree.prior_visits[to] = tree.prior_visits[source]
    tree.prior_value[to] = tree.prior_value[source]


def prune_root(tree: Tree, is_allowed: Callable[[int], bool]) -> None:
    """Take off the root's children that `is_allowed(move)` refuses; the others keep their order. Modified in place."""
    first, count = int(tree.first_child[ROOT]), int(tree.num_children[ROOT])
    if first == NO_CHILDREN:
        return
    keep = np.array([is_allowed(move) for move in tree.move[first : first + count].tolist()])
    if keep.all():
        return
    for part in tree[EDGE_FIELDS]:
        block = part[first : first + count][keep]
        part[first : first + len(block)] = block
    tree.num_children[ROOT] = np.count_nonzero(keep)
