"""How fast Go is: playouts against the same algorithm in C, and playouts and searches against OpenSpiel.

A peer is taken by turns with ours, on one thread, by the processor's time: then other work on the machine matters less.
OpenSpiel is the extra `bench`; C needs a compiler, `cc`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import Measure, Missing, side_by_side
from miai.games.go import GoGame
from miai.games.go.board import BLACK
from miai.rng import stream
from miai.search import SearchConfig, Searcher
from miai.search.patterns import pattern_table
from miai.search.playouts import PATTERN, UNIFORM, run_playouts
from miai.search.rollout_features import NUM_WEIGHTS, SECTIONS, SELF_ATARI
from miai.search.rollouts import new_policy, new_state, run_rollouts
from miai.search.tree import BYTES_PER_EDGE

REPEATS = 9
SIZES = (9, 19)
PLAYOUTS = {9: 10_000, 19: 2_500}
SIMULATIONS = {9: 10_000, 19: 2_000}
"""Of ours and of theirs: a tree costs more the larger it is."""
OPEN_SPIEL_ROLLOUTS = {9: 400, 19: 60}
ROLLOUT_GOAL = {9: 20.0, 19: 60.0}
SEARCH_GOAL = {9: 19.0, 19: 60.0}
C_SOURCE = Path(__file__).with_name("playouts.c")

START_UP = """
from miai.cli.main import main
main(["gtp", "player=uct", "player.num_simulations=1"])
"""


def run_ours(size: int, policy: int) -> tuple[float, float]:
    """Return (playouts a second, nanoseconds a move)."""
    cells, liberties = GoGame(size).state
    began = time.process_time()
    moves, _ = run_playouts(cells, liberties, BLACK, stream(1, "bench"), PLAYOUTS[size], policy, pattern_table())
    took = time.process_time() - began
    return PLAYOUTS[size] / took, 1e9 * took / moves


def run_c(program: Path, size: int) -> float:
    """Return playouts a second of the peer in C, from the same random stream, so of the same games."""
    words = [str(word) for word in stream(1, "bench").tolist()]
    command = [str(program), str(size), str(PLAYOUTS[size]), *words]
    seconds = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[0]
    return PLAYOUTS[size] / float(seconds)


def run_search(searcher: Searcher, size: int) -> float:
    """Return simulations a second from the empty board."""
    game = GoGame(size)
    searcher.new_game(game)
    began = time.process_time()
    result = searcher.search(game, np.random.default_rng(1))
    return result.simulations / (time.process_time() - began)


def against_c() -> Iterator[Measure | Missing]:
    if shutil.which("cc") is None:
        yield Missing("uniform playouts against C -O3", "there is no C compiler, cc")
        return
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "playouts"
        subprocess.run(["cc", "-O3", "-march=native", "-o", str(program), str(C_SOURCE)], check=True)
        for size in SIZES:
            yield side_by_side(
                f"uniform playouts, {size}×{size}, against C -O3",
                "playouts/s",
                lambda size=size: run_ours(size, UNIFORM)[0],
                lambda size=size: run_c(program, size),
                0.9,
                REPEATS,
            )


def patterns_against_uniform() -> Iterator[Measure]:
    for size in SIZES:
        measure = side_by_side(
            f"pattern playouts, {size}×{size}, time a move against uniform",
            "ns",
            lambda size=size: run_ours(size, PATTERN)[1],
            lambda size=size: run_ours(size, UNIFORM)[1],
            2.7,
            REPEATS,
        )
        yield replace(measure, at_least=False)


def learned_playouts() -> Iterator[Measure]:
    """Measure playouts by a policy of weights drawn at random, which cost what fitted ones cost."""
    weights = np.random.default_rng(1).normal(0.0, 0.5, NUM_WEIGHTS)
    weights[SELF_ATARI : SELF_ATARI + SECTIONS["self_atari"]] = -2.0
    policy, state = new_policy(weights), new_state()

    def run_learned(size: int) -> float:
        """Return nanoseconds a move."""
        cells, liberties = GoGame(size).state
        began = time.process_time()
        moves, _ = run_rollouts(cells, liberties, BLACK, stream(1, "bench"), PLAYOUTS[size] // 5, policy, state)
        return 1e9 * (time.process_time() - began) / moves

    for size in SIZES:
        measure = side_by_side(
            f"learned playouts, {size}×{size}, time a move, beside uniform",
            "ns",
            lambda size=size: run_learned(size),
            lambda size=size: run_ours(size, UNIFORM)[1],
            500.0,
            REPEATS,
        )
        beside = f"uniform {measure.peer:.0f} ns"
        yield replace(measure, peer=None, ratios=(), at_least=False, note=beside)


def against_open_spiel() -> Iterator[Measure | Missing]:
    try:
        import pyspiel
    except ImportError:
        yield Missing("Go against OpenSpiel", "open_spiel is not installed (the extra bench)")
        return

    def run_theirs(game: Any, rollouts: int, simulations: int) -> float:
        """Return rollouts a second in one search. A search of one simulation is nothing but its C++ rollouts."""
        evaluator = pyspiel.RandomRolloutEvaluator(rollouts, 1)
        bot = pyspiel.MCTSBot(game, evaluator, 0.3, simulations, 2000, False, 1, False)
        state = game.new_initial_state()
        began = time.process_time()
        bot.step(state)
        return rollouts * simulations / (time.process_time() - began)

    for size in SIZES:
        game = pyspiel.load_game("go", {"board_size": size, "komi": 7.5})
        yield side_by_side(
            f"uniform playouts, {size}×{size}, against OpenSpiel's C++ rollouts",
            "playouts/s",
            lambda size=size: run_ours(size, UNIFORM)[0],
            lambda size=size, game=game: run_theirs(game, OPEN_SPIEL_ROLLOUTS[size], 1),
            ROLLOUT_GOAL[size],
            REPEATS,
        )
        searcher = Searcher(SearchConfig(num_simulations=SIMULATIONS[size]))
        yield side_by_side(
            f"UCT, {size}×{size}, against OpenSpiel's MCTSBot",
            "simulations/s",
            lambda size=size, searcher=searcher: run_search(searcher, size),
            lambda size=size, game=game: run_theirs(game, 1, SIMULATIONS[size]),
            SEARCH_GOAL[size],
            REPEATS,
        )
        searcher.close()


def two_threads() -> Iterator[Measure]:
    """Time both by the clock, of course: this one needs a machine that does nothing else."""

    def rate(searcher: Searcher) -> float:
        game = GoGame(9)
        searcher.new_game(game)
        result = searcher.search(game, np.random.default_rng(1), seconds=0.5)
        return result.simulations / result.seconds

    two, one = (Searcher(SearchConfig(threads=threads)) for threads in (2, 1))
    name = "UCT, 9×9, two threads against one"
    yield side_by_side(name, "simulations/s", lambda: rate(two), lambda: rate(one), 1.8, REPEATS)
    two.close()
    one.close()


def start_up() -> Iterator[Measure]:
    """Time `miai gtp` from its start to the answer to its first `genmove`, kernels being compiled already."""

    def seconds() -> float:
        began = time.perf_counter()
        engine = subprocess.Popen(
            [sys.executable, "-c", START_UP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert engine.stdin is not None
        assert engine.stdout is not None
        engine.stdin.write("genmove b\n")
        engine.stdin.flush()
        answer = engine.stdout.readline()
        took = time.perf_counter() - began
        engine.communicate("quit\n")
        if not answer.startswith("="):
            raise RuntimeError(f"miai gtp answered {answer!r} to genmove")
        return took

    seconds()
    name = "start of `miai gtp` to its first move, kernels compiled"
    yield Measure(name, "s", sorted(seconds() for _ in range(5))[2], None, 2.0, at_least=False)


def measure_all() -> Iterator[Measure | Missing]:
    """Yield every measure of Go's speed."""
    yield from against_c()
    yield from patterns_against_uniform()
    yield from learned_playouts()
    yield from against_open_spiel()
    yield from two_threads()
    yield from start_up()
    yield Measure("memory a million tree edges", "MB", BYTES_PER_EDGE, None, 64.0, at_least=False)
