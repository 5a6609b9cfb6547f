"""The arrays of PUCT's tree: their size, their bound, and what is kept when the root moves on."""

from __future__ import annotations

import numpy as np
import pytest
from tests.search.plain_puct import LinearNetworks

from miai.games.go import GoGame
from miai.search.puct_config import PuctConfig
from miai.search.puct_searcher import PuctSearcher
from miai.search.puct_tree import BYTES_PER_EDGE, EDGE_FIELDS, PuctTree, children, new_puct_tree, promote, prune_root
from miai.search.tree import ROOT

Branch = tuple[tuple[float, ...], tuple["Branch", ...]]


def branch(tree: PuctTree, node: int) -> Branch:
    """Return all that hangs on a node, as nested tuples."""
    own = (tree.move, tree.visits, tree.under_way, tree.value, tree.prior, tree.leaf_value)
    return tuple(part[node].item() for part in own), tuple(branch(tree, child) for child in children(tree, node))


def size(of: Branch) -> int:
    return 1 + sum(size(child) for child in of[1])


def grown(num_simulations: int = 500) -> PuctTree:
    searcher = PuctSearcher(PuctConfig(num_simulations=num_simulations, mixing=0.5, c_puct=1.0), LinearNetworks(5))
    searcher.search(GoGame(5), np.random.default_rng(1))
    assert searcher._tree is not None
    return searcher._tree


def test_an_edge_takes_at_most_64_bytes() -> None:
    assert sum(part.itemsize for part in new_puct_tree(1000)[EDGE_FIELDS]) == BYTES_PER_EDGE <= 64


def test_sizes_are_checked() -> None:
    with pytest.raises(ValueError, match="max_edges"):
        new_puct_tree(0)


def test_promote_keeps_a_child_whole_and_nothing_else() -> None:
    tree = grown()
    for _ in range(2):
        below = children(tree, ROOT)
        child = int(below[np.argmax(tree.visits[below])])
        before = branch(tree, child)
        assert before[1]
        promote(tree, child)
        assert branch(tree, ROOT) == before
        assert tree.used[0] == size(before)


def test_promote_a_leaf() -> None:
    tree = grown(3)
    promote(tree, int(children(tree, ROOT)[-1]))
    assert tree.used[0] == 1
    assert len(children(tree, ROOT)) == 0


def test_prune_takes_moves_off_the_root_only() -> None:
    tree = grown()
    before = branch(tree, ROOT)[1]
    refused = {before[0][0][0], before[5][0][0], before[25][0][0]}
    prune_root(tree, lambda move: move not in refused)
    assert branch(tree, ROOT)[1] == tuple(child for child in before if child[0][0] not in refused)


@pytest.mark.parametrize("mixing", [0.0, 0.5])
@pytest.mark.parametrize("max_edges", [1000, 1037])
def test_the_tree_never_outgrows_its_bound(mixing: float, max_edges: int) -> None:
    """A full tree goes on counting: every simulation is in the root's visits."""
    config = PuctConfig(num_simulations=1000, max_edges=max_edges, mixing=mixing)
    searcher = PuctSearcher(config, LinearNetworks(5))
    result = searcher.search(GoGame(5), np.random.default_rng(3))
    tree = searcher._tree
    assert tree is not None
    assert len(tree.move) == max_edges
    # A node of 5 × 5 has at most 26 children, so less than that is left over.
    assert max_edges - 26 < tree.used[0] <= max_edges
    assert tree.visits[ROOT] == 1000 == sum(result.visits.values())
