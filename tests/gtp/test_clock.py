import pytest

from miai.gtp.clock import LEAST, Clock

B, W = 1, -1


def test_without_settings_there_is_no_limit():
    assert Clock().seconds_for_move(B, 0, 81) is None


def test_an_overtime_without_stones_means_no_limit():
    clock = Clock()
    clock.set(0, 30, 0)
    assert clock.seconds_for_move(B, 0, 81) is None


def test_main_time_is_shared_out():
    clock = Clock()
    clock.set(400.5, 0, 0)
    # 81 points, one move made: each side is expected to make 80 // 2 = 40 more; half a second is kept back.
    assert clock.seconds_for_move(B, 1, 81) == pytest.approx(10)
    # Late in the game ten moves are still planned for.
    assert clock.seconds_for_move(B, 80, 81) == pytest.approx(40)


def test_a_game_played_by_the_plan_never_runs_out():
    clock = Clock()
    clock.set(60, 0, 0)
    for number in range(0, 400, 2):
        seconds = clock.seconds_for_move(B, number, 361)
        clock.spend(B, seconds)
    assert clock._sides[B].main > 0
    assert clock._sides[W].main == 60


def test_canadian_overtime():
    clock = Clock()
    clock.set(0, 30, 5)
    assert clock.seconds_for_move(B, 0, 81) == pytest.approx(0.85 * 30 / 5)
    clock.left(B, 12, 2)
    assert clock.seconds_for_move(B, 0, 81) == pytest.approx(0.85 * 12 / 2)
    clock.left(B, 1, 2)
    assert clock.seconds_for_move(B, 0, 81) == pytest.approx(0.25)
    clock.spend(B, 0.2)
    clock.spend(B, 0.2)
    assert (clock._sides[B].main, clock._sides[B].stones) == (30, 5), "a new period has begun"


def test_overtime_backs_the_main_time():
    clock = Clock()
    clock.set(10, 30, 5)
    assert clock.seconds_for_move(B, 0, 361) == pytest.approx(0.85 * 6)
    clock.spend(B, 11)
    assert (clock._sides[B].main, clock._sides[B].stones) == (30, 5)


def test_what_the_controller_says_counts():
    clock = Clock()
    clock.left(W, 100, 0)
    assert clock.seconds_for_move(W, 61, 81) == pytest.approx(9.95)
    assert clock.seconds_for_move(B, 61, 81) is None, "nothing is known of the other clock"
    clock.left(W, 0, 0)
    assert clock.seconds_for_move(W, 61, 81) == LEAST


def test_a_new_game_winds_the_clocks_up():
    clock = Clock()
    clock.set(100, 0, 0)
    clock.spend(B, 50)
    clock.restart()
    assert clock._sides[B].main == 100


def test_no_time_at_all_is_not_no_limit():
    clock = Clock()
    clock.set(0, 0, 0)
    assert clock.seconds_for_move(B, 0, 81) == LEAST
