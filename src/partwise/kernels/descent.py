"""Coordinate descent on the rows of a factor, many rows at a time.

All loops minimise, over F ≥ 0,

    Σ_i weight_i f_i B f_iᵀ + Σ_ij D_ij f_ij² + Σ_j scale_j f_jᵀ S f_j − 2 tr(Fᵀ A)

one entry at a time, each to its exact minimum, so the value can only fall. S has no diagonal here (it is part of D).
Arrays that do not vary over the rows come with a single row.

Rows are taken in lanes: their codes are the columns of a small array that stays in the first-level cache, and the
inner loops run over lanes, so they use full vector registers.
"""

from __future__ import annotations

import numpy as np

from ..core.types import Array
from .options import FAST, compiled

LANES = 64


@compiled(fastmath=FAST, nogil=True)
def _pass(
    f: Array, pull: Array, B: Array, weight: Array, d: Array, active: Array, decrease: Array, n_held: int
) -> None:
    """One exact minimisation of every entry of the active lanes except the first columns, which are held.

    All arrays have lanes as their last axis.
    """
    k = f.shape[0]
    total = np.empty(LANES, f.dtype)
    for j in range(n_held, k):
        total[:] = 0
        four = 0
        while four + 4 <= k:
            b0, b1, b2, b3 = B[j, four], B[j, four + 1], B[j, four + 2], B[j, four + 3]
            for r in range(LANES):
                total[r] += f[four, r] * b0 + f[four + 1, r] * b1 + f[four + 2, r] * b2 + f[four + 3, r] * b3
            four += 4
        for other in range(four, k):
            b0 = B[j, other]
            for r in range(LANES):
                total[r] += f[other, r] * b0
        own = B[j, j]
        for r in range(LANES):
            old = f[j, r]
            zero = old * 0
            curvature = weight[r] * own + d[j, r]
            gradient = pull[j, r] - weight[r] * total[r] - d[j, r] * old
            flat = zero if gradient < 0 else old
            new = max(old + gradient / curvature, zero) if curvature > 0 else flat
            step = active[r] * (new - old)
            decrease[r] += step * step * curvature
            f[j, r] = old + step


@compiled(nogil=True)
def descend_rows(
    F: Array,
    product: Array,
    data: Array,
    push: Array,
    B: Array,
    weight: Array,
    D: Array,
    first_row: int,
    max_passes: int,
    tolerance: float,
    jointly: bool,
    n_held: int,
    out: Array,
) -> None:
    """Independent rows: passes until one gains little compared with the first.

    A is data · product + push. F, product and out, which may be F, hold a block of rows that begins at `first_row` of
    the others. If the lanes stop `jointly`, only their total gain counts, and stragglers do not hold up the rest;
    otherwise each lane stops by itself, and a row's result does not depend on its neighbours in the lanes. The first
    `n_held` columns stay as they are.
    """
    n, k = F.shape
    f, pull, d = np.zeros((k, LANES), F.dtype), np.zeros((k, LANES), F.dtype), np.zeros((k, LANES), F.dtype)
    w, active = np.zeros(LANES, F.dtype), np.zeros(LANES, F.dtype)
    decrease, first = np.zeros(LANES, F.dtype), np.zeros(LANES, F.dtype)
    w[:] = weight[0]
    for j in range(k):
        d[j] = D[0, j]
    for start in range(0, n, LANES):
        count = min(LANES, n - start)
        for r in range(count):
            i = start + r
            i_data = first_row + i if len(data) > 1 else 0
            i_push = first_row + i if len(push) > 1 else 0
            if len(weight) > 1:
                w[r] = weight[first_row + i]
            if len(D) > 1:
                for j in range(k):
                    d[j, r] = D[first_row + i, j]
            for j in range(k):
                f[j, r] = F[i, j]
                pull[j, r] = data[i_data, 0] * product[i, j] + push[i_push, j]
        active[:count] = 1
        active[count:] = 0
        for turn in range(max_passes):
            decrease[:] = 0
            _pass(f, pull, B, w, d, active, decrease, n_held)
            if jointly:
                decrease[:] = decrease.sum()
            running = 0
            for r in range(count):
                if turn == 0:
                    first[r] = decrease[r]
                elif decrease[r] <= tolerance * first[r]:
                    active[r] = 0
                running += active[r] > 0
            if running == 0:
                break
        for r in range(count):
            for j in range(k):
                out[start + r, j] = f[j, r]


@compiled(fastmath=FAST, nogil=True)
def step_further(F: Array, last: Array, beta: float, least_share: float, out: Array) -> None:
    """out = max(least_share · F, F + beta · (F − last))."""
    n, k = F.shape
    factor, least = F.dtype.type(beta), F.dtype.type(least_share)
    for i in range(n):
        for j in range(k):
            out[i, j] = max(F[i, j] + factor * (F[i, j] - last[i, j]), least * F[i, j])


@compiled(nogil=True)
def descend_linked(
    F: Array,
    A: Array,
    B: Array,
    weight: Array,
    D: Array,
    scale: Array,
    indptr: Array,
    indices: Array,
    links: Array,
    groups: Array,
    group_sums: Array,
    group_strength: float,
    order: Array,
    colours: Array,
    max_passes: int,
    tolerance: float,
) -> None:
    """Rows joined by sparse links and by cliques: coloured Gauss-Seidel, several passes over all rows.

    Rows of one colour, `order[colours[c]:colours[c + 1]]`, are neither linked nor in one clique, and go side by side. A
    clique needs only the running sum of its rows.
    """
    k = F.shape[1]
    f, pull, d = np.zeros((k, LANES), F.dtype), np.zeros((k, LANES), F.dtype), np.zeros((k, LANES), F.dtype)
    w, active, decrease = np.zeros(LANES, F.dtype), np.zeros(LANES, F.dtype), np.zeros(LANES, F.dtype)
    linked = np.empty(k, F.dtype)
    first = 0.0
    for turn in range(max_passes):
        gained = 0.0
        for c in range(len(colours) - 1):
            for start in range(colours[c], colours[c + 1], LANES):
                rows = order[start : min(start + LANES, colours[c + 1])]
                for r in range(len(rows)):
                    i = rows[r]
                    linked[:] = 0
                    for p in range(indptr[i], indptr[i + 1]):
                        value, other = links[p], F[indices[p]]
                        for j in range(k):
                            linked[j] -= value * other[j]
                    if groups[i] >= 0:
                        for j in range(k):
                            linked[j] += group_strength * (group_sums[groups[i], j] - F[i, j])
                    i_D = i if len(D) > 1 else 0
                    w[r] = weight[i if len(weight) > 1 else 0]
                    for j in range(k):
                        f[j, r] = F[i, j]
                        pull[j, r] = A[i, j] + scale[j] * linked[j]
                        d[j, r] = D[i_D, j]
                active[: len(rows)] = 1
                active[len(rows) :] = 0
                decrease[:] = 0
                _pass(f, pull, B, w, d, active, decrease, 0)
                for r in range(len(rows)):
                    i = rows[r]
                    gained += decrease[r]
                    for j in range(k):
                        if groups[i] >= 0:
                            group_sums[groups[i], j] += f[j, r] - F[i, j]
                        F[i, j] = f[j, r]
        if turn == 0:
            first = gained
        elif gained <= tolerance * first:
            break


@compiled()
def colour_rows(indptr: Array, indices: Array, groups: Array, n_groups: int) -> Array:
    """Greedy colouring: rows that are linked, or in one clique, get different colours."""
    colour = np.full(len(indptr) - 1, -1, np.int64)
    # Members of a clique need one colour each: each gets a higher one than those before it.
    lowest = np.zeros(n_groups, np.int64)
    for i in range(len(colour)):
        floor = lowest[groups[i]] if groups[i] >= 0 else 0
        taken = np.zeros(indptr[i + 1] - indptr[i] + 1, np.bool_)
        for p in range(indptr[i], indptr[i + 1]):
            other = colour[indices[p]] - floor
            if 0 <= other < len(taken):
                taken[other] = True
        colour[i] = floor + np.flatnonzero(~taken)[0]
        if groups[i] >= 0:
            lowest[groups[i]] = colour[i] + 1
    return colour
