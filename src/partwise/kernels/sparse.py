"""Products with rows of a CSR matrix, without holding the interpreter's lock."""

from __future__ import annotations

from numba import njit

from ..core.types import Array


@njit(cache=True, nogil=True)
def dot_rows(indptr: Array, indices: Array, data: Array, Ht: Array, start: int, stop: int, out: Array) -> None:
    """out = X[start:stop] Hᵀ."""
    k = Ht.shape[1]
    for i in range(start, stop):
        row = out[i - start]
        row[:] = 0
        for p in range(indptr[i], indptr[i + 1]):
            value, column = data[p], Ht[indices[p]]
            for j in range(k):
                row[j] += value * column[j]


@njit(cache=True, nogil=True)
def add_t_dot_rows(indptr: Array, indices: Array, data: Array, W: Array, start: int, stop: int, out: Array) -> None:
    """out += X[start:stop]ᵀ W, with one row of W per row of the slice."""
    k = W.shape[1]
    for i in range(start, stop):
        code = W[i - start]
        for p in range(indptr[i], indptr[i + 1]):
            value, row = data[p], out[indices[p]]
            for j in range(k):
                row[j] += value * code[j]
