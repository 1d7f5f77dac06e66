"""The counts of a row, and the rows of the other factor that they belong to, gathered in chunks.

g[t, j, p] is entry j of the row that belongs to count p of chunk t, so that the inner loops run over counts.

Nothing here makes a view of an array: a view counts references, which takes longer than all arithmetic of a short row.
Functions get whole arrays and are told where to look. For the same reason the last use of every array is in the one
outermost loop, which has a single end: then numba need not count references to the arrays that a function is given. The
position `start` of a chunk in the lists is unsigned, which saves a check whether it counts from the end.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.types import Array
from .dispersion import artanh_series
from .gathered import CHUNK
from .options import FAST, compiled


@compiled(nogil=True, forceinline=True)
def size_of(t: int, count: int) -> int:
    """How many of a row's counts are in its chunk t."""
    return min(CHUNK, count - t * CHUNK)


@compiled(nogil=True, forceinline=True)
def gather(indices: Array, start: int, size: int, G: Array, g: Array, t: int) -> None:
    """g[t, j, p] = G[indices[start + p], j]."""
    for p in range(size):
        i = np.uint64(indices[start + np.uint64(p)])
        for j in range(G.shape[1]):
            g[t, j, p] = G[i, j]


@compiled(nogil=True, forceinline=True)
def gather_some(indices: Array, start: int, size: int, G: Array, columns: Array, n: int, g: Array, t: int) -> None:
    """The same for the first n columns j of a list."""
    for p in range(size):
        i = np.uint64(indices[start + np.uint64(p)])
        for a in range(n):
            j = columns[a]
            g[t, j, p] = G[i, j]


@compiled(fastmath=FAST, nogil=True, forceinline=True)
def combine(g: Array, at: int, factors: Array, row: int, columns: Array, n: int, out: Array, t: int, size: int) -> None:
    """out[t, p] = Σ_j factors[row, j] g[at, j, p] over the first n columns j of a list, four at a time."""
    zero = g.dtype.type(0)
    for p in range(size):
        out[t, p] = zero
    for a in range(0, n, 4):
        # At the edge a column stands in for those that do not exist, and counts nothing.
        j0, j1 = columns[a], columns[min(a + 1, n - 1)]
        j2, j3 = columns[min(a + 2, n - 1)], columns[min(a + 3, n - 1)]
        f0, f1 = factors[row, j0], factors[row, j1] if a + 1 < n else zero
        f2, f3 = factors[row, j2] if a + 2 < n else zero, factors[row, j3] if a + 3 < n else zero
        for p in range(size):
            out[t, p] += f0 * g[at, j0, p] + f1 * g[at, j1, p] + f2 * g[at, j2, p] + f3 * g[at, j3, p]


@compiled(fastmath=FAST, nogil=True, forceinline=True)
def invert(c: Array, start: int, b: Array, t: int, size: int, floor: float, y: Array, out: Array) -> None:
    """y = 1 / b, with b never below the floor, and out = c / b."""
    least = b.dtype.type(floor)
    for p in range(size):
        b[t, p] = max(b[t, p], least)
        y[t, p] = 1 / b[t, p]
        out[p] = c[start + np.uint64(p)] * y[t, p]


@compiled(fastmath=FAST, nogil=True, forceinline=True)
def bend(c: Array, start: int, y: Array, t: int, size: int, out: Array) -> None:
    """out = c y²."""
    for p in range(size):
        out[p] = c[start + np.uint64(p)] * y[t, p] * y[t, p]


@compiled(fastmath=FAST, nogil=True, forceinline=True)
def along(c: Array, start: int, y: Array, z: Array, t: int, size: int) -> tuple[float, float]:
    """Σ_p c_p (z_p y_p)², and the largest −z_p y_p where a count is positive."""
    curvature = shrinkage = y.dtype.type(0)
    for p in range(size):
        count, change = c[start + np.uint64(p)], z[t, p] * y[t, p]
        curvature += count * change * change
        shrinkage = max(shrinkage, -change if count > 0 else change * 0)
    return curvature, shrinkage


@compiled(fastmath=FAST, nogil=True, forceinline=True)
def move(b: Array, z: Array, t: int, size: int, length: float, floor: float) -> None:
    """b + length · z, never below the floor."""
    least = b.dtype.type(floor)
    for p in range(size):
        b[t, p] = max(b[t, p] + length * z[t, p], least)


@compiled(fastmath=FAST, nogil=True, forceinline=True)
def add_dots(g: Array, at: int, v: Array, size: int, out: Array) -> None:
    """out[j] += Σ_p v_p g[at, j, p], four sums at a time: one alone would wait for its own additions."""
    k, zero = g.shape[1], g.dtype.type(0)
    for j in range(0, k, 4):
        # At the edge a row stands in for those that do not exist, and its result is not used.
        j1, j2, j3 = min(j + 1, k - 1), min(j + 2, k - 1), min(j + 3, k - 1)
        q0, q1, q2, q3 = zero, zero, zero, zero
        for p in range(size):
            q0 += v[p] * g[at, j, p]
            q1 += v[p] * g[at, j1, p]
            q2 += v[p] * g[at, j2, p]
            q3 += v[p] * g[at, j3, p]
        out[j] += q0
        if j + 1 < k:
            out[j1] += q1
        if j + 2 < k:
            out[j2] += q2
        if j + 3 < k:
            out[j3] += q3


@compiled(fastmath=FAST, nogil=True, forceinline=True)
def add_products(g: Array, at: int, v: Array, size: int, columns: Array, n: int, scaled: Array, Q: Array) -> None:
    """Q[a, b] += Σ_p v_p g[at, columns[a], p] g[at, columns[b], p] for b ≤ a < n, two by four entries at a time.

    `scaled` is memory for two rows. Q is larger than its content, by one row and three columns.
    """
    zero = g.dtype.type(0)
    for a in range(0, n, 2):
        # At the edges a row or column stands in for those that do not exist, and its result is not read.
        a1 = min(a + 1, n - 1)
        i0, i1 = columns[a], columns[a1]
        for p in range(size):
            scaled[0, p] = v[p] * g[at, i0, p]
            scaled[1, p] = v[p] * g[at, i1, p]
        for b in range(0, a1 + 1, 4):
            b1, b2, b3 = min(b + 1, n - 1), min(b + 2, n - 1), min(b + 3, n - 1)
            j0, j1, j2, j3 = columns[b], columns[b1], columns[b2], columns[b3]
            q00, q01, q02, q03 = zero, zero, zero, zero
            q10, q11, q12, q13 = zero, zero, zero, zero
            for p in range(size):
                x0, x1 = scaled[0, p], scaled[1, p]
                g0, g1, g2, g3 = g[at, j0, p], g[at, j1, p], g[at, j2, p], g[at, j3, p]
                q00 += x0 * g0
                q01 += x0 * g1
                q02 += x0 * g2
                q03 += x0 * g3
                q10 += x1 * g0
                q11 += x1 * g1
                q12 += x1 * g2
                q13 += x1 * g3
            Q[a, b] += q00
            Q[a, b + 1] += q01
            Q[a, b + 2] += q02
            Q[a, b + 3] += q03
            Q[a + 1, b] += q10
            Q[a + 1, b + 1] += q11
            Q[a + 1, b + 2] += q12
            Q[a + 1, b + 3] += q13


@compiled(fastmath=FAST, nogil=True)
def sum_of_logs(c: Array, x: Array, first: int, b: Array, row: int, count: int, mantissa: Array, bits: Array) -> float:
    """Σ_p c_p log(b_p / x_p) in float64, over the chunks of b from `row` on; `bits` are those of `mantissa`.

    b / x = 2^e m with m in [√½, √2), and log m = 2 artanh((m − 1) / (m + 1)) as a power series: loops without branches
    use full vector registers; the library's logarithm does not.
    """
    total, width = 0.0, b.shape[1]
    for t in range((count + width - 1) // width):
        start, size, at = np.uint64(first + t * width), min(width, count - t * width), row + t
        for p in range(size):
            value = np.float64(x[start + np.uint64(p)])
            mantissa[p] = np.float64(b[at, p]) / value if value > 0 else 1.0
        exponents = 0.0
        for p in range(size):
            # Subtracting the bits of √½ moves the boundary between two exponents there.
            shifted = bits[p] - np.int64(0x3FE6A09E667F3BCD)
            exponent = shifted >> np.int64(52)
            bits[p] -= exponent << np.int64(52)
            exponents += c[start + np.uint64(p)] * np.float64(exponent)
        total += exponents * math.log(2.0)
        for p in range(size):
            m = mantissa[p]
            s = (m - 1) / (m + 1)
            total += c[start + np.uint64(p)] * (2 * s * artanh_series(s * s))
    return total
