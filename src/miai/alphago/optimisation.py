"""How networks are optimised: the options, and the learning rate over a training. Needs no PyTorch."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.kinds import STRICT

Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]


@dataclass(config=STRICT, kw_only=True)
class Optimisation:
    """An optimiser and its learning rate.

    The schedule is over the *progress* of the training, the share of its budget that is used up, from 0 to 1.
    """

    optimiser: Literal["sgd", "adamw"]
    """SGD with Nesterov's momentum; or AdamW (Loshchilov and Hutter, 2019), where `momentum` is β₁, and β₂ is 0.999."""
    learning_rate: Positive
    """The largest that the schedule comes to."""
    momentum: Annotated[float, Field(ge=0, lt=1)]
    weight_decay: Annotated[float, Field(ge=0)]
    """Of kernels and matrices; biases and what batch norm has learnt are left alone."""
    max_gradient: Positive | None
    """A gradient of a larger norm is scaled down to it."""
    lr_schedule: Literal["constant", "cosine", "step"]
    """`cosine` falls to 0 at the end; with a warm-up this is the one-cycle schedule."""
    warmup: Share
    """Over this share of the training the learning rate rises from near 0, whatever the schedule."""
    lr_drops: tuple[Share, ...]
    """With `step`: at these shares of the training the learning rate is multiplied by `lr_factor`."""
    lr_factor: Annotated[float, Field(gt=0, le=1)]

    def learning_rate_at(self, progress: float) -> float:
        """Return the learning rate at a progress from 0 to 1; what lies outside counts as the nearer end."""
        progress = min(max(progress, 0.0), 1.0)
        rate = self.learning_rate
        if self.lr_schedule == "cosine":
            beyond = 0.0 if self.warmup == 1 else max(progress - self.warmup, 0.0) / (1.0 - self.warmup)
            rate *= 0.5 * (1.0 + math.cos(math.pi * beyond))
        elif self.lr_schedule == "step":
            rate *= self.lr_factor ** sum(progress >= share for share in self.lr_drops)
        if progress < self.warmup:
            rate *= WARMUP_FROM + (1.0 - WARMUP_FROM) * progress / self.warmup
        return rate


WARMUP_FROM = 0.04
"""The share of the learning rate that a warm-up begins with."""
