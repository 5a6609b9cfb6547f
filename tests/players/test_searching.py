import dataclasses

import numpy as np
import pytest

from miai.arena import Match, MatchSummary, play_match
from miai.errors import MiaiError
from miai.games.go import GoGame
from miai.games.start import start_game
from miai.networks.rollout_weights import ROLLOUT_FILE, save_rollout
from miai.players import Analyst, Budget, build_player, players
from miai.references import Reference
from miai.search import SearchConfig
from miai.search.rollout_features import CAPTURE, NUM_WEIGHTS
from miai.search.rollouts import new_policy

SEARCHES = ("flat_mc", "ucb", "uct")


@pytest.fixture(params=SEARCHES)
def player(request):
    made = build_player({"name": request.param, "num_simulations": 200})
    yield made
    made.close()


def test_defaults_are_the_searchs_own():
    for name in SEARCHES:
        kind = players.build({"name": name})
        plain = SearchConfig()
        for option, value in kind.options().items():
            if option not in ("algorithm", "max_edges", "reuse_tree"):
                assert value == getattr(plain, option), option
    uct = players.build({"name": "uct"}).options()
    assert {option.name for option in dataclasses.fields(SearchConfig)} == {*uct, "rollout"}
    assert SearchConfig(**uct) == SearchConfig()


def test_a_winning_move_is_found(player):
    # X has two in the top row; the third cell wins.
    game = start_game({"name": "tictactoe"})
    for cell in (0, 3, 1, 4):
        game.play(cell)
    player.new_game(game)
    decision = player.select_move(game, np.random.default_rng(1))
    assert decision.move == 2
    assert decision.info["simulations"] == 200
    assert decision.info["pv"][0] == 2
    assert decision.info["values"][2] == 1.0
    assert decision.info["value"] == 1.0


def test_budgets(player):
    game = GoGame(size=5)
    player.new_game(game)
    rng = np.random.default_rng(1)
    assert player.own_budget == Budget(simulations=200)
    assert player.select_move(game, rng, Budget(simulations=50)).info["simulations"] == 50
    by_time = player.select_move(game, rng, Budget(seconds=0.05))
    assert by_time.info["simulations"] > 50
    assert by_time.info["seconds"] >= 0.05


def test_analysis_ends_when_it_is_told(player):
    assert isinstance(player, Analyst)
    seen = []

    def on_progress(decision):
        seen.append(decision.info["simulations"])
        return len(seen) < 3

    decision = player.analyse(GoGame(size=5), np.random.default_rng(1), None, on_progress)
    assert len(seen) == 3
    assert seen == sorted(seen)
    assert decision.info["simulations"] >= seen[-1]
    assert sum(decision.info["visits"].values()) > 0


def test_a_game_can_be_repeated():
    match = Match(({"name": "uct", "num_simulations": 100}, {"name": "ucb"}), {"name": "go", "size": 4}, 2, seed=5)
    assert [game.moves for game in play_match(match)] == [game.moves for game in play_match(match)]


def test_searching_beats_playing_at_random():
    match = Match(({"name": "flat_mc", "num_simulations": 300}, {"name": "random"}), {"name": "go", "size": 5}, 6)
    summary = MatchSummary.of(play_match(match))
    assert summary.total.wins == 6
    assert summary.faults == summary.opponent_faults == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "uct", "num_simulations": None}, "one of them has to be given"),
        ({"name": "uct", "playout": "magic"}, "player.playout: .*'uniform', 'pattern' or 'learned', not 'magic'"),
        ({"name": "flat_mc", "c_uct": 0.3}, "player.c_uct: there is no such option"),
        ({"name": "ucb", "seconds": 0.0}, "player.seconds: .*greater than 0"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(MiaiError, match=message):
        build_player(options)


def test_options_for_go_do_not_go_elsewhere():
    player = build_player({"name": "uct", "rave": True})
    with pytest.raises(MiaiError, match="only for Go"):
        player.new_game(start_game({"name": "tictactoe"}))


def test_the_other_sides_tree_is_not_kept():
    # C3 is a false eye: Black may connect there, White may not play there at all.
    game = GoGame.from_diagram(
        """
        . . . . .
        . O X O .
        . X . X .
        . . X . .
        . . . . .
        """
    )
    centre = game.parse_move("C3")
    player = build_player({"name": "uct", "num_simulations": 300})
    player.new_game(game)
    rng = np.random.default_rng(1)
    assert centre in player.select_move(game, rng).info["visits"]
    game.give_turn(-1)
    assert centre not in player.select_move(game, rng).info["visits"]
    player.close()


# ---- playouts by a fitted policy ----


@pytest.fixture
def rollout(tmp_path):
    """The file of a policy that plays at random, but for a liking of captures."""
    weights = np.zeros(NUM_WEIGHTS)
    weights[CAPTURE : CAPTURE + 3] = 2.0
    path = tmp_path / ROLLOUT_FILE
    save_rollout(path, weights, {})
    return str(path)


@pytest.mark.parametrize("name", SEARCHES)
def test_learned_playouts_take_what_is_in_atari(name, rollout):
    game = GoGame.from_diagram(
        """
        . X O . .
        X X O O O
        O O X X X
        . O X . .
        O O X . .
        """,
        komi=0.5,
    )  # Whoever moves takes the other's corner.
    player = build_player({"name": name, "num_simulations": 400, "playout": "learned", "rollout": rollout})
    player.new_game(game)
    decision = player.select_move(game, np.random.default_rng(1))
    assert game.move_name(decision.move) == "A2"
    again = build_player({"name": name, "num_simulations": 400, "playout": "learned", "rollout": rollout})
    again.new_game(game)
    assert again.select_move(game, np.random.default_rng(1)).info["visits"] == decision.info["visits"]
    player.close()
    again.close()


def test_a_policy_is_a_file_of_the_player_and_no_part_of_its_name(rollout):
    kind = players.build({"name": "uct", "playout": "learned", "rollout": rollout, "c_uct": 0.5})
    assert kind.files() == {"rollout": Reference(rollout, ROLLOUT_FILE)}
    assert kind.describe_files() == "uct playout=learned c_uct=0.5"
    assert players.build({"name": "uct"}).describe_files() is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"playout": "learned"}, "playout: learned needs rollout, a run of rollout_policy or the path of its file"),
        ({"rollout": "a.safetensors"}, "rollout: only with playout=learned, not playout=uniform"),
        ({"playout": "pattern", "rollout": "a.safetensors"}, "rollout: only with playout=learned, not playout=pattern"),
        ({"playout": "learned", "rollout": "nowhere.safetensors"}, "nowhere.safetensors: no such file"),
    ],
)
def test_learned_playouts_and_their_policy_belong_together(options, message):
    with pytest.raises(MiaiError, match=message) as caught:
        build_player({"name": "uct", **options})
    assert "\n" not in str(caught.value)


def test_learned_playouts_are_for_go_alone(rollout):
    player = build_player({"name": "uct", "playout": "learned", "rollout": rollout})
    with pytest.raises(MiaiError, match="playout=learned: only for Go"):
        player.new_game(start_game({"name": "tictactoe"}))


def test_a_search_with_learned_playouts_needs_their_policy():
    with pytest.raises(MiaiError, match="learned needs a rollout policy"):
        SearchConfig(playout="learned")
    with pytest.raises(MiaiError, match="no other takes one"):
        SearchConfig(rollout=new_policy(np.zeros(NUM_WEIGHTS)))
