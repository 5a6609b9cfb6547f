"""REINFORCE on a policy network: the gradient of one minibatch of games, and the step.

Silver et al. (2016), Methods, "Policy network: reinforcement learning": over n games, with z = ±1 the result of game i
for the side whose move a_t is, and b a baseline,

    Δρ = α / n · Σ_i Σ_t  ∂ log p_ρ(a_t | s_t) / ∂ρ · (z − b(s_t)).

p is the softmax over the moves that the policy could choose from when it played. With batch norm, its running
statistics are those that the network played with, and stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import torch

from miai.errors import MiaiError
from miai.networks.torch_network import TorchNetwork


class Weighted(NamedTuple):
    """Decisions and how much each is to be reinforced.

    Attributes:
        planes: float32[n, P, N, N].
        allowed: bool or uint8[n, N²], the moves that there were.
        moves: int64[n], the one that was made, an allowed one.
        advantages: float32[n], z − b.
    """

    planes: np.ndarray
    allowed: np.ndarray
    moves: np.ndarray
    advantages: np.ndarray


class StepStatistics(NamedTuple):
    """What a step saw.

    Attributes:
        positions: number of decisions.
        entropy: mean entropy of the policy over its allowed moves, in nats.
        gradient_norm: Euclidean norm of the gradient that was applied.
    """

    positions: int
    entropy: float
    gradient_norm: float


class Where(NamedTuple):
    """Where and how a network computes."""

    device: torch.device
    precision: str = "float32"
    """Of the convolutions: `float32` or `bfloat16`."""


def log_policy(module: TorchNetwork, planes: np.ndarray, allowed: np.ndarray, where: Where) -> torch.Tensor:
    """Return log p over the points, [n, N²], −∞ where a move is not allowed. At least one is, in every row."""
    x = torch.from_numpy(planes).to(where.device, memory_format=torch.channels_last)
    mask = torch.from_numpy(np.ascontiguousarray(allowed, np.uint8)).to(where.device) != 0
    with torch.autocast(where.device.type, torch.bfloat16, enabled=where.precision == "bfloat16"):
        logits = module(x)
    logits = logits.float() if logits.dtype == torch.bfloat16 else logits
    return logits.masked_fill(~mask, -torch.inf).log_softmax(dim=1)


def reinforce_step(
    module: TorchNetwork,
    optimiser: torch.optim.Optimizer,
    batches: Iterable[Weighted],
    num_games: int,
    where: Where,
    floor: float = 0.0,
) -> StepStatistics:
    """Take one step of the minibatch's gradient; `module` and `optimiser` are modified in place.

    Args:
        batches: the decisions of the minibatch, in pieces that fit into the memory; the gradient is their sum.
        num_games: n.
        floor: a move with a negative advantage is not pushed below this probability. A policy that plays itself stops
            making such moves, and nothing pushes them further; moves that somebody else made come again and again, and
            log p would go to −∞.

    Raises:
        ValueError: there are no games.
        MiaiError: the gradient is not finite: the steps are too large.
    """
    if num_games < 1:
        raise ValueError(f"num_games: 1 or more, got {num_games}")
    module.eval()
    optimiser.zero_grad(set_to_none=True)
    positions, entropy = 0, 0.0
    for batch in batches:
        log_p = log_policy(module, batch.planes, batch.allowed, where)
        chosen = log_p.gather(1, torch.from_numpy(batch.moves).to(where.device)[:, None])[:, 0]
        advantages = torch.from_numpy(batch.advantages).to(where.device)
        if floor > 0:
            advantages = advantages.where((advantages > 0) | (chosen.detach().exp() > floor), 0.0)
        # Minus, because an optimiser goes down.
        loss = -(chosen * advantages).sum() / num_games
        loss.backward()
        with torch.no_grad():
            entropy -= float((log_p.exp() * log_p.clamp(min=torch.finfo(log_p.dtype).min)).sum())
        positions += len(batch.moves)
    if not positions:
        return StepStatistics(0, 0.0, 0.0)
    gradients = [parameter.grad for parameter in module.parameters() if parameter.grad is not None]
    norm = float(torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in gradients])))
    if not np.isfinite(norm):
        raise MiaiError("learning_rate: the training diverges, its gradient is not finite; a smaller one is needed.")
    optimiser.step()
    return StepStatistics(positions, entropy / positions, norm)
