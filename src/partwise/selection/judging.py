"""Which of several trials is best, by the criteria that decide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.types import Array
from .grids import Kind
from .trials import CRITERIA, Trial

# Criteria that decide, by the kind of the parameter.
DECIDE: dict[Kind, tuple[str, ...]] = {
    "strength": CRITERIA,
    "neighbors": CRITERIA,
    "components": ("connectedness", "modularity"),
}
ROUNDING = 1e-9
# A trial with at most this much more loss than the best is preferred if more of its components are distinct.
ABOUT_AS_GOOD = 0.02


def comparable(rows: list[list[Trial]]) -> bool:
    """Whether any trial found more than one cluster, and every criterion has a value for all of them."""
    divided = any((trial.labels != trial.labels[0]).any() for row in rows for trial in row)
    return divided and bool(np.isfinite(verdicts(rows, "strength")).all())


def best_number(rows: list[list[Trial]]) -> int:
    """The row of the best number of components. Shares of links are simply added."""
    return int(verdicts(rows, "components").sum(axis=0).argmax())


def best_place(loss: Array, distinct: Array, margin: float = ABOUT_AS_GOOD) -> tuple[int, int]:
    """The value and the start of the trial to take: among those about as good as the best, the most distinct.

    Parameters
    ----------
    loss : ndarray of shape (n_values, n_starts)
        The loss of each trial relative to the best ones.
    distinct : ndarray, the same shape
        Distinct components of each trial, or their share.
    margin : float
        The loss accepted for distinct components.
    """
    good = loss <= loss.min() + margin
    taken = good & (distinct == distinct[good].max())
    value, start = divmod(int(np.where(taken, loss, np.inf).argmin()), loss.shape[1])
    return value, start


def losses(rows: Sequence[Sequence[Trial]], path: Sequence[Sequence[Trial]]) -> Array:
    """The loss of every trial relative to the best ones of a path, one row per value and one column per start.

    By each criterion it is the distance from the best, as a share of the distance between the best and the worst; the
    median of the four counts.
    """
    return np.asarray(np.median(shares(verdicts(rows, "strength"), verdicts(path, "strength")), axis=0))


def shares(verdicts: Array, seen: Array) -> Array:
    """The loss by each criterion, the first axis: the distance from the best seen, as a share of the range seen."""
    best, span = seen.max(axis=(1, 2), keepdims=True), np.ptp(seen, axis=(1, 2), keepdims=True)
    return np.asarray((best - verdicts) / np.where(span > ROUNDING, span, 1))


def verdicts(rows: Sequence[Sequence[Trial]], kind: Kind) -> Array:
    """The value of every trial by each deciding criterion."""
    return np.array([[[trial.criteria[name] for trial in row] for row in rows] for name in DECIDE[kind]])
