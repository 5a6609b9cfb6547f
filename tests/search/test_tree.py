"""The tree's arrays: their size, their bound, and what is kept when the root moves on."""

from __future__ import annotations

import numpy as np
import pytest

from miai.games.go import GoGame
from miai.search import SearchConfig, Searcher
from miai.search.tree import BYTES_PER_EDGE, EDGE_FIELDS, NO_CHILDREN, ROOT, Tree, new_tree, promote


def test_a_million_edges_take_at_most_64_megabytes() -> None:
    per_edge = sum(part.itemsize for part in new_tree(1000)[EDGE_FIELDS])
    assert per_edge == BYTES_PER_EDGE <= 64


def test_sizes_are_checked() -> None:
    with pytest.raises(ValueError, match="max_edges"):
        new_tree(0)


Branch = tuple[int, int, float, tuple["Branch", ...]]


def branch(tree: Tree, node: int) -> Branch:
    """Return all that hangs on a node, as nested tuples."""
    first, count = int(tree.first_child[node]), int(tree.num_children[node])
    children = range(first, first + count) if first != NO_CHILDREN else ()
    return (
        int(tree.move[node]),
        int(tree.visits[node]),
        float(tree.value[node]),
        tuple(branch(tree, child) for child in children),
    )


def size(of: Branch) -> int:
    return 1 + sum(size(child) for child in of[3])


@pytest.mark.parametrize("rave", [False, True])
def test_promote_keeps_a_child_whole_and_nothing_else(rave: bool) -> None:
    searcher = Searcher(SearchConfig(num_simulations=3000, rave=rave))
    searcher.search(GoGame(5), np.random.default_rng(1))
    tree = searcher._workers[0].tree
    for _ in range(3):
        first, count = int(tree.first_child[ROOT]), int(tree.num_children[ROOT])
        child = max(range(first, first + count), key=lambda edge: (tree.num_children[edge], tree.visits[edge]))
        before = branch(tree, child)
        promote(tree, child)
        assert branch(tree, ROOT) == before
        assert tree.used[0] == size(before)


def test_promote_a_leaf() -> None:
    searcher = Searcher(SearchConfig(num_simulations=3))
    searcher.search(GoGame(5), np.random.default_rng(1))
    tree = searcher._workers[0].tree
    promote(tree, int(tree.first_child[ROOT]) + 20)
    assert tree.used[0] == 1
    assert tree.first_child[ROOT] == NO_CHILDREN


@pytest.mark.parametrize("max_edges", [1000, 1037, 5000])
def test_the_tree_never_outgrows_its_bound(max_edges: int) -> None:
    """A full tree goes on counting: every simulation is in the root's visits."""
    searcher = Searcher(SearchConfig(num_simulations=20_000, max_edges=max_edges))
    result = searcher.search(GoGame(5), np.random.default_rng(3))
    tree = searcher._workers[0].tree
    assert len(tree.move) == max_edges
    # A node of 5 × 5 has at most 26 children, so less than that is left over.
    assert max_edges - 26 < tree.used[0] <= max_edges
    assert tree.visits[ROOT] == 20_000 == sum(result.visits.values())


def test_a_nodes_visits_are_its_childrens_and_the_one_that_added_it() -> None:
    searcher = Searcher(SearchConfig(num_simulations=4000))
    searcher.search(GoGame(4), np.random.default_rng(3))
    tree = searcher._workers[0].tree
    for node in range(1, int(tree.used[0])):
        first, count = int(tree.first_child[node]), int(tree.num_children[node])
        if first != NO_CHILDREN:
            assert tree.visits[node] == tree.visits[first : first + count].sum() + 1
        assert 0 <= tree.value[node] <= tree.visits[node]
