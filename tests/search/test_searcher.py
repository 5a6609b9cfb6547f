"""The searcher on Go: what it finds, how it passes and resigns, and that a seed decides everything."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from miai.errors import MiaiError
from miai.games.game import FIRST, PASS, RESIGN, SECOND
from miai.games.go import GoGame
from miai.search import SearchConfig, Searcher, SearchResult
from miai.search.tree import ROOT


def search(game: GoGame, seed: int = 1, **options: object) -> SearchResult:
    searcher = Searcher(SearchConfig(**options))  # type: ignore[arg-type]
    result = searcher.search(game, np.random.default_rng(seed))
    searcher.close()
    return result


def found(game: GoGame, seed: int = 1, **options: object) -> str:
    return game.move_name(search(game, seed, **options).move)


STRENGTHS = [
    {"num_simulations": 3000},
    {"num_simulations": 1000, "playout": "pattern"},
    {"num_simulations": 1000, "playout": "pattern", "rave": True, "c_uct": 0.0},
]

# --- What it finds ----------------------------------------------------------------------------------------------------

RACE = """
. X O . .
X X O O O
O O X X X
. O X . .
O O X . .
"""


@pytest.mark.parametrize("options", STRENGTHS)
@pytest.mark.parametrize(("to_play", "best"), [(1, "A2"), (-1, "A5")])
def test_a_capturing_race_goes_to_who_moves_first(options: dict, to_play: int, best: str) -> None:
    """Black's corner and White's below it have one liberty each: whoever moves takes, and has the game."""
    assert found(GoGame.from_diagram(RACE, to_play, komi=0.5), **options) == best


LADDER = """
X X X . O X
. . . . O .
. X O X O .
. . O X O O
. . X . . .
. . O . . X
"""
"""White's D2 drives D3 and D4 along D5, C5, D6, where they join the corner, A5, B5, B3, A4 (which takes A5) and A3:
every move an atari or its only answer. Then A5 takes ten stones."""


@pytest.mark.parametrize("options", STRENGTHS)
def test_a_ladder_is_read_to_its_end(options: dict) -> None:
    game = GoGame.from_diagram(LADDER, to_play=SECOND, komi=3.5)
    for seed in range(3):
        assert found(game, seed, **options) == "D2"
    for move in ("D2", "D5", "C5", "D6", "A5", "B5", "B3", "A4", "A3"):
        game.play(game.parse_move(move))
    before = np.count_nonzero(game.board == FIRST)
    assert not game.is_legal(game.parse_move("A5")), "there is no way out"
    game.play(PASS)
    game.play(game.parse_move("A5"))
    assert before - np.count_nonzero(game.board == FIRST) == 10


@pytest.mark.parametrize("options", STRENGTHS)
@pytest.mark.parametrize("to_play", [1, -1])
def test_the_vital_point_of_three(options: dict, to_play: int) -> None:
    """Black's eye space is three points in a row: who plays in the middle lives, or kills. Komi makes that decide."""
    diagram = """
    . . . X O . .
    X X X X O . .
    O O O O O . .
    . . . . . . .
    . O . O . O .
    . . . . . . .
    . . . . . . .
    """
    assert found(GoGame.from_diagram(diagram, to_play, komi=-42), **options) == "B7"


@pytest.mark.parametrize("to_play", [1, -1])
def test_a_net_at_the_edge(to_play: int) -> None:
    """White's D2 can be driven to the edge, but the net at F2 takes more, and White's best is to break it there."""
    diagram = """
    . . X O . . .
    . . X O . . .
    . . X O . . .
    . . X O O O O
    . . X X X X O
    . . X O . . .
    . . . . . . .
    """
    game = GoGame.from_diagram(diagram, to_play, komi=9)
    assert found(game, num_simulations=10_000, playout="pattern") == "F2"


def test_superko_rules_the_root() -> None:
    """White may not take back what superko forbids, however good it would be."""
    diagram = """
    . O . O .
    X X O O .
    X X O . .
    X X O . .
    . X O . .
    """
    game = GoGame.from_diagram(diagram, to_play=SECOND, superko="positional", komi=0)
    game.play(game.parse_move("A5"))
    game.play(game.parse_move("C5"))
    forbidden = game.parse_move("B5")
    assert not game.is_legal(forbidden)
    assert forbidden not in search(game, num_simulations=200).visits
    free = GoGame.from_diagram(diagram, to_play=SECOND, superko="situational", komi=0)
    free.play(free.parse_move("A5"))
    free.play(free.parse_move("C5"))
    assert forbidden in search(free, num_simulations=200).visits


def test_flat_monte_carlo_and_ucb_on_go() -> None:
    game = GoGame(5)
    flat = search(game, algorithm="flat_mc", num_simulations=26 * 40)
    assert set(flat.visits.values()) == {40}
    assert flat.move == max(flat.values, key=lambda move: flat.values[move])
    ucb = search(game, algorithm="ucb", num_simulations=2000)
    assert sum(ucb.visits.values()) == 2000
    assert ucb.visits[ucb.move] == max(ucb.visits.values())
    # Depth 1: nothing below the root's children.
    assert len(flat.pv) == len(ucb.pv) == 1


# --- Passing, resigning, the end --------------------------------------------------------------------------------------

SETTLED = """
. X O . O
X X O O .
. X O O O
X X X O .
. X . X O
"""


@pytest.mark.parametrize("options", STRENGTHS)
def test_it_passes_when_that_wins(options: dict) -> None:
    """Everything is settled and Black is ahead without komi: after White's pass, Black's own ends the game at once."""
    game = GoGame.from_diagram(SETTLED, to_play=SECOND, komi=0)
    assert game.score() > 0
    game.play(PASS)
    result = search(game, **options)
    assert (result.move, result.value, result.simulations) == (PASS, 1.0, 0)


def test_it_does_not_pass_into_a_loss() -> None:
    """White has passed, but the score is against Black as long as White's wall stands: Black plays on."""
    game = GoGame.from_diagram(
        """
        . X . X .
        X X X X X
        O O O O O
        . . . . .
        . . . . .
        """,
        to_play=SECOND,
        komi=-1.5,
    )
    game.play(PASS)
    assert game.score() < 0
    assert search(game, num_simulations=500).move != PASS


def test_it_passes_a_settled_board_without_waiting_for_the_opponent() -> None:
    game = GoGame.from_diagram(". X O .\nX X O O\n. X O .\nX X O O", komi=-0.5)
    result = search(game, num_simulations=2000)
    assert game.score() > 0
    assert result.move == PASS
    assert result.value > 0.98


def test_it_passes_when_no_sensible_move_remains() -> None:
    game = GoGame.from_diagram(". X .\nX X X\n. X .", komi=20)
    result = search(game, num_simulations=50)
    assert (result.move, set(result.visits)) == (PASS, {PASS})


def test_a_game_ends_within_its_limit() -> None:
    """On 3 × 3 random-looking play would take back and forth for long: both pass at the limit of 27 moves."""
    searcher = Searcher(SearchConfig(num_simulations=2))
    for seed in range(5):
        game, rng = GoGame(3, komi=0.5), np.random.default_rng(seed)
        while not game.is_over:
            game.play(searcher.search(game, rng).move)
        assert len(game.moves) <= 27


def test_it_resigns_below_its_threshold_only() -> None:
    game = GoGame(5, komi=40)
    lost = search(game, num_simulations=100, resign_threshold=0.1)
    assert (lost.move, lost.value) == (RESIGN, 0.0)
    assert search(game, num_simulations=100).move != RESIGN
    assert search(GoGame(5, komi=0.5), num_simulations=100, resign_threshold=0.1).move != RESIGN


def test_draws_count_half() -> None:
    game = GoGame(2, komi=0)
    game.play(PASS)
    result = search(game, num_simulations=300)
    # Passing now ends the game 0 : 0.
    assert result.values[PASS] == 0.5


# --- Budgets, progress, reproducibility -------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("options", [{}, {"rave": True, "playout": "pattern"}, {"algorithm": "flat_mc"}])
def test_a_seed_decides_everything(threads: int, options: dict) -> None:
    def whole_game(watched: bool) -> list[tuple]:
        searcher = Searcher(SearchConfig(num_simulations=100, threads=threads, **options))
        game, rng, trail = GoGame(5, komi=0.5), np.random.default_rng(11), []
        while not game.is_over:
            result = searcher.search(game, rng, on_progress=(lambda _: None) if watched else None)
            assert result.simulations in (0, 100)
            trail.append((result.move, result.value, result.visits, result.values, result.pv))
            game.play(result.move)
        searcher.close()
        return trail

    first = whole_game(watched=False)
    assert first == whole_game(watched=True)
    assert len(first) > 3


def test_another_seed_another_search() -> None:
    assert search(GoGame(5), 1, num_simulations=200) != search(GoGame(5), 2, num_simulations=200)


def test_simulations_are_shared_among_threads() -> None:
    searcher = Searcher(SearchConfig(num_simulations=1001, threads=2))
    result = searcher.search(GoGame(5), np.random.default_rng(1))
    assert result.simulations == 1001 == sum(result.visits.values())
    assert [int(worker.tree.visits[ROOT]) for worker in searcher._workers] == [501, 500]
    searcher.close()
    searcher.close()


def test_seconds_are_kept() -> None:
    searcher = Searcher(SearchConfig(num_simulations=None, seconds=0.05))
    game, rng = GoGame(9), np.random.default_rng(1)
    searcher.search(game, rng)
    result = searcher.search(game, rng)
    assert result.seconds >= 0.05
    assert result.simulations > 10
    # Whichever ends first.
    assert searcher.search(game, rng, num_simulations=70, seconds=60.0).simulations == 70


def test_whoever_looks_on_may_stop_the_search() -> None:
    seen: list[SearchResult] = []

    def look(result: SearchResult) -> bool:
        seen.append(result)
        return len(seen) < 3

    searcher = Searcher(SearchConfig())
    result = searcher.search(GoGame(9), np.random.default_rng(1), num_simulations=10**9, on_progress=look)
    assert len(seen) == 3
    assert result.simulations == seen[-1].simulations == sum(result.visits.values())
    assert seen[0].simulations < seen[1].simulations < seen[2].simulations
    assert all(0 <= value <= 1 for value in result.values.values())


def test_the_tree_is_kept_where_the_game_went() -> None:
    searcher = Searcher(SearchConfig(num_simulations=1000))
    rng = np.random.default_rng(1)
    game = GoGame(5)
    result = searcher.search(game, rng)
    kept = result.visits[result.pv[0]]
    game.play(result.pv[0])
    again = searcher.search(game, rng, num_simulations=10)
    # The visit that made the node was a playout of its own, and has no child.
    assert sum(again.visits.values()) == kept - 1 + 10
    assert again.simulations == 10
    # Two moves on, one of them back: nothing to keep.
    game.undo()
    assert sum(searcher.search(game, rng, num_simulations=10).visits.values()) == 10
    # Another game, and a searcher that is told not to.
    assert sum(searcher.search(GoGame(5, komi=0.5), rng, num_simulations=10).visits.values()) == 10
    searcher.new_game(game)
    assert sum(searcher.search(game, rng, num_simulations=10).visits.values()) == 10


def test_a_tree_is_not_kept_for_the_other_side() -> None:
    searcher = Searcher(SearchConfig(num_simulations=500))
    rng = np.random.default_rng(1)
    game = GoGame(5)
    move = searcher.search(game, rng).pv[0]
    game.play_as(SECOND, move)
    assert sum(searcher.search(game, rng, num_simulations=10).visits.values()) == 10


def test_without_reuse_every_search_begins_anew() -> None:
    searcher = Searcher(SearchConfig(num_simulations=100, reuse_tree=False))
    rng = np.random.default_rng(1)
    game = GoGame(5)
    game.play(searcher.search(game, rng).move)
    assert sum(searcher.search(game, rng).visits.values()) == 100


def test_the_game_is_not_changed() -> None:
    game = GoGame(5)
    game.play(12)
    before = game.key, game.moves, game.state[0].tobytes(), game.state[1].tobytes()
    search(game, num_simulations=300, rave=True, playout="pattern", priors=True)
    assert before == (game.key, game.moves, game.state[0].tobytes(), game.state[1].tobytes())


def test_a_finished_game_is_refused() -> None:
    game = GoGame(5)
    game.play(PASS)
    game.play(PASS)
    with pytest.raises(ValueError, match="over"):
        search(game)
    searcher = Searcher(SearchConfig())
    for budget in ({"num_simulations": 0}, {"seconds": 0.0}):
        with pytest.raises(ValueError, match=r"seconds|num_simulations"):
            searcher.search(GoGame(5), np.random.default_rng(1), **budget)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "ucd"}, "algorithm: no such choice 'ucd'.*Did you mean"),
        ({"playout": "patterns"}, "playout: no such choice"),
        ({"num_simulations": 0}, "num_simulations: 0 is not allowed; allowed: 1 or more"),
        ({"num_simulations": None}, "one of them has to be given"),
        ({"seconds": -1.0}, "seconds: -1.0 is not allowed"),
        ({"c_uct": -0.1}, "c_uct"),
        ({"c_uct": float("nan")}, "c_uct"),
        ({"fpu": float("inf")}, "fpu"),
        ({"threads": 0}, "threads"),
        ({"expand_after": 0}, "expand_after"),
        ({"resign_threshold": 1.0}, "resign_threshold"),
        ({"max_edges": 10}, "max_edges"),
        ({"rave_equivalence": 0}, "rave_equivalence"),
        ({"algorithm": "ucb", "rave": True}, "rave: needs algorithm=uct"),
        ({"algorithm": "flat_mc", "priors": True}, "priors: needs algorithm=uct"),
    ],
)
def test_wrong_options_are_named(options: dict, message: str) -> None:
    with pytest.raises(MiaiError, match=message):
        SearchConfig(**options)


CACHE_CHECK = """
import gc
import numpy as np
from numba.core.dispatcher import Dispatcher
from miai.games.game import RulesGame
from miai.games.go import GoGame
from miai.games.small.mnk import MnkRules
from miai.search import SearchConfig, Searcher
for game in (GoGame(5), RulesGame(MnkRules(3, 3, 3))):
    Searcher(SearchConfig(num_simulations=50)).search(game, np.random.default_rng(1))
kernels = [thing for thing in gc.get_objects() if isinstance(thing, Dispatcher) and thing.signatures]
names = [kernel.py_func.__name__ for kernel in kernels if kernel.stats.cache_misses]
print(len(kernels), sum(sum(kernel.stats.cache_hits.values()) for kernel in kernels), names)
"""


def test_a_second_process_compiles_nothing() -> None:
    search(GoGame(5), num_simulations=50)
    for _ in range(2):
        run = subprocess.run(
            [sys.executable, "-c", CACHE_CHECK], check=True, capture_output=True, text=True, env=dict(os.environ)
        )
    kernels, hits, misses = run.stdout.split(maxsplit=2)
    assert misses.strip() == "[]"
    assert int(kernels) > 5
    assert int(hits) > 5


def test_c_is_the_published_one_unless_rave_explores() -> None:
    assert SearchConfig().rule().c_uct == SearchConfig(algorithm="ucb").rule().c_uct == 0.3
    assert SearchConfig(rave=True).rule().c_uct == 0.0
    assert SearchConfig(rave=True, c_uct=0.2).rule().c_uct == 0.2
