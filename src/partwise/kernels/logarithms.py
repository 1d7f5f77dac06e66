"""Newton steps on the rows of a Poisson likelihood: minimise over f ≥ 0, one row at a time,

    φ(f) = linear · f + Σ_j ridge_j f_j² + weight f B fᵀ − Σ_p c_p log(f · g_p)

with c_p > 0 the counts of the row and g_p the rows of the other factor that they belong to. Arrays that do not vary
over the rows come with a single row.

A step d solves the quadratic model at f for the entries that can move. Let b = f · g, z = d · g and τ = max(−z / b).
Two bounds hold along the step: −log(1 + t) ≤ −t + t²/2 + |t|³ / (3 (1 − |t|)), and −log(1 − t) ≤ t + t² p(τ) / τ² for
t ≤ τ with p(τ) = −τ − log(1 − τ). The step is taken in full if the first shows that φ falls; otherwise its length
minimises the second. Either way φ cannot rise, and it need not be evaluated.

With a dispersion α for every count, φ is the tangent at f of a loss that bends less (`kernels.dispersion`); models and
bounds are then those of that loss.

How the rows g_p of a chunk of counts are kept is said in `kernels.chunks`.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.types import Array
from .chunks import (
    add_dots,
    add_products,
    along,
    bend,
    combine,
    gather,
    gather_some,
    invert,
    move,
    size_of,
    sum_of_logs,
)
from .dispersion import slack, soft_length, soften
from .gathered import CHUNK, WIDTH
from .options import compiled
from .row_models import add_common, begin_model, energy_of_common, exchange, gradient_of_common, solve_model

# What is gathered for a row is kept for its later parts if it takes no more than this, the size of a small cache.
KEPT_BYTES = 2**18
# An entry of b never falls by more than this share in one step.
MOST_OF_B = 0.999


@compiled(nogil=True)
def _falls(D: float, C: float, E: float, tau: float) -> bool:
    """Whether a whole step with first-order decrease D and curvatures C and E that shrinks b by τ cannot rise."""
    return tau < 1 and E + C * (0.5 + max(tau, 0.0) / 3 / (1 - max(tau, 0.0))) <= D


@compiled(nogil=True)
def _step_length(D: float, C: float, E: float, tau: float) -> float:
    """How far to go along such a step."""
    if _falls(D, C, E, tau):
        return 1.0
    if tau <= 0:
        return min(1.0, D / (2 * E + C)) if 2 * E + C > 0 else 1.0
    B = 2 * E + C + D * tau
    return min(1.0, MOST_OF_B / tau, 2 * D / (B + math.sqrt(max(B * B - 8 * E * tau * D, 0.0))))


@compiled(nogil=True, forceinline=True)
def _begin(
    F: Array, row: int, linear: Array, ridge: Array, own_ridge: int, held: Array, own_held: int, positive: Array,
    chosen: Array, gradient: Array, pull: Array,
) -> tuple[int, int]:  # fmt: skip
    """List the positive entries and those that can surely move, and begin the gradient; how many there are of each."""
    n_positive = n_sure = 0
    for j in range(F.shape[1]):
        if F[row, j] > 0:
            positive[n_positive] = j
            n_positive += 1
            if not held[own_held, j]:
                chosen[n_sure] = j
                n_sure += 1
        gradient[j] = linear[j] + 2 * ridge[own_ridge, j] * F[row, j]
        pull[j] = 0
    return n_positive, n_sure


@compiled(nogil=True, forceinline=True)
def _end_gradient(F: Array, row: int, pull: Array, gradient: Array) -> float:
    """Subtract what the counts pull; returns f · gradient."""
    total = 0.0
    for j in range(F.shape[1]):
        gradient[j] -= pull[j]
        total += F[row, j] * gradient[j]
    return total


@compiled(nogil=True, forceinline=True)
def _choose(
    F: Array, row: int, gradient: Array, par: float, held: Array, own_held: int, chosen: Array, lowest: Array
) -> int:
    """List the entries that can move, with their slopes and how far down they may go; how many there are."""
    width = 0
    for j in range(F.shape[1]):
        if not held[own_held, j] and (F[row, j] > 0 or gradient[j] < par):
            chosen[width] = j
            gradient[width] = gradient[j]
            lowest[width] = -F[row, j]
            width += 1
    return width


@compiled(nogil=True, forceinline=True)
def _clear(Q: Array, width: int) -> None:
    """Zeros below the diagonal and on it."""
    for a in range(width):
        for other in range(a + 1):
            Q[a, other] = 0


@compiled(nogil=True, forceinline=True)
def _complete(Q: Array, ridge: Array, own_ridge: int, chosen: Array, width: int) -> None:
    """Add the ridge, and copy what is below the diagonal."""
    for a in range(width):
        Q[a, a] += 2 * ridge[own_ridge, chosen[a]]
        for other in range(a):
            Q[other, a] = Q[a, other]


@compiled(nogil=True, forceinline=True)
def _expect(
    F: Array, row: int, ridge: Array, own_ridge: int, chosen: Array, width: int, gradient: Array, d: Array,
    slope: Array, moved: Array,
) -> tuple[float, float, float, float]:  # fmt: skip
    """What a step promises to first order, the curvatures of the ridge and of all, and the share by which b may shrink.

    As a sum of f_j g_pj, b nowhere shrinks by a larger share than the entry of f that shrinks most. `moved` gets the
    step, every entry in its place.
    """
    promised, kept, curved, shrunk = 0.0, 0.0, 0.0, 0.0
    for a in range(width):
        j = chosen[a]
        moved[0, j] = d[a]
        promised -= gradient[a] * d[a]
        kept += ridge[own_ridge, j] * d[a] * d[a]
        curved += d[a] * (slope[a] - gradient[a])  # the slope of the model has changed by Q d
        if d[a] < 0:
            shrunk = max(shrunk, -d[a] / F[row, j])
    return promised, kept, curved, shrunk


@compiled(nogil=True, forceinline=True)
def _newton_step(
    F: Array,
    row: int,
    indices: Array,
    c: Array,
    x: Array,
    first: int,
    count: int,
    G: Array,
    linear: Array,
    ridge: Array,
    own_ridge: int,
    floor: float,
    b: Array,
    y: Array,
    z: Array,
    g: Array,
    scaled: Array,
    Q: Array,
    positive: Array,
    chosen: Array,
    gradient: Array,
    d: Array,
    lowest: Array,
    slope: Array,
    v: Array,
    moved: Array,
    held: Array,
    own_held: int,
    keeps_sum: bool,
    alpha: Array,
    B: Array,
    weight: float,
    with_b: bool,
    max_steps: int,
    enough: float,
) -> None:
    """Steps on a row, in place, until one promises no more than `enough` to first order; leaves b = f · g if asked to.

    The row's counts are `count` ones from `first` on. Entries that are `held` stay as they are, and so does the sum of
    the row if it is to be kept. `alpha` is empty for a Poisson likelihood.
    """
    n_chunks = (count + CHUNK - 1) // CHUNK
    # A row that is not longer than g is gathered once. Products of a row of several chunks are added up while it is
    # gathered for the gradient, for the entries that can surely move.
    short, kept_whole = n_chunks <= 1, n_chunks <= len(g)
    promised = 0.0
    for turn in range(max_steps):
        # No break: a single way out of the loop spares counting references of all arrays.
        if turn == 0 or promised > enough:
            n_positive, n_sure = _begin(F, row, linear, ridge, own_ridge, held, own_held, positive, chosen, gradient, d)
            gradient_of_common(B, weight, F, row, gradient)
            if not short:
                _clear(Q, n_sure)
            for t in range(n_chunks):
                at, start, size = t if kept_whole else 0, np.uint64(first + t * CHUNK), size_of(t, count)
                gather(indices, start, size, G, g, at)
                combine(g, at, F, row, positive, n_positive, b, t, size)
                invert(c, start, b, t, size, floor, y, v)
                add_dots(g, at, v, size, d)
                if not short:
                    bend(c, start, y, t, size, v)
                    soften(alpha, b, t, size, v)
                    add_products(g, at, v, size, chosen, n_sure, scaled, Q)
            # The slope at which an entry is worth its place.
            product = _end_gradient(F, row, d, gradient)
            par = product if keeps_sum else 0.0
            width = _choose(F, row, gradient, par, held, own_held, chosen, lowest)
            if short or width > n_sure:
                _clear(Q, width)
                for t in range(n_chunks if width else 0):
                    at, start, size = t if kept_whole else 0, np.uint64(first + t * CHUNK), size_of(t, count)
                    if not kept_whole:
                        gather_some(indices, start, size, G, chosen, width, g, at)
                    bend(c, start, y, t, size, v)
                    soften(alpha, b, t, size, v)
                    add_products(g, at, v, size, chosen, width, scaled, Q)
            add_common(B, weight, chosen, width, Q)
            _complete(Q, ridge, own_ridge, chosen, width)
            begin_model(Q, gradient, width, d, slope, v)
            if keeps_sum:
                exchange(Q, lowest, width, d, slope)
            else:
                solve_model(Q, lowest, width, d, slope, v)
            promised, kept, curved, shrunk = _expect(F, row, ridge, own_ridge, chosen, width, gradient, d, slope, moved)
            kept += energy_of_common(B, weight, chosen, width, d)
            falls = len(alpha) == 0 and _falls(promised, max(curved - 2 * kept, 0.0), kept, shrunk)
            length = b.dtype.type(1)
            if width > 0 and (with_b or not falls):
                bent, tau, spared, largest = 0.0, 0.0, 0.0, 0.0
                for t in range(n_chunks):
                    at, start, size = t if kept_whole else 0, np.uint64(first + t * CHUNK), size_of(t, count)
                    if not kept_whole:
                        gather_some(indices, start, size, G, chosen, width, g, at)
                    combine(g, at, moved, 0, chosen, width, z, t, size)
                    if falls:
                        continue
                    curvature, shrinkage = along(c, start, y, z, t, size)
                    bent += curvature
                    tau = max(tau, shrinkage)
                    if len(alpha) > 0:
                        less, growth = slack(c, x, start, alpha, b, z, t, size)
                        spared += less
                        largest = max(largest, growth)
                if len(alpha) > 0:
                    length = b.dtype.type(soft_length(promised, bent, spared, kept, tau, largest, MOST_OF_B))
                elif count and not falls:
                    length = b.dtype.type(_step_length(promised, bent, kept, tau))
                for t in range(n_chunks):
                    move(b, z, t, size_of(t, count), length, floor)
            for a in range(width):
                j = chosen[a]
                F[row, j] = max(F[row, j] + length * d[a], 0)


@compiled(nogil=True)
def attract_rows(
    indptr: Array,
    indices: Array,
    counts: Array,
    x: Array,
    G: Array,
    floor: float,
    F: Array,
    out: Array,
    logs: Array,
) -> None:
    """out = Σ_p c_p g_p / (f · g_p), the half of the gradient that lets f grow, and the sums of logarithms."""
    k = F.shape[1]
    g, columns, total = np.empty((1, k, WIDTH), F.dtype), np.arange(k), np.empty(k, F.dtype)
    b, y, pull = np.empty((1, CHUNK), F.dtype), np.empty((1, CHUNK), F.dtype), np.empty(CHUNK, F.dtype)
    mantissa = np.empty(CHUNK, np.float64)
    bits = mantissa.view(np.int64)
    for i in range(len(F)):
        logs[i] = 0
        for j in range(k):
            total[j] = 0
        first, count = indptr[i], indptr[i + 1] - indptr[i]
        for t in range((count + CHUNK - 1) // CHUNK):
            start, size = np.uint64(first + t * CHUNK), size_of(t, count)
            gather(indices, start, size, G, g, 0)
            combine(g, 0, F, i, columns, k, b, 0, size)
            invert(counts, start, b, 0, size, floor, y, pull)
            add_dots(g, 0, pull, size, total)
            logs[i] += sum_of_logs(counts, x, first + t * CHUNK, b, 0, size, mantissa, bits)
        for j in range(k):
            out[i, j] = total[j]


@compiled(nogil=True)
def newton_rows(
    indptr: Array,
    indices: Array,
    counts: Array,
    x: Array,
    G: Array,
    linear: Array,
    ridge: Array,
    floor: float,
    scale: Array,
    link_indptr: Array,
    link_indices: Array,
    links: Array,
    groups: Array,
    group_sums: Array,
    group_strength: float,
    first_row: int,
    max_steps: int,
    tolerance: float,
    held: Array,
    keeps_sum: bool,
    dispersion: Array,
    B: Array,
    weights: Array,
    F: Array,
    logs: Array,
) -> None:
    """Steps on a block of rows, in place, each until a step promises no more than `tolerance` times its counts.

    `indptr` and `logs` hold the block, which begins at `first_row` of all others; `logs` gets the sum
    Σ_p c_p log(f · g_p / x_p) of each row, unless it is empty. Rows may be joined by sparse links and by cliques, as in
    `kernels.descent`, and then see the new values of those before them; `link_indptr` is empty if they are not. Entries
    that are `held` stay as they are; rows that keep their sum have one of 1. `dispersion` has α for every
    row, in one column, or for every row of G, in one row; it is empty for a Poisson likelihood. B may be
    empty too, and its weights are those of all rows, or one for all.
    """
    n, k = len(indptr) - 1, F.shape[1]
    longest = 1
    for i in range(n):
        longest = max(longest, indptr[i + 1] - indptr[i])
    n_chunks = (longest + CHUNK - 1) // CHUNK
    b, y, z = (
        np.empty((n_chunks, CHUNK), F.dtype),
        np.empty((n_chunks, CHUNK), F.dtype),
        np.empty((n_chunks, CHUNK), F.dtype),
    )
    g = np.empty((min(n_chunks, max(1, KEPT_BYTES // (CHUNK * k * F.itemsize))), k, WIDTH), F.dtype)
    scaled, Q, v = np.empty((2, WIDTH), F.dtype), np.zeros((k + 1, k + 3), F.dtype), np.empty(max(k, CHUNK), F.dtype)
    positive, chosen, moved = np.empty(k, np.int64), np.empty(k, np.int64), np.empty((1, k), F.dtype)
    given, gradient, d = np.empty(k, F.dtype), np.empty(k, F.dtype), np.empty(k, F.dtype)
    lowest, slope = np.empty(k, F.dtype), np.empty(k, F.dtype)
    mantissa = np.empty(CHUNK, np.float64)
    bits = mantissa.view(np.int64)
    alpha = np.empty(longest if dispersion.size > 0 else 0, F.dtype)
    for i in range(n):
        first, count, row = indptr[i], indptr[i + 1] - indptr[i], first_row + i
        own_linear = row if len(linear) > 1 else 0
        for j in range(k):
            given[j] = linear[own_linear, j]
        if len(link_indptr) > 0:
            for p in range(link_indptr[row], link_indptr[row + 1]):
                other, weight = link_indices[p], 2 * links[p]
                for j in range(k):
                    given[j] += weight * scale[j] * F[other, j]
            if groups[row] >= 0:
                for j in range(k):
                    given[j] -= 2 * scale[j] * group_strength * (group_sums[groups[row], j] - F[row, j])
                    group_sums[groups[row], j] -= F[row, j]
        mass = 0.0
        if tolerance > 0:
            for p in range(count):
                mass += counts[first + p]
        for p in range(min(count, len(alpha))):
            alpha[p] = dispersion[
                row if len(dispersion) > 1 else 0, indices[first + p] if dispersion.shape[1] > 1 else 0
            ]
        own_ridge, own_held = row if len(ridge) > 1 else 0, row if len(held) > 1 else 0
        own_weight, with_b = weights[row if len(weights) > 1 else 0], len(logs) > 0
        _newton_step(
            F, row, indices, counts, x, first, count, G, given, ridge, own_ridge, floor, b, y, z, g, scaled, Q,
            positive, chosen, gradient, d, lowest, slope, v, moved, held, own_held, keeps_sum, alpha, B, own_weight,
            with_b, max_steps, tolerance * mass,
        )  # fmt: skip
        if len(link_indptr) > 0 and groups[row] >= 0:
            for j in range(k):
                group_sums[groups[row], j] += F[row, j]
        if len(logs) > 0:
            logs[i] = sum_of_logs(counts, x, first, b, 0, count, mantissa, bits)
