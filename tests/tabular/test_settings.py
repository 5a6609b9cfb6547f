"""A training's settings are checked as a whole, in one line."""

from __future__ import annotations

import pytest

from miai.errors import MiaiError
from miai.tabular.settings import Algorithm, TrainSettings
from miai.tabular.targets import TARGETS

from .configuration import algorithm, config, constant


def test_settings_of_the_fair_setting():
    settings = TrainSettings.of(config(num_games=100_000, num_checkpoints=100))
    assert settings.algorithm == Algorithm(name="sarsa", entry="state_action", target="chosen", n_step=1)
    assert settings.numbers.gamma == 0.9
    assert settings.epsilon.values(1).tolist() == [1.0]


def test_whole_numbers_become_floats():
    # So that gamma=1 and gamma=1.0 give the same table, byte for byte.
    numbers = TrainSettings.of(config(gamma=1, initial_value=0)).numbers
    assert (repr(numbers.gamma), repr(numbers.initial_value)) == ("1.0", "0.0")


@pytest.mark.parametrize(("given", "taken"), [(1, 1), (7, 7), ("inf", "inf"), (float("inf"), "inf")])
def test_turns_to_the_bootstrap(given, taken):
    # Hydra reads algorithm.n_step=inf as a float, YAML as a word.
    chosen = {**algorithm("sarsa"), "n_step": given}
    assert TrainSettings.of(config(algorithm=chosen)).algorithm.n_step == taken


def test_every_target_has_a_code_and_is_allowed():
    for target in TARGETS:
        assert Algorithm(name="x", entry="state_action", target=target).target == target


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gamma": 1.1}, "gamma: .*less than or equal to 1, not 1.1"),
        ({"gamma": float("nan")}, "gamma: .*not nan"),
        ({"alpha": -0.1}, "alpha: .*not -0.1"),
        ({"alpha_schedule": constant(2.0)}, "alpha_schedule.value: .*not 2.0"),
        ({"schedule": {"name": "inverse_visits"}}, "schedule: no such choice 'inverse_visits'"),
        ({"seed": -1}, "seed: .*not -1"),
        ({"seed": 1.5}, "seed: .*not 1.5"),
        ({"seat": "third"}, "seat: .*'first', 'second' or 'both', not 'third'"),
        ({"num_games": 0}, "num_games: .*not 0"),
        ({"num_checkpoints": 0}, "num_checkpoints: .*not 0"),
        ({"initial_value": "high"}, "initial_value: .*not 'high'"),
        ({"tie_breaking": "last"}, "tie_breaking: .*not 'last'"),
        ({"test": {"games": -5}}, r"test\.games: .*not -5"),
        ({"algorithm": {**algorithm("sarsa"), "n_step": 0}}, "algorithm.n_step: a whole number from 1, or inf, not 0"),
        ({"algorithm": {**algorithm("sarsa"), "n_step": True}}, "algorithm.n_step: a whole number from 1, or inf"),
        ({"algorithm": {**algorithm("sarsa"), "target": "worst"}}, "algorithm.target: .*not 'worst'"),
        ({"algorithm": {**algorithm("q_learning"), "n_step": 2}}, "n_step above 1 goes with target chosen, not best"),
        ({"algorithm": {**algorithm("q_learning"), "lambda": 2}}, "algorithm.lambda: there is no such option"),
        ({"opponent": "self"}, "self needs seat=both, not seat=first"),
        ({"opponent": "self", "seat": "second"}, "self needs seat=both, not seat=second"),
        ({"evaluation": {"opponent": {"name": "self"}}}, "evaluation.opponent: no such choice 'self'"),
    ],
)
def test_wrong_settings_are_refused_in_one_line(changes, message):
    with pytest.raises(MiaiError, match=message) as caught:
        TrainSettings.of(config(**changes))
    assert "\n" not in str(caught.value)
