"""The searcher by PUCT: grows a tree for the position of a game in batches, within a budget, and chooses a move.

Start reading at `PuctSearcher.search`, then `_run_batch`, which calls the phases of `search.puct` in turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from miai.errors import MiaiError
from miai.games.game import PASS, RESIGN, Game
from miai.games.go import GoGame
from miai.games.go.boards import Boards, from_game, new_boards
from miai.search.config import SearchConfig
from miai.search.passing import ENOUGH_VISITS, certain_value, must_pass, prefers_pass
from miai.search.puct import Batch, Root, back_up, descend, new_batch, open_root, play_out, take_in
from miai.search.puct_config import LeafEvaluator, PuctConfig, PuctResult
from miai.search.puct_tree import PuctTree, children, follow, most_visited_line, new_puct_tree, prune_root, reset
from miai.search.request import Standing, settle_budget
from miai.search.rollouts import new_state
from miai.search.tree import NO_CHILDREN, ROOT
from miai.search.worlds import GoWorld

REPORT_SECONDS = 0.05
"""Whoever looks on hears about this often."""

MAX_VISITS = 2**30
"""A root with more visits ends a search, whatever its budget: edges count up to 2³¹ − 1."""


class PuctSearcher:
    """Searches Go by one configuration, on one thread. `close` it after use.

    Args:
        config: what to do.
        evaluator: the networks, if there are any. Without a policy network, priors come from the configuration's
            rollout policy; without that too, all moves have the same.

    Raises:
        MiaiError: the configuration needs a value network, and there is none; or has a rollout policy of no use.
    """

    def __init__(self, config: PuctConfig, evaluator: LeafEvaluator | None = None) -> None:
        self.config = config
        self._evaluator = evaluator
        self._rule = config.rule(
            evaluator is not None and evaluator.gives_priors, evaluator is not None and evaluator.gives_values
        )
        # Of the world only what it knows of positions and moves is of use here, which its configuration has no part in.
        self._world = GoWorld(SearchConfig())
        self._policy = config.rollout
        self._state = new_state()
        self._tree: PuctTree | None = None
        self._boards: Boards | None = None
        self._batch: Batch | None = None
        self._root: Root | None = None
        self._standing = Standing()
        self._phases: dict[str, float] = {}

    def new_game(self, game: Game) -> None:
        """Forget the tree and get ready for a game.

        Raises:
            MiaiError: it is not Go, or not of the networks' board size.
        """
        if not isinstance(game, GoGame):
            raise MiaiError(f"apv_mcts: it plays Go, not {game.name}.")
        if self._evaluator is not None and self._evaluator.board_size != game.size:
            size = self._evaluator.board_size
            raise MiaiError(f"apv_mcts: its networks are for {size}×{size} boards, not for {game.size}×{game.size}.")
        if self._boards is None or self._world.size != game.size:
            self._boards = new_boards(self.config.batch_size, game.size)
            self._batch = new_batch(self.config.batch_size, game.size)
        self._world.size = game.size
        self._standing.forget()

    def search(
        self,
        game: Game,
        rng: np.random.Generator,
        *,
        num_simulations: int | None = None,
        seconds: float | None = None,
        on_progress: Callable[[PuctResult], object] | None = None,
    ) -> PuctResult:
        """Search the position of a game, which is not changed.

        Args:
            game: not over yet.
            rng: for playouts and random symmetries.
            num_simulations: in place of the configuration's budget.
            seconds: in place of the configuration's budget; with both, whichever ends first.
            on_progress: called every few hundredths of a second with what is known so far; the search ends when it
                returns `False` (not `None`).

        Raises:
            MiaiError: the networks cannot look at that game.
            ValueError: the game is over, or a budget is not positive.
        """
        num_simulations, seconds = settle_budget(game, self.config, num_simulations, seconds)
        started = time.perf_counter()
        if not isinstance(game, GoGame) or game.size != self._world.size or self._boards is None:
            self.new_game(game)
        assert isinstance(game, GoGame)
        if must_pass(game):
            return PuctResult(PASS, value=certain_value(game), pv=(PASS,))
        self._get_ready(game)
        stream = rng.integers(0, 2**64, 4, np.uint64, endpoint=False)
        self._phases = {"tree": 0.0, "networks": 0.0, "playouts": 0.0}
        self._open_root(rng)

        deadline = None if seconds is None else started + seconds
        report_at = started + REPORT_SECONDS
        done = 0
        going = True
        while going:
            most = self.config.batch_size
            done += self._run_batch(most if num_simulations is None else min(most, num_simulations - done), rng, stream)
            now = time.perf_counter()
            going = num_simulations is None or done < num_simulations
            if (deadline is not None and now >= deadline) or self._root_visits() > MAX_VISITS:
                going = False
            if going and on_progress is not None and now >= report_at:
                report_at = now + REPORT_SECONDS
                if on_progress(self._result(game, done, now - started)) is False:
                    going = False
        return self._result(game, done, time.perf_counter() - started)

    def close(self) -> None:
        """Let go of the tree. May be called twice."""
        self._tree = self._boards = self._batch = self._root = None
        self._standing.forget()

    # --- Getting ready ------------------------------------------------------------------------------------------------

    def _get_ready(self, game: GoGame) -> None:
        """Keep the part of the tree that the game went into since the last search, or begin anew; set the root."""
        if not self.config.reuse_tree:
            self._standing.forget()
        path = self._standing.advance(self._world, game)
        if self._tree is None:
            self._tree = new_puct_tree(self.config.max_edges)
        if path is None:
            reset(self._tree)
        else:
            follow(self._tree, path)
        self._world.look_at(game)
        board = new_boards(1, game.size)
        from_game(board, 0, game)
        position = self._world.position
        self._root = Root(board=board, passes=position.passes, komi=position.komi, allowed=position.allowed)
        # Below the root the rules are the board's own; what is kept was grown without the game's superko.
        prune_root(self._tree, self._world.is_allowed)

    def _open_root(self, rng: np.random.Generator) -> None:
        """Give the root children, if it has none, so that every simulation visits a move."""
        tree, boards, batch, root = self._arrays()
        if tree.first_child[ROOT] == NO_CHILDREN:
            self._evaluate(open_root(tree, boards, root, self._rule, batch), rng)
            take_in(tree, boards, root, self._rule, batch, 1, self._policy, self._state)

    def _arrays(self) -> tuple[PuctTree, Boards, Batch, Root]:
        assert self._tree is not None
        assert self._boards is not None
        assert self._batch is not None
        assert self._root is not None
        return self._tree, self._boards, self._batch, self._root

    # --- Running ------------------------------------------------------------------------------------------------------

    def _run_batch(self, count: int, rng: np.random.Generator, stream: np.ndarray) -> int:
        """Run a batch of `count` descents; return how many of them count as simulations, at least one."""
        tree, boards, batch, root = self._arrays()
        rule = self._rule
        times = [time.perf_counter()]
        asking = descend(tree, boards, root, rule, batch, count)
        times.append(time.perf_counter())
        self._evaluate(asking, rng)
        times.append(time.perf_counter())
        take_in(tree, boards, root, rule, batch, count, self._policy, self._state)
        times.append(time.perf_counter())
        if rule.mixing > 0:
            play_out(boards, root, rule, batch, count, self._policy, self._state, stream)
        times.append(time.perf_counter())
        counted = back_up(tree, rule, batch, count)
        times.append(time.perf_counter())
        for phase, took in zip(("tree", "networks", "tree", "playouts", "tree"), np.diff(times).tolist(), strict=True):
            self._phases[phase] += took
        return int(counted)

    def _evaluate(self, count: int, rng: np.random.Generator) -> None:
        if count:
            _, boards, batch, _ = self._arrays()
            assert self._evaluator is not None
            self._evaluator.evaluate(boards, count, batch.asks[:count], rng, batch.logits[:count], batch.values[:count])

    def _root_visits(self) -> int:
        assert self._tree is not None
        return int(self._tree.visits[ROOT])

    # --- Looking at the tree ------------------------------------------------------------------------------------------

    def _result(self, game: GoGame, simulations: int, seconds: float) -> PuctResult:
        tree = self._arrays()[0]
        edges = children(tree, ROOT)
        moves = self._world.line(tree.move[edges].tolist())
        visits = dict(zip(moves, tree.visits[edges].tolist(), strict=True))
        priors = dict(zip(moves, tree.prior[edges].tolist(), strict=True))
        totals = dict(zip(moves, (tree.value[edges] * game.to_play).tolist(), strict=True))
        values = {move: 0.5 + 0.5 * totals[move] / count for move, count in visits.items() if count}
        move = _choose(visits, values, priors)
        if prefers_pass(game, visits, values, move):
            move = PASS
        value = values.get(move, 0.5)
        child = int(edges[moves.index(move)])
        pv = (move, *self._world.line(most_visited_line(tree, child)))
        if value < self.config.resign_threshold:
            move = RESIGN
        return PuctResult(move, value, visits, values, pv, simulations, seconds, priors, dict(self._phases))


def _choose(visits: dict[int, int], values: dict[int, float], priors: dict[int, float]) -> int:
    """Return the most visited move; of equals the better one, then the one of the higher prior, then the first."""
    if visits.get(PASS, 0) < ENOUGH_VISITS and len(visits) > 1:
        visits = {move: count for move, count in visits.items() if move != PASS}
    return max(visits, key=lambda move: (visits[move], values.get(move, -1.0), priors[move]))
