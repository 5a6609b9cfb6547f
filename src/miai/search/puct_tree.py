"""The tree of PUCT: as `search.tree`, with a prior an edge and descents that are under way.

The children of a node lie side by side; an edge takes `BYTES_PER_EDGE` bytes; a tree never holds more edges than it was
made for. Values are sums of results from the **first player's** side (Black's), each in [−1, 1]: 1 if Black won, −1 if
White did, or what the value network expects. Whoever reads a value turns it to the mover's side; none is stored turned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from miai.compiled import kernel
from miai.games.go.compiled import inlined
from miai.search.tree import MAX_CHILDREN, NO_CHILDREN, ROOT, signed

UNEVALUATED = np.float32(2.0)
"""In `leaf_value`: no network has looked at this node. No value is that large."""

EDGE_FIELDS = slice(2, None)
"""The arrays of a `PuctTree` that hold a number for each edge."""


class PuctTree(NamedTuple):
    """E edges, of which the first `used[0]` are in use; edge 0 stands for the root. Kernels modify it in place."""

    used: np.ndarray
    """int64[1]."""
    scores: np.ndarray
    """float64[MAX_CHILDREN]: scratch of selection."""
    move: np.ndarray
    """uint16[E]: a point of the Go board, or `PASS_POINT`."""
    num_children: np.ndarray
    """uint16[E]."""
    first_child: np.ndarray
    """uint32[E], or `NO_CHILDREN`."""
    visits: np.ndarray
    """int32[E]: N of the paper, the simulations through the edge that have been counted."""
    under_way: np.ndarray
    """int32[E]: descents of the present batch that went through the edge and have not been counted yet."""
    value: np.ndarray
    """float64[E]: W of the paper, the sum of their results for the first player."""
    prior: np.ndarray
    """float32[E]: P of the paper."""
    leaf_value: np.ndarray
    """float32[E]: what the value network said of the node behind the edge, for the first player, or `UNEVALUATED`."""


BYTES_PER_EDGE = 2 + 2 + 4 + 4 + 4 + 8 + 4 + 4


def new_puct_tree(max_edges: int) -> PuctTree:
    """Return a tree of only a root, for at most `max_edges` edges. Memory is taken as the tree grows."""
    if not 1 <= max_edges < 2**32:
        raise ValueError(f"max_edges must be from 1 to 2**32 - 1, got {max_edges!r}")
    tree = PuctTree(
        used=np.zeros(1, np.int64),
        scores=np.empty(MAX_CHILDREN, np.float64),
        move=np.empty(max_edges, np.uint16),
        num_children=np.empty(max_edges, np.uint16),
        first_child=np.empty(max_edges, np.uint32),
        visits=np.empty(max_edges, np.int32),
        under_way=np.empty(max_edges, np.int32),
        value=np.empty(max_edges, np.float64),
        prior=np.empty(max_edges, np.float32),
        leaf_value=np.empty(max_edges, np.float32),
    )
    reset(tree)
    return tree


@inlined
def clear_edge(tree: PuctTree, edge: int, move: int, prior: float) -> None:
    """Make an edge without any experience; the tree is modified in place."""
    tree.move[edge] = move
    tree.num_children[edge] = 0
    tree.first_child[edge] = NO_CHILDREN
    tree.visits[edge] = 0
    tree.under_way[edge] = 0
    tree.value[edge] = 0.0
    tree.prior[edge] = prior
    tree.leaf_value[edge] = UNEVALUATED


@kernel
def reset(tree: PuctTree) -> None:
    """Forget all but an empty root; the tree is modified in place."""
    clear_edge(tree, ROOT, 0, np.float32(1.0))
    tree.used[0] = 1


@inlined
def add_children(tree: PuctTree, node: int, moves: np.ndarray, priors: np.ndarray, count: int) -> bool:
    """Expand a node by `moves[:count]`, if there is room; the tree is modified in place. Tell whether there was."""
    first = tree.used[0]
    if count == 0 or first + count > len(tree.move):
        return False
    for i in range(count):
        clear_edge(tree, first + i, moves[i], priors[i])
    tree.first_child[node] = first
    tree.num_children[node] = count
    tree.used[0] = first + count
    return True


def children(tree: PuctTree, node: int) -> np.ndarray:
    """Return the edges below a node, none if it is not expanded."""
    first = int(tree.first_child[node])
    count = int(tree.num_children[node]) if first != NO_CHILDREN else 0
    return np.arange(first, first + count)


def most_visited_line(tree: PuctTree, node: int) -> list[int]:
    """Return the moves that follow a node when each side makes its most visited move."""
    line: list[int] = []
    while True:
        below = children(tree, node)
        if len(below) == 0 or not tree.visits[below].any():
            return line
        node = int(below[np.argmax(tree.visits[below])])
        line.append(int(tree.move[node]))


def follow(tree: PuctTree, path: tuple[int, ...]) -> None:
    """Make the node at the end of a path from the root the new root; begin anew if the tree does not hold it."""
    for move in path:
        below = children(tree, ROOT)
        found = np.flatnonzero(tree.move[below] == move)
        if len(found) == 0:
            reset(tree)
            return
        promote(tree, int(below[found[0]]))


def promote(tree: PuctTree, child: int) -> None:
    """Make a child of the root the new root, keep what lies below it, and forget the rest; modified in place.

    Blocks of siblings keep their order and move down, as in `search.tree`.
    """
    used = int(tree.used[0])
    source = np.empty(used, np.uint32)
    blocks = np.zeros(used, np.uint32)
    kept = int(_find_subtree(tree.first_child, tree.num_children, used, child, source, blocks))
    for part in tree[EDGE_FIELDS]:
        part[:kept] = part[source[:kept]]
    # The root never moves, so 0 stays "not expanded".
    tree.first_child[:kept] = blocks[tree.first_child[:kept]]
    tree.used[0] = kept


@kernel
def _find_subtree(
    first_child: np.ndarray, num_children: np.ndarray, used: int, child: int, source: np.ndarray, blocks: np.ndarray
) -> int:
    """Find the edges at and below `child`; return their number.

    A block of siblings always lies behind its parent, so one sweep upwards meets every parent before its children.

    Args:
        first_child, num_children: of the tree, read only.
        used: the tree's edges.
        source: uint32[used], the result: the edge that each new edge is made of.
        blocks: uint32[used], the result: by the old first edge of a block, its new first edge. Zeros at first.
    """
    # Until a block is met, its place in `blocks` holds its length.
    source[0] = child
    if first_child[child] != NO_CHILDREN:
        blocks[first_child[child]] = num_children[child]
    kept = 1
    for first in range(child + 1, used):
        count = signed(blocks[first])
        if count == 0:
            continue
        blocks[first] = kept
        for edge in range(first, first + count):
            if first_child[edge] != NO_CHILDREN:
                blocks[first_child[edge]] = num_children[edge]
            source[kept] = edge
            kept += 1
    return kept


def prune_root(tree: PuctTree, is_allowed: Callable[[int], bool]) -> None:
    """Take off the root's children that `is_allowed(move)` refuses; the others keep their order. Modified in place."""
    below = children(tree, ROOT)
    keep = np.array([is_allowed(move) for move in tree.move[below].tolist()], bool)
    if keep.all():
        return
    for part in tree[EDGE_FIELDS]:
        block = part[below][keep]
        part[below[: len(block)]] = block
    tree.num_children[ROOT] = np.count_nonzero(keep)
