"""The searcher: grows trees for the position of a game, within a budget, and chooses a move.

Start reading at `Searcher.search`. Each thread has a tree and a random stream of its own; their statistics are added up
when somebody looks (root parallelism: Chaslot, Winands and van den Herik 2008). What a thread does depends only
on its stream and its number of simulations, so a budget in simulations gives the same result every time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from miai.games.game import PASS, RESIGN, Game
from miai.games.go import GoGame
from miai.search.config import SearchConfig, SearchResult
from miai.search.passing import ENOUGH_VISITS, certain_value, must_pass, prefers_pass
from miai.search.request import Standing, settle_budget
from miai.search.tree import NO_CHILDREN, ROOT, Tree, new_tree, promote, prune_root, reset
from miai.search.worlds import World, world_for

FIRST_CHUNK = 64
CHUNK_SECONDS = 0.05
"""Threads come back to the caller about this often, to look at the clock and to report."""

MAX_VISITS = 2**30
"""A root with more visits ends a search, whatever its budget: edges count up to 2³¹ − 1."""


@dataclass
class _Worker:
    """One thread's tree, workspace and random stream."""

    tree: Tree
    work: Any
    rng: np.ndarray = field(default_factory=lambda: np.zeros(4, np.uint64))


class Searcher:
    """Searches by one configuration. Not for use by several threads at once; `close` it after use.

    Args:
        config: what to do.
    """

    def __init__(self, config: SearchConfig) -> None:
        self.config = config
        self._world: World | None = None
        self._workers: list[_Worker] = []
        self._pool: ThreadPoolExecutor | None = None
        self._standing = Standing()

    def new_game(self, game: Game) -> None:
        """Forget the tree and get ready for a game.

        Raises:
            MiaiError: this configuration cannot search that game.
        """
        if not (self._world and self._world.knows(game)):
            self._world = world_for(game, self.config)
            self._workers = []
        self._standing.forget()

    def search(
        self,
        game: Game,
        rng: np.random.Generator,
        *,
        num_simulations: int | None = None,
        seconds: float | None = None,
        on_progress: Callable[[SearchResult], object] | None = None,
    ) -> SearchResult:
        """Search the position of a game, which is not changed.

        Args:
            game: not over yet.
            rng: where the random streams of the threads come from.
            num_simulations: in place of the configuration's budget.
            seconds: in place of the configuration's budget; with both, whichever ends first.
            on_progress: called every few hundredths of a second with what is known so far; the search ends when it
                returns `False` (not `None`).

        Raises:
            MiaiError: this configuration cannot search that game.
            ValueError: the game is over, or a budget is not positive.
        """
        num_simulations, seconds = settle_budget(game, self.config, num_simulations, seconds)
        started = time.perf_counter()
        if isinstance(game, GoGame) and must_pass(game):
            return SearchResult(PASS, value=certain_value(game), pv=(PASS,))
        self._get_ready(game, rng)

        deadline = None if seconds is None else started + seconds
        shares = _shares(num_simulations, len(self._workers))
        done = 0
        chunk = FIRST_CHUNK
        going = True
        while going:
            counts = [chunk if share is None else min(chunk, share) for share in shares]
            began = time.perf_counter()
            self._run(counts)
            now = time.perf_counter()
            done += sum(counts)
            shares = [None if share is None else share - count for share, count in zip(shares, counts, strict=True)]
            going = any(shares) if num_simulations is not None else True
            if (deadline is not None and now >= deadline) or self._root_visits() > MAX_VISITS:
                going = False
            if going and on_progress is not None and on_progress(self._result(game, done, now - started)) is False:
                going = False
            chunk = self._next_chunk(chunk, now - began, None if deadline is None else deadline - now)
        return self._result(game, done, time.perf_counter() - started)

    def close(self) -> None:
        """Let go of threads and trees. May be called twice."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
        self._workers = []
        self._standing.forget()

    # --- Getting ready ------------------------------------------------------------------------------------------------

    def _get_ready(self, game: Game, rng: np.random.Generator) -> None:
        if not (self._world and self._world.knows(game)):
            self.new_game(game)
        assert self._world is not None
        if not self._workers:
            self._workers = [
                _Worker(new_tree(self.config.max_edges), self._world.new_workspace())
                for _ in range(self.config.threads)
            ]
            self._standing.forget()
        self._advance_trees(game)
        self._world.look_at(game)
        for worker in self._workers:
            # Below the root the rules are the board's own; what is kept was grown without the game's superko.
            prune_root(worker.tree, self._world.is_allowed)
            worker.rng[:] = rng.integers(0, 2**64, 4, np.uint64, endpoint=False)

    def _advance_trees(self, game: Game) -> None:
        """Keep the part of each tree that the game went into since the last search, or begin anew."""
        assert self._world is not None
        if not self.config.reuse_tree:
            self._standing.forget()
        path = self._standing.advance(self._world, game)
        for worker in self._workers:
            if path is None:
                reset(worker.tree)
            else:
                _follow(worker.tree, path)

    # --- Running ------------------------------------------------------------------------------------------------------

    def _run(self, counts: list[int]) -> None:
        assert self._world is not None
        if len(self._workers) == 1:
            worker = self._workers[0]
            self._world.simulate(worker.tree, worker.work, worker.rng, counts[0])
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(len(self._workers), thread_name_prefix="search")
        jobs = [
            self._pool.submit(self._world.simulate, worker.tree, worker.work, worker.rng, count)
            for worker, count in zip(self._workers, counts, strict=True)
        ]
        for job in jobs:
            job.result()

    @staticmethod
    def _next_chunk(chunk: int, took: float, left: float | None) -> int:
        """Return how many simulations a thread should run next, so that it comes back in time."""
        pace = chunk / max(took, 1e-6)
        wanted = CHUNK_SECONDS if left is None else min(CHUNK_SECONDS, max(left, 0.0005))
        return int(min(max(pace * wanted, 1), 4 * chunk))

    def _root_visits(self) -> int:
        return max(int(worker.tree.visits[ROOT]) for worker in self._workers)

    # --- Looking at the trees -----------------------------------------------------------------------------------------

    def _result(self, game: Game, simulations: int, seconds: float) -> SearchResult:
        assert self._world is not None
        visits: dict[int, int] = {}
        totals: dict[int, float] = {}
        for worker in self._workers:
            tree = worker.tree
            children = _children(tree, ROOT)
            for move, count, value in zip(
                (self._world.line([move])[0] for move in tree.move[children].tolist()),
                tree.visits[children].tolist(),
                tree.value[children].tolist(),
                strict=True,
            ):
                visits[move] = visits.get(move, 0) + count
                totals[move] = totals.get(move, 0.0) + value
        order = sorted(visits, key=lambda move: (move == PASS, move))
        visits = {move: visits[move] for move in order}
        first = game.to_play == 1
        values = {
            move: totals[move] / count if first else 1.0 - totals[move] / count
            for move, count in visits.items()
            if count
        }
        move = self._choose(visits, values)
        if isinstance(game, GoGame) and prefers_pass(game, visits, values, move):
            move = PASS
        value = values.get(move, 0.5)
        pv = self._principal_variation(move)
        if isinstance(game, GoGame) and value < self.config.resign_threshold:
            move = RESIGN
        return SearchResult(move, value, visits, values, pv, simulations, seconds)

    def _choose(self, visits: dict[int, int], values: dict[int, float]) -> int:
        """Return the best mean (flat Monte Carlo) or the most visited move; of equals the better, then the first."""
        if visits.get(PASS, 0) < ENOUGH_VISITS and len(visits) > 1:
            visits = {move: count for move, count in visits.items() if move != PASS}
        if self.config.algorithm == "flat_mc":
            return max(visits, key=lambda move: values.get(move, -1.0))
        return max(visits, key=lambda move: (visits[move], values.get(move, -1.0)))

    def _principal_variation(self, move: int) -> tuple[int, ...]:
        """Follow the most visited moves in the tree that knows most about `move`."""
        assert self._world is not None
        best: list[int] = []
        most = -1
        for worker in self._workers:
            tree = worker.tree
            for child in _children(tree, ROOT).tolist():
                first = int(tree.move[child])
                if tree.visits[child] > most and self._world.line([first])[0] == move:
                    most = int(tree.visits[child])
                    best = [first, *_most_visited_line(tree, child)]
        return self._world.line(best)


def _shares(total: int | None, parts: int) -> list[int | None]:
    """Split a number of simulations into shares that differ by one at most; without a number, no bound."""
    if total is None:
        return [None] * parts
    return [total // parts + (part < total % parts) for part in range(parts)]


def _children(tree: Tree, node: int) -> np.ndarray:
    first = int(tree.first_child[node])
    count = int(tree.num_children[node]) if first != NO_CHILDREN else 0
    return np.arange(first, first + count)


def _most_visited_line(tree: Tree, node: int) -> list[int]:
    line: list[int] = []
    while True:
        children = _children(tree, node)
        if len(children) == 0 or not tree.visits[children].any():
            return line
        node = int(children[np.argmax(tree.visits[children])])
        line.append(int(tree.move[node]))


def _follow(tree: Tree, path: tuple[int, ...]) -> None:
    """Make the node at the end of a path from the root the new root; begin anew if the tree does not hold it."""
    for move in path:
        children = _children(tree, ROOT)
        found = np.flatnonzero(tree.move[children] == move)
        if len(found) == 0:
            reset(tree)
            return
        promote(tree, int(children[found[0]]))
