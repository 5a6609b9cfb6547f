"""Priors: what knowledge says of moves, on drawn positions."""

from __future__ import annotations

import numpy as np
import pytest

from miai.games.go import GoGame
from miai.games.go.board import BLACK, WHITE, flat_to_point
from miai.search import SearchConfig, Searcher, priors
from miai.search.patterns import pattern_table
from miai.search.tree import ROOT


def prior(game: GoGame, name: str) -> tuple[float, float]:
    cells, liberties = game.state
    v = flat_to_point(game.parse_move(name), game.size)
    return priors.prior(cells, liberties, v, BLACK if game.to_play == 1 else WHITE, pattern_table())


def test_an_empty_board() -> None:
    game = GoGame(9)
    assert prior(game, "E5") == (priors.EVEN, priors.EVEN / 2)
    assert prior(game, "C1") == (priors.EVEN + priors.EDGE, priors.EVEN / 2)
    assert prior(game, "B5") == (priors.EVEN + priors.SECOND_LINE, priors.EVEN / 2)


def test_stones_at_stake() -> None:
    """Black can take two stones at B1, and White can save them there."""
    diagram = """
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . X . . . . .
    X O X . . . .
    . . . . . . .
    """
    black = GoGame.from_diagram(diagram)
    assert prior(black, "B1")[1] - priors.EVEN / 2 >= priors.CAPTURE
    # White's stone would have A1 and C1: saved.
    white = GoGame.from_diagram(diagram, to_play=-1)
    assert prior(white, "B1")[1] - priors.EVEN / 2 >= priors.SAVE
    # Into atari: White at A1 would have one liberty, B1.
    visits, wins = prior(white, "A1")
    assert (visits, wins) == (priors.EVEN + priors.SELF_ATARI, priors.EVEN / 2)


def test_the_distance_to_the_last_move() -> None:
    """dx + dy + max(dx, dy): 2 beside a stone, 3 diagonally, 4 after a jump of one, 5 after a knight's move."""
    for other, steps in (("E6", 2), ("F6", 3), ("E7", 4), ("F7", 5), ("G7", 6)):
        game = GoGame(9)
        e5, v = flat_to_point(game.parse_move("E5"), 9), flat_to_point(game.parse_move(other), 9)
        assert priors.distance(e5, v) == priors.distance(v, e5) == steps


def test_near_moves_gain() -> None:
    game = GoGame(9)
    game.play(game.parse_move("E5"))
    gains = [prior(game, name)[1] - priors.EVEN / 2 for name in ("E7", "F7", "G7")]
    assert gains == [priors.NEAR[2], priors.NEAR[3], 0]


@pytest.mark.parametrize("to_play", [1, -1])
def test_new_children_begin_with_their_priors(to_play: int) -> None:
    game = GoGame.from_diagram(". . . . .\n. X O . .\n. . X . .\n. . . . .\n. . . . .", to_play)
    searcher = Searcher(SearchConfig(num_simulations=1, priors=True))
    searcher.search(game, np.random.default_rng(1))
    tree = searcher._workers[0].tree
    first, count = int(tree.first_child[ROOT]), int(tree.num_children[ROOT])
    cells, liberties = game.state
    for child in range(first, first + count - 1):
        visits, wins = priors.prior(
            cells, liberties, np.uint64(tree.move[child]), BLACK if to_play == 1 else WHITE, pattern_table()
        )
        assert tree.prior_visits[child] == visits
        assert tree.prior_value[child] == (wins if to_play == 1 else visits - wins)
    # The pass is last, and lost.
    assert (tree.move[first + count - 1], tree.prior_visits[first + count - 1]) == (0, priors.PASS)
    assert tree.prior_value[first + count - 1] == (0 if to_play == 1 else priors.PASS)


def test_with_pattern_playouts_moves_are_tried_by_their_prior() -> None:
    game = GoGame(9)
    game.play(game.parse_move("E5"))
    searcher = Searcher(SearchConfig(num_simulations=1, playout="pattern"))
    searcher.search(game, np.random.default_rng(1))
    tree = searcher._workers[0].tree
    first, count = int(tree.first_child[ROOT]), int(tree.num_children[ROOT])
    means = []
    for child in range(first, first + count - 1):
        visits, wins = priors.prior(*game.state, np.uint64(tree.move[child]), WHITE, pattern_table())
        means.append(wins / visits)
    assert means == sorted(means, reverse=True)
    assert tree.prior_visits[first : first + count].max() == 0
