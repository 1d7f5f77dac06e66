"""Accelerated projected gradient on a quadratic of one factor.

Steps along the gradient S F B − A, projected onto a convex set, with Nesterov's extrapolation and a restart whenever
the value would rise (O'Donoghue & Candès 2015). For any u > 0 a symmetric S lies below diag(|S|u / u), and so does B,
so their products bound the curvature of every entry. S is applied once per step, because its product with an
extrapolated point follows from earlier ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..core.forms import Coupling
from ..core.projections import onto_nonnegative
from ..core.rows import RowMatrix
from ..core.types import Array


def descend(
    F: Array,
    A: Array,
    couplings: Sequence[Coupling],
    max_steps: int,
    tolerance: float,
    project: Callable[[Array], Array] = onto_nonnegative,
    *,
    by_rows: bool = False,
) -> Array:
    """Lower Σ_t tr(Fᵀ S_t F B_t) − 2 tr(Fᵀ A) over a convex set by accelerated projected gradient.

    Parameters
    ----------
    F : ndarray of shape (rows, k)
        Where to start, in the set; not changed.
    A : ndarray of shape (rows, k)
    couplings : sequence of Coupling
    max_steps : int
    tolerance : float
        Stop when a step gains less than this share of the first one.
    project : callable, default=onto_nonnegative
        The projection onto the set.
    by_rows : bool, default=False
        The set couples the entries of a row, so that they take steps of one length; otherwise it must be a product of
        sets of single entries.
    """
    curvature = entry_curvature(couplings, F)
    if by_rows:
        curvature = np.broadcast_to(curvature.max(axis=1, keepdims=True), F.shape)
    inverse = np.divide(1, curvature, out=np.zeros_like(curvature), where=curvature > 0).astype(F.dtype)

    def apply(F: Array) -> Array:
        """Σ_t S_t F B_t."""
        return np.asarray(sum((part.dot(F) for part in couplings), start=np.zeros_like(F)))

    def value(F: Array, QF: Array) -> float:
        return float(np.einsum("ij,ij->", F, QF - 2 * A, dtype=np.float64, casting="safe"))

    QF = apply(F)
    lowest, first = value(F, QF), None
    ahead, Q_ahead, speed = F, QF, 1.0
    for _ in range(max_steps):
        new = project(ahead - inverse * (Q_ahead - A))
        Q_new = apply(new)
        gain = lowest - value(new, Q_new)
        if gain <= 0:
            if ahead is F:
                break
            ahead, Q_ahead, speed = F, QF, 1.0
            continue
        first = gain if first is None else first
        faster = (1 + np.sqrt(1 + 4 * speed * speed)) / 2
        push = F.dtype.type((speed - 1) / faster)
        ahead, Q_ahead, speed = new + push * (new - F), Q_new + push * (Q_new - QF), faster
        F, QF, lowest = new, Q_new, lowest - gain
        if gain < tolerance * first:
            break
    return F


def descend_each(
    F: Array,
    A: Array,
    couplings: Sequence[Coupling],
    max_steps: int,
    tolerance: float,
    project: Callable[[Array], Array],
) -> Array:
    """The same for independent rows, each with its own extrapolation and until its own steps are small.

    A row's result does not depend on the others. Its extrapolation restarts when it points uphill.

    Parameters
    ----------
    F, A, couplings, max_steps, project
        As for :func:`descend`; the set couples the entries of a row.
    tolerance : float
        Of a step, relative to the largest entry of its row.
    """
    curvature = entry_curvature(couplings, F).max(axis=1, keepdims=True)
    inverse = np.divide(1, curvature, out=np.zeros_like(curvature), where=curvature > 0).astype(F.dtype)
    ahead, speed, active = F, np.ones((len(F), 1)), np.ones((len(F), 1), bool)
    for _ in range(max_steps):
        gradient = sum((part.dot(ahead) for part in couplings), start=-A)
        new = np.where(active, project(ahead - inverse * gradient), F)
        step = new - F
        uphill = ((ahead - new) * step).sum(axis=1, keepdims=True) > 0
        active &= np.abs(step).max(axis=1, keepdims=True) > tolerance * np.abs(new).max(axis=1, keepdims=True)
        speed = np.where(uphill, 1.0, speed)
        faster = (1 + np.sqrt(1 + 4 * speed * speed)) / 2
        ahead, F, speed = new + ((speed - 1) / faster).astype(F.dtype) * step, new, faster
        if not active.any():
            break
    return F


def entry_curvature(couplings: Sequence[Coupling], F: Array) -> Array:
    """Σ_t diag(|S_t|u/u) diag(|B_t|v/v), in float64: no less than the curvature of the quadratic."""
    curvature = np.zeros(F.shape)
    for part in couplings:
        B = np.abs(part.full_gram).astype(np.float64)
        columns = _scaled_sums(B.diagonal(), B.__matmul__)
        curvature += np.multiply.outer(row_curvature(part.rows, F), columns)
    return curvature


def row_curvature(S: RowMatrix | None, F: Array) -> Array:
    """diag(|S|u/u): a diagonal matrix above S."""
    if S is None:
        return np.ones(len(F))

    def times(u: Array) -> Array:
        u = u[:, None].astype(F.dtype)
        up, down = S.positive(u), S.negative(u)
        return up if down is None else up + down

    return _scaled_sums(S.diagonal(), times)


def _scaled_sums(diagonal: Array, times: Callable[[Array], Array]) -> Array:
    """|S|u / u for u = 1/√diagonal; rows without a diagonal are empty."""
    lengths = np.sqrt(np.asarray(diagonal, np.float64))
    u = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return np.asarray(times(u), np.float64).ravel() * lengths
