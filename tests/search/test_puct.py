"""PUCT phase by phase: selection and backup by hand, batches, and the whole against a slow reference."""

from __future__ import annotations

import numpy as np
import pytest
from tests.search.plain_puct import LinearNetworks, PlainNode, PlainPuct

from miai.compiled import kernel
from miai.games.game import PASS
from miai.games.go import GoGame
from miai.games.go.board import PASS_POINT, WHITE, flat_to_point
from miai.games.go.boards import from_game, new_boards
from miai.games.go.scoring import quick_area_difference
from miai.rng import stream
from miai.search.playouts import LEARNED, PATTERN
from miai.search.puct import (
    ASK_PRIORS,
    ASK_VALUE,
    BY_NETWORK,
    DROPPED,
    ENDED,
    EVENLY,
    OPEN,
    Batch,
    PuctRule,
    Root,
    back_up,
    descend,
    new_batch,
    play_out,
    select,
    take_in,
)
from miai.search.puct_config import PuctConfig
from miai.search.puct_searcher import PuctSearcher
from miai.search.puct_tree import PuctTree, add_children, children, new_puct_tree
from miai.search.rollout_features import NUM_WEIGHTS, SECTIONS, SELF_ATARI
from miai.search.rollouts import (
    RolloutPolicy,
    new_policy,
    new_state,
    rollout_playout,
    rollout_probabilities,
)
from miai.search.tree import ROOT


@kernel
def choose(tree: PuctTree, rule: PuctRule, first_to_move: bool) -> int:
    return select(tree, ROOT, rule, first_to_move)


@kernel
def expand(tree: PuctTree, node: int, moves: np.ndarray, priors: np.ndarray) -> bool:
    return add_children(tree, node, moves, priors, len(moves))


def rule(**options: object) -> PuctRule:
    plain = PuctRule(
        c_puct=1.0,
        fpu=0.0,
        fpu_is_mean=False,
        virtual_loss=3,
        mixing=0.5,
        expand_after=1,
        priors=BY_NETWORK,
        temperature=1.0,
        playout=PATTERN,
        num_playouts=1,
    )
    return plain._replace(**options)


def make_tree(*below: tuple[float, int, float], under_way: tuple[int, ...] = ()) -> PuctTree:
    """Return a tree of depth 1 from each child's (total for the first player, visits, prior)."""
    tree = new_puct_tree(100)
    count = len(below)
    assert expand(tree, ROOT, np.arange(1, count + 1, dtype=np.uint16), np.array([p for _, _, p in below], np.float32))
    for child, (value, visits, _) in enumerate(below, start=1):
        tree.value[child], tree.visits[child] = value, visits
    for child, descents in enumerate(under_way, start=1):
        tree.under_way[child] = descents
    tree.visits[ROOT] = sum(visits for _, visits, _ in below)
    tree.value[ROOT] = sum(value for value, _, _ in below)
    return tree


# --- Selection --------------------------------------------------------------------------------------------------------


def test_puct_by_hand() -> None:
    """√16 = 4. c = 1: 0.5 + 4·0.25/9 = 0.611; 0.25 + 4·0.25/9 = 0.361; 0 + 4·0.125/1 = 0.5. c = 2: 0.722, 0.472, 1."""
    tree = make_tree((4, 8, 0.25), (2, 8, 0.25), (0, 0, 0.125))
    assert choose(tree, rule(), True) == 1
    assert choose(tree, rule(c_puct=2.0), True) == 3
    # The second player's means are −0.5, −0.25 and, of the move never tried, 0.
    assert choose(tree, rule(c_puct=0.0), False) == 3
    assert choose(tree, rule(c_puct=0.0, fpu=-0.3), False) == 2
    assert choose(tree, rule(c_puct=0.0, fpu=-1.0), True) == 1


def test_a_move_never_tried_may_count_as_the_nodes_mean() -> None:
    """The node's mean is 0.25 for Black, −0.25 for White."""
    tree = make_tree((1, 2, 0.1), (0, 2, 0.1), (0, 0, 0.0))
    tree.value[ROOT], tree.visits[ROOT] = 1, 4
    assert choose(tree, rule(c_puct=0.0, fpu_is_mean=True), True) == 1
    assert choose(tree, rule(c_puct=0.0, fpu_is_mean=True), False) == 2
    tree.value[1] = 0.4
    assert choose(tree, rule(c_puct=0.0, fpu_is_mean=True), True) == 3


def test_priors_decide_the_first_descent_and_the_first_of_equals_wins() -> None:
    assert choose(make_tree((0, 0, 0.2), (0, 0, 0.5), (0, 0, 0.3)), rule(), True) == 2
    assert choose(make_tree((0, 0, 0.25), (0, 0, 0.25), (0, 0, 0.25)), rule(), False) == 1


def test_a_descent_under_way_counts_as_lost_games() -> None:
    """(4 − 3)/(4 + 3) = 0.143 for the mover, whoever it is, so the other child, at 0.5, is better."""
    for first_to_move in (True, False):
        sign = 1 if first_to_move else -1
        free = make_tree((4 * sign, 4, 0.1), (2 * sign, 4, 0.1))
        busy = make_tree((4 * sign, 4, 0.1), (2 * sign, 4, 0.1), under_way=(1, 0))
        assert choose(free, rule(c_puct=0.0), first_to_move) == 1
        assert choose(busy, rule(c_puct=0.0), first_to_move) == 2
        assert choose(busy, rule(c_puct=0.0, virtual_loss=0), first_to_move) == 1


# --- Backup -----------------------------------------------------------------------------------------------------------


def batch_of(*descents: tuple[list[int], int, float]) -> Batch:
    """Return a batch of descents, each its path, state, and result for the first player."""
    batch = new_batch(len(descents), 5)
    for b, (path, state, result) in enumerate(descents):
        batch.path[b, : len(path)] = path
        batch.length[b], batch.state[b], batch.result[b] = len(path), state, result
    return batch


def hand_built() -> PuctTree:
    """Return the root (0), Black's moves 1 and 2, and White's answers to 1: 3 and 4."""
    tree = new_puct_tree(10)
    half = np.full(2, 0.5, np.float32)
    assert expand(tree, ROOT, np.array([22, 23], np.uint16), half)
    assert expand(tree, 1, np.array([24, 25], np.uint16), half)
    return tree


def test_backup_by_hand() -> None:
    """One leaf after White's move 3, worth 0.5 to Black by the network, lost by the playout; one end that Black won."""
    tree = hand_built()
    tree.leaf_value[3] = 0.5
    tree.under_way[:5] = [2, 1, 1, 1, 0]
    batch = batch_of(([0, 1, 3], OPEN, -1.0), ([0, 2], ENDED, 1.0))
    assert back_up(tree, rule(mixing=0.25), batch, 2) == 2
    # 0.75 · 0.5 + 0.25 · (−1) = 0.125.
    assert tree.value[:5].tolist() == [1.125, 0.125, 1.0, 0.125, 0.0]
    assert tree.visits[:5].tolist() == [2, 1, 1, 1, 0]
    assert not tree.under_way[:5].any()
    # Black prefers the won move 2; of White's answers, 4, never tried and so at 0, beats 3, which is good for Black.
    assert choose(tree, rule(c_puct=0.0), True) == 2


@pytest.mark.parametrize(("mixing", "result"), [(0.0, 0.5), (1.0, -1.0), (0.5, -0.25)])
def test_the_limits_of_mixing(mixing: float, result: float) -> None:
    tree = hand_built()
    tree.leaf_value[3] = 0.5
    tree.under_way[:4] = [1, 1, 0, 1]
    back_up(tree, rule(mixing=mixing), batch_of(([0, 1, 3], OPEN, -1.0)), 1)
    assert tree.value[:4].tolist() == [result, result, 0.0, result]


def test_a_dropped_descent_only_takes_its_virtual_loss_back() -> None:
    tree = hand_built()
    tree.under_way[:4] = [1, 1, 0, 1]
    assert back_up(tree, rule(mixing=0.0), batch_of(([0, 1, 3], DROPPED, 0.0)), 1) == 0
    assert not tree.under_way[:5].any()
    assert not tree.visits[:5].any()
    assert not tree.value[:5].any()


# --- Descents in batches ----------------------------------------------------------------------------------------------


def root_of(game: GoGame) -> Root:
    board = new_boards(1, game.size)
    from_game(board, 0, game)
    allowed = np.zeros(441, np.uint8)
    for move in game.legal_moves():
        if move != PASS:
            allowed[int(flat_to_point(move, game.size))] = 1
    passes = int(bool(game.moves) and game.moves[-1] == PASS)
    return Root(board=board, passes=passes, komi=game.komi, allowed=allowed)


def test_a_batch_spreads_by_virtual_loss_and_never_asks_about_a_leaf_twice() -> None:
    """Priors 0.5, 0.3, 0.2, nothing known. To the second descent the first move is worth −1 + 0.5·√3/4, and so on."""
    game = GoGame(5)
    root, boards, batch = root_of(game), new_boards(4, 5), new_batch(4, 5)
    tree = new_puct_tree(1000)
    points = np.array([flat_to_point(move, 5) for move in (12, 6, 18)], np.uint16)
    assert expand(tree, ROOT, points, np.array([0.5, 0.3, 0.2], np.float32))
    first = int(tree.first_child[ROOT])
    asking = descend(tree, boards, root, rule(), batch, 4)
    paths = batch.path[:4, 1].tolist()
    assert paths[:3] == [first, first + 1, first + 2]
    assert asking == 3
    assert batch.asks[:3].tolist() == [ASK_PRIORS | ASK_VALUE] * 3
    assert batch.state.tolist() == [OPEN] * 4
    # The fourth stands where another does: no question, no children, but a playout of its own, in the last row.
    assert batch.row.tolist() == [0, 1, 2, 3]
    assert batch.expands.tolist() == [1, 1, 1, 0]
    assert tree.under_way[ROOT] == 4
    batch.values[:3] = [0.5, 0.25, -0.5]
    take_in(tree, boards, root, rule(), batch, 4, None, new_state())
    # White is to move in all three, so for Black it is the other way round.
    assert tree.leaf_value[first : first + 3].tolist() == [-0.5, -0.25, 0.5]
    assert [len(children(tree, first + i)) for i in range(3)] == [25, 25, 25]
    play_out(boards, root, rule(), batch, 4, None, new_state(), stream(1, "test"))
    assert set(np.abs(batch.result).tolist()) == {1.0}
    assert back_up(tree, rule(), batch, 4) == 4
    assert tree.visits[ROOT] == 4
    assert not tree.under_way[: tree.used[0]].any()


def test_without_playouts_a_second_descent_to_a_leaf_is_dropped() -> None:
    game = GoGame(5)
    root, boards, batch = root_of(game), new_boards(3, 5), new_batch(3, 5)
    tree = new_puct_tree(1000)
    assert expand(tree, ROOT, np.array([flat_to_point(12, 5)], np.uint16), np.ones(1, np.float32))
    asking = descend(tree, boards, root, rule(mixing=0.0), batch, 3)
    assert asking == 1
    assert batch.state.tolist() == [OPEN, DROPPED, DROPPED]
    take_in(tree, boards, root, rule(mixing=0.0), batch, 3, None, new_state())
    assert back_up(tree, rule(mixing=0.0), batch, 3) == 1
    assert tree.visits[ROOT] == 1
    assert not tree.under_way[: tree.used[0]].any()


def test_two_passes_are_scored_exactly() -> None:
    for komi, result in ((0.5, -1.0), (-0.5, 1.0), (0.0, 0.0)):
        game = GoGame(5, komi=komi)
        game.play(PASS)
        root, boards, batch = root_of(game), new_boards(1, 5), new_batch(1, 5)
        tree = new_puct_tree(1000)
        assert expand(tree, ROOT, np.array([PASS_POINT], np.uint16), np.ones(1, np.float32))
        assert descend(tree, boards, root, rule(), batch, 1) == 0
        assert batch.state[0] == ENDED
        take_in(tree, boards, root, rule(), batch, 1, None, new_state())
        play_out(boards, root, rule(), batch, 1, None, new_state(), stream(1, "test"))
        assert back_up(tree, rule(), batch, 1) == 1
        assert tree.value[1] == result
        assert len(children(tree, 1)) == 0


@pytest.mark.parametrize("mixing", [0.0, 0.5])
@pytest.mark.parametrize("batch_size", [4, 16])
def test_a_whole_search_asks_about_no_leaf_twice(mixing: float, batch_size: int) -> None:
    networks = LinearNetworks(5)
    config = PuctConfig(num_simulations=300, batch_size=batch_size, mixing=mixing, c_puct=2.0)
    searcher = PuctSearcher(config, networks)
    result = searcher.search(GoGame(5), np.random.default_rng(1))
    assert sum(result.visits.values()) == 300 == result.simulations
    assert max(len(batch) for batch in networks.asked) > batch_size // 2
    # Positions may be reached in two orders of moves, but a node is asked about once: at most so many as there are.
    tree = searcher._tree
    assert tree is not None
    evaluated = int((tree.leaf_value[: tree.used[0]] <= 1.0).sum())
    asked = sum(1 for batch in networks.asked for _, _, asks in batch if asks & ASK_VALUE)
    assert asked == evaluated
    assert not tree.under_way[: tree.used[0]].any()


# --- The whole against plain Python -----------------------------------------------------------------------------------


def compare(tree: PuctTree, edge: int, node: PlainNode, size: int) -> int:
    """Check a node and all below it; return how many there are."""
    assert tree.visits[edge] == node.visits
    assert tree.value[edge] == pytest.approx(node.value, abs=1e-4)
    assert tree.prior[edge] == pytest.approx(node.prior, rel=1e-5)
    below = children(tree, edge)
    moves = [int(flat_to_point(move, size)) for move in node.children]
    assert tree.move[below].tolist() == moves
    return 1 + sum(
        compare(tree, int(child), other, size) for child, other in zip(below, node.children.values(), strict=True)
    )


@pytest.mark.parametrize("expand_after", [1, 2, 5])
@pytest.mark.parametrize(("c_puct", "fpu"), [(5.0, 0.0), (1.5, None), (0.5, -1.0)])
@pytest.mark.parametrize("opening", [(), (12, 6, 7)])
def test_it_equals_a_plain_search(expand_after: int, c_puct: float, fpu: float | None, opening: tuple) -> None:
    networks = LinearNetworks(5, seed=len(opening) + 2)
    game = GoGame(5, komi=0.5, superko="none")
    for move in opening:
        game.play(move)
    config = PuctConfig(
        num_simulations=200, batch_size=1, c_puct=c_puct, fpu=fpu, expand_after=expand_after, mixing=0.0
    )
    searcher = PuctSearcher(config, networks)
    searcher.search(game, np.random.default_rng(1))
    plain = PlainPuct(networks, c_puct, fpu, expand_after).search(game, 200)
    tree = searcher._tree
    assert tree is not None
    assert compare(tree, ROOT, plain, 5) == tree.used[0] > 200


def test_priors_share_the_points_and_leave_the_pass_its_part() -> None:
    """Of n sensible points and the pass, the pass has 1 / (n + 1); the others' ratio is that of the softmax."""
    networks = LinearNetworks(3)
    game = GoGame(3)
    game.play(4)
    searcher = PuctSearcher(PuctConfig(num_simulations=1, prior_temperature=2.0), networks)
    priors = searcher.search(game, np.random.default_rng(1)).priors
    assert set(priors) == {*range(9), PASS} - {4}
    assert priors[PASS] == pytest.approx(1 / 9)
    assert sum(priors.values()) == pytest.approx(1)
    logits = networks.logits(-game.board)
    assert priors[0] / priors[8] == pytest.approx(np.exp((logits[0] - logits[8]) / 2), rel=1e-4)
    even = PuctSearcher(PuctConfig(num_simulations=1)).search(game, np.random.default_rng(1)).priors
    assert list(even.values()) == pytest.approx([1 / 9] * 9)


def fitted(seed: int = 1) -> RolloutPolicy:
    """Return a rollout policy of small random weights, self-atari discouraged."""
    weights = np.random.default_rng(seed).normal(0.0, 0.5, NUM_WEIGHTS)
    weights[SELF_ATARI : SELF_ATARI + SECTIONS["self_atari"]] = -1.0
    return new_policy(weights)


def test_priors_of_a_rollout_policy_are_its_probabilities() -> None:
    policy = fitted()
    game = GoGame(5)
    for move in (12, 11, 7):
        game.play(move)
    expected = np.zeros(441, np.float32)
    rollout_probabilities(*game.state, WHITE, policy, new_state(), expected)
    priors = PuctSearcher(PuctConfig(num_simulations=1, rollout=policy)).search(game, np.random.default_rng(1)).priors
    points = [move for move in priors if move != PASS]
    assert len(points) == 22
    assert priors[PASS] == pytest.approx(1 / 23)
    for move in points:
        assert priors[move] == pytest.approx(22 / 23 * expected[int(flat_to_point(move, 5))], rel=1e-4)


@pytest.mark.parametrize("num_playouts", [1, 3])
def test_learned_playouts_are_drawn_from_the_policy(num_playouts: int) -> None:
    """The batch's results are the means of the same playouts from the same stream."""
    policy, game = fitted(), GoGame(5, komi=0.5)
    root, boards, batch = root_of(game), new_boards(3, 5), new_batch(3, 5)
    tree = new_puct_tree(1000)
    assert expand(tree, ROOT, np.array([flat_to_point(12, 5)], np.uint16), np.ones(1, np.float32))
    learned = rule(mixing=1.0, playout=LEARNED, priors=EVENLY, num_playouts=num_playouts)
    descend(tree, boards, root, learned, batch, 3)
    game.play(12)
    expected, rng, trace = [], stream(4, "test"), np.zeros(2000, np.uint16)
    for _ in range(3):
        results = []
        for _ in range(num_playouts):
            cells, liberties = (part.copy() for part in game.state)
            rollout_playout(cells, liberties, WHITE, rng, trace, 0, policy, new_state())
            results.append(np.sign(quick_area_difference(cells) - 0.5))
        expected.append(sum(results) / num_playouts)
    play_out(boards, root, learned, batch, 3, policy, new_state(), stream(4, "test"))
    assert batch.result.tolist() == expected
