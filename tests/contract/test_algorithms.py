"""What every algorithm and every schedule has to hold. A new file in `conf/` is found by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

import miai
from miai.schedules import ALPHA_SCHEDULES, EPSILON_SCHEDULES, build_schedule
from tabular.configuration import ALGORITHMS, constant, trained, trainer

CONF = Path(miai.__file__).parents[2] / "conf"


def names_of(group: str) -> list[str]:
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


def options_of(group: str, name: str) -> dict:
    text = (CONF / group / f"{name}.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text.replace("${alpha}", "0.1"))


@pytest.mark.parametrize("name", names_of("algorithm"))
def test_a_file_is_named_after_its_algorithm(name):
    options = options_of("algorithm", name)
    assert options["name"] == name
    assert {"name", "entry", "target", "n_step"} == set(options)


def test_the_algorithms_of_the_tests_are_those_of_the_configuration():
    for name in set(names_of("algorithm")) & set(ALGORITHMS):
        entry, target, n_step = ALGORITHMS[name]
        assert options_of("algorithm", name) == {"name": name, "entry": entry, "target": target, "n_step": n_step}


@pytest.mark.parametrize("seat", ["first", "second", "both"])
@pytest.mark.parametrize("name", names_of("algorithm"))
def test_an_algorithm_learns_to_beat_random(name, seat):
    learning = trainer(algorithm=options_of("algorithm", name), seat=seat, num_games=40_000, num_checkpoints=2)
    untrained = learning.measure()
    for _ in learning.run():
        pass
    row = learning.measure()
    for key in [key for key in row if key.endswith("optimality_gap")]:
        assert row[key] < 0.15 < untrained[key]
    assert 0 < row["table/size"] <= learning.bound
    assert np.isfinite(learning.table_values()).all()
    assert (np.abs(learning.table_values()) <= 1).all()  # a value is a mean of rewards and discounted values


@pytest.mark.parametrize("name", names_of("algorithm"))
def test_the_same_seed_gives_the_same_table_and_another_another(name):
    algorithm = options_of("algorithm", name)
    one, same, other = (trained(algorithm=algorithm, seed=seed, num_games=500) for seed in (1, 1, 2))
    assert one.table_values().tobytes() == same.table_values().tobytes()
    assert one.table_visits().tobytes() == same.table_visits().tobytes()
    assert one.table_values().tobytes() != other.table_values().tobytes()


@pytest.mark.parametrize("name", names_of("algorithm"))
def test_an_algorithm_without_steps_learns_nothing(name):
    algorithm = options_of("algorithm", name)
    still = trained(algorithm=algorithm, alpha_schedule=constant(0.0), initial_value=0.5, num_games=500)
    assert (still.table_values() == 0.5).all()


@pytest.mark.parametrize(("group", "kinds"), [("schedule", EPSILON_SCHEDULES), ("alpha_schedule", ALPHA_SCHEDULES)])
def test_every_schedule_has_a_configuration_and_the_reverse(group, kinds):
    assert names_of(group) == sorted(kinds)
    for name in names_of(group):
        options = options_of(group, name)
        assert options["name"] == name
        values = build_schedule(options, kinds, group).values(1_000)
        assert values.shape == (1_000,)
        assert ((values >= 0) & (values <= 1)).all()
        if "start" in options:
            assert values[0] == options["start"]


def test_the_default_exploration_begins_at_exactly_one():
    options = options_of("schedule", "exponential")
    assert build_schedule(options, EPSILON_SCHEDULES, "schedule").values(3)[0] == 1.0


@pytest.mark.parametrize("name", names_of("alpha_schedule"))
def test_one_learns_under_every_alpha_schedule(name):
    learning = trained(alpha_schedule=options_of("alpha_schedule", name), num_games=40_000, num_checkpoints=1)
    assert learning.measure()["eval/optimality_gap"] < 0.15
