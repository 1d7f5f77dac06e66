"""Quadratic models of a Poisson likelihood in all rows at once, for rows that are coupled.

Every row has the model −pull · d + d Q dᵀ of −Σ_p c_p log((f + d) · g_p) at f, up to a constant. A step d found from
the models of many rows is then held against a bound that holds without any model, see `kernels.logarithms`.

Codes of counts are zero in most places, and most zeros have no reason to grow. So Q has only the entries that were
`chosen`, `widths[i]` of them in row i, and the Q of all rows stand one after another in `grams`, from `places[i]` on:
passes over all models are limited by how fast they come from memory.
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


@compiled(fastmath=FAST, nogil=True, forceinline=True)
def _bend(grams: Array, first: int, width: int, step: Array) -> float:
    """Σ_b Q_ab d_b, d the entries of a step that were chosen, and row a of Q being at `first`, which is unsigned."""
    total = step.dtype.type(0)
    for b in range(width):
        total += grams[first + np.uint64(b)] * step[b]
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
    place: int,
    grams: Array,
    places: Array,
    chosen: Array,
    widths: Array,
    responses: Array,
) -> None:
    """pulls = Σ_p c_p g_p / b_p, grams = ½ Σ_p c_p g_p g_pᵀ / b_p² and gram · f of every row, with b = f · g.

    Entries that are zero and have no reason to grow, since `slopes`, the gradient of everything else, is not below
    their pull, are not chosen. Responses of others are not written. The first Q is at `place`.
    """
    k = F.shape[1]
    g, scaled, Q = np.empty((1, k, WIDTH), F.dtype), np.empty((2, WIDTH), F.dtype), np.zeros((k + 1, k + 3), F.dtype)
    positive, own, total = np.empty(k, np.int64), np.empty(k, np.int64), np.empty(k, F.dtype)
    f = np.empty(k, F.dtype)
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
                own[width] = chosen[i, width] = j
                f[width] = F[i, j]
                width += 1
        widths[i] = width
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
            add_products(g, 0, v, size, own, width, scaled, Q)
        for a in range(width):
            for other in range(a):
                Q[other, a] = Q[a, other]
        for a in range(width):
            first = np.uint64(place + a * width)
            for other in range(width):
                grams[first + np.uint64(other)] = 0.5 * Q[a, other]
        for a in range(width):
            responses[i, own[a]] = _bend(grams, np.uint64(place + a * width), width, f)
        places[i] = place
        place += width * width


@compiled(nogil=True)
def descend_models(
    grams: Array,
    places: Array,
    chosen: Array,
    widths: Array,
    targets: Array,
    D: Array,
    scale: Array,
    link_indptr: Array,
    link_indices: Array,
    links: Array,
    groups: Array,
    group_sums: Array,
    group_strength: float,
    F: Array,
) -> None:
    """A pass over all rows, in place: minimise f Q fᵀ + Σ_j D_j f_j² − 2 f · target and what couples rows.

    Rows are joined by links and cliques, as in `kernels.descent`, and see the new values of those before them. Entries
    that were not chosen stay as they are.
    """
    slope = np.empty(F.shape[1], F.dtype)
    for i in range(len(F)):
        width, own, group = widths[i], i if len(D) > 1 else 0, groups[i]
        for a in range(width):
            j = chosen[i, a]
            slope[a] = targets[i, j] - D[own, j] * F[i, j]
        for p in range(link_indptr[i], link_indptr[i + 1]):
            other, value = link_indices[p], links[p]
            for a in range(width):
                j = chosen[i, a]
                slope[a] -= scale[j] * value * F[other, j]
        if group >= 0:
            for a in range(width):
                j = chosen[i, a]
                group_sums[group, j] -= F[i, j]
                slope[a] += scale[j] * group_strength * group_sums[group, j]
        for a in range(width):
            value, first = F[i, chosen[i, a]], np.uint64(places[i] + a * width)
            if value != 0:
                for b in range(width):
                    slope[b] -= value * grams[first + np.uint64(b)]
        for a in range(width):
            j, first = chosen[i, a], np.uint64(places[i] + a * width)
            old, curvature = F[i, j], grams[first + np.uint64(a)] + D[own, j]
            zero = old * 0
            flat = zero if slope[a] < 0 else old
            new = max(old + slope[a] / curvature, zero) if curvature > 0 else flat
            step = new - old
            if step != 0:
                F[i, j] = new
                for b in range(a + 1, width):
                    slope[b] -= step * grams[first + np.uint64(b)]
        if group >= 0:
            for a in range(width):
                group_sums[group, chosen[i, a]] += F[i, chosen[i, a]]


@compiled(nogil=True)
def bound_rows(
    indptr: Array,
    indices: Array,
    counts: Array,
    G: Array,
    floor: float,
    F: Array,
    grams: Array,
    places: Array,
    chosen: Array,
    widths: Array,
    steps: Array,
) -> float:
    """A bound from above on the sum over rows of Σ_p c_p (t_p − log(1 + t_p)), t = d · g / b, with d the steps.

    The grams and what they hold are those of the models. Steps that go too far are shortened, in place. Since b is a
    sum of f_j g_pj, it nowhere shrinks by a larger share than the entry of f that shrinks most: only rows where this is
    much are gathered.
    """
    k = F.shape[1]
    g, columns, pull = np.empty((1, k, WIDTH), F.dtype), np.arange(k), np.empty(CHUNK, F.dtype)
    b, z, y = np.empty((1, CHUNK), F.dtype), np.empty((1, CHUNK), F.dtype), np.empty((1, CHUNK), F.dtype)
    step, total = np.empty(k, F.dtype), 0.0
    for i in range(len(F)):
        bent, tau = 0.0, 0.0
        for j in range(k):
            if steps[i, j] < 0:
                tau = max(tau, -steps[i, j] / F[i, j])
        if tau <= MUCH:
            for a in range(widths[i]):
                step[a] = steps[i, chosen[i, a]]
            for a in range(widths[i]):
                if step[a] != 0:
                    bent += 2 * step[a] * _bend(grams, np.uint64(places[i] + a * widths[i]), widths[i], step)
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
