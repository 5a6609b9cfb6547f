from __future__ import annotations

from typing import Any

import pytest

from miai.alphago.optimisation import WARMUP_FROM, Optimisation
from miai.errors import MiaiError
from miai.kinds import validate

OPTIONS: dict[str, Any] = {
    "optimiser": "adamw",
    "learning_rate": 0.1,
    "momentum": 0.9,
    "weight_decay": 0.0,
    "max_gradient": None,
    "lr_schedule": "constant",
    "warmup": 0.0,
    "lr_drops": (0.5, 0.75),
    "lr_factor": 0.1,
}


def rates(*progress: float, **changes: Any) -> list[float]:
    options = Optimisation(**{**OPTIONS, **changes})
    return [options.learning_rate_at(share) for share in progress]


def test_constant() -> None:
    assert rates(0.0, 0.5, 1.0) == [0.1, 0.1, 0.1]


def test_steps() -> None:
    assert rates(0.0, 0.49, 0.5, 0.75, 1.0, lr_schedule="step") == pytest.approx([0.1, 0.1, 0.01, 0.001, 0.001])


def test_half_a_cosine() -> None:
    # cos 60° = 1/2, so a third of the way three quarters are left.
    assert rates(0.0, 1 / 3, 0.5, 1.0, lr_schedule="cosine") == pytest.approx([0.1, 0.075, 0.05, 0.0])


def test_one_cycle_rises_then_falls() -> None:
    found = rates(0.0, 0.1, 0.2, 0.6, 1.0, lr_schedule="cosine", warmup=0.2)
    assert found == pytest.approx([0.1 * WARMUP_FROM, 0.1 * (1 + WARMUP_FROM) / 2, 0.1, 0.05, 0.0])


def test_a_warm_up_may_be_all_there_is() -> None:
    assert rates(0.5, 1.0, lr_schedule="cosine", warmup=1.0) == pytest.approx([0.052, 0.1])


def test_outside_counts_as_the_nearer_end() -> None:
    assert rates(-1.0, 2.0, lr_schedule="cosine") == pytest.approx([0.1, 0.0])


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"optimiser": "adam"}, "optimisation.optimiser: Input should be 'sgd' or 'adamw', not 'adam'"),
        ({"learning_rate": 0.0}, "optimisation.learning_rate: .* greater than 0, not 0.0"),
        ({"momentum": 1.0}, "optimisation.momentum: .* less than 1, not 1.0"),
        ({"warmup": 1.5}, "optimisation.warmup: .* less than or equal to 1, not 1.5"),
        ({"beta2": 0.9}, "optimisation.beta2: there is no such option"),
    ],
)
def test_what_is_not_allowed_is_refused(changes: dict, complaint: str) -> None:
    with pytest.raises(MiaiError, match=complaint):
        validate(Optimisation, {**OPTIONS, **changes}, "optimisation")
