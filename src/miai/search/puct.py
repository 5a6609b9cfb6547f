"""PUCT in batches, the search of AlphaGo ("asynchronous policy and value MCTS"): the compiled phases of a simulation.

Silver et al., "Mastering the game of Go with deep neural networks and tree search" (Nature 2016), Methods, "Search
algorithm". Start reading at `select`, then the phases in the order in which `search.puct_searcher` calls them:

1. `descend`: a batch of descents from the root, each to a leaf. A descent under way counts as `virtual_loss` lost games
   on its path, so that the next one goes elsewhere;
2. (not here) the networks look at the leaves that `asks` names, all at once;
3. `take_in`: leaves learn their value, and those that are due get children with priors;
4. `play_out`: playouts from each leaf;
5. `back_up`: (1 − λ)·v + λ·z is counted on the paths, and virtual losses are taken back.

Everything here is compiled, allocates nothing, and works on one thread's arrays. The letters are the paper's.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from miai.compiled import Index, kernel
from miai.games.go.board import (
    BLACK,
    CELLS,
    COLOUR,
    EMPTY,
    KO,
    NUM_EMPTY,
    PASS_POINT,
    POINTS,
    SIZE,
    copy_board,
    is_sensible,
    point_of,
)
from miai.games.go.boards import Boards, copy_to, play_on
from miai.games.go.compiled import inlined
from miai.games.go.coordinates import MAX_SIZE
from miai.games.go.scoring import area_difference, quick_area_difference
from miai.search.go import MAX_DESCENT
from miai.search.patterns import pattern_table
from miai.search.playouts import LEARNED, MOVES_PER_POINT, PATTERN, UNIFORM, pattern_playout, uniform_playout
from miai.search.puct_tree import UNEVALUATED, PuctTree, add_children
from miai.search.rollouts import RolloutPolicy, RolloutState, rollout_playout, rollout_probabilities
from miai.search.tree import MAX_CHILDREN, NO_CHILDREN, ROOT, signed

# Where priors come from.
EVENLY, BY_NETWORK, BY_ROLLOUT = 0, 1, 2

# What a network is asked of a leaf (bits).
ASK_PRIORS, ASK_VALUE = 1, 2

# What became of a descent.
OPEN, ENDED, DROPPED = 0, 1, 2
"""The leaf is a position of a game under way; it is the end of the game; the descent is not counted."""

NO_ROW = -1

LEAST_CHANCE = 1e-9
"""The rollout policy never thinks less of a sensible move than that, as far as priors are concerned."""


class PuctRule(NamedTuple):
    """Options of the search, as the kernels want them."""

    c_puct: float
    fpu: float
    """Q of a move that was never tried, for the mover."""
    fpu_is_mean: bool
    """Whether Q of such a move is the node's own mean instead."""
    virtual_loss: int
    """Games that a descent under way counts for, all lost by the mover."""
    mixing: float
    """λ: 0 is the value network alone, 1 playouts alone."""
    expand_after: int
    """A leaf gets children with its visit of this number."""
    priors: int
    """EVENLY, BY_NETWORK, or BY_ROLLOUT: by the policy that playouts are drawn from."""
    temperature: float
    """Of the priors' softmax."""
    playout: int
    """UNIFORM, PATTERN or LEARNED."""
    num_playouts: int
    """Playouts from a leaf; z is their mean."""


class Root(NamedTuple):
    """The position that is searched. Read only."""

    board: Boards
    """One position."""
    passes: int
    """1 if the last move was a pass, so that another one ends the game; else 0."""
    komi: float
    allowed: np.ndarray
    """uint8[POINTS]: 1 where the game's rules (superko among them) allow the root's move."""


class Batch(NamedTuple):
    """The descents of a batch, at most B, and scratch. Modified in place by every phase."""

    path: np.ndarray
    """uint32[B, MAX_DESCENT + 1]: the edges of each descent, from the root."""
    length: np.ndarray
    """int32[B]: the number of edges of each path."""
    state: np.ndarray
    """uint8[B]: OPEN, ENDED or DROPPED."""
    row: np.ndarray
    """int32[B]: the row of the batch's boards where the leaf stands, or `NO_ROW`."""
    expands: np.ndarray
    """uint8[B]: whether the leaf is to get children."""
    asks: np.ndarray
    """uint8[B], by row: what a network is asked, ASK_PRIORS and ASK_VALUE."""
    logits: np.ndarray
    """float32[B, N²], by row: the policy network's answers."""
    values: np.ndarray
    """float32[B], by row: the value network's, from the mover's side."""
    result: np.ndarray
    """float64[B]: of the playouts, or of the game that ended; for the first player."""
    moves: np.ndarray
    """uint16[MAX_CHILDREN], moves of the node that is being expanded."""
    priors: np.ndarray
    """float32[MAX_CHILDREN], their priors."""
    owner: np.ndarray
    """uint8[POINTS], of scoring."""
    trace: np.ndarray
    """uint16[…], the moves of a playout."""
    patterns: np.ndarray
    """The table of `patterns.pattern_table`, shared and read only."""
    cells: np.ndarray
    liberties: np.ndarray
    """A board, for playouts but the last from a leaf."""
    chances: np.ndarray
    """float32[POINTS], what the rollout policy says of the points."""


def new_batch(size: int, board_size: int) -> Batch:
    return Batch(
        path=np.zeros((size, MAX_DESCENT + 1), np.uint32),
        length=np.zeros(size, np.int32),
        state=np.zeros(size, np.uint8),
        row=np.zeros(size, np.int32),
        expands=np.zeros(size, np.uint8),
        asks=np.zeros(size, np.uint8),
        logits=np.zeros((size, board_size**2), np.float32),
        values=np.zeros(size, np.float32),
        result=np.zeros(size, np.float64),
        moves=np.zeros(MAX_CHILDREN, np.uint16),
        priors=np.zeros(MAX_CHILDREN, np.float32),
        owner=np.zeros(POINTS, np.uint8),
        trace=np.zeros(MOVES_PER_POINT * MAX_SIZE**2 + 1, np.uint16),
        patterns=pattern_table(),
        cells=np.zeros(CELLS, np.uint16),
        liberties=np.zeros(POINTS, np.uint64),
        chances=np.zeros(POINTS, np.float32),
    )


# --- Selection --------------------------------------------------------------------------------------------------------


@inlined
def select(tree: PuctTree, node: int, rule: PuctRule, first_to_move: bool) -> int:
    """Return the child of an expanded node to follow: argmax Q + c_puct·P·√(Σ_b N_b) / (1 + N), the first of equals.

    Each descent under way counts in N as `virtual_loss` games that the mover lost. Before the first visit of any child,
    the sum is taken to be 1, so that priors decide.
    """
    first = np.uint64(tree.first_child[node])
    count = np.uint64(tree.num_children[node])
    total = 0
    for i in range(count):
        child = first + np.uint64(i)
        total += tree.visits[child] + rule.virtual_loss * tree.under_way[child]
    scale = rule.c_puct * math.sqrt(max(total, 1))
    sign = 1.0 if first_to_move else -1.0
    untried = rule.fpu
    if rule.fpu_is_mean:
        untried = sign * tree.value[node] / max(tree.visits[node], 1)
    for i in range(count):
        child = first + np.uint64(i)
        lost = rule.virtual_loss * tree.under_way[child]
        visits = tree.visits[child] + lost
        mean = (sign * tree.value[child] - lost) / max(visits, 1)
        q = mean if visits > 0 else untried
        tree.scores[i] = q + scale * tree.prior[child] / (1 + visits)
    best = np.uint64(0)
    for i in range(count):
        if tree.scores[i] > tree.scores[best]:
            best = np.uint64(i)
    return signed(first + best)


# --- The phases -------------------------------------------------------------------------------------------------------


@inlined
def _sign(score: float) -> float:
    return 1.0 if score > 0.0 else -1.0 if score < 0.0 else 0.0


@kernel
def open_root(tree: PuctTree, boards: Boards, root: Root, rule: PuctRule, batch: Batch) -> int:
    """Prepare the expansion of the root by `take_in` as a batch of one; return the rows that a network has to look at.

    It is not a simulation: nothing will be counted.
    """
    copy_to(root.board, 0, boards, 0)
    batch.path[0, 0] = ROOT
    batch.length[0] = 1
    batch.state[0] = OPEN
    batch.row[0] = 0
    batch.expands[0] = 1
    batch.asks[0] = ASK_PRIORS if rule.priors == BY_NETWORK else 0
    return 1 if rule.priors == BY_NETWORK else 0


@kernel
def descend(tree: PuctTree, boards: Boards, root: Root, rule: PuctRule, batch: Batch, count: int) -> int:
    """Descend `count` times; `tree` (virtual losses), `boards` and `batch` are modified in place.

    A descent to a leaf where another one of the batch stands already asks nothing again. With playouts it adds one of
    its own; without, it would count the same number twice, so it is dropped, and only pushes the next descent away.

    Returns:
        The rows from the first on that a network has to look at. Leaves that only want a playout fill the rows from the
        last one backwards.
    """
    front, back, reserved = 0, 0, 0
    for b in range(count):
        copy_to(root.board, 0, boards, front)
        passes = root.passes
        node = ROOT
        depth = 0
        batch.path[b, 0] = ROOT
        tree.under_way[ROOT] += 1
        while tree.first_child[node] != NO_CHILDREN and depth < MAX_DESCENT:
            node = signed(select(tree, node, rule, np.uint64(boards.to_play[front]) == BLACK))
            v = np.uint64(tree.move[node])
            play_on(boards, front, v)
            passes = passes + 1 if v == PASS_POINT else 0
            depth += 1
            batch.path[b, depth] = node
            tree.under_way[node] += 1
        batch.length[b] = depth + 1
        batch.row[b] = NO_ROW
        batch.expands[b] = 0
        if passes == 2:
            batch.state[b] = ENDED
            difference = signed(area_difference(boards.cells[front], batch.owner, batch.moves))
            batch.result[b] = _sign(difference - root.komi)
            continue
        is_first = tree.under_way[node] == 1
        if not is_first and rule.mixing == 0.0:
            batch.state[b] = DROPPED
            continue
        batch.state[b] = OPEN
        asks = 0
        if is_first:
            if rule.mixing < 1.0 and tree.leaf_value[node] == UNEVALUATED:
                asks |= ASK_VALUE
            most = signed(boards.cells[front, NUM_EMPTY]) + 1
            is_due = tree.first_child[node] == NO_CHILDREN and tree.visits[node] + 1 >= rule.expand_after
            if is_due and tree.used[0] + reserved + most <= len(tree.move):
                reserved += most
                batch.expands[b] = 1
                if rule.priors == BY_NETWORK:
                    asks |= ASK_PRIORS
        if asks:
            batch.row[b] = front
            batch.asks[front] = asks
            front += 1
        elif rule.mixing > 0.0 or batch.expands[b]:
            row = len(batch.row) - 1 - back
            if row != front:
                copy_to(boards, front, boards, row)
            batch.row[b] = row
            batch.asks[row] = 0
            back += 1
    return front


@kernel
def take_in(
    tree: PuctTree,
    boards: Boards,
    root: Root,
    rule: PuctRule,
    batch: Batch,
    count: int,
    policy: RolloutPolicy | None,
    state: RolloutState,
) -> None:
    """Keep the networks' answers at the leaves, and add children; `tree`, `batch` and `state` are modified in place."""
    for b in range(count):
        row = signed(batch.row[b])
        if row == NO_ROW:
            continue
        leaf = signed(batch.path[b, batch.length[b] - 1])
        if batch.asks[row] & ASK_VALUE:
            value = batch.values[row]
            tree.leaf_value[leaf] = value if np.uint64(boards.to_play[row]) == BLACK else -value
        if batch.expands[b]:
            moves = _find_children(boards, row, leaf, root, rule, batch, policy, state)
            add_children(tree, leaf, batch.moves, batch.priors, moves)


@kernel
def play_out(
    boards: Boards,
    root: Root,
    rule: PuctRule,
    batch: Batch,
    count: int,
    policy: RolloutPolicy | None,
    state: RolloutState,
    rng: np.ndarray,
) -> None:
    """Play every open leaf out; the boards of the batch, its results, `state` and `rng` are modified in place."""
    for b in range(count):
        if batch.state[b] != OPEN:
            continue
        row = signed(batch.row[b])
        cells, liberties, colour = boards.cells[row], boards.liberties[row], np.uint64(boards.to_play[row])
        total = 0.0
        for _ in range(rule.num_playouts - 1):
            copy_board(cells, liberties, batch.cells, batch.liberties)
            total += _play_out_once(batch.cells, batch.liberties, colour, root, rule, batch, policy, state, rng)
        total += _play_out_once(cells, liberties, colour, root, rule, batch, policy, state, rng)
        batch.result[b] = total / rule.num_playouts


@kernel
def _play_out_once(
    cells: np.ndarray,
    liberties: np.ndarray,
    colour: np.uint64,
    root: Root,
    rule: PuctRule,
    batch: Batch,
    policy: RolloutPolicy | None,
    state: RolloutState,
    rng: np.ndarray,
) -> float:
    """Play a board out, and return the result for the first player; board, `state` and `rng` are modified in place."""
    kind = rule.playout
    if policy is not None:  # noqa: SIM102  # Numba leaves out a branch on `None` alone, and with it what it calls.
        if kind == LEARNED:
            rollout_playout(cells, liberties, colour, rng, batch.trace, 0, policy, state)
    if kind == UNIFORM:
        uniform_playout(cells, liberties, colour, rng, batch.trace, 0)
    elif kind == PATTERN:
        pattern_playout(cells, liberties, colour, rng, batch.trace, 0, batch.patterns)
    return _sign(signed(quick_area_difference(cells)) - root.komi)


@kernel
def back_up(tree: PuctTree, rule: PuctRule, batch: Batch, count: int) -> int:
    """Count the results on the paths and take virtual losses back; return the number of simulations that count."""
    counted = 0
    for b in range(count):
        result = 0.0
        visit = 1
        if batch.state[b] == DROPPED:
            visit = 0
        elif batch.state[b] == ENDED:
            result = batch.result[b]
        else:
            if rule.mixing < 1.0:
                leaf = signed(batch.path[b, batch.length[b] - 1])
                result = (1.0 - rule.mixing) * tree.leaf_value[leaf]
            if rule.mixing > 0.0:
                result += rule.mixing * batch.result[b]
        for i in range(batch.length[b]):
            edge = signed(batch.path[b, i])
            tree.under_way[edge] -= 1
            tree.visits[edge] += visit
            tree.value[edge] += result
        counted += visit
    return counted


# --- Expansion --------------------------------------------------------------------------------------------------------


@inlined
def _find_children(
    boards: Boards,
    row: Index,
    node: int,
    root: Root,
    rule: PuctRule,
    batch: Batch,
    policy: RolloutPolicy | None,
    state: RolloutState,
) -> int:
    """Write the sensible moves of a position in the order of their points, then the pass, to `batch`; return how many.

    Networks know no pass, so a rule gives it a prior: it is one of n + 1 moves, and has 1 / (n + 1). The n points
    share the rest by their softmax. On an open board that is next to nothing; as the points run out, it grows.
    """
    cells, liberties, colour = boards.cells[row], boards.liberties[row], np.uint64(boards.to_play[row])
    size = signed(cells[SIZE])
    if policy is not None:  # noqa: SIM102  # Numba leaves out a branch on `None` alone, and with it what it calls.
        if rule.priors == BY_ROLLOUT:
            rollout_probabilities(cells, liberties, colour, policy, state, batch.chances)
    count = 0
    largest = -np.inf
    for flat in range(size * size):
        v = point_of(flat, size)
        if cells[COLOUR + v] != EMPTY or v == cells[KO] or not is_sensible(cells, liberties, v, colour):
            continue
        if node == ROOT and not root.allowed[v]:
            continue
        logit = 0.0
        if rule.priors == BY_NETWORK:
            logit = batch.logits[row, flat] / rule.temperature
        elif rule.priors == BY_ROLLOUT:
            logit = math.log(max(batch.chances[v], LEAST_CHANCE)) / rule.temperature
        batch.moves[count] = v
        batch.priors[count] = logit
        largest = max(largest, logit)
        count += 1
    total = 0.0
    for i in range(count):
        weight = math.exp(batch.priors[i] - largest)
        batch.priors[i] = weight
        total += weight
    for i in range(count):
        batch.priors[i] *= count / ((count + 1) * total)
    batch.moves[count] = PASS_POINT
    batch.priors[count] = 1.0 / (count + 1)
    return count + 1
