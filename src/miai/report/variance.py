"""How much does each factor explain? Analysis of variance by least squares, pure NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

HIGHER = ("interactions of higher order",)
SEEDS = ("seeds",)


@dataclass(frozen=True)
class Share:
    """One source of variance.

    `eta_squared` is its part of the total sum of squares; `omega_squared` is the same, less biased upwards.
    """

    term: tuple[str, ...]
    sum_of_squares: float
    degrees_of_freedom: int
    eta_squared: float
    omega_squared: float


@dataclass(frozen=True)
class Decomposition:
    """`balanced`: every combination of levels occurs, and equally often; only then do the shares add up to 1."""

    shares: tuple[Share, ...]
    balanced: bool
    num_values: int


def decompose(values: np.ndarray, factors: Mapping[str, np.ndarray], max_order: int = 2) -> Decomposition:
    """Split the variance of `values` over factors, their interactions up to `max_order`, higher interactions and seeds.

    Sums of squares are of type II: a term is measured after all terms that do not contain it. On a balanced design
    types I, II and III agree and the shares add up to 1. What is left within the cells is the spread over seeds.

    Args:
        values: [num_values], finite.
        factors: name → levels [num_values] of any type that compares equal. Factors of one level are left out.
        max_order: largest number of factors in an interaction that is shown by itself.

    Raises:
        ValueError: if lengths differ, no factor has two levels, or a value is not finite.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ValueError(f"values must be a finite array [num_values], got shape {values.shape}")
    codes = {}
    for name, levels in factors.items():
        if len(levels) != len(values):
            raise ValueError(f"factor {name!r} has {len(levels)} levels for {len(values)} values")
        _, code = np.unique([str(level) for level in levels], return_inverse=True)
        if code.max(initial=0) > 0:
            codes[name] = code
    if not codes:
        raise ValueError(f"no factor of {sorted(factors)} takes two levels")
    names = list(codes)
    contrasts = {name: _contrasts(code) for name, code in codes.items()}
    terms = [term for order in range(1, min(max_order, len(names)) + 1) for term in combinations(names, order)]
    columns = {term: _product([contrasts[name] for name in term]) for term in terms}

    total = float(((values - values.mean()) ** 2).sum())
    _, cell, counts = np.unique(np.stack(list(codes.values())), axis=1, return_inverse=True, return_counts=True)
    cell = cell.ravel()
    cell_means = np.bincount(cell, weights=values) / counts
    within = float(((values - cell_means[cell]) ** 2).sum())
    freedom_within = len(values) - len(counts)
    error = within / freedom_within if freedom_within else 0.0
    num_cells = int(np.prod([code.max() + 1 for code in codes.values()]))
    balanced = len(counts) == num_cells and len(set(counts.tolist())) == 1

    def share(term: tuple[str, ...], squares: float, freedom: int) -> Share:
        squares = max(squares, 0.0)
        eta = squares / total if total > 0 else 0.0
        omega = (squares - freedom * error) / (total + error) if total > 0 else 0.0
        return Share(term, squares, freedom, eta, max(omega, 0.0))

    found = []
    for term in terms:
        others = [columns[other] for other in terms if not set(term) <= set(other)]
        without, rank_without = _residual(values, others)
        with_it, rank_with = _residual(values, [*others, columns[term]])
        found.append(share(term, without - with_it, rank_with - rank_without))
    shown, rank_shown = _residual(values, list(columns.values()))
    if max_order < len(names):
        found.append(share(HIGHER, shown - within, len(counts) - rank_shown))
    found.append(share(SEEDS, within, freedom_within))
    return Decomposition(tuple(found), balanced, len(values))


def _contrasts(code: np.ndarray) -> np.ndarray:
    """Effect coding, [num_values, levels − 1]: columns add up to 0 over the levels, so main effects are averages."""
    levels = int(code.max()) + 1
    rows = np.vstack([np.eye(levels - 1), -np.ones(levels - 1)])
    return rows[code]


def _product(parts: list[np.ndarray]) -> np.ndarray:
    columns = parts[0]
    for part in parts[1:]:
        columns = (columns[:, :, None] * part[:, None, :]).reshape(len(columns), -1)
    return columns


def _residual(values: np.ndarray, columns: list[np.ndarray]) -> tuple[float, int]:
    """Return the residual sum of squares of a fit with a constant, and the fit's rank."""
    design = np.hstack([np.ones((len(values), 1)), *columns])
    # The normal equations are small (a column a level) and well scaled by the effect coding.
    coefficients, _, rank, _ = np.linalg.lstsq(design.T @ design, design.T @ values, rcond=1e-10)
    return float(((values - design @ coefficients) ** 2).sum()), int(rank)
