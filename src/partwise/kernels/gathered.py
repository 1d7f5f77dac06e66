"""Rows of a factor gathered by a list of indices, and sums over them.

The rows of a chunk of indices are the columns of a small array, so that the inner loops run over the indices and use
full vector registers.
"""

from __future__ import annotations

import numpy as np

from ..core.types import Array
from .options import FAST, compiled

# Rows gathered together. Their arrays are a little wider: rows a power of two apart would evict each other from the
# cache.
CHUNK, WIDTH = 256, 264


@compiled(nogil=True)
def gather(indices: Array, G: Array, g: Array) -> None:
    """g[j, p] = G[indices[p], j]."""
    for p in range(len(indices)):
        i = np.uint64(indices[p])  # unsigned: no check whether it counts from the end
        for j in range(G.shape[1]):
            g[j, p] = G[i, j]


@compiled(fastmath=FAST, nogil=True)
def dot(a: Array, b: Array) -> float:
    """Σ_p a_p b_p."""
    total = a[0] * 0
    for p in range(len(a)):
        total += a[p] * b[p]
    return total


@compiled(fastmath=FAST, nogil=True)
def add_products(g: Array, v: Array, columns: Array, scaled: Array, Q: Array) -> None:
    """Q[a, b] += Σ_p v_p g[columns[a], p] g[columns[b], p] for b ≤ a, two by four entries at a time."""
    width, count = len(columns), len(v)
    for a in range(width):
        row = g[columns[a], :count]
        for p in range(count):
            scaled[a, p] = v[p] * row[p]
    zero = v[0] * 0
    for a in range(0, width, 2):
        # At the edges a row or column stands in for those that do not exist, and its result is not used.
        s0, s1 = scaled[a], scaled[min(a + 1, width - 1)]
        for b in range(0, min(a + 2, width), 4):
            g0, g1 = g[columns[b], :count], g[columns[min(b + 1, width - 1)], :count]
            g2, g3 = g[columns[min(b + 2, width - 1)], :count], g[columns[min(b + 3, width - 1)], :count]
            q00, q01, q02, q03 = zero, zero, zero, zero
            q10, q11, q12, q13 = zero, zero, zero, zero
            for p in range(count):
                x0, x1 = s0[p], s1[p]
                q00 += x0 * g0[p]
                q01 += x0 * g1[p]
                q02 += x0 * g2[p]
                q03 += x0 * g3[p]
                q10 += x1 * g0[p]
                q11 += x1 * g1[p]
                q12 += x1 * g2[p]
                q13 += x1 * g3[p]
            sums = ((q00, q01, q02, q03), (q10, q11, q12, q13))
            for i in range(min(2, width - a)):
                for j in range(min(4, width - b)):
                    Q[a + i, b + j] += sums[i][j]
