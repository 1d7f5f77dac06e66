"""Quadratic models of a Poisson likelihood in all rows at once, for rows that are coupled.

Every row has the model −pull · d + d Q dᵀ of −Σ_p c_p log((f + d) · g_p) at f, up to a constant. A step d found from
the models of many rows is then held against a bound that holds without any model, see `kernels.logarithms`.
"""

from __future__ import annotations

import numpy as np

from ..core.types import Array
from .chunks import add_dots, add_products, along, bend, combine, gather, invert, size_of
from .gathered import CHUNK, WIDTH
from .options import FAST, compiled

# A step that shrinks an entry of b by more than this share is shortened to it.
MOST_SHRINKAGE = 0.7
# Up to this shrinkage of an entry of f its row is bounded without its counts.
MUCH = 0.5


@compiled(fastmath=FAST, nogil=True)
def _response(grams: Array, i: int, j: int, F: Array) -> float:
    """Σ_l grams[i, j, l] F[i, l]."""
    total = F.dtype.type(0)
    for other in range(F.shape[1]):
        total += grams[i, j, other] * F[i, other]
    return total


@compiled(nogil=True)
def model_rows(
    indptr: Array,
    indices: Array,
    counts: Array,
    G: Array,
    floor: float,
    slopes: Array,
    F: Array,
    pulls: Array,
    grams: Array,
    responses: Array,
) -> None:
    """pulls = Σ_p c_p g_p / b_p, grams = ½ Σ_p c_p g_p g_pᵀ / b_p² and gram · f of every row, with b = f · g.

    Entries that are zero and have no reason to grow, since `slopes`, the gradient of everything else, is not below
    their pull, are left out of the grams.
    """
    k = F.shape[1]
    g, scaled, Q = np.empty((1, k, WIDTH), F.dtype), np.empty((2, WIDTH), F.dtype), np.zeros((k + 1, k + 3), F.dtype)
    positive, chosen, total = np.empty(k, np.int64), np.empty(k, np.int64), np.empty(k, F.dtype)
    b, y, v = np.empty((1, CHUNK), F.dtype), np.empty((1, CHUNK), F.dtype), np.empty(CHUNK, F.dtype)
    for i in range(len(F)):
        first, count, n_positive = indptr[i], indptr[i + 1] - indptr[i], 0
        n_chunks = (count + CHUNK - 1) // CHUNK
        for j in range(k):
            total[j] = 0
            if F[i, j] > 0:
                positive[n_positive] = j
                n_positive += 1
        # A row of one chunk stays gathered until it is known which of its entries count; others are gathered again.
        for t in range(n_chunks):
            start, size = np.uint64(first + t * CHUNK), size_of(t, count)
            gather(indices, start, size, G, g, 0)
            combine(g, 0, F, i, positive, n_positive, b, 0, size)
            invert(counts, start, b, 0, size, floor, y, v)
            add_dots(g, 0, v, size, total)
        width = 0
        for j in range(k):
            pulls[i, j] = total[j]
            if F[i, j] > 0 or total[j] > slopes[i, j]:
                chosen[width] = j
                width += 1
        for a in range(width):
            for other in range(a + 1):
                Q[a, other] = 0
        for t in range(n_chunks):
            start, size = np.uint64(first + t * CHUNK), size_of(t, count)
            if n_chunks > 1:
                gather(indices, start, size, G, g, 0)
                combine(g, 0, F, i, positive, n_positive, b, 0, size)
                invert(counts, start, b, 0, size, floor, y, v)
            bend(counts, start, y, 0, size, v)
            add_products(g, 0, v, size, chosen, width, scaled, Q)
        for a in range(k):
            for other in range(k):
                grams[i, a, other] = 0
        for a in range(width):
            for other in range(a + 1):
                grams[i, chosen[a], chosen[other]] = 0.5 * Q[a, other]
                grams[i, chosen[other], chosen[a]] = 0.5 * Q[a, other]
        for j in range(k):
            responses[i, j] = _response(grams, i, j, F)


@compiled(nogil=True)
def bound_rows(
    indptr: Array, indices: Array, counts: Array, G: Array, floor: float, F: Array, grams: Array, steps: Array
) -> float:
    """A bound from above on the sum over rows of Σ_p c_p (t_p − log(1 + t_p)), t = d · g / b, with d the steps.

    `grams` are those of the models. Steps that go too far are shortened, in place. Since b is a sum of f_j g_pj, it
    nowhere shrinks by a larger share than the entry of f that shrinks most: only rows where this is much are gathered.
    """
    k = F.shape[1]
    g, columns, pull = np.empty((1, k, WIDTH), F.dtype), np.arange(k), np.empty(CHUNK, F.dtype)
    b, z, y = np.empty((1, CHUNK), F.dtype), np.empty((1, CHUNK), F.dtype), np.empty((1, CHUNK), F.dtype)
    total = 0.0
    for i in range(len(F)):
        bent, tau = 0.0, 0.0
        for j in range(k):
            if steps[i, j] < 0:
                tau = max(tau, -steps[i, j] / F[i, j])
        if tau <= MUCH:
            for j in range(k):
                if steps[i, j] != 0:
                    bent += 2 * steps[i, j] * _response(grams, i, j, steps)
        else:
            tau = 0.0
            first, count = indptr[i], indptr[i + 1] - indptr[i]
            for t in range((count + CHUNK - 1) // CHUNK):
                start, size = np.uint64(first + t * CHUNK), size_of(t, count)
                gather(indices, start, size, G, g, 0)
                combine(g, 0, F, i, columns, k, b, 0, size)
                combine(g, 0, steps, i, columns, k, z, 0, size)
                invert(counts, start, b, 0, size, floor, y, pull)
                curvature, shrinkage = along(counts, start, y, z, 0, size)
                bent += curvature
                tau = max(tau, shrinkage)
        if tau > MOST_SHRINKAGE:
            length = steps.dtype.type(MOST_SHRINKAGE / tau)
            for j in range(k):
                steps[i, j] *= length
            bent *= length * length
            tau = MOST_SHRINKAGE
        total += bent * (0.5 + tau / 3 / (1 - tau))
    return total
