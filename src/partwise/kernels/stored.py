"""Kullback–Leibler fits on the stored entries of CSR rows, each looked at once: y = w·h, then x / y times a factor."""

from __future__ import annotations

import numpy as np

from ..core.types import Array
from .options import FAST, compiled


@compiled(fastmath=FAST, nogil=True)
def _dot(a: Array, b: Array) -> float:
    total = a[0] * b[0]
    for j in range(1, len(a)):
        total += a[j] * b[j]
    return total


@compiled(nogil=True)
def attract_rows(
    indptr: Array,
    indices: Array,
    x: Array,
    weight: Array,
    F: Array,
    G: Array,
    floor: float,
    start: int,
    stop: int,
    out: Array,
    with_values: bool,
) -> Array:
    """out = (X / F Gᵀ) diag(weight) G for some rows.

    Returns Σ_j x_ij log(x_ij / y_ij) − x_ij of each, in float64, or zeros if nobody wants them.
    """
    k = F.shape[1]
    values = np.zeros(stop - start)
    for i in range(start, stop):
        row, own = out[i], F[i]
        row[:] = 0
        for p in range(indptr[i], indptr[i + 1]):
            if x[p] > 0:
                other = G[indices[p]]
                pull = x[p] / max(_dot(own, other), floor)
                if with_values:
                    values[i - start] += x[p] * (np.log(pull) - 1)
                pull *= weight[indices[p] if len(weight) > 1 else 0]
                for j in range(k):
                    row[j] += pull * other[j]
    return values
