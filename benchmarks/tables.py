"""How fast tables are learnt and measured: against C, against plain Python, against OpenSpiel, and in microseconds.

Times are those of the thread's processor, not of the wall clock, so that other work on the machine does not count.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks import openspiel_peer, plain_python
from benchmarks.measuring import Measure, Missing, side_by_side
from miai import rng
from miai.games.game import FIRST
from miai.games.small import game_graph
from miai.schedules import Exponential
from miai.tabular import kernels
from miai.tabular.measure import SeatMeasure
from miai.tabular.policies import greedy_policy, uniform_policy
from miai.tabular.sampling import alias_table
from miai.tabular.targets import STATE_ACTION, TARGETS

ALPHA, GAMMA = 0.1, 0.9
C_SOURCE = Path(__file__).with_name("sarsa.c")
C_FLAGS = ("-O3",)
"""Not `-march=native`: with it, GCC's code of this loop is slower than without."""
GAMES = 100_000
TABLES = 20
"""Tables of ours for one of a peer in Python, so that both are timed over tenths of a second."""
PLAIN_GAMES = 1_000
"""Games of the plain-Python trainer; ε falls faster by as much, so that both explore alike over their games."""
OPEN_SPIEL_GAMES = 1_000
OPEN_SPIEL_EPSILON = 0.1

Learnt = tuple[float, np.ndarray, np.ndarray]
"""Seconds, values, visits."""


class Setting:
    """Tic-tac-toe against a random opponent, learnt by our kernel or, SARSA alone, by the peer in C."""

    def __init__(self, epsilons: np.ndarray) -> None:
        self._epsilons = epsilons
        self._alphas = np.full(len(epsilons), ALPHA)
        self._graph = game_graph({"name": "tictactoe"})
        self._opponent = alias_table(self._graph.arrays.edge_start, uniform_policy(self._graph))

    def _fresh(self) -> list[np.ndarray]:
        """A table without entries, both streams, and no results yet."""
        edges = self._graph.num_edges
        streams = [rng.stream(0, role) for role in ("learner", "opponent")]
        return [np.zeros(edges), np.zeros(edges, np.int64), *streams, np.zeros(3, np.int64)]

    def ours(self, target: str) -> Learnt:
        values, visits, learner, opponent, results = self._fresh()
        rule = kernels.Rule(TARGETS[target], 1, GAMMA, GAMMA, kernels.LEARN_FIRST)
        table = (values, visits, None, None)
        rest = (0, self._epsilons, self._alphas, learner, opponent, None, results)
        began = time.thread_time()
        kernels.train_one_step(self._graph.arrays, self._opponent, None, rule, *table, *rest)
        return time.thread_time() - began, values, visits

    def in_c(self, train: Any) -> Learnt:
        values, visits, learner, opponent, results = self._fresh()
        start, child, _, outcome = self._graph.arrays
        graph = [_pointer(array) for array in (start, child, outcome, *self._opponent)]
        arrays = (self._epsilons, self._alphas, values, visits, learner, opponent, results)
        began = time.thread_time()
        train(*graph, 0, GAMMA, len(self._epsilons), *map(_pointer, arrays))
        return time.thread_time() - began, values, visits

    def our_rate(self, target: str, tables: int = 1) -> float:
        """Return games a second, over this many tables learnt from nothing, one after another."""
        return tables * len(self._epsilons) / sum(self.ours(target)[0] for _ in range(tables))


def falling_epsilon() -> Setting:
    """The default exploration, over 100,000 games."""
    return Setting(Exponential(start=1.0, end=0.01, decay=GAMES / 10).values(GAMES))


def compile_c(folder: Path) -> Any:
    """Compile the peer and return its function `train`."""
    library = folder / "sarsa.so"
    subprocess.run(["cc", *C_FLAGS, "-shared", "-fPIC", "-o", str(library), str(C_SOURCE)], check=True)
    train = ctypes.CDLL(str(library)).train
    train.restype = None
    pointer = ctypes.c_void_p
    train.argtypes = [*[pointer] * 5, ctypes.c_int64, ctypes.c_double, ctypes.c_int64, *[pointer] * 7]
    return train


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def against_c() -> Iterator[Measure | Missing]:
    name = "SARSA against C -O3, same arrays"
    if not shutil.which("cc"):
        yield Missing(name, "there is no C compiler (cc)")
        return
    setting = falling_epsilon()
    with tempfile.TemporaryDirectory() as folder:
        train = compile_c(Path(folder))
        (_, values, visits), (_, c_values, c_visits) = setting.ours("chosen"), setting.in_c(train)
        if values.tobytes() != c_values.tobytes() or visits.tobytes() != c_visits.tobytes():
            raise AssertionError("the kernel and its peer in C learn different tables, so they do not do the same work")
        yield side_by_side(
            name,
            "games/s",
            lambda: setting.our_rate("chosen"),
            lambda: GAMES / setting.in_c(train)[0],
            goal=0.95,
            repeats=101,
            note="the same table, bit for bit",
        )


def against_plain_python() -> Iterator[Measure]:
    setting = falling_epsilon()

    def peer() -> float:
        began = time.thread_time()
        plain_python.train(PLAIN_GAMES, decay=PLAIN_GAMES / 10, alpha=ALPHA, gamma=GAMMA)
        return PLAIN_GAMES / (time.thread_time() - began)

    name = "SARSA against plain Python as courses write it"
    yield side_by_side(name, "games/s", lambda: setting.our_rate("chosen", TABLES), peer, goal=15_000, repeats=7)


def against_open_spiel() -> Iterator[Measure | Missing]:
    name = "Q-learning against OpenSpiel's tabular Q-learner"
    if find_spec("open_spiel") is None:
        yield Missing(name, "OpenSpiel is not installed (pip install 'miai[bench]')")
        return
    setting = Setting(np.full(GAMES, OPEN_SPIEL_EPSILON))

    def peer() -> float:
        began = time.thread_time()
        openspiel_peer.train(OPEN_SPIEL_GAMES, OPEN_SPIEL_EPSILON, ALPHA, GAMMA)
        return OPEN_SPIEL_GAMES / (time.thread_time() - began)

    yield side_by_side(name, "games/s", lambda: setting.our_rate("best", TABLES), peer, goal=2_000, repeats=7)


def exact_evaluation() -> Iterator[Measure]:
    graph = game_graph({"name": "tictactoe"})
    measure = SeatMeasure(graph, FIRST, uniform_policy(graph))
    values = np.random.default_rng(0).random(graph.num_edges)
    policy = greedy_policy(graph, STATE_ACTION, values, "first")
    measure.policy(policy)
    times = []
    for _ in range(500):
        began = time.thread_time_ns()
        measure.policy(policy)
        times.append((time.thread_time_ns() - began) / 1_000)
    yield Measure("exact win, draw, loss and best response", "µs", median(times), None, 100, at_least=False)


def measure_all() -> Iterator[Measure | Missing]:
    yield from against_c()
    yield from against_plain_python()
    yield from against_open_spiel()
    yield from exact_evaluation()
