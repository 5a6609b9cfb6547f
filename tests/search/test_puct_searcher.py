"""The searcher by PUCT on Go: what it finds, how it passes and resigns, and that a seed decides everything."""

from __future__ import annotations

import numpy as np
import pytest
from tests.search.plain_puct import LinearNetworks

from miai.errors import MiaiError
from miai.games.game import PASS, RESIGN, SECOND
from miai.games.go import GoGame
from miai.games.start import start_game
from miai.search.puct import BY_NETWORK, BY_ROLLOUT
from miai.search.puct_config import PuctConfig, PuctResult
from miai.search.puct_searcher import PuctSearcher
from miai.search.puct_tree import children
from miai.search.rollout_features import NUM_WEIGHTS
from miai.search.rollouts import new_policy
from miai.search.tree import ROOT


def search(game: GoGame, networks: LinearNetworks | None = None, seed: int = 1, **options: object) -> PuctResult:
    searcher = PuctSearcher(PuctConfig(**options), networks)  # type: ignore[arg-type]
    result = searcher.search(game, np.random.default_rng(seed))
    searcher.close()
    return result


PLAYOUTS_ALONE = {"num_simulations": 1500, "c_puct": 1.0}

# --- What it finds ----------------------------------------------------------------------------------------------------

RACE = """
. X O . .
X X O O O
O O X X X
. O X . .
O O X . .
"""


@pytest.mark.parametrize("options", [{}, {"batch_size": 1}, {"batch_size": 32}, {"playout": "uniform"}])
@pytest.mark.parametrize(("to_play", "best"), [(1, "A2"), (-1, "A5")])
def test_a_capturing_race_goes_to_who_moves_first(options: dict, to_play: int, best: str) -> None:
    """Black's corner and White's below it have one liberty each: whoever moves takes, and has the game."""
    game = GoGame.from_diagram(RACE, to_play, komi=0.5)
    result = search(game, **{**PLAYOUTS_ALONE, **options})
    assert game.move_name(result.move) == best
    assert result.value > 0.9


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
    assert game.move_name(search(game, num_simulations=6000, c_puct=1.0).move) == "F2"


class Judge(LinearNetworks):
    """A value network that knows the stones on the board, and a policy that knows nothing."""

    def __init__(self, board_size: int) -> None:
        super().__init__(board_size, scale=0.0)

    def value(self, own: np.ndarray) -> np.float32:
        return np.float32(np.tanh(own.sum() / 4))


@pytest.mark.parametrize("batch_size", [1, 8])
@pytest.mark.parametrize("to_play", [1, -1])
def test_a_value_network_is_heard_from_both_sides(batch_size: int, to_play: int) -> None:
    """At E5 Black takes two stones, or White connects them. A sign turned the wrong way would leave it."""
    diagram = """
    . . . . . . .
    . . X X . . .
    . X O O . O .
    . . X X . O .
    . . . . . O .
    . . . . . . .
    . . . . . . .
    """
    game = GoGame.from_diagram(diagram, to_play, komi=0)
    result = search(game, Judge(7), num_simulations=800, mixing=0.0, c_puct=1.0, batch_size=batch_size)
    assert game.move_name(result.move) == "E5"


def test_priors_lead_where_nothing_else_is_known() -> None:
    networks = LinearNetworks(5, scale=0.0)
    networks.logits = lambda own: np.eye(25, dtype=np.float32)[7] * 6  # type: ignore[method-assign]
    game = GoGame(5)
    assert search(game, networks, num_simulations=30, mixing=0.0).move == 7


def test_superko_rules_the_root() -> None:
    """White may not take back what superko forbids, neither in a new tree nor in one that is kept."""
    diagram = """
    . O . O .
    X X O O .
    X X O . .
    X X O . .
    . X O . .
    """
    game = GoGame.from_diagram(diagram, to_play=SECOND, superko="positional", komi=0)
    searcher = PuctSearcher(PuctConfig(num_simulations=3000, resign_threshold=0.0))
    rng = np.random.default_rng(1)
    game.play(game.parse_move("A5"))
    searcher.search(game, rng)
    game.play(game.parse_move("C5"))
    forbidden = game.parse_move("B5")
    assert not game.is_legal(forbidden)
    kept = searcher.search(game, rng, num_simulations=10)
    assert sum(kept.visits.values()) > 10
    assert forbidden not in kept.visits
    assert forbidden not in search(game, num_simulations=100).visits


# --- Passing, resigning, the end --------------------------------------------------------------------------------------

SETTLED = """
. X O . O
X X O O .
. X O O O
X X X O .
. X . X O
"""


def test_it_passes_when_that_wins() -> None:
    """Everything is settled and Black is ahead without komi: after White's pass, Black's own ends the game at once."""
    game = GoGame.from_diagram(SETTLED, to_play=SECOND, komi=0)
    assert game.score() > 0
    game.play(PASS)
    result = search(game)
    assert (result.move, result.value, result.simulations) == (PASS, 1.0, 0)


def test_it_does_not_pass_into_a_loss() -> None:
    """White has passed, but the score is against Black as long as White's wall stands: Black plays on."""
    diagram = """
    . X . X .
    X X X X X
    O O O O O
    . . . . .
    . . . . .
    """
    game = GoGame.from_diagram(diagram, to_play=SECOND, komi=-1.5)
    game.play(PASS)
    assert game.score() < 0
    assert search(game, num_simulations=500, resign_threshold=0.0).move != PASS


@pytest.mark.parametrize("networks", [None, LinearNetworks(4, scale=0.0)])
def test_it_passes_a_settled_board_without_waiting_for_the_opponent(networks: LinearNetworks | None) -> None:
    game = GoGame.from_diagram(". X O .\nX X O O\n. X O .\nX X O O", komi=-0.5)
    assert game.score() > 0
    result = search(game, networks, num_simulations=1500)
    assert result.move == PASS


def test_it_passes_when_no_sensible_move_remains() -> None:
    game = GoGame.from_diagram(". X .\nX X X\n. X .", komi=20)
    result = search(game, num_simulations=50, resign_threshold=0.0)
    assert (result.move, set(result.visits)) == (PASS, {PASS})


@pytest.mark.parametrize("networks", [None, LinearNetworks(3), LinearNetworks(3, values=False)])
def test_a_game_ends_within_its_limit(networks: LinearNetworks | None) -> None:
    """On 3 × 3 random-looking play would take back and forth for long: both pass at the limit of 27 moves."""
    searcher = PuctSearcher(PuctConfig(num_simulations=4, resign_threshold=0.0), networks)
    for seed in range(5):
        game, rng = GoGame(3, komi=0.5), np.random.default_rng(seed)
        while not game.is_over:
            game.play(searcher.search(game, rng).move)
        assert len(game.moves) <= 27


def test_it_resigns_below_its_threshold_only() -> None:
    game = GoGame(5, komi=40)
    lost = search(game, num_simulations=100)
    assert (lost.move, lost.value) == (RESIGN, 0.0)
    assert search(game, num_simulations=100, resign_threshold=0.0).move != RESIGN
    assert search(GoGame(5, komi=0.5), num_simulations=100).move != RESIGN


# --- Budgets, progress, reproducibility -------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", [1, 3, 8])
@pytest.mark.parametrize("mixing", [0.0, 0.5, 1.0])
def test_a_seed_decides_everything(batch_size: int, mixing: float) -> None:
    def whole_game(watched: bool) -> list[tuple]:
        config = PuctConfig(num_simulations=50, batch_size=batch_size, mixing=mixing)
        searcher = PuctSearcher(config, LinearNetworks(5))
        game, rng, trail = GoGame(5, komi=0.5), np.random.default_rng(11), []
        while not game.is_over and len(trail) < 20:
            result = searcher.search(game, rng, on_progress=(lambda _: None) if watched else None)
            trail.append((result.move, result.value, result.visits, result.values, result.priors, result.pv))
            if result.move == RESIGN:
                break
            game.play(result.move)
        return trail

    first = whole_game(watched=False)
    assert first == whole_game(watched=True)
    assert len(first) > 3


def test_another_seed_another_search() -> None:
    assert search(GoGame(5), seed=1).visits != search(GoGame(5), seed=2).visits


def test_seconds_are_kept() -> None:
    searcher = PuctSearcher(PuctConfig(num_simulations=None, seconds=0.05))
    game, rng = GoGame(9), np.random.default_rng(1)
    searcher.search(game, rng)
    result = searcher.search(game, rng)
    assert result.seconds >= 0.05
    assert result.simulations > 10
    # Whichever ends first.
    assert searcher.search(game, rng, num_simulations=70, seconds=60.0).simulations == 70


def test_phases_are_told_apart() -> None:
    result = search(GoGame(5), LinearNetworks(5))
    assert set(result.phases) == {"tree", "networks", "playouts"}
    assert all(took > 0 for took in result.phases.values())
    assert sum(result.phases.values()) <= result.seconds


def test_whoever_looks_on_may_stop_the_search() -> None:
    seen: list[PuctResult] = []

    def look(result: PuctResult) -> bool:
        seen.append(result)
        return len(seen) < 3

    searcher = PuctSearcher(PuctConfig())
    result = searcher.search(GoGame(9), np.random.default_rng(1), num_simulations=10**9, on_progress=look)
    assert len(seen) == 3
    assert result.simulations == seen[-1].simulations == sum(result.visits.values())
    assert seen[0].simulations < seen[1].simulations < seen[2].simulations
    assert all(0 <= value <= 1 for value in result.values.values())


def test_the_tree_is_kept_where_the_game_went() -> None:
    networks = LinearNetworks(5)
    searcher = PuctSearcher(PuctConfig(num_simulations=400, mixing=0.0, resign_threshold=0.0), networks)
    rng = np.random.default_rng(1)
    game = GoGame(5)
    result = searcher.search(game, rng)
    tree = searcher._tree
    assert tree is not None
    child = int(children(tree, ROOT)[list(result.visits).index(result.move)])
    below = children(tree, child)
    kept = dict(zip(tree.move[below].tolist(), tree.visits[below].tolist(), strict=True))
    values = tree.value[below].tolist()
    game.play(result.move)
    searcher._get_ready(game)
    now = children(tree, ROOT)
    assert dict(zip(tree.move[now].tolist(), tree.visits[now].tolist(), strict=True)) == kept
    assert tree.value[now].tolist() == values
    asked = len(networks.asked)
    again = searcher.search(game, rng, num_simulations=8)
    assert sum(again.visits.values()) == sum(kept.values()) + 8
    # The root had its children already: one batch, and no question about the root before it.
    assert len(networks.asked) <= asked + 8
    assert all(len(batch) <= 8 for batch in networks.asked)
    # Back: nothing to keep. Nor in another game, nor for the other side.
    game.undo()
    assert sum(searcher.search(game, rng, num_simulations=10).visits.values()) == 10
    assert sum(searcher.search(GoGame(5, komi=0.5), rng, num_simulations=10).visits.values()) == 10
    move = searcher.search(game, rng).move
    game.play_as(SECOND, move)
    assert sum(searcher.search(game, rng, num_simulations=10).visits.values()) == 10


def test_without_reuse_every_search_begins_anew() -> None:
    searcher = PuctSearcher(PuctConfig(num_simulations=100, reuse_tree=False))
    rng = np.random.default_rng(1)
    game = GoGame(5)
    game.play(searcher.search(game, rng).move)
    assert sum(searcher.search(game, rng).visits.values()) == 100


def test_the_game_is_not_changed() -> None:
    game = GoGame(5)
    game.play(12)
    before = game.key, game.moves, game.state[0].tobytes(), game.state[1].tobytes()
    search(game, LinearNetworks(5))
    assert before == (game.key, game.moves, game.state[0].tobytes(), game.state[1].tobytes())


# --- What is refused --------------------------------------------------------------------------------------------------


def test_what_cannot_be_searched_is_refused() -> None:
    game = GoGame(5)
    game.play(PASS)
    game.play(PASS)
    with pytest.raises(ValueError, match="over"):
        search(game)
    searcher = PuctSearcher(PuctConfig(), LinearNetworks(5))
    for budget in ({"num_simulations": 0}, {"seconds": 0.0}):
        with pytest.raises(ValueError, match=r"seconds|num_simulations"):
            searcher.search(GoGame(5), np.random.default_rng(1), **budget)
    with pytest.raises(MiaiError, match="its networks are for 5×5 boards, not for 9×9"):
        searcher.new_game(GoGame(9))
    with pytest.raises(MiaiError, match="it plays Go, not tictactoe"):
        searcher.new_game(start_game({"name": "tictactoe"}))


def test_a_value_network_is_needed_where_it_is_to_be_heard() -> None:
    for networks in (None, LinearNetworks(5, values=False)):
        with pytest.raises(MiaiError, match=r"mixing: 0\.5 needs a value network"):
            PuctSearcher(PuctConfig(mixing=0.5), networks)
        assert PuctSearcher(PuctConfig(), networks)._rule.mixing == 1.0
    assert PuctSearcher(PuctConfig(), LinearNetworks(5, priors=False))._rule.mixing == 0.5


def test_a_rollout_policy_of_no_use_is_refused() -> None:
    policy = new_policy(np.zeros(NUM_WEIGHTS))
    with pytest.raises(MiaiError, match="rollout: with a policy network and playout=pattern it has no use"):
        PuctSearcher(PuctConfig(rollout=policy), LinearNetworks(5))
    assert PuctSearcher(PuctConfig(rollout=policy), LinearNetworks(5, priors=False))._rule.priors == BY_ROLLOUT
    assert PuctSearcher(PuctConfig(rollout=policy, playout="learned"), LinearNetworks(5))._rule.priors == BY_NETWORK


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"playout": "patterns"}, "playout: no such choice"),
        ({"playout": "learned"}, "playout: learned needs a rollout policy"),
        ({"num_simulations": 0}, "num_simulations: 0 is not allowed; allowed: 1 or more"),
        ({"num_simulations": None}, "one of them has to be given"),
        ({"seconds": -1.0}, "seconds: -1.0 is not allowed"),
        ({"batch_size": 0}, "batch_size"),
        ({"c_puct": float("nan")}, "c_puct"),
        ({"num_playouts": 0}, "num_playouts: 0 is not allowed; allowed: 1 to 1000"),
        ({"mixing": 1.5}, "mixing: 1.5 is not allowed; allowed: 0 to 1"),
        ({"prior_temperature": 0.0}, "prior_temperature"),
        ({"virtual_loss": -1}, "virtual_loss"),
        ({"fpu": 1.5}, "fpu"),
        ({"expand_after": 0}, "expand_after"),
        ({"resign_threshold": 1.0}, "resign_threshold"),
        ({"max_edges": 10}, "max_edges"),
    ],
)
def test_wrong_options_are_named(options: dict, message: str) -> None:
    with pytest.raises(MiaiError, match=message):
        PuctConfig(**options)
