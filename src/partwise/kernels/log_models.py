"""Quadratic models of a Poisson likelihood in all rows at once, for rows that are coupled.

Every row has the model −pull · d + d Q dᵀ of −Σ_p c_p log((f + d) · g_p) at f, up to a constant. A step d found from
the models of many rows is then held against a bound that holds without any model, see `kernels.logarithms`.
"""

from __future__ import annotations

import numpy as np

from ..core.types import Array
from .gathered import CHUNK, WIDTH, add_products, dot, gather
from .logarithms import along, bend, combine, invert
from .options import compiled

# A step that shrinks an entry of b by more than this share is shortened to it.
MOST_SHRINKAGE = 0.7


@compiled(nogil=True)
def model_rows(
    indptr: Array, indices: Array, counts: Array, G: Array, floor: float, F: Array, pulls: Array, grams: Array
) -> None:
    """pulls = Σ_p c_p g_p / b_p and grams = ½ Σ_p c_p g_p g_pᵀ / b_p² of every row, with b = f · g."""
    k = F.shape[1]
    g, scaled, columns = np.empty((k, WIDTH), F.dtype), np.empty((k, WIDTH), F.dtype), np.arange(k)
    b, y, v = np.empty((3, CHUNK), F.dtype)
    for i in range(len(F)):
        pulls[i] = 0
        Q = grams[i]
        Q[:] = 0
        for start in range(indptr[i], indptr[i + 1], CHUNK):
            stop = min(start + CHUNK, indptr[i + 1])
            c, size = counts[start:stop], stop - start
            gather(indices[start:stop], G, g)
            combine(g, F[i], columns, b[:size])
            invert(c, b[:size], floor, y[:size], v[:size])
            for j in range(k):
                pulls[i, j] += dot(g[j, :size], v[:size])
            bend(c, y[:size], v[:size])
            add_products(g, v[:size], columns, scaled, Q)
        for a in range(k):
            for other in range(a + 1):
                Q[a, other] *= 0.5
                Q[other, a] = Q[a, other]


@compiled(nogil=True)
def bound_rows(indptr: Array, indices: Array, counts: Array, G: Array, floor: float, F: Array, steps: Array) -> float:
    """A bound from above on the sum over rows of Σ_p c_p (t_p − log(1 + t_p)), t = d · g / b, with d the steps.

    Steps that go too far are shortened, in place.
    """
    k = F.shape[1]
    g, columns = np.empty((k, WIDTH), F.dtype), np.arange(k)
    b, z, y, pull = np.empty((4, CHUNK), F.dtype)
    total = 0.0
    for i in range(len(F)):
        bent, tau = 0.0, 0.0
        for start in range(indptr[i], indptr[i + 1], CHUNK):
            stop = min(start + CHUNK, indptr[i + 1])
            c, size = counts[start:stop], stop - start
            gather(indices[start:stop], G, g)
            combine(g, F[i], columns, b[:size])
            combine(g, steps[i], columns, z[:size])
            invert(c, b[:size], floor, y[:size], pull[:size])
            curvature, shrinkage = along(c, y[:size], z[:size])
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
