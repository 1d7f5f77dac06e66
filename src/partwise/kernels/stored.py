"""Kullback–Leibler fits on the stored entries of CSR rows, each looked at once: y = w·h, then x / y times a factor."""

from __future__ import annotations

import numpy as np
from numba import njit

from ..core.types import Array

# The sums w·h may be reordered, which lets them use vector registers.
_FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, fastmath=_FAST, nogil=True)
def _dot(a: Array, b: Array) -> float:
    total = a[0] * b[0]
    for j in range(1, len(a)):
        total += a[j] * b[j]
    return total


@njit(cache=True, nogil=True)
def attract_codes(
    indptr: Array, indices: Array, x: Array, W: Array, Ht: Array, floor: float, start: int, stop: int, out: Array
) -> Array:
    """out = (X / W H) Hᵀ for some rows; returns Σ_j x_ij log(x_ij / y_ij) − x_ij of each, in float64."""
    k = W.shape[1]
    values = np.zeros(stop - start)
    for i in range(start, stop):
        row, code = out[i], W[i]
        row[:] = 0
        for p in range(indptr[i], indptr[i + 1]):
            if x[p] > 0:
                part = Ht[indices[p]]
                y = max(_dot(code, part), floor)
                pull = x[p] / y
                values[i - start] += x[p] * (np.log(pull) - 1)
                for j in range(k):
                    row[j] += pull * part[j]
    return values


@njit(cache=True, nogil=True)
def add_attracted_components(
    indptr: Array,
    indices: Array,
    x: Array,
    weight: Array,
    W: Array,
    Ht: Array,
    floor: float,
    start: int,
    stop: int,
    out: Array,
) -> None:
    """out += (X / W H)ᵀ W over some rows, with sample weights."""
    k = W.shape[1]
    for i in range(start, stop):
        code = W[i]
        for p in range(indptr[i], indptr[i + 1]):
            column = indices[p]
            y = max(_dot(code, Ht[column]), floor)
            pull = weight[i if len(weight) > 1 else 0] * x[p] / y
            row = out[column]
            for j in range(k):
                row[j] += pull * code[j]
