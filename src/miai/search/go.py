"""Simulations of Go: descend, add a leaf, play it out, and count the result.

Start reading at `simulate`. Everything here is compiled, allocates nothing, and works on the arrays of one thread.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from miai.compiled import kernel
from miai.games.go.board import (
    BLACK,
    BOTH,
    CELLS,
    EMPTIES,
    KO,
    NUM_EMPTY,
    PASS_POINT,
    POINTS,
    copy_board,
    is_sensible,
    play,
)
from miai.games.go.compiled import inlined
from miai.games.go.coordinates import MAX_SIZE
from miai.games.go.scoring import area_difference, quick_area_difference
from miai.search import priors
from miai.search.drawing import below_point
from miai.search.patterns import pattern_table
from miai.search.playouts import MOVES_PER_POINT, PATTERN, UNIFORM, pattern_playout, uniform_playout
from miai.search.rollouts import (
    RolloutPolicy,
    RolloutState,
    new_state,
    rollout_playout,
    rollout_probabilities,
)
from miai.search.selection import Rule, select
from miai.search.tree import NO_CHILDREN, ROOT, Tree, add_children, back_up, signed

MAX_DESCENT = 1024
"""A descent never makes more moves than this; it is evaluated where it stands then."""

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class Workspace(NamedTuple):
    """What a thread needs besides its tree; every array is modified in place by `simulate`."""

    cells: np.ndarray
    liberties: np.ndarray
    """The board of the simulation under way (see `games.go.board`)."""
    path: np.ndarray
    """uint32[MAX_DESCENT + 1]: the edges of the descent, from the root."""
    trace: np.ndarray
    """uint16[…]: every move of the simulation in order, passes included."""
    first_mover: np.ndarray
    """uint8[POINTS]: who played first on a point, after the position that is being counted."""
    moves: np.ndarray
    """uint16[POINTS]: moves of the node that is being expanded."""
    prior_visits: np.ndarray
    prior_wins: np.ndarray
    """float32[POINTS]: what `search.priors` says of these moves: virtual playouts, and those of them that are won."""
    patterns: np.ndarray
    """The table of `patterns.pattern_table`, shared and read only."""
    state: RolloutState
    probabilities: np.ndarray
    """float32[POINTS]: of the moves of the node that is being expanded, with learned playouts."""


def new_workspace() -> Workspace:
    return Workspace(
        cells=np.zeros(CELLS, np.uint16),
        liberties=np.zeros(POINTS, np.uint64),
        path=np.zeros(MAX_DESCENT + 1, np.uint32),
        trace=np.zeros(MAX_DESCENT + MOVES_PER_POINT * MAX_SIZE**2 + 1, np.uint16),
        first_mover=np.zeros(POINTS, np.uint8),
        moves=np.zeros(POINTS, np.uint16),
        prior_visits=np.zeros(POINTS, np.float32),
        prior_wins=np.zeros(POINTS, np.float32),
        patterns=pattern_table(),
        state=new_state(),
        probabilities=np.zeros(POINTS, np.float32),
    )


class Position(NamedTuple):
    """The position that is searched. Read only."""

    cells: np.ndarray
    liberties: np.ndarray
    to_play: np.uint64
    """BLACK or WHITE."""
    passes: int
    """1 if the last move was a pass, so that another one ends the game; else 0."""
    komi: float
    allowed: np.ndarray
    """uint8[POINTS]: 1 where the game's rules (superko among them) allow the root's move."""


@kernel
def simulate(
    tree: Tree,
    position: Position,
    rule: Rule,
    playout: int,
    policy: RolloutPolicy | None,
    work: Workspace,
    rng: np.ndarray,
    count: int,
) -> None:
    """Run `count` simulations; `tree`, `work` and `rng` are modified in place.

    `policy` is that of learned playouts, `None` with others: then their code, a good half of all, is not compiled.
    """
    for _ in range(count):
        copy_board(position.cells, position.liberties, work.cells, work.liberties)
        colour = position.to_play
        passes = position.passes
        node = ROOT
        depth = 0
        work.path[0] = ROOT
        while depth < rule.max_depth and depth < MAX_DESCENT and passes < 2:
            if tree.first_child[node] == NO_CHILDREN:
                if depth > 0 and tree.visits[node] < rule.expand_after:
                    break
                if not _expand(tree, node, position, work, colour, playout, policy, rule.priors, rng):
                    break
            node = signed(select(tree, node, rule, colour == BLACK))
            v = np.uint64(tree.move[node])
            play(work.cells, work.liberties, v, colour)
            work.trace[depth] = v
            passes = passes + 1 if v == PASS_POINT else 0
            colour = BOTH - colour
            depth += 1
            work.path[depth] = node
        end = depth
        if passes == 2:
            difference = signed(area_difference(work.cells, work.first_mover, work.moves))
        else:
            if policy is not None:
                end += rollout_playout(work.cells, work.liberties, colour, rng, work.trace, depth, policy, work.state)
            elif playout == UNIFORM:
                end += uniform_playout(work.cells, work.liberties, colour, rng, work.trace, depth)
            else:
                end += pattern_playout(work.cells, work.liberties, colour, rng, work.trace, depth, work.patterns)
            difference = signed(quick_area_difference(work.cells))
        score = difference - position.komi
        result = 1.0 if score > 0.0 else 0.0 if score < 0.0 else 0.5
        back_up(tree, work.path, depth + 1, result)
        if rule.rave:
            _count_all_moves_as_first(tree, work, position.to_play, depth, end, result)


@inlined
def _expand(
    tree: Tree,
    node: int,
    position: Position,
    work: Workspace,
    colour: np.uint64,
    playout: int,
    policy: RolloutPolicy | None,
    with_priors: bool,
    rng: np.ndarray,
) -> bool:
    """Add the sensible moves, then the pass, as children of `node`; tell whether there was room.

    The order decides what is tried first. It is random, but with pattern playouts moves come by what their prior
    expects of them (whether or not the tree also counts priors as playouts), with learned ones by their probability.
    """
    cells = work.cells
    moves = work.moves
    ko = cells[KO]
    count = _ZERO
    for i in range(cells[NUM_EMPTY]):
        v = np.uint64(cells[EMPTIES + np.uint64(i)])
        if v == ko or not is_sensible(cells, work.liberties, v, colour):
            continue
        if node == ROOT and not position.allowed[v]:
            continue
        # Inside-out shuffle: the new move takes a random place, and what stood there goes to the end.
        place = below_point(rng, count + _ONE)
        moves[count] = moves[place]
        moves[place] = v
        count += _ONE
    if playout == PATTERN or with_priors:
        for i in range(count):
            visits, wins = priors.prior(cells, work.liberties, np.uint64(moves[i]), colour, work.patterns)
            work.prior_visits[i] = visits
            work.prior_wins[i] = wins
    if playout == PATTERN:
        _sort_by_prior(work, count)
    if policy is not None:
        rollout_probabilities(cells, work.liberties, colour, policy, work.state, work.probabilities)
        _sort_by_probability(work, count)
    moves[count] = PASS_POINT
    work.prior_visits[count] = priors.PASS
    work.prior_wins[count] = 0.0
    if not add_children(tree, node, moves, signed(count) + 1):
        return False
    if with_priors:
        first = signed(tree.first_child[node])
        for i in range(signed(count) + 1):
            visits, wins = work.prior_visits[i], work.prior_wins[i]
            tree.prior_visits[first + i] = visits
            tree.prior_value[first + i] = wins if colour == BLACK else visits - wins
    return True


@inlined
def _sort_by_prior(work: Workspace, count: np.uint64) -> None:
    """Sort moves by their prior mean, best first; those that are equal keep their order (insertion sort)."""
    for i in range(1, signed(count)):
        move, visits, wins = work.moves[i], work.prior_visits[i], work.prior_wins[i]
        place = i
        while place > 0 and work.prior_wins[place - 1] * visits < wins * work.prior_visits[place - 1]:
            work.moves[place] = work.moves[place - 1]
            work.prior_visits[place] = work.prior_visits[place - 1]
            work.prior_wins[place] = work.prior_wins[place - 1]
            place -= 1
        work.moves[place] = move
        work.prior_visits[place] = visits
        work.prior_wins[place] = wins


@inlined
def _sort_by_probability(work: Workspace, count: np.uint64) -> None:
    """Sort moves, with their priors, by their probability, likeliest first (insertion sort)."""
    for i in range(1, signed(count)):
        move, visits, wins = work.moves[i], work.prior_visits[i], work.prior_wins[i]
        probability = work.probabilities[move]
        place = i
        while place > 0 and work.probabilities[work.moves[place - 1]] < probability:
            work.moves[place] = work.moves[place - 1]
            work.prior_visits[place] = work.prior_visits[place - 1]
            work.prior_wins[place] = work.prior_wins[place - 1]
            place -= 1
        work.moves[place] = move
        work.prior_visits[place] = visits
        work.prior_wins[place] = wins


@inlined
def _count_all_moves_as_first(
    tree: Tree, work: Workspace, to_play: np.uint64, depth: int, end: int, result: float
) -> None:
    """Count the result for every sibling along the path that its mover played later on (AMAF, "all moves as first")."""
    for v in range(POINTS):
        work.first_mover[v] = 0
    for i in range(end - 1, -1, -1):
        colour = to_play if i % 2 == 0 else BOTH - to_play
        if work.trace[i] != PASS_POINT:
            work.first_mover[work.trace[i]] = colour
        if i <= depth:
            node = np.int64(work.path[i])
            first = signed(tree.first_child[node])
            if first != NO_CHILDREN:
                for child in range(first, first + tree.num_children[node]):
                    if work.first_mover[tree.move[child]] == colour:
                        tree.rave_visits[child] += np.float32(1.0)
                        tree.rave_value[child] += np.float32(result)
