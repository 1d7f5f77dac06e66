"""Quadratic models of rows that can be added up over samples, and how far steps on them may go: `solvers.row_models`.

Gram matrices are packed: what is on the diagonal and below it, row after row.
"""

from __future__ import annotations

import numpy as np

from ..core.types import Array
from .chunks import add_dots, add_products, bend, combine, gather, invert, size_of
from .gathered import CHUNK, WIDTH
from .options import FAST, compiled
from .safeguards import remainder, step_length


@compiled(fastmath=FAST, nogil=True, forceinline=True)
def _raise(g: Array, y: Array, size: int, most: Array, row: int) -> None:
    """most[row, j] = max(most[row, j], g[0, j, p] y[0, p]) over the counts p of a chunk."""
    for j in range(g.shape[1]):
        largest = most[row, j]
        for p in range(size):
            largest = max(largest, g[0, j, p] * y[0, p])
        most[row, j] = largest


@compiled(nogil=True)
def log_models(
    indptr: Array, indices: Array, counts: Array, G: Array, floor: float, F: Array, pulls: Array, grams: Array,
    most: Array,
) -> None:  # fmt: skip
    """pulls = Σ_p c_p g_p / b_p, grams = Σ_p c_p g_p g_pᵀ / b_p² and most = max_p g_p / b_p of every row, b = f · g."""
    k = F.shape[1]
    g, scaled, Q = np.empty((1, k, WIDTH), F.dtype), np.empty((2, WIDTH), F.dtype), np.zeros((k + 1, k + 3), F.dtype)
    columns, total, v = np.arange(k), np.empty(k, F.dtype), np.empty(CHUNK, F.dtype)
    b, y = np.empty((1, CHUNK), F.dtype), np.empty((1, CHUNK), F.dtype)
    for i in range(len(F)):
        for a in range(k):
            total[a] = most[i, a] = 0
            for other in range(a + 1):
                Q[a, other] = 0
        first, count = indptr[i], indptr[i + 1] - indptr[i]
        for t in range((count + CHUNK - 1) // CHUNK):
            start, size = np.uint64(first + t * CHUNK), size_of(t, count)
            gather(indices, start, size, G, g, 0)
            combine(g, 0, F, i, columns, k, b, 0, size)
            invert(counts, start, b, 0, size, floor, y, v)
            add_dots(g, 0, v, size, total)
            bend(counts, start, y, 0, size, v)
            add_products(g, 0, v, size, columns, k, scaled, Q)
            _raise(g, y, size, most, i)
        at = 0
        for a in range(k):
            pulls[i, a] = total[a]
            for other in range(a + 1):
                grams[i, at] = Q[a, other]
                at += 1


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def most_of(G: Array, bent: Array, y: Array, out: Array) -> None:
    """out[i, j] = max_p G[i, p, j] / y[i, p] over the entries where `bent` is positive; G may be the same for all i."""
    for i in range(len(y)):
        for j in range(out.shape[1]):
            out[i, j] = 0
        for p in range(y.shape[1]):
            if bent[i, p] > 0:
                inverse = 1 / y[i, p]
                for j in range(out.shape[1]):
                    out[i, j] = max(out[i, j], inverse * G[i if len(G) > 1 else 0, p, j])


@compiled(nogil=True)
def _energy(packed: Array, i: int, d: Array) -> float:
    """d Q dᵀ for the packed matrix and the step of one row."""
    total, at = 0.0, 0
    for a in range(d.shape[1]):
        response = 0.0
        for b in range(a):
            response += np.float64(packed[i, at + b]) * np.float64(d[i, b])
        total += np.float64(d[i, a]) * (2 * response + np.float64(packed[i, at + a]) * np.float64(d[i, a]))
        at += a + 1
    return total


@compiled(nogil=True, error_model="numpy")
def model_lengths(
    bent: Array, firm: Array, most: Array, F: Array, d: Array, D: Array, E: Array, growth: float, slow: float,
    lengths: Array,
) -> None:  # fmt: skip
    """How far every row may go along its step d, which promises a decrease D and costs penalties E.

    `bent` and `firm` may be empty. No y falls by a larger share than the entry of f that falls most, nor by more than
    all that fall take of the y in which they matter most.
    """
    for i in range(len(F)):
        largest = total = 0.0
        for j in range(F.shape[1]):
            if d[i, j] < 0:
                largest = max(largest, -np.float64(d[i, j]) / np.float64(F[i, j]))
                total -= np.float64(d[i, j]) * np.float64(most[i, j])
        lowest = -min(largest, total, 1.0)
        C = _energy(bent, i, d) if len(bent) > 0 else 0.0
        S = _energy(firm, i, d) * remainder(lowest, slow) if len(firm) > 0 else 0.0
        # Squares may fall to nothing.
        lengths[i] = step_length(D[i], C, E[i] + S, 0.0, lowest if len(bent) > 0 else 0.0, 0.0, growth, 0.0)
