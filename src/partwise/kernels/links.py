"""Loops over the links of a sparse matrix."""

from __future__ import annotations

import numpy as np

from ..core.types import Array
from .options import compiled


@compiled()
def edge_energy(indptr: Array, indices: Array, data: Array, F: Array) -> Array:
    """Σ_{i<t} −s_it (f_ij − f_tj)² for every column j, in float64, for a symmetric matrix in CSR form."""
    k = F.shape[1]
    energy = np.zeros(k)
    for i in range(F.shape[0]):
        for p in range(indptr[i], indptr[i + 1]):
            t = indices[p]
            if t <= i:
                continue
            weight = -np.float64(data[p])
            for j in range(k):
                difference = np.float64(F[i, j]) - np.float64(F[t, j])
                energy[j] += weight * difference * difference
    return energy


@compiled()
def products_at(indptr: Array, indices: Array, W: Array, Ht: Array) -> Array:
    """(W H)_ij at the stored entries of a CSR pattern, in its order."""
    out = np.empty(len(indices), W.dtype)
    k = W.shape[1]
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            c = indices[p]
            total = W[i, 0] * Ht[c, 0]
            for j in range(1, k):
                total += W[i, j] * Ht[c, j]
            out[p] = total
    return out


@compiled()
def aggregate_rows(indptr: Array, indices: Array, data: Array) -> Array:
    """Group every row with the free rows that pull on it: greedy, in the order of the rows.

    A row whose neighbours are all taken joins the group of the one that pulls on it most.
    """
    n = len(indptr) - 1
    group = np.full(n, -1, np.int64)
    n_groups = 0
    for i in range(n):
        if group[i] >= 0:
            continue
        free = 0
        strongest, pull = -1, 0.0
        for p in range(indptr[i], indptr[i + 1]):
            if data[p] < 0:
                if group[indices[p]] < 0:
                    free += 1
                elif -data[p] > pull:
                    strongest, pull = indices[p], -data[p]
        if free == 0 and strongest >= 0:
            group[i] = group[strongest]
            continue
        group[i] = n_groups
        for p in range(indptr[i], indptr[i + 1]):
            if data[p] < 0 and group[indices[p]] < 0:
                group[indices[p]] = n_groups
        n_groups += 1
    return group


@compiled(nogil=True)
def gather_rows(
    groups: Array,
    A: Array,
    weight: Array,
    FB: Array,
    D: Array,
    F: Array,
    scale: Array,
    linked: Array,
    pull: Array,
    curvature: Array,
) -> None:
    """pull = A − weight · F B − D ∘ F − (S F) · scale and curvature = D, added up over the rows of every group.

    F B and S F are given.
    """
    n, k = F.shape
    pull[:] = 0
    curvature[:] = 0
    for i in range(n):
        for j in range(k):
            pull[groups[i], j] += A[i, j] - weight[i] * FB[i, j] - D[i, j] * F[i, j] - scale[j] * linked[i, j]
            curvature[groups[i], j] += D[i, j]


@compiled(nogil=True)
def group_minima(groups: Array, F: Array, out: Array) -> None:
    """The smallest entry of every group in every column."""
    n, k = F.shape
    out[:] = np.inf
    for i in range(n):
        for j in range(k):
            out[groups[i], j] = min(out[groups[i], j], F[i, j])


@compiled(nogil=True)
def shift_groups(F: Array, groups: Array, shifts: Array) -> None:
    """Move the rows of every group as a whole, in place; no entry falls below zero."""
    n, k = F.shape
    zero = F.dtype.type(0)
    for i in range(n):
        for j in range(k):
            F[i, j] = max(F[i, j] + shifts[groups[i], j], zero)
