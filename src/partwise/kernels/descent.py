"""Coordinate descent on the rows of a factor.

Both loops minimise, over F ≥ 0,

    Σ_i weight_i f_i B f_iᵀ + Σ_ij D_ij f_ij² + Σ_j scale_j f_jᵀ S f_j − 2 tr(Fᵀ A)

one entry at a time, each to its exact minimum, so the value can only fall. S has no diagonal here (it is part of D).
Arrays that do not vary over the rows come with a single row.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..core.types import Array

# Sums may be reordered (which lets them use vector registers); nothing else is relaxed.
_FAST = {"reassoc", "contract"}


@njit(cache=True, fastmath=_FAST)
def _update_row(row: Array, pull: Array, B: Array, weight: float, D: Array) -> float:
    """One pass over the entries of a row; returns the decrease. `pull` is what attracts it from outside."""
    k = row.shape[0]
    decrease = 0.0
    for j in range(k):
        total = row[0] * B[j, 0]
        for other in range(1, k):
            total += row[other] * B[j, other]
        gradient = pull[j] - weight * total - D[j] * row[j]
        curvature = weight * B[j, j] + D[j]
        if curvature > 0:
            new = max(row[j] + gradient / curvature, row[j] * 0)
        elif gradient < 0:
            new = row[j] * 0
        else:
            new = row[j]
        step = new - row[j]
        decrease += step * step * curvature
        row[j] = new
    return decrease


@njit(cache=True, fastmath=_FAST)
def descend_rows(F: Array, A: Array, B: Array, weight: Array, D: Array, max_passes: int, tolerance: float) -> None:
    """Rows that do not see each other: several passes on each, until a pass gains little against the first."""
    for i in range(F.shape[0]):
        w = weight[i] if len(weight) > 1 else weight[0]
        d = D[i] if len(D) > 1 else D[0]
        first = _update_row(F[i], A[i], B, w, d)
        for _ in range(max_passes - 1):
            if _update_row(F[i], A[i], B, w, d) <= tolerance * first:
                break


@njit(cache=True, fastmath=_FAST)
def descend_linked(
    F: Array,
    A: Array,
    B: Array,
    weight: Array,
    D: Array,
    indptr: Array,
    indices: Array,
    links: Array,
    groups: Array,
    group_sums: Array,
    group_strength: float,
    scale: Array,
    max_passes: int,
    tolerance: float,
) -> None:
    """Rows joined by sparse links and by cliques: Gauss–Seidel over all rows, several times.

    A clique needs only the running sum of its rows, which is kept up to date.
    """
    n, k = F.shape
    pull = np.empty(k, F.dtype)
    first = 0.0
    for sweep in range(max_passes):
        decrease = 0.0
        for i in range(n):
            pull[:] = 0
            for p in range(indptr[i], indptr[i + 1]):
                t = indices[p]
                for j in range(k):
                    pull[j] -= links[p] * F[t, j]
            group = groups[i] if len(groups) > 0 else -1
            if group >= 0:
                for j in range(k):
                    group_sums[group, j] -= F[i, j]
                    pull[j] += group_strength * group_sums[group, j]
            for j in range(k):
                pull[j] = A[i, j] + scale[j] * pull[j]
            w = weight[i] if len(weight) > 1 else weight[0]
            d = D[i] if len(D) > 1 else D[0]
            decrease += _update_row(F[i], pull, B, w, d)
            if group >= 0:
                for j in range(k):
                    group_sums[group, j] += F[i, j]
        if sweep == 0:
            first = decrease
        elif decrease <= tolerance * first:
            break
