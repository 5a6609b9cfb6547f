"""What APV-MCTS spends on its tree: the share of a move's time that goes into descents, expansion and backup.

The networks' weights are random, which does not change what they cost; their shapes are the defaults for 9×9.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.measuring import Measure, Missing
from miai.games.go import GoGame
from miai.networks.leaf_evaluator import NetworkLeaves, load_leaves
from miai.networks.spec import NetworkSpec
from miai.networks.weights import initial_weights, save_network
from miai.search.puct_config import PuctConfig, PuctResult
from miai.search.puct_searcher import PuctSearcher

SIZE = 9
SIMULATIONS = 400
MOVES = 5
"""Of a game, searched one after another; the median move is reported."""
TREE_GOAL = 10.0


def random_networks() -> NetworkLeaves:
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for head, planes in (("policy", 48), ("value", 49)):
            spec = NetworkSpec(head=head, board_size=SIZE, planes=planes, layers=6, filters=64)  # type: ignore[arg-type]
            paths[head] = Path(folder) / f"{head}.safetensors"
            save_network(paths[head], spec, initial_weights(spec, np.random.default_rng(1)), {})
        leaves = load_leaves(paths["policy"], paths["value"])
    assert leaves is not None
    return leaves


def search_moves(leaves: NetworkLeaves, batch_size: int) -> list[PuctResult]:
    """Return what was found for the first moves of a game, without the first of all, which loads kernels."""
    config = PuctConfig(num_simulations=SIMULATIONS, batch_size=batch_size, reuse_tree=False, resign_threshold=0.0)
    searcher = PuctSearcher(config, leaves)
    game, rng = GoGame(SIZE), np.random.default_rng(1)
    searcher.search(game, rng, num_simulations=2 * batch_size)
    results = []
    for _ in range(MOVES):
        result = searcher.search(game, rng)
        results.append(result)
        game.play(result.move)
    return results


def measure_all() -> Iterator[Measure | Missing]:
    """Yield the measures."""
    if not any(importlib.util.find_spec(library) for library in ("openvino", "torch")):
        yield Missing("APV-MCTS, 9×9", "neither openvino nor torch is installed")
        return
    leaves = random_networks()
    for batch_size in (1, 8, 32):
        results = search_moves(leaves, batch_size)
        parts = {
            phase: median(100 * result.phases[phase] / result.seconds for result in results)
            for phase in ("tree", "networks", "playouts")
        }
        pace = median(result.simulations / result.seconds for result in results)
        yield Measure(
            f"APV-MCTS, 9×9, batch {batch_size}, time on the tree",
            "% of a move",
            parts["tree"],
            None,
            TREE_GOAL,
            at_least=False,
            note=f"networks {parts['networks']:.1f} %, playouts {parts['playouts']:.1f} %; {pace:.0f} simulations/s",
        )
