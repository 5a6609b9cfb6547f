"""What every small game has to hold. A new file in `games/small/` is found by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

import miai
from miai.errors import MiaiError
from miai.games.game import FIRST, RulesGame
from miai.games.graph import GameGraph
from miai.games.small import game_graph, games
from miai.games.start import start_game
from miai.tabular.table import ValueTable
from tabular.configuration import trained

CONF = Path(miai.__file__).parents[2] / "conf" / "game"


@pytest.fixture(scope="module", params=games.names())
def name(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def options(name) -> dict:
    return yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def graph(options) -> GameGraph:
    return game_graph(options)


def test_it_has_a_configuration_of_its_name(name, options):
    assert options["name"] == name
    assert games.build(options).rules().name == name


def test_its_graph_can_be_trusted(graph):
    starts, children, to_play, outcome = graph.arrays
    assert (children > graph.edge_state).all()
    assert to_play[0] == FIRST
    assert (to_play[children] == -to_play[graph.edge_state]).all()
    assert set(np.unique(outcome)) <= {-1, 0, 1}
    assert (outcome[~graph.is_final] == 0).all()
    assert set(children) == set(range(1, graph.num_states))
    assert np.array_equal(graph.find_all(graph.boards), np.arange(graph.num_states))
    for state in range(0, graph.num_states, 101):
        actions = graph.edge_action[starts[state] : starts[state + 1]]
        assert (np.diff(actions) > 0).all()


def test_its_rules_are_those_of_the_graph_in_random_games(options, graph):
    random = np.random.default_rng(1)
    rules = games.build(options).rules()
    assert rules == games.build(options).rules()
    for _ in range(20):
        game, state = RulesGame(rules), 0
        while not game.is_over:
            assert np.array_equal(rules.board(game.position), graph.boards[state])
            assert game.to_play == graph.arrays.to_play[state]
            move = int(random.choice(game.legal_moves()))
            state = int(graph.arrays.edge_child[graph.find_edge(state, move)])
            game.play(move)
        assert game.outcome() == graph.arrays.outcome[state]
        assert game.legal_moves() == ()
        assert len(game.moves) <= graph.max_plies


def test_it_can_be_played_and_shown(options):
    game = start_game(options)
    move = game.legal_moves()[0]
    assert game.parse_move(game.move_name(move)) == move
    empty = game.render()
    game.play(move)
    assert game.render() != empty
    game.undo()
    assert game.render() == empty


def test_it_can_be_learnt_measured_and_saved(options, tmp_path):
    learning = trained(game=options, seat="both", num_games=2_000)
    assert learning.measure()["table/size"] <= learning.bound
    learning.table().save(tmp_path / "table.npz", learning.graph)
    assert ValueTable.load(tmp_path / "table.npz").size == learning.table().size


def test_it_is_refused_when_it_is_too_large(options, graph):
    with pytest.raises(MiaiError, match=r"more than [\d,]+ positions"):
        game_graph({**options, "max_states": graph.num_states - 1})
