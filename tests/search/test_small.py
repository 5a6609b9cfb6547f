"""The searches on tic-tac-toe and other small games."""

from __future__ import annotations

import numpy as np
import pytest

from miai.errors import MiaiError
from miai.games.game import RulesGame
from miai.games.graph import GameGraph
from miai.games.small.mnk import MnkRules
from miai.search import SearchConfig, Searcher

TICTACTOE = MnkRules(3, 3, 3, name="tictactoe")
GRAPH = GameGraph.of(TICTACTOE)
CORNERS, EDGES = {0, 2, 6, 8}, {1, 3, 5, 7}


def game_after(*moves: int) -> RulesGame:
    game = RulesGame(TICTACTOE)
    for move in moves:
        game.play(move)
    return game


def minimax_values() -> np.ndarray:
    """Return the value of every state for the first player, int8[S]: states are sorted by ply, so one sweep will do."""
    arrays = GRAPH.arrays
    values = arrays.outcome.copy()
    for state in range(GRAPH.num_states - 1, -1, -1):
        start, end = arrays.edge_start[state : state + 2]
        if start < end:
            children = values[arrays.edge_child[start:end]]
            values[state] = children.max() if arrays.to_play[state] == 1 else children.min()
    return values


VALUES = minimax_values()


def best_moves(game: RulesGame) -> list[int]:
    state = GRAPH.find(TICTACTOE.board(game.position))
    start, end = GRAPH.arrays.edge_start[state : state + 2]
    same = VALUES[GRAPH.arrays.edge_child[start:end]] == VALUES[state]
    return GRAPH.edge_action[start:end][same].tolist()


def test_the_opponents_fork_is_seen() -> None:
    """X . .    O to move. A corner lets X take the last corner, with two threats at once; an edge keeps the draw.
    . O .    A tree whose values are not turned at every ply takes the corner.
    . . X
    """
    game = game_after(0, 4, 8)
    assert set(best_moves(game)) == EDGES
    for seed in range(20):
        searcher = Searcher(SearchConfig(num_simulations=3000, c_uct=1.0))
        assert searcher.search(game, np.random.default_rng(seed)).move in EDGES


def test_a_win_is_taken_and_a_loss_is_stopped() -> None:
    """X X .    X wins at 2; with O to move, O has to play there.
    O O .
    . . .
    """
    for seed in range(5):
        rng = np.random.default_rng(seed)
        assert Searcher(SearchConfig(num_simulations=1000)).search(game_after(0, 3, 1, 4), rng).move == 2
        result = Searcher(SearchConfig(num_simulations=1000)).search(game_after(0, 3, 1, 8), rng)
        assert result.move == 2
        assert result.value == 1.0
        assert Searcher(SearchConfig(num_simulations=1000)).search(game_after(0, 4, 1), rng).move == 2


def play_against_perfection(c_uct: float, num_games: int) -> int:
    """Return how many games UCT loses, by turns in both seats."""
    searcher = Searcher(SearchConfig(num_simulations=10_000, c_uct=c_uct))
    rng = np.random.default_rng(2)
    losses = 0
    for number in range(num_games):
        ours = 1 if number % 2 == 0 else -1
        game = RulesGame(TICTACTOE)
        searcher.new_game(game)
        while not game.is_over:
            game.play(searcher.search(game, rng).move if game.to_play == ours else int(rng.choice(best_moves(game))))
        losses += game.outcome() == -ours
    return losses


def test_uct_does_not_lose_to_the_perfect_player() -> None:
    assert play_against_perfection(1.0, 20) == 0


@pytest.mark.slow
def test_uct_never_loses_to_the_perfect_player() -> None:
    assert play_against_perfection(1.0, 200) == 0


@pytest.mark.slow
def test_with_too_little_exploration_it_does_lose_now_and_then() -> None:
    assert play_against_perfection(0.3, 200) > 0


def exact_random_value(state: int) -> float:
    """Return the first player's expected result, in [0, 1], when both move at random."""
    start, end = GRAPH.arrays.edge_start[state : state + 2]
    if start == end:
        return 0.5 * (1 + float(GRAPH.arrays.outcome[state]))
    return float(np.mean([exact_random_value(int(child)) for child in GRAPH.arrays.edge_child[start:end]]))


def test_flat_monte_carlo_estimates_the_random_players_values() -> None:
    game = game_after(0, 4)
    result = Searcher(SearchConfig(algorithm="flat_mc", num_simulations=70_000)).search(game, np.random.default_rng(1))
    assert set(result.visits.values()) == {10_000}
    for move, value in result.values.items():
        exact = exact_random_value(GRAPH.find(TICTACTOE.board(game_after(0, 4, move).position)))
        assert value == pytest.approx(exact, abs=0.02)  # Four standard errors of 10,000 playouts.
    assert result.move == max(result.values, key=lambda move: result.values[move])


def test_ucb_looks_most_at_the_move_that_is_best_against_random_play() -> None:
    game = game_after(0, 4)
    result = Searcher(SearchConfig(algorithm="ucb", num_simulations=20_000)).search(game, np.random.default_rng(1))
    exact = {
        move: exact_random_value(GRAPH.find(TICTACTOE.board(game_after(0, 4, move).position))) for move in result.visits
    }
    # By symmetry two moves are best.
    best = [move for move, value in exact.items() if value == pytest.approx(max(exact.values()))]
    assert len(best) == 2
    assert result.move in best
    assert sum(result.visits[move] for move in best) > 10_000
    # Every move was tried, and the logarithm keeps all of them alive.
    assert min(result.visits.values()) > 1


def test_uct_finds_the_value_of_the_game() -> None:
    """On 3 × 4 with k = 3 the first player wins."""
    game = RulesGame(MnkRules(3, 4, 3))
    result = Searcher(SearchConfig(num_simulations=50_000, c_uct=0.5)).search(game, np.random.default_rng(1))
    assert result.value > 0.9
    assert len(result.pv) >= 3


def test_one_searcher_for_several_games() -> None:
    searcher = Searcher(SearchConfig(num_simulations=500, c_uct=1.0))
    rng = np.random.default_rng(1)
    assert searcher.search(game_after(0, 3, 1, 4), rng).move == 2
    wide = RulesGame(MnkRules(1, 4, 2))
    assert searcher.search(wide, rng).value == pytest.approx(1.0, abs=0.2)
    assert searcher.search(game_after(0, 3, 1, 4), rng).move == 2


@pytest.mark.parametrize("options", [{"playout": "pattern"}, {"rave": True}, {"priors": True}])
def test_options_of_go_are_refused(options: dict) -> None:
    with pytest.raises(MiaiError, match=r"only for Go; on tictactoe allowed"):
        Searcher(SearchConfig(**options)).new_game(RulesGame(TICTACTOE))


def test_other_games_are_refused() -> None:
    class Chess:
        name = "chess"

    with pytest.raises(MiaiError, match="chess is neither Go nor"):
        Searcher(SearchConfig()).new_game(Chess())  # type: ignore[arg-type]
