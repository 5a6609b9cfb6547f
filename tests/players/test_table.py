"""Tables as players."""

from __future__ import annotations

import numpy as np
import pytest

from miai.arena import Match, MatchSummary, play_match
from miai.errors import MiaiError
from miai.games.small import game_graph
from miai.games.start import start_game
from miai.players import build_player
from miai.players.table import load_tables
from miai.tabular.policies import minimax_values
from miai.tabular.table import TableMeta, ValueTable

TICTACTOE = {"name": "tictactoe"}


def save_perfect(path, seat="both", game=None):
    """Write an after-state table that holds the minimax values of one seat or both, and return its path."""
    game = game or TICTACTOE
    graph = game_graph(game)
    owner = -graph.arrays.to_play
    values = minimax_values(graph) * owner.astype(np.float64)
    seats = {"first": (1,), "second": (-1,), "both": (1, -1)}[seat]
    visits = np.isin(owner, seats).astype(np.int64)
    visits[0] = 0
    meta = TableMeta(
        game=game,
        algorithm={"name": "afterstate", "entry": "afterstate"},
        seat=seat,
        seed=0,
        gamma=1.0,
        initial_value=0.0,
        tie_breaking="first",
        opponent={"name": "minimax"},
        fingerprint="",
    )
    ValueTable(meta, np.where(visits > 0, values, 0.0), visits).save(path, graph)
    return path


def test_a_table_plays_its_greedy_policy(tmp_path):
    table = save_perfect(tmp_path / "table.npz")
    players = {"name": "table", "run": str(table), "label": "table"}, {"name": "perfect"}
    summary = MatchSummary.of(play_match(Match(players, TICTACTOE, 40)))
    assert (summary.total.wins, summary.total.losses) == (0, 0)
    game = start_game(TICTACTOE)
    player = build_player(players[0])
    player.new_game(game)
    for move in (0, 3, 1, 4):
        game.play(move)
    assert player.select_move(game, np.random.default_rng(0)).move == 2


def test_one_table_a_seat(tmp_path):
    first, second = (save_perfect(tmp_path / f"{seat}.npz", seat) for seat in ("first", "second"))
    both = {"name": "table", "run": str(first), "second": str(second), "label": "two tables"}
    summary = MatchSummary.of(play_match(Match((both, {"name": "random"}), TICTACTOE, 40)))
    assert summary.total.losses == 0
    assert set(load_tables(first, None)) == {1}
    assert set(load_tables(first, second)) == {1, -1}
    with pytest.raises(MiaiError, match="second: this table has learnt the first seat; the second or both is needed"):
        load_tables(first, first)
    with pytest.raises(MiaiError, match="run: this table has learnt the second seat; the first or both is needed"):
        load_tables(second, second)


def test_the_seat_that_no_table_has_learnt_is_refused(tmp_path):
    player = build_player({"name": "table", "run": str(save_perfect(tmp_path / "second.npz", "second"))})
    game = start_game(TICTACTOE)
    player.new_game(game)
    with pytest.raises(MiaiError, match="it has no table of the first seat"):
        player.select_move(game, np.random.default_rng(0))


def test_another_game_than_the_tables_is_refused(tmp_path):
    player = build_player({"name": "table", "run": str(save_perfect(tmp_path / "table.npz")), "label": "mine"})
    with pytest.raises(MiaiError, match="player mine: its table has learnt tictactoe, not"):
        player.new_game(start_game({"name": "mnk", "rows": 3, "cols": 4, "k": 3}))
    with pytest.raises(MiaiError, match="player mine: plays small games"):
        player.new_game(start_game({"name": "go", "size": 5}))
    player.new_game(start_game(TICTACTOE))


def test_a_table_is_needed(tmp_path):
    with pytest.raises(MiaiError, match="run: a table is needed, a run of the store or the path"):
        build_player({"name": "table", "run": None})
    with pytest.raises(MiaiError, match="not a table that can be used"):
        build_player({"name": "table", "run": str(tmp_path / "nothing.npz")})
