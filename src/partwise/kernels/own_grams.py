"""Squared errors in which entries are missing or weighted: every row has its own Gram matrix.

For one row f of a factor, with the rows g_p of the other one,

    Σ_p v_p (x_p − f · g_p)² = f Q fᵀ − 2 f · b + const,   Q = Σ_p v_p g_p g_pᵀ,   b = Σ_p v_p x_p g_p

The kernels compute Q for a block of rows, in one of three ways, and then minimise over f ≥ 0 by coordinate descent, one
row at a time. Arrays that do not vary over the rows come with a single row.
"""

from __future__ import annotations

import numpy as np

from ..core.types import Array
from .gathered import CHUNK, WIDTH, add_products, dot, gather
from .options import FAST, compiled


@compiled(nogil=True)
def _mirror(Q: Array, factor: float) -> None:
    """Multiply the lower half, and copy it to the upper one."""
    for a in range(len(Q)):
        for b in range(a + 1):
            Q[a, b] *= factor
            Q[b, a] = Q[a, b]


@compiled(nogil=True)
def sum_listed(
    indptr: Array, indices: Array, weights: Array, targets: Array, G: Array, grams: Array, pulls: Array
) -> None:
    """Q and b from lists of the entries that count; `targets` are v x, and empty `weights` are all one."""
    k = G.shape[1]
    g, scaled = np.empty((k, WIDTH), G.dtype), np.empty((k, WIDTH), G.dtype)
    columns, ones = np.arange(k), np.ones(CHUNK, G.dtype)
    for i in range(len(grams)):
        Q, b = grams[i], pulls[i]
        Q[:] = 0
        b[:] = 0
        for start in range(indptr[i], indptr[i + 1], CHUNK):
            stop = min(start + CHUNK, indptr[i + 1])
            count = stop - start
            gather(indices[start:stop], G, g)
            if len(weights) > 0:
                add_products(g, weights[start:stop], columns, scaled, Q)
            else:
                add_products(g, ones[:count], columns, scaled, Q)
            for j in range(k):
                b[j] += dot(g[j, :count], targets[start:stop])
        _mirror(Q, 1.0)


@compiled(nogil=True)
def take_down(
    indptr: Array, indices: Array, G: Array, weights: Array, common: Array, least: float, own: Array, grams: Array
) -> None:
    """Q = own_i (common − Σ_p weights_p g_p g_pᵀ) over lists of the entries that do not count.

    `common` is the sum over all rows of G. Where less than the share `least` of a diagonal entry is left, or most
    entries do not count, Q is built from those that do: a difference would be only rounding errors.
    """
    m, k = G.shape
    g, scaled, columns = np.empty((k, WIDTH), G.dtype), np.empty((k, WIDTH), G.dtype), np.arange(k)
    v, counts, listed = np.empty(CHUNK, G.dtype), np.empty(m, np.bool_), np.empty(m, np.int64)
    for i in range(len(grams)):
        Q, hidden = grams[i], indices[indptr[i] : indptr[i + 1]]
        few = 2 * len(hidden) <= m
        if few:
            listed[: len(hidden)] = hidden
            _sum_rows(listed[: len(hidden)], G, weights, columns, g, scaled, v, Q)
            for j in range(k):
                few &= common[j, j] - Q[j, j] >= least * common[j, j]
        if few:
            for a in range(k):
                for b in range(a + 1):
                    Q[a, b] = common[a, b] - Q[a, b]
        else:
            counts[:] = True
            counts[hidden] = False
            total = 0
            for p in range(m):
                listed[total] = p
                total += counts[p]
            _sum_rows(listed[:total], G, weights, columns, g, scaled, v, Q)
        _mirror(Q, own[i if len(own) > 1 else 0])


@compiled(nogil=True)
def _sum_rows(
    listed: Array, G: Array, weights: Array, columns: Array, g: Array, scaled: Array, v: Array, Q: Array
) -> None:
    """The lower half of Q = Σ_p weights_p g_p g_pᵀ over a list."""
    Q[:] = 0
    for start in range(0, len(listed), CHUNK):
        chunk = listed[start : start + CHUNK]
        gather(chunk, G, g)
        for p in range(len(chunk)):
            v[p] = weights[chunk[p]]
        add_products(g, v[: len(chunk)], columns, scaled, Q)


@compiled(nogil=True)
def pair_products(G: Array, out: Array) -> None:
    """g_pa g_pb for all a ≥ b side by side: weights times these are Gram matrices, packed."""
    for p in range(len(G)):
        t = 0
        for a in range(G.shape[1]):
            for b in range(a + 1):
                out[p, t] = G[p, a] * G[p, b]
                t += 1


@compiled(nogil=True)
def unpack(packed: Array, grams: Array) -> None:
    """Gram matrices from their packed lower halves."""
    for i in range(len(grams)):
        t = 0
        for a in range(grams.shape[1]):
            for b in range(a + 1):
                grams[i, a, b] = packed[i, t]
                grams[i, b, a] = packed[i, t]
                t += 1


@compiled(fastmath=FAST, nogil=True)
def _descend(
    Q: Array, pull: Array, d: Array, max_passes: int, tolerance: float, n_held: int, f: Array, slope: Array
) -> None:
    """Minimise f Q fᵀ + Σ_j d_j f_j² − 2 f · pull, until a pass gains little compared with the first.

    The first `n_held` entries stay as they are.
    """
    k, held = len(f), 0.0
    for j in range(k):
        slope[j] = pull[j] - d[j] * f[j]
        held += Q[j, j] + d[j]
    if held <= 0:
        # Nothing is known about this row, and zeros cost no penalty.
        f[n_held:] = 0
        return
    for j in range(k):
        value = f[j]
        if value != 0:
            for other in range(k):
                slope[other] -= value * Q[j, other]
    first = 0.0
    for turn in range(max_passes):
        gained = 0.0
        for j in range(n_held, k):
            old, curvature = f[j], Q[j, j] + d[j]
            zero = old * 0
            flat = zero if slope[j] < 0 else old
            new = max(old + slope[j] / curvature, zero) if curvature > 0 else flat
            step = new - old
            if step != 0:
                f[j] = new
                for other in range(k):
                    slope[other] -= step * Q[j, other]
                slope[j] -= step * d[j]
                gained += step * step * curvature
        if turn == 0:
            first = gained
        if gained <= tolerance * first:
            break


@compiled(fastmath=FAST, nogil=True)
def _explained(Q: Array, b: Array, f: Array) -> float:
    """2 f · b − f Q fᵀ in float64: by how much the row's squared error lies below that of zeros."""
    total = 0.0
    for a in range(len(f)):
        response, row = 0.0, Q[a]
        for other in range(len(f)):
            response += np.float64(row[other]) * np.float64(f[other])
        total += np.float64(f[a]) * (2 * np.float64(b[a]) - response)
    return total


@compiled(nogil=True)
def descend_own(
    grams: Array,
    pulls: Array,
    push: Array,
    D: Array,
    scale: Array,
    link_indptr: Array,
    link_indices: Array,
    links: Array,
    groups: Array,
    group_sums: Array,
    group_strength: float,
    first_row: int,
    max_passes: int,
    tolerance: float,
    n_held: int,
    F: Array,
    explained: Array,
) -> None:
    """Passes over a block of rows, in place, with penalties as in `kernels.descent`; also what the data explain.

    `grams`, `pulls` and `explained`, which may be empty, hold the block, which begins at `first_row` of all others.
    Rows may be joined by sparse links and by cliques, and then see the new values of those before them; `link_indptr`
    is empty if they are not. The first `n_held` columns stay as they are.
    """
    k = F.shape[1]
    pull, slope = np.empty(k, F.dtype), np.empty(k, F.dtype)
    for i in range(len(grams)):
        row = first_row + i
        f, added, d = F[row], push[row if len(push) > 1 else 0], D[row if len(D) > 1 else 0]
        for j in range(k):
            pull[j] = pulls[i, j] + added[j]
        if len(link_indptr) > 0:
            for p in range(link_indptr[row], link_indptr[row + 1]):
                other, value = F[link_indices[p]], links[p]
                for j in range(k):
                    pull[j] -= scale[j] * value * other[j]
            if groups[row] >= 0:
                for j in range(k):
                    group_sums[groups[row], j] -= f[j]
                    pull[j] += scale[j] * group_strength * group_sums[groups[row], j]
        _descend(grams[i], pull, d, max_passes, tolerance, n_held, f, slope)
        if len(link_indptr) > 0 and groups[row] >= 0:
            for j in range(k):
                group_sums[groups[row], j] += f[j]
        if len(explained) > 0:
            explained[i] = _explained(grams[i], pulls[i], f)
