"""Quadratic models of a Poisson likelihood in all rows at once, for rows that are coupled.

Every row has the model −pull · d + d Q dᵀ of −Σ_p c_p log((f + d) · g_p) at f, up to a constant. A step d found from
the models of many rows is then held against a bound that holds without any model, see `kernels.logarithms`.
"""

from __future__ import annotations

import numpy as np

from ..core.types import Array
from .gathered import CHUNK, WIDTH, add_dots, add_products, dot, gather
from .logarithms import along, bend, combine, invert
from .options import compiled

# A step that shrinks an entry of b by more than this share is shortened to it.
MOST_SHRINKAGE = 0.7
# Up to this shrinkage of an entry of f its row is bounded without its counts.
MUCH = 0.5


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
    g, scaled, Q = np.empty((k, WIDTH), F.dtype), np.empty((k, WIDTH), F.dtype), np.empty((k, k), F.dtype)
    positive, chosen = np.empty((2, k), np.int64)
    b, y, v = np.empty((3, CHUNK), F.dtype)
    for i in range(len(F)):
        f, pull, gram = F[i], pulls[i], grams[i]
        first, end, n_positive = indptr[i], indptr[i + 1], 0
        for j in range(k):
            pull[j] = 0
            if f[j] > 0:
                positive[n_positive] = j
                n_positive += 1
        # A row of one chunk stays gathered until it is known which of its entries count; others are gathered again.
        for start in range(first, end, CHUNK):
            stop = min(start + CHUNK, end)
            c, size = counts[start:stop], stop - start
            gather(indices[start:stop], G, g)
            combine(g, f, positive[:n_positive], b[:size])
            invert(c, b[:size], floor, y[:size], v[:size])
            add_dots(g, v[:size], pull)
        width = 0
        for j in range(k):
            if f[j] > 0 or pull[j] > slopes[i, j]:
                chosen[width] = j
                width += 1
        active = chosen[:width]
        Q[:width, :width] = 0
        for start in range(first, end, CHUNK):
            stop = min(start + CHUNK, end)
            c, size = counts[start:stop], stop - start
            if end - first > CHUNK:
                gather(indices[start:stop], G, g)
                combine(g, f, positive[:n_positive], b[:size])
                invert(c, b[:size], floor, y[:size], v[:size])
            bend(c, y[:size], v[:size])
            add_products(g, v[:size], active, scaled, Q)
        gram[:] = 0
        for a in range(width):
            for other in range(a + 1):
                gram[active[a], active[other]] = 0.5 * Q[a, other]
                gram[active[other], active[a]] = 0.5 * Q[a, other]
        for j in range(k):
            responses[i, j] = dot(gram[j], f)


@compiled(nogil=True)
def bound_rows(
    indptr: Array, indices: Array, counts: Array, G: Array, floor: float, F: Array, grams: Array, steps: Array
) -> float:
    """A bound from above on the sum over rows of Σ_p c_p (t_p − log(1 + t_p)), t = d · g / b, with d the steps.

    `grams` are those of the models. Steps that go too far are shortened, in place. Since b is a sum of f_j g_pj, it
    nowhere shrinks by a larger share than the entry of f that shrinks most: only rows where this is much are gathered.
    """
    k = F.shape[1]
    g, columns = np.empty((k, WIDTH), F.dtype), np.arange(k)
    b, z, y, pull = np.empty((4, CHUNK), F.dtype)
    total = 0.0
    for i in range(len(F)):
        f, d, bent, tau = F[i], steps[i], 0.0, 0.0
        for j in range(k):
            if d[j] < 0:
                tau = max(tau, -d[j] / f[j])
        if tau <= MUCH:
            for j in range(k):
                if d[j] != 0:
                    bent += 2 * d[j] * dot(grams[i, j], d)
        else:
            tau = 0.0
            for start in range(indptr[i], indptr[i + 1], CHUNK):
                stop = min(start + CHUNK, indptr[i + 1])
                c, size = counts[start:stop], stop - start
                gather(indices[start:stop], G, g)
                combine(g, f, columns, b[:size])
                combine(g, d, columns, z[:size])
                invert(c, b[:size], floor, y[:size], pull[:size])
                curvature, shrinkage = along(c, y[:size], z[:size])
                bent += curvature
                tau = max(tau, shrinkage)
        if tau > MOST_SHRINKAGE:
            length = steps.dtype.type(MOST_SHRINKAGE / tau)
            for j in range(k):
                d[j] *= length
            bent *= length * length
            tau = MOST_SHRINKAGE
        total += bent * (0.5 + tau / 3 / (1 - tau))
    return total
