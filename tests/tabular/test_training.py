"""Whole trainings: what algorithms share, seats, self-play, continuing, tie-breaking, checkpoints, convergence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic.dataclasses import dataclass

from games.last_stick import LastStick
from miai.errors import MiaiError
from miai.games.game import FIRST, SECOND
from miai.games.small import games
from miai.games.small.kind import SmallGame
from miai.kinds import STRICT
from miai.tabular import evaluation
from miai.tabular.measure import SeatMeasure
from miai.tabular.policies import greedy_policy, joint_policy, uniform_policy
from miai.tabular.targets import STATE_ACTION
from miai.tabular.training import checkpoint_steps

from .configuration import ALGORITHMS, constant, scripted_trainer, tictactoe, trained, trainer

BY_VISITS = {"name": "inverse_visits"}


def n_step(entry: str, turns: int | str) -> dict:
    return {"name": "n", "entry": entry, "target": "chosen", "n_step": turns}


# What algorithms share ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seat", ["first", "second", "both"])
@pytest.mark.parametrize("entry", ["state_action", "afterstate"])
def test_n_step_meets_sarsa_and_monte_carlo(entry, seat):
    shared = {"seat": seat, "num_games": 3_000, "num_checkpoints": 2}
    sarsa, mc = {"state_action": ("sarsa", "mc"), "afterstate": ("afterstate", "afterstate_mc")}[entry]
    pairs = [(sarsa, n_step(entry, 1)), (mc, n_step(entry, "inf")), (mc, n_step(entry, 5)), (mc, n_step(entry, 1000))]
    for name, other in pairs:
        one, two = trained(algorithm=name, **shared), trained(algorithm=other, **shared)
        assert one.values.tobytes() == two.values.tobytes()
        assert one.visits.tobytes() == two.visits.tobytes()
    # In between lies another algorithm. (O has four turns, X five.)
    assert not np.array_equal(
        trained(algorithm=n_step(entry, 3), **shared).values, trained(algorithm=mc, **shared).values
    )


def test_one_step_sarsa_in_the_kernel_for_n_steps(monkeypatch):
    # `n_step` 1 goes to the one-step kernel; the n-step kernel, told to look one turn ahead, learns the same table.
    from miai.tabular import kernels

    one_step = trained(num_games=3_000)
    n_steps = kernels.train_n_step

    def by_n_steps(graph, opponent, afterstates, rule, values, visits, other, other_visits, *rest):
        *shared, results = rest
        scratch = np.empty((2, 9), np.int64)
        return n_steps(graph, opponent, afterstates, rule, values, visits, *shared, scratch, results)

    monkeypatch.setattr(kernels, "train_one_step", by_n_steps)
    assert np.array_equal(trained(num_games=3_000).values, one_step.values)


def test_sarsa_without_exploration_is_q_learning():
    shared = {"schedule": constant(0.0), "num_games": 3_000}
    assert np.array_equal(trained(algorithm="sarsa", **shared).values, trained(algorithm="q_learning", **shared).values)


def test_expected_sarsa_without_exploration_is_q_learning():
    shared = {"schedule": constant(0.0), "num_games": 3_000}
    expected, best = (trained(algorithm=name, **shared).values for name in ("expected_sarsa", "q_learning"))
    assert np.array_equal(expected, best)


def test_one_over_visits_is_the_mean_of_the_targets():
    # X wins or loses against a scripted O, always exploring. The mean of the returns of an entry, in plain Python:
    # with γ = 1 every return is the outcome, so sums of whole numbers.
    learning = trainer(
        algorithm="mc", alpha_schedule=BY_VISITS, gamma=1.0, schedule=constant(1.0), num_games=2_000, num_checkpoints=1
    )
    ((_, row),) = learning.run()
    sums = learning.values * learning.visits
    assert sums == pytest.approx(np.round(sums), abs=1e-9)
    assert (np.abs(np.round(sums)) <= learning.visits).all()
    # The first move's entries see every game once: their returns add up to wins − losses.
    first_moves = slice(0, 9)
    assert learning.visits[first_moves].sum() == 2_000
    wins_minus_losses = 2_000 * (row["train/win_rate"] - row["train/loss_rate"])
    assert sums[first_moves].sum() == pytest.approx(wins_minus_losses, abs=1e-9)
    assert "train/alpha" not in row


@pytest.mark.parametrize("seat", ["first", "second"])
def test_a_run_that_has_converged_knows_the_exact_values_of_its_policy(seat):
    # Three in a row on 2×3, γ 1, α = 1/N, constant exploration: Q-learning finds the best values against random.
    learning = trained(
        game={"name": "mnk", "rows": 2, "cols": 3, "k": 2},
        algorithm="q_learning",
        seat=seat,
        alpha_schedule=BY_VISITS,
        schedule=constant(0.5),
        num_games=400_000,
        num_checkpoints=1,
    )
    player = FIRST if seat == "first" else SECOND
    best = evaluation.state_values(learning.graph, None, uniform_policy(learning.graph), 0.9)
    exact = evaluation.entry_values(learning.graph, STATE_ACTION, best)
    often = learning.visits > 5_000
    assert often.sum() > 20
    assert learning.values[often] == pytest.approx(exact[often], abs=0.03)
    assert learning.measure()["eval/optimality_gap"] == 0
    assert learning.measure()["eval/rms_error"] < 0.05
    assert SeatMeasure(learning.graph, player, uniform_policy(learning.graph)).best_value == pytest.approx(
        evaluation.best_value(learning.graph, player, uniform_policy(learning.graph))
    )


@pytest.mark.parametrize("name", ["mc", "sarsa", "expected_sarsa", "afterstate", "double_q"])
def test_errors_shrink_as_games_go_on(name):
    learning = trainer(algorithm=name, num_games=60_000, num_checkpoints=6, alpha_schedule=BY_VISITS, gamma=0.9)
    errors = [row["eval/rms_error"] for _, row in learning.run()]
    assert errors[-1] < errors[0]
    assert errors[-1] < 0.5


# Seats -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALGORITHMS)
def test_entries_belong_to_the_seat_that_learns(name):
    graph = tictactoe()
    afterstates = ALGORITHMS[name][0] == "afterstate"
    owners = -graph.arrays.to_play if afterstates else graph.arrays.to_play[graph.edge_state]
    for seat, players in (("first", {FIRST}), ("second", {SECOND}), ("both", {FIRST, SECOND})):
        learning = trained(algorithm=name, seat=seat, num_games=1_000, num_checkpoints=1)
        assert set(owners[learning.table_visits() > 0]) == players


def test_both_seats_learn_in_alternating_games():
    # Against a fixed opponent X's entries see games 0, 2, … and O's see 1, 3, …: first moves of X, 500 of 1,000 games.
    learning = trained(seat="both", num_games=1_000, num_checkpoints=7)
    graph = learning.graph
    assert learning.visits[:9].sum() == 500
    second_ply = np.flatnonzero(np.count_nonzero(graph.boards[graph.edge_state], axis=1) == 1)
    assert learning.visits[second_ply].sum() == 500


@pytest.mark.parametrize("name", ALGORITHMS)
def test_in_self_play_every_move_of_every_game_is_learnt(name):
    visits = trained(algorithm=name, opponent="self", seat="both", num_games=1_000).table_visits()
    graph = tictactoe()
    marks = np.count_nonzero(graph.boards, axis=1)
    ply_of_entry = np.maximum(marks - 1, 0) if ALGORITHMS[name][0] == "afterstate" else marks[graph.edge_state]
    by_ply = np.bincount(ply_of_entry, visits)
    assert by_ply[:5].tolist() == [1_000] * 5  # nobody can win before the fifth mark
    assert (np.diff(by_ply) <= 0).all()


def test_self_play_learns_to_draw_with_itself_and_to_beat_random():
    learning = trained(
        algorithm="q_learning",
        opponent="self",
        seat="both",
        num_games=200_000,
        num_checkpoints=1,
        schedule=constant(0.3),
    )
    greedy = greedy_policy(learning.graph, STATE_ACTION, learning.values, "first")
    assert evaluation.outcome(learning.graph, FIRST, greedy).draw == 1
    row = learning.measure()
    assert row["eval/first/win"] > 0.9
    assert row["eval/second/win"] > 0.75


def test_rewards_are_the_learners_in_both_seats():
    # O wins every game that it is scripted to win: 0, 1, 2 … are X's marks, when X always takes the first free cell.
    first_free = {0: 0, 2: 1, 4: 3}
    winning_o = scripted_trainer(
        first_free, seat="second", algorithm="mc", schedule=constant(0.0), num_games=3, num_checkpoints=1, gamma=1.0
    )
    graph = winning_o.graph
    winning_o.values[graph.find_edge(graph.find(board("X........")), 2)] = 0.1
    winning_o.values[graph.find_edge(graph.find(board("XXO......")), 5)] = 0.1
    winning_o.values[graph.find_edge(graph.find(board("XXOX.O...")), 8)] = 0.1
    (_, row), *_ = winning_o.run()
    assert (row["train/win_rate"], row["train/loss_rate"]) == (1, 0)
    assert winning_o.values[graph.find_edge(graph.find(board("XXOX.O...")), 8)] > 0.1


def board(text: str) -> np.ndarray:
    return np.array([{"X": 1, "O": -1, ".": 0}[mark] for mark in text], np.int8)


# Ties, initial values, continuing -------------------------------------------------------------------------


def test_ties_go_to_the_first_move_or_to_any():
    # Without learning (α 0) and without exploration, play shows nothing but how ties are broken.
    shared = {"alpha_schedule": constant(0.0), "schedule": constant(0.0), "num_games": 9_000, "num_checkpoints": 1}
    first = trained(tie_breaking="first", **shared).visits[:9]
    assert first.tolist() == [9_000, *[0] * 8]
    any_ = trained(tie_breaking="random", **shared).visits[:9]
    assert any_.min() > 900
    assert any_.max() < 1_100
    assert any_.sum() == 9_000


def test_exact_evaluation_breaks_ties_as_play_does():
    graph = tictactoe()
    zero = np.zeros(graph.num_edges)
    for ties, policy in (("first", None), ("random", uniform_policy(graph))):
        learning = trainer(tie_breaking=ties)
        expected = policy if policy is not None else greedy_policy(graph, STATE_ACTION, zero, "first")
        exact = evaluation.outcome(graph, FIRST, joint_policy(graph, FIRST, expected, uniform_policy(graph)))
        assert learning.measure()["eval/win"] == pytest.approx(exact.win, abs=1e-12)


def test_entries_begin_at_the_initial_value():
    learning = trained(initial_value=0.5, num_games=100)
    assert (learning.values[learning.visits == 0] == 0.5).all()
    # Optimism tries everything once: with values too good to be true, greedy play wanders over all first moves.
    assert (trained(initial_value=2.0, schedule=constant(0.0), num_games=500).visits[:9] > 0).all()


def saved(tmp_path: Path, **changes) -> Path:
    learning = trained(**changes)
    path = tmp_path / "start.npz"
    learning.table().save(path, learning.graph)
    return path


@pytest.mark.parametrize("name", ["sarsa", "afterstate", "double_q"])
def test_a_run_goes_on_from_a_table(name, tmp_path):
    path = saved(tmp_path, algorithm=name, num_games=1_000)
    start = trainer(algorithm=name).table_values(), trained(algorithm=name, num_games=1_000).table_visits()
    going_on = trainer({"init": path}, algorithm=name, init="some run")
    assert np.array_equal(going_on.table_visits(), start[1])
    assert going_on.table_values()[start[1] > 0].any()
    for _ in going_on.run():
        pass
    assert (going_on.table_visits() >= start[1]).all()
    assert going_on.table_visits().sum() > start[1].sum()


def test_going_on_in_two_halves_is_not_starting_anew(tmp_path):
    # α = 1 / visits goes on counting: the mean of all targets, of the first run's games and of the second's.
    shared = {"algorithm": "mc", "alpha_schedule": BY_VISITS, "gamma": 1.0, "schedule": constant(1.0)}
    path = saved(tmp_path, seed=1, num_games=1_000, **shared)
    going_on = trained({"init": path}, init="x", seed=2, num_games=1_000, **shared)
    sums = going_on.values * going_on.visits
    assert sums == pytest.approx(np.round(sums), abs=1e-9)
    assert going_on.visits[:9].sum() == 2_000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"algorithm": "afterstate"}, "a table of state_action entries cannot go on as one of afterstate entries"),
        ({"seat": "second"}, "a table of seat first cannot go on with seat=second"),
        ({"game": {"name": "mnk", "rows": 3, "cols": 4, "k": 3}}, "belongs to tictactoe, not to mnk"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(changes, message, tmp_path):
    path = saved(tmp_path, num_games=100)
    with pytest.raises(MiaiError, match=message):
        trainer({"init": path}, init="x", **changes)


def test_a_table_of_one_seat_may_go_on_with_both(tmp_path):
    path = saved(tmp_path, num_games=100)
    assert trainer({"init": path}, init="x", seat="both").table_visits().sum() > 0
    both = saved(tmp_path, num_games=100, seat="both")
    with pytest.raises(MiaiError, match="a table of seat both cannot go on with seat=first"):
        trainer({"init": both}, init="x")


def test_a_promised_table_has_to_come():
    with pytest.raises(ValueError, match="no file was given for init=some run"):
        trainer(init="some run")


# Checkpoints -------------------------------------------------------------------------------------------------


@given(st.integers(1, 10**9), st.integers(1, 300))
def test_checkpoints(num_games, num_checkpoints):
    steps = checkpoint_steps(num_games, num_checkpoints)
    assert steps[-1] == num_games
    assert steps == sorted(set(steps))
    assert steps[0] > 0
    if num_checkpoints <= num_games:
        assert steps == [round(i * num_games / num_checkpoints) for i in range(1, num_checkpoints + 1)]
    else:
        assert steps == list(range(1, num_games + 1))


def test_checkpoints_do_not_change_what_is_learnt():
    tables = [trained(seat="both", num_games=1_001, num_checkpoints=n) for n in (1, 10, 1_001)]
    assert np.array_equal(tables[0].values, tables[1].values)
    assert np.array_equal(tables[0].values, tables[2].values)


def test_rows_of_a_run():
    rows = list(trainer(num_games=1_000, num_checkpoints=4).run())
    assert [step for step, _ in rows] == [250, 500, 750, 1_000]
    for step, row in rows:
        assert set(row) == {
            "train/epsilon", "train/alpha", "train/win_rate", "train/draw_rate", "train/loss_rate", "table/size",
            "eval/win", "eval/draw", "eval/loss", "eval/value", "eval/optimality_gap", "eval/exploitability",
            "eval/rms_error",
        }  # fmt: skip
        assert row["train/win_rate"] + row["train/draw_rate"] + row["train/loss_rate"] == pytest.approx(1)
        assert row["train/epsilon"] == pytest.approx(0.01 + 0.99 * np.exp(-(step - 1) / 10_000))
        assert all(np.isfinite(value) for value in row.values())
    both = dict(trainer(seat="both", num_games=10, num_checkpoints=1).run())[10]
    assert {"eval/first/win", "eval/second/rms_error", "table/size"} <= set(both)


def test_progress_is_reported_between_checkpoints(monkeypatch):
    from miai.tabular import training

    monkeypatch.setattr(training, "GAMES_AT_ONCE", 300)
    seen: list[int] = []
    learning = trainer(num_games=1_000, num_checkpoints=1)
    list(learning.run(seen.append))
    assert seen == [300, 600, 900, 1_000]
    assert np.array_equal(learning.values, trained(num_games=1_000, num_checkpoints=1).values)


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("seat", ["first", "second", "both"])
def test_no_table_passes_its_bound(name, seat):
    learning = trained(algorithm=name, seat=seat, schedule=constant(1.0), num_games=40_000, num_checkpoints=1)
    bounds = {"first": (8631, 2739), "second": (7536, 2738), "both": (8631 + 7536, 2739 + 2738)}
    assert learning.bound == bounds[seat][ALGORITHMS[name][0] == "afterstate"]
    assert 0.9 * learning.bound < learning.table().size <= learning.bound


def test_a_table_beyond_its_bound_would_be_noticed():
    learning = trained(num_games=10)
    learning.visits[:] = 1  # also those of O
    with pytest.raises(AssertionError, match="16167 entries passes the exact bound of 8631"):
        learning.measure()


def test_games_without_exploration():
    learning = trained(num_games=50_000, num_checkpoints=1, test={"games": 2_000})
    tested, row = learning.test(), learning.measure()
    assert tested["test/wins"] + tested["test/draws"] + tested["test/losses"] == 2_000
    assert tested["test/wins"] / 2_000 == pytest.approx(row["eval/win"], abs=0.02)
    assert 1 < tested["test/distinct_games"] < 2_000
    assert learning.test() == tested
    assert trained(num_games=10, test={"games": 0}).test() == {}
    both = trained(seat="both", num_games=10).test()
    assert set(both) == {
        f"test/{s}/{n}" for s in ("first", "second") for n in ("wins", "draws", "losses", "distinct_games")
    }


# Another game ------------------------------------------------------------------------------------------------


@dataclass(config=STRICT, kw_only=True)
class _Sticks(SmallGame):
    sticks: int = 7

    def rules(self) -> LastStick:
        return LastStick(self.sticks)


@pytest.mark.parametrize("name", ["mc", "sarsa", "q_learning", "afterstate"])
def test_a_game_without_lines_is_learnt_and_saved(name, monkeypatch, tmp_path):
    # From seven sticks X wins by leaving multiples of three. Against perfect play everything else loses.
    monkeypatch.setitem(games.classes, "sticks", _Sticks)
    learning = trained(
        game={"name": "sticks", "sticks": 7},
        algorithm=name,
        opponent="minimax",
        evaluation={"opponent": {"name": "minimax"}},
        num_games=5_000,
        num_checkpoints=1,
        schedule=constant(0.3),
    )
    row = learning.measure()
    assert (row["eval/win"], row["eval/exploitability"], row["eval/optimality_gap"]) == (1, 0, 0)
    learning.table().save(tmp_path / "table.npz", learning.graph)
    again = trainer({"init": tmp_path / "table.npz"}, game={"name": "sticks", "sticks": 7}, algorithm=name, init="x")
    assert np.array_equal(again.visits, learning.visits)
    with pytest.raises(MiaiError, match="it belongs to sticks"):
        trainer({"init": tmp_path / "table.npz"}, game={"name": "sticks", "sticks": 8}, algorithm=name, init="x")
