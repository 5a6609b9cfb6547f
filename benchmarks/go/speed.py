"""How fast Go is: playouts against the same algorithm in C, and playouts and searches against OpenSpiel.

    python -m benchmarks.go.speed

prints a table of ratios. Peers run right after ours, by turns, and the best of several runs counts on both sides, since
other work on the machine only ever slows a run down. OpenSpiel (the extra `bench`) and a C compiler (`cc`) are asked
for; what is not there is said and left out.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from miai.games.go import GoGame
from miai.games.go.board import BLACK
from miai.rng import stream
from miai.search import SearchConfig, Searcher
from miai.search.patterns import pattern_table
from miai.search.playouts import PATTERN, UNIFORM, run_playouts
from miai.search.tree import BYTES_PER_EDGE

REPEATS = 7
PLAYOUTS = {9: 10_000, 19: 2_500}
SIMULATIONS = {9: 10_000, 19: 5_000}
OPEN_SPIEL_ROLLOUTS = {9: 400, 19: 60}
OPEN_SPIEL_SIMULATIONS = {9: 800, 19: 100}
C_SOURCE = Path(__file__).with_name("playouts.c")


@dataclass(frozen=True)
class Measure:
    """One line of the table: ours, the peer's, and their ratio with its goal."""

    name: str
    unit: str
    ours: float
    peer: float
    goal: float
    at_least: bool = True

    @property
    def ratio(self) -> float:
        return self.ours / self.peer

    @property
    def reached(self) -> bool:
        return self.ratio >= self.goal if self.at_least else self.ratio <= self.goal


def best_of_turns(*runs: Callable[[], float]) -> list[float]:
    """Run each by turns `REPEATS` times; return the best (largest) rate of each."""
    best = [0.0] * len(runs)
    for _ in range(REPEATS):
        for number, run in enumerate(runs):
            best[number] = max(best[number], run())
    return best


def our_playouts(size: int, policy: int) -> tuple[float, float]:
    """Return (playouts a second, moves a second)."""
    cells, liberties = GoGame(size).state
    began = time.perf_counter()
    moves, _ = run_playouts(cells, liberties, BLACK, stream(1, "bench"), PLAYOUTS[size], policy, pattern_table())
    took = time.perf_counter() - began
    return PLAYOUTS[size] / took, moves / took


def c_playouts(program: Path, size: int) -> float:
    """Return playouts a second of the peer in C, from the same random stream."""
    words = [str(word) for word in stream(1, "bench").tolist()]
    command = [str(program), str(size), str(PLAYOUTS[size]), *words]
    seconds = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[0]
    return PLAYOUTS[size] / float(seconds)


def our_simulations(searcher: Searcher, size: int) -> float:
    game = GoGame(size)
    searcher.new_game(game)
    result = searcher.search(game, np.random.default_rng(1))
    return result.simulations / result.seconds


def against_c() -> Iterator[Measure]:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "playouts"
        subprocess.run(["cc", "-O3", "-march=native", "-o", str(program), str(C_SOURCE)], check=True)
        for size in PLAYOUTS:
            ours, peer = best_of_turns(
                lambda s=size: our_playouts(s, UNIFORM)[0], lambda s=size: c_playouts(program, s)
            )
            yield Measure(f"uniform playouts, {size}×{size}, against C -O3", "playouts/s", ours, peer, 0.9)


def patterns_against_uniform() -> Iterator[Measure]:
    for size in PLAYOUTS:
        pattern, uniform = best_of_turns(
            lambda s=size: our_playouts(s, PATTERN)[1], lambda s=size: our_playouts(s, UNIFORM)[1]
        )
        name = f"pattern playouts, {size}×{size}, time a move against uniform"
        yield Measure(name, "ns", 1e9 / pattern, 1e9 / uniform, 2.7, at_least=False)


def against_open_spiel() -> Iterator[Measure]:
    import pyspiel

    for size, rollout_goal, search_goal in ((9, 20.0, 19.0), (19, 60.0, 60.0)):
        peer_game = pyspiel.load_game("go", {"board_size": size, "komi": 7.5})
        state = peer_game.new_initial_state()

        def their_rate(evaluations: int, simulations: int, game: object = peer_game, state: object = state) -> float:
            """A search of one simulation is nothing but its `evaluations` C++ rollouts."""
            evaluator = pyspiel.RandomRolloutEvaluator(evaluations, 1)
            bot = pyspiel.MCTSBot(game, evaluator, 0.3, simulations, 2000, False, 1, False)
            began = time.perf_counter()
            bot.step(state)
            return evaluations * simulations / (time.perf_counter() - began)

        ours, peer = best_of_turns(
            lambda s=size: our_playouts(s, UNIFORM)[0],
            lambda s=size, rate=their_rate: rate(OPEN_SPIEL_ROLLOUTS[s], 1),
        )
        yield Measure(f"uniform playouts, {size}×{size}, against OpenSpiel", "playouts/s", ours, peer, rollout_goal)
        searcher = Searcher(SearchConfig(num_simulations=SIMULATIONS[size]))
        ours, peer = best_of_turns(
            lambda s=size, searcher=searcher: our_simulations(searcher, s),
            lambda s=size, rate=their_rate: rate(1, OPEN_SPIEL_SIMULATIONS[s]),
        )
        searcher.close()
        yield Measure(f"UCT, {size}×{size}, against OpenSpiel's MCTSBot", "simulations/s", ours, peer, search_goal)


def two_threads() -> Iterator[Measure]:
    def rate(searcher: Searcher) -> float:
        game = GoGame(9)
        searcher.new_game(game)
        result = searcher.search(game, np.random.default_rng(1), seconds=0.5)
        return result.simulations / result.seconds

    searchers = [Searcher(SearchConfig(threads=threads)) for threads in (2, 1)]
    two, one = best_of_turns(*(lambda s=searcher: rate(s) for searcher in searchers))
    for searcher in searchers:
        searcher.close()
    yield Measure("UCT, 9×9, two threads against one", "simulations/s", two, one, 1.8)


def memory() -> Iterator[Measure]:
    yield Measure("memory a million tree edges, against a megabyte", "MB", BYTES_PER_EDGE, 1.0, 64.0, at_least=False)


def measure_all() -> Iterator[Measure]:
    """Yield every measure that this machine has the peers for; say what is left out."""
    if shutil.which("cc"):
        yield from against_c()
    else:
        print("left out: C, as there is no `cc`")
    yield from patterns_against_uniform()
    try:
        import pyspiel  # noqa: F401
    except ImportError:
        print("left out: OpenSpiel, which is not installed (the extra `bench`)")
    else:
        yield from against_open_spiel()
    yield from two_threads()
    yield from memory()


def main() -> None:
    for measure in measure_all():
        goal = f"{'≥' if measure.at_least else '≤'} {measure.goal:g}"
        mark = "reached" if measure.reached else "MISSED"
        print(
            f"{measure.name:58s} {measure.ours:12,.0f} {measure.peer:12,.0f} {measure.unit:14s}"
            f" ratio {measure.ratio:7.2f}  goal {goal:6s} {mark}",
            flush=True,
        )


if __name__ == "__main__":
    main()
