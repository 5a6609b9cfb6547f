"""Players named in a list."""

from __future__ import annotations

import pytest

from miai.errors import MiaiError
from miai.players.lineup import line_up

READY = {
    "random": {"name": "random", "label": None},
    "uct": {"name": "uct", "num_simulations": 1000, "c_uct": 0.3},
    "rave": {"name": "uct", "num_simulations": 1000, "c_uct": 0.3, "rave": True},
    "gnugo": {"name": "gnugo", "level": 10},
}


def test_a_name_means_the_ready_player():
    assert line_up(["uct", "rave"], READY) == (READY["uct"], READY["rave"])


def test_a_number_of_simulations_may_follow_the_name():
    low, high = line_up(["uct@500", "rave@2_000"], READY)
    assert low == {**READY["uct"], "num_simulations": 500}
    assert high == {**READY["rave"], "num_simulations": 2000}


def test_options_may_be_changed_on_the_spot():
    first, second = line_up([{"player": "uct", "c_uct": 1.0}, {"player": "uct@50", "label": "weak"}], READY)
    assert first == {**READY["uct"], "c_uct": 1.0}
    assert second == {**READY["uct"], "num_simulations": 50, "label": "weak"}


def test_what_is_ready_stays_as_it_is():
    before = {name: dict(options) for name, options in READY.items()}
    (changed,) = line_up([{"player": "uct", "c_uct": 2.0}], READY)
    changed["label"] = "mine"
    assert before == READY


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ("uct", r"players: a list is needed, such as \[uct,random\], not 'uct'"),
        (3, "players: a list is needed"),
        (["uct", "uctt"], r"players\[1\]: no such choice 'uctt'; allowed: gnugo, .* Did you mean 'uct'"),
        (["gnugo@5"], r"players\[0\]: 'gnugo@5': gnugo does not count simulations"),
        (["uct@"], r"players\[0\]: a name, name@simulations or \{player: name, option: value\} is allowed, not 'uct@'"),
        (["uct@1e3"], "a name, name@simulations"),
        ([7], "a name, name@simulations"),
        ([{"c_uct": 1.0}], r"players\[0\]: player: a ready player is needed; allowed: gnugo, random, rave, uct"),
        ([{"player": "uct", "name": "ucb"}], r"players\[0\].name: there is no such option"),
        ([{"player": "nobody"}], r"players\[0\]: no such choice 'nobody'"),
    ],
)
def test_what_names_nobody_is_refused_in_one_line(entries, message):
    with pytest.raises(MiaiError, match=message) as error:
        line_up(entries, READY)
    assert "\n" not in str(error.value)
