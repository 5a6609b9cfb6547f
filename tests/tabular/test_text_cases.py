"""The boards of the text, as updates worked by hand, for every algorithm and in both seats.

α is 1/2 and γ is 0.9 throughout. A game is a list of cells, X and O in turn; the opponent's moves are scripted, and a
seed is searched for with which the learner's ε-greedy moves are those of the game. All values that matter are set
before the game, so that every update can be worked out on paper:

    new = old + ½ · (target − old), that is (old + target) / 2.
"""

from __future__ import annotations

import numpy as np
import pytest

from miai.tabular.training import Trainer

from .configuration import constant, scripted_trainer, tictactoe, trained, trainer

#  0 1 2      cells are 3 · row + column
#  3 4 5
#  6 7 8
CENTRE = 4

Move = tuple[int, ...]
"""The cells played so far, X and O in turn, the last being the learner's move: it names an entry."""


def board_after(cells: Move) -> np.ndarray:
    board = np.zeros(9, np.int8)
    for ply, cell in enumerate(cells):
        board[cell] = 1 if ply % 2 == 0 else -1
    return board


def entry(move: Move, is_afterstate: bool) -> int:
    graph = tictactoe()
    if is_afterstate:
        return graph.find(board_after(move))
    return graph.find_edge(graph.find(board_after(move[:-1])), move[-1])


def play(game: Move, values: dict[Move, float], *, learner: int, epsilon: float = 0.5, algorithm: str) -> dict:
    """Train on exactly this game, and return the values of all entries that were updated, by move.

    Args:
        learner: 0 if X learns, 1 if O does.
        values: what entries are worth before the game; all others 0.
    """
    seat = ("first", "second")[learner]
    afterstates = algorithm.startswith("afterstate")
    script = {ply: cell for ply, cell in enumerate(game) if ply % 2 != learner}
    own = [game[: ply + 1] for ply in range(len(game)) if ply % 2 == learner]
    for seed in range(20_000):
        learning = scripted_trainer(
            script,
            algorithm=algorithm,
            seat=seat,
            seed=seed,
            num_games=1,
            num_checkpoints=1,
            alpha_schedule=constant(0.5),
            schedule=constant(epsilon),
        )
        _set(learning, values, afterstates)
        for _ in learning.run():
            pass
        entries = {entry(move, afterstates): move for move in own}
        if set(np.flatnonzero(learning.visits)) == set(entries):
            assert (learning.visits[list(entries)] == 1).all()
            return {move: pytest.approx(learning.values[i], abs=1e-15) for i, move in entries.items()}
    raise AssertionError("no seed plays this game")


def _set(learning: Trainer, values: dict[Move, float], afterstates: bool) -> None:
    for move, value in values.items():
        learning.values[entry(move, afterstates)] = value


# Case 1: the game goes on ------------------------------------------------------------------------------
#
#   . . .        X's move (1,1), O's reply (2,0), X's next choice (2,2); then O (0,1) and X (0,0) wins.
#   . X .        The next state has two marks, the after-state of X's first move one.
#   O . x
CASE_1 = (4, 6, 8, 1, 0)
FIRST_MOVE, CHOICE, LAST = (4,), (4, 6, 8), (4, 6, 8, 1, 0)
BETTER = (4, 6, 2)
"""What X could have chosen instead of (2,2), worth more in these tests."""
VALUES = {FIRST_MOVE: 0.2, CHOICE: 0.4, BETTER: 0.8, LAST: 0.6}

CASE_1_UPDATES = {
    # target of the first move:        γ · Q(next_state, (2,2)) = 0.9 · 0.4 = 0.36
    # of the choice:                   γ · Q(next state, (0,0)) = 0.9 · 0.6 = 0.54;  of the last: the reward 1
    "sarsa": (0.28, 0.47, 0.8),
    "afterstate": (0.28, 0.47, 0.8),
    # γ · max over the legal moves = 0.9 · 0.8 = 0.72; at the last turn the chosen move is the best one
    "q_learning": (0.46, 0.47, 0.8),
    "afterstate_q": (0.46, 0.47, 0.8),
    # γ · (½ · 0.8 + ½ · (0.4 + 0.8) / 7) = 0.9 · (0.4 + 0.6/7);  γ · (½ · 0.6 + ½ · 0.6 / 5) = 0.9 · 0.36
    "expected_sarsa": ((0.2 + 0.9 * (0.4 + 0.6 / 7)) / 2, (0.4 + 0.9 * 0.36) / 2, 0.8),
    # the return: γ² = 0.81, γ = 0.9, 1
    "mc": (0.505, 0.65, 0.8),
    "n_step_inf": (0.505, 0.65, 0.8),
    "afterstate_mc": (0.505, 0.65, 0.8),
    # two turns on: γ² · Q(last) = 0.81 · 0.6 = 0.486; the choice's return γ
    "n_step_sarsa": (0.343, 0.65, 0.8),
    "afterstate_2": (0.343, 0.65, 0.8),
}


@pytest.mark.parametrize("algorithm", CASE_1_UPDATES)
def test_case_1_x_learns(algorithm):
    updates = dict(zip((FIRST_MOVE, CHOICE, LAST), CASE_1_UPDATES[algorithm], strict=True))
    assert play(CASE_1, VALUES, learner=0, algorithm=algorithm) == updates


@pytest.mark.parametrize("algorithm", CASE_1_UPDATES)
def test_case_1_o_learns(algorithm):
    #   x . .      X opens (1,2); from there O stands where X stood: O (1,1), X (2,0), O (2,2), X (0,1), O (0,0) wins.
    #   . O X      O has one cell fewer to choose from, which expected SARSA sees.
    #   X . O
    opening = 5
    game = (opening, *CASE_1)
    moved = {(opening, *move): value for move, value in VALUES.items()}
    updates = list(CASE_1_UPDATES[algorithm])
    if algorithm == "expected_sarsa":
        updates[:2] = (0.2 + 0.9 * (0.4 + 0.6 / 6)) / 2, (0.4 + 0.9 * (0.3 + 0.3 / 4)) / 2
    moves = tuple((opening, *move) for move in (FIRST_MOVE, CHOICE, LAST))
    assert play(game, moved, learner=1, algorithm=algorithm) == dict(zip(moves, updates, strict=True))


@pytest.mark.parametrize("learner", [0, 1])
def test_case_1_double_q(learner):
    # Whichever table is updated chooses the next move, and the other says what it is worth:
    #   A: (2,2) 0.4, (0,2) 0.8 → picks (0,2);   B: (2,2) 0.7, (0,2) 0.1 → picks (2,2)
    opening = () if learner == 0 else (5,)
    game = (*opening, *CASE_1)
    first, choice, better, last = (entry((*opening, *move), False) for move in (FIRST_MOVE, CHOICE, BETTER, LAST))
    script = {ply: cell for ply, cell in enumerate(game) if ply % 2 != learner}
    updated = set()
    for seed in range(20_000):
        learning = scripted_trainer(
            script,
            algorithm="double_q",
            seat=("first", "second")[learner],
            seed=seed,
            num_games=1,
            num_checkpoints=1,
            alpha_schedule=constant(0.5),
            schedule=constant(0.5),
        )
        a, b, visits_a = learning.values, learning._other, learning.visits
        a[[first, choice, better, last]] = 0.2, 0.4, 0.8, 0.6
        b[[first, choice, better, last]] = 0.3, 0.7, 0.1, 0.5
        for _ in learning.run():
            pass
        if set(np.flatnonzero(learning.table_visits())) != {first, choice, last}:
            continue
        assert learning.table_visits().sum() == 3
        if visits_a[first]:
            assert a[first] == pytest.approx((0.2 + 0.9 * 0.1) / 2, abs=1e-15)  # B's value of A's pick (0,2)
            assert b[first] == 0.3
        else:
            assert b[first] == pytest.approx((0.3 + 0.9 * 0.4) / 2, abs=1e-15)  # A's value of B's pick (2,2)
            assert a[first] == 0.2
        if visits_a[choice]:
            assert a[choice] == pytest.approx((0.4 + 0.9 * 0.5) / 2, abs=1e-15)
        else:
            assert b[choice] == pytest.approx((0.7 + 0.9 * 0.6) / 2, abs=1e-15)
        assert (a[last], b[last]) == (pytest.approx(0.8), 0.5) if visits_a[last] else (0.6, pytest.approx(0.75))
        assert np.array_equal(learning.table_values(), (a + b) / 2)
        updated.add((bool(visits_a[first]), bool(visits_a[choice])))
        if len(updated) == 4:
            return
    raise AssertionError(f"not every choice of tables was seen: {updated}")


# Case 2: the learner's own move ends the game ---------------------------------------------------------
#
#   x . O        X (1,1), (2,2); O (0,2), (1,2); X plays (0,0) and completes the diagonal: target 1, no bootstrap.
#   . X O
#   . . X
CASE_2 = (4, 2, 8, 5, 0)
DRAW = (0, 1, 2, 4, 7, 5, 3, 6, 8)
ALL = ("sarsa", "q_learning", "expected_sarsa", "mc", "n_step_sarsa", "n_step_inf")
ALL_AFTERSTATE = ("afterstate", "afterstate_q", "afterstate_mc", "afterstate_2")


@pytest.mark.parametrize("algorithm", [*ALL, *ALL_AFTERSTATE])
@pytest.mark.parametrize("opening", [(), (1,)], ids=["x learns", "o learns"])
def test_case_2_a_win_is_the_whole_target(algorithm, opening):
    # Mirrored, X opens (0,1) and O plays what X played:  o X X / . O X / . . O
    game = (*opening, *CASE_2)
    values = {game: 0.6, game[:-2]: 0.5, game[:-4]: 0.4}
    assert play(game, values, learner=len(opening), algorithm=algorithm)[game] == 0.8


@pytest.mark.parametrize("algorithm", [*ALL, *ALL_AFTERSTATE])
def test_case_2_a_draw_on_the_last_cell(algorithm):
    #   X O X      X's ninth mark, at (2,2), fills the board and completes no line: target 0.
    #   X O O
    #   O X x
    game = DRAW
    values = {game[:ply]: 0.5 for ply in (1, 3, 5, 7)} | {game: 0.6}
    assert play(game, values, learner=0, algorithm=algorithm)[game] == 0.3


def test_case_2_a_win_on_the_last_cell_is_a_win():
    #   X O X      X's ninth mark, at (1,1), fills the board and completes a diagonal: target 1.
    #   O x O
    #   O X X
    game = (0, 1, 2, 3, 7, 5, 8, 6, 4)
    values = {game[:ply]: 0.5 for ply in (1, 3, 5, 7)} | {game: 0.6}
    assert play(game, values, learner=0, algorithm="sarsa")[game] == 0.8


# Case 3: the opponent's reply ends the game -------------------------------------------------------------
#
#   X X O        X (0,0), (0,1); O (0,2), (1,1); X plays (1,2), O replies (2,0) and wins.
#   . O x        Target −1 for (1,2), the last move of X.
#   o . .
CASE_3 = (0, 2, 1, 4, 5, 6)


@pytest.mark.parametrize("algorithm", [*ALL, *ALL_AFTERSTATE])
@pytest.mark.parametrize("opening", [(), (8,)], ids=["x learns", "o learns"])
def test_case_3_a_loss_blames_the_last_move(algorithm, opening):
    # Mirrored, X opens (2,2), and O and X play what X and O played; X's line is the same rising diagonal.
    game = (*opening, *CASE_3)
    blamed, before, first = game[:-1], game[:-3], game[:-5]
    values = {blamed: 0.4, before: 0.6, first: 0.6}
    updates = play(game, values, learner=len(opening), algorithm=algorithm)
    assert updates[blamed] == -0.3
    # Earlier moves see the loss only as far as their targets reach.
    if algorithm in ("sarsa", "afterstate"):
        assert updates[before] == (0.6 + 0.9 * 0.4) / 2
    if algorithm in ("mc", "n_step_inf", "afterstate_mc", "n_step_sarsa", "afterstate_2"):
        assert updates[before] == (0.6 - 0.9) / 2
    if algorithm in ("mc", "n_step_inf", "afterstate_mc"):
        assert updates[first] == (0.6 - 0.81) / 2


@pytest.mark.parametrize("algorithm", [*ALL, *ALL_AFTERSTATE])
def test_case_3_a_draw_by_the_opponents_last_mark(algorithm):
    # O learns; X's ninth mark fills the board: target 0 for O's last move.
    game = DRAW
    values = {game[:ply]: 0.5 for ply in (2, 4, 6)} | {game[:8]: 0.6}
    assert play(game, values, learner=1, algorithm=algorithm)[game[:8]] == 0.3


@pytest.mark.parametrize("algorithm", ["sarsa", "q_learning", "afterstate", "mc", "double_q"])
def test_case_3_after_training_the_block_is_worth_more(algorithm):
    # Enough exploration to come by this board often: one game in a thousand does.
    learnt = trained(algorithm=algorithm, num_games=200_000, num_checkpoints=1, schedule=constant(0.5)).table_values()
    blunder, block = (*CASE_3[:4], 5), (*CASE_3[:4], 6)
    afterstates = algorithm == "afterstate"
    assert learnt[entry(block, afterstates)] > learnt[entry(blunder, afterstates)]


# Self-play ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["sarsa", "mc"])
def test_in_self_play_both_learn_from_one_game(algorithm):
    # X wins (1,1), (2,2), (0,0) as in case 2: +1 is X's reward, −1 is O's, whose last move (1,2) is blamed.
    game = CASE_2
    values = {game[: ply + 1]: 0.4 + 0.1 * ply for ply in range(5)}  # 0.4 … 0.8 along the game: greedy plays it
    learning = trainer(
        algorithm=algorithm,
        opponent="self",
        seat="both",
        num_games=1,
        num_checkpoints=1,
        alpha_schedule=constant(0.5),
        schedule=constant(0.0),
    )
    _set(learning, values, False)
    for _ in learning.run():
        pass
    updates = [learning.values[entry(game[: ply + 1], False)] for ply in range(5)]
    if algorithm == "sarsa":
        assert updates == pytest.approx(
            [(0.4 + 0.9 * 0.6) / 2, (0.5 + 0.9 * 0.7) / 2, (0.6 + 0.9 * 0.8) / 2, -0.15, 0.9]
        )
    else:
        assert updates == pytest.approx([(0.4 + 0.81) / 2, (0.5 - 0.9) / 2, (0.6 + 0.9) / 2, -0.15, 0.9])
    assert learning.visits.sum() == 5


# One after-state, two ways ----------------------------------------------------------------------------------


def test_one_afterstate_two_ways():
    #   X . .      X (0,0) then (1,2), or X (1,2) then (0,0), with O at (1,1):
    #   . O X      two state-action entries, one after-state entry
    #   . . .
    one_way, other_way = (0, 4, 5), (5, 4, 0)
    assert entry(one_way, False) != entry(other_way, False)
    assert entry(one_way, True) == entry(other_way, True)


def test_an_afterstate_gathers_the_visits_of_all_ways_to_it():
    # Always exploring, both learners play the same games, whatever they have learnt.
    games = {"num_games": 5_000, "num_checkpoints": 1, "schedule": constant(1.0)}
    pairs, boards = trained(algorithm="sarsa", **games).visits, trained(algorithm="afterstate", **games).visits
    assert pairs[[entry((0, 4, 5), False), entry((5, 4, 0), False)]].all()
    gathered = np.bincount(tictactoe().arrays.edge_child, pairs, len(boards))
    assert np.array_equal(boards, gathered)
