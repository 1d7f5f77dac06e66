"""Rows of a CSR matrix: products with them and lists of them, without holding the interpreter's lock."""

from __future__ import annotations

import numpy as np

from ..core.types import Array
from .options import FAST, compiled


@compiled(fastmath=FAST, nogil=True)
def dot_rows(indptr: Array, indices: Array, data: Array, Ht: Array, start: int, stop: int, out: Array) -> None:
    """out = X[start:stop] Hᵀ."""
    k = Ht.shape[1]
    for i in range(start, stop):
        row = out[i - start]
        row[:] = 0
        p, end = indptr[i], indptr[i + 1]
        # Four entries at a time: the row of sums is read and written a quarter as often.
        while p + 4 <= end:
            x0, x1, x2, x3 = data[p], data[p + 1], data[p + 2], data[p + 3]
            h0, h1, h2, h3 = Ht[indices[p]], Ht[indices[p + 1]], Ht[indices[p + 2]], Ht[indices[p + 3]]
            for j in range(k):
                row[j] += x0 * h0[j] + x1 * h1[j] + x2 * h2[j] + x3 * h3[j]
            p += 4
        while p < end:
            x0, h0 = data[p], Ht[indices[p]]
            for j in range(k):
                row[j] += x0 * h0[j]
            p += 1


@compiled(nogil=True)
def add_t_dot_rows(indptr: Array, indices: Array, data: Array, W: Array, start: int, stop: int, out: Array) -> None:
    """out += X[start:stop]ᵀ W, with one row of W per row of the slice."""
    k = W.shape[1]
    for i in range(start, stop):
        code = W[i - start]
        for p in range(indptr[i], indptr[i + 1]):
            value, row = data[p], out[indices[p]]
            for j in range(k):
                row[j] += value * code[j]


@compiled(nogil=True)
def dot_rows_in_order(indptr: Array, indices: Array, data: Array, Ht: Array, start: int, stop: int, out: Array) -> None:
    """out = X[start:stop] Hᵀ, added entry by entry: to the bit what `add_t_dot_columns` gives for the transpose."""
    k = Ht.shape[1]
    for i in range(start, stop):
        row = out[i - start]
        row[:] = 0
        p, end = indptr[i], indptr[i + 1]
        while p + 4 <= end:
            x0, x1, x2, x3 = data[p], data[p + 1], data[p + 2], data[p + 3]
            h0, h1, h2, h3 = Ht[indices[p]], Ht[indices[p + 1]], Ht[indices[p + 2]], Ht[indices[p + 3]]
            for j in range(k):
                row[j] = (((row[j] + x0 * h0[j]) + x1 * h1[j]) + x2 * h2[j]) + x3 * h3[j]
            p += 4
        while p < end:
            x0, h0 = data[p], Ht[indices[p]]
            for j in range(k):
                row[j] += x0 * h0[j]
            p += 1


@compiled(nogil=True)
def add_t_dot_columns(indptr: Array, indices: Array, data: Array, W: Array, first: int, last: int, out: Array) -> None:
    """out += X[:, first:last]ᵀ W, with sorted indices; `out` has a row for every column of X."""
    k = W.shape[1]
    for i in range(len(indptr) - 1):
        code = W[i]
        begin, end = indptr[i], indptr[i + 1]
        low, high = begin, end
        while low < high:
            middle = (low + high) // 2
            if indices[middle] < first:
                low = middle + 1
            else:
                high = middle
        p = low
        # Four entries at a time: they are of different features, so each sum still grows in the order of rows.
        while p + 4 <= end and indices[p + 3] < last:
            x0, x1, x2, x3 = data[p], data[p + 1], data[p + 2], data[p + 3]
            out0, out1, out2, out3 = out[indices[p]], out[indices[p + 1]], out[indices[p + 2]], out[indices[p + 3]]
            for j in range(k):
                w = code[j]
                out0[j] += x0 * w
                out1[j] += x1 * w
                out2[j] += x2 * w
                out3[j] += x3 * w
            p += 4
        while p < end and indices[p] < last:
            x0, out0 = data[p], out[indices[p]]
            for j in range(k):
                out0[j] += x0 * code[j]
            p += 1


@compiled(nogil=True)
def is_canonical(indptr: Array, indices: Array, n: int, m: int) -> bool:
    """Whether the indices of a CSR matrix are sorted, unique and inside it."""
    if len(indptr) != n + 1 or indptr[0] != 0 or indptr[n] != len(indices):
        return False
    for i in range(n):
        begin, end = indptr[i], indptr[i + 1]
        if end < begin or end > len(indices):
            return False
        if end > begin and (indices[begin] < 0 or indices[end - 1] >= m):
            return False
        for p in range(begin + 1, end):
            if indices[p] <= indices[p - 1]:
                return False
    return True


@compiled(fastmath=FAST, nogil=True)
def excess_of_rows(
    indptr: Array, indices: Array, data: Array, W: Array, Ht: Array, start: int, stop: int, out: Array
) -> None:
    """Σ_j (x_ij − y_ij)² − y_ij² over the stored entries of rows, y = W H, in float64; W starts at the first row."""
    k = Ht.shape[1]
    for i in range(start, stop):
        code, total = W[i - start], 0.0
        for p in range(indptr[i], indptr[i + 1]):
            row, y = Ht[indices[p]], 0.0
            for j in range(k):
                y += np.float64(code[j]) * np.float64(row[j])
            x = np.float64(data[p])
            total += x * (x - 2 * y)
        out[i - start] = total


@compiled(nogil=True)
def list_positive(x: Array, most: int) -> tuple[Array, Array, Array]:
    """The positive entries of an array by rows, as in a CSR matrix; only their numbers if more than `most`."""
    n, m = x.shape
    indptr = np.zeros(n + 1, np.int64)
    for i in range(n):
        found = 0
        for j in range(m):
            found += x[i, j] > 0
        indptr[i + 1] = indptr[i] + found
    n = n if indptr[n] <= most else 0
    # One entry longer: every entry is written, and only a positive one is not overwritten. A branch costs more.
    indices, values = np.empty(indptr[n] + 1, np.int32), np.empty(indptr[n] + 1, x.dtype)
    p = 0
    for i in range(n):
        for j in range(m):
            indices[p], values[p] = j, x[i, j]
            p += x[i, j] > 0
    return indptr, indices[:p], values[:p]
