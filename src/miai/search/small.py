"""Simulations of a small game on its graph: the same tree and selection as for Go, another game.

A node of the tree is a state of the graph; its children are the state's edges in order. An edge's `move` is its
number among them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from miai.compiled import kernel
from miai.games.game import FIRST
from miai.games.graph import GraphArrays
from miai.rng import below
from miai.search.selection import Rule, select
from miai.search.tree import NO_CHILDREN, ROOT, Tree, add_children, back_up, signed


class GraphWorkspace(NamedTuple):
    """What a thread needs besides its tree; modified in place."""

    path: np.ndarray
    """uint32[longest game + 1]: the edges of the descent, from the root."""
    moves: np.ndarray
    """uint16[most moves of a state]: moves of the node that is being expanded."""


def new_graph_workspace(max_plies: int, max_moves: int) -> GraphWorkspace:
    return GraphWorkspace(path=np.zeros(max_plies + 1, np.uint32), moves=np.zeros(max_moves, np.uint16))


@kernel
def simulate_on_graph(
    tree: Tree, graph: GraphArrays, start: int, rule: Rule, work: GraphWorkspace, rng: np.ndarray, count: int
) -> None:
    """Run `count` simulations from the state `start`; `tree`, `work` and `rng` are modified in place."""
    for _ in range(count):
        state = signed(start)
        node = ROOT
        depth = 0
        work.path[0] = ROOT
        while depth < rule.max_depth and graph.edge_start[state] < graph.edge_start[state + 1]:
            if tree.first_child[node] == NO_CHILDREN:
                if depth > 0 and tree.visits[node] < rule.expand_after:
                    break
                if not _expand(tree, node, graph, state, work, rng):
                    break
            node = signed(select(tree, node, rule, graph.to_play[state] == FIRST))
            state = signed(graph.edge_child[signed(graph.edge_start[state]) + tree.move[node]])
            depth += 1
            work.path[depth] = node
        while graph.edge_start[state] < graph.edge_start[state + 1]:
            first = signed(graph.edge_start[state])
            state = signed(graph.edge_child[first + below(rng, signed(graph.edge_start[state + 1]) - first)])
        back_up(tree, work.path, depth + 1, 0.5 * (1 + graph.outcome[state]))


@kernel
def _expand(tree: Tree, node: int, graph: GraphArrays, state: int, work: GraphWorkspace, rng: np.ndarray) -> bool:
    """Add the state's moves, in random order, as children of `node`; tell whether there was room."""
    moves = work.moves
    count = signed(graph.edge_start[state + 1]) - signed(graph.edge_start[state])
    for i in range(count):
        place = below(rng, i + 1)
        moves[i] = moves[place]
        moves[place] = i
    return add_children(tree, node, moves, count)
