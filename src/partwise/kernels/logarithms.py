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

The rows g_p of a chunk of counts are the columns of a small array, so that the inner loops run over counts.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.types import Array
from .dispersion import artanh_series, slack, soft_length, soften
from .gathered import CHUNK, WIDTH, add_dots, add_products, dot, gather, gather_some
from .options import FAST, compiled
from .row_models import add_common, energy_of_common, exchange, gradient_of_common, solve_model

# What is gathered for a row is kept for its later parts if it takes no more than this, the size of a small cache.
KEPT_BYTES = 2**18
# An entry of b never falls by more than this share in one step.
MOST_OF_B = 0.999


@compiled(fastmath=FAST, nogil=True)
def combine(g: Array, factors: Array, columns: Array, out: Array, at: int = 0) -> None:
    """out[p] = Σ_j factors[j] g[j, at + p] over some columns j, four at a time."""
    n, to, zero = len(columns), at + len(out), factors[0] * 0
    out[:] = 0
    for a in range(0, n, 4):
        # At the edge a column stands in for those that do not exist, and counts nothing.
        j0, j1 = columns[a], columns[min(a + 1, n - 1)]
        j2, j3 = columns[min(a + 2, n - 1)], columns[min(a + 3, n - 1)]
        f0, f1 = factors[j0], factors[j1] if a + 1 < n else zero
        f2, f3 = factors[j2] if a + 2 < n else zero, factors[j3] if a + 3 < n else zero
        g0, g1, g2, g3 = g[j0, at:to], g[j1, at:to], g[j2, at:to], g[j3, at:to]
        for p in range(len(out)):
            out[p] += f0 * g0[p] + f1 * g1[p] + f2 * g2[p] + f3 * g3[p]


@compiled(fastmath=FAST, nogil=True)
def invert(c: Array, b: Array, floor: float, y: Array, out: Array) -> None:
    """y = 1 / b, out = c / b, with b never below the floor."""
    for p in range(len(c)):
        b[p] = max(b[p], floor)
        y[p] = 1 / b[p]
        out[p] = c[p] * y[p]


@compiled(fastmath=FAST, nogil=True)
def bend(c: Array, y: Array, out: Array) -> None:
    """out = c y²."""
    for p in range(len(c)):
        out[p] = c[p] * y[p] * y[p]


@compiled(fastmath=FAST, nogil=True)
def along(c: Array, y: Array, z: Array) -> tuple[float, float]:
    """Σ_p c_p (z_p y_p)², and the largest −z_p y_p where a count is positive."""
    curvature, shrinkage = c[0] * 0, c[0] * 0
    for p in range(len(c)):
        t = z[p] * y[p]
        curvature += c[p] * t * t
        shrinkage = max(shrinkage, -t if c[p] > 0 else t * 0)
    return curvature, shrinkage


@compiled(fastmath=FAST, nogil=True)
def _move(b: Array, z: Array, length: float, floor: float) -> None:
    """b + length · z, never below the floor."""
    for p in range(len(b)):
        b[p] = max(b[p] + length * z[p], floor)


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


@compiled(fastmath=FAST, nogil=True)
def sum_of_logs(c: Array, x: Array, b: Array, mantissa: Array, bits: Array) -> float:
    """Σ_p c_p log(b_p / x_p) in float64; `bits` are those of `mantissa`.

    b / x = 2^e m with m in [√½, √2), and log m = 2 artanh((m − 1) / (m + 1)) as a power series: loops without branches
    use full vector registers; the library's logarithm does not.
    """
    count = len(c)
    for p in range(count):
        mantissa[p] = np.float64(b[p]) / np.float64(x[p]) if x[p] > 0 else 1.0
    total = 0.0
    for p in range(count):
        # Subtracting the bits of √½ moves the boundary between two exponents there.
        shifted = bits[p] - np.int64(0x3FE6A09E667F3BCD)
        exponent = shifted >> np.int64(52)
        bits[p] -= exponent << np.int64(52)
        total += c[p] * np.float64(exponent)
    total *= math.log(2.0)
    for p in range(count):
        m = mantissa[p]
        s = (m - 1) / (m + 1)
        total += c[p] * (2 * s * artanh_series(s * s))
    return total


@compiled(nogil=True)
def _add_curvature(
    c: Array, y: Array, b: Array, alpha: Array, g: Array, at: int, columns: Array, scaled: Array, v: Array, Q: Array
) -> None:
    """Add the second derivatives of a chunk, for some columns, to Q; v is memory."""
    own = v[: len(c)]
    bend(c, y, own)
    if len(alpha) > 0:
        soften(alpha, b, own)
    add_products(g, own, columns, scaled, Q, at)


@compiled(nogil=True)
def _newton_step(
    f: Array,
    indices: Array,
    c: Array,
    G: Array,
    linear: Array,
    ridge: Array,
    floor: float,
    b: Array,
    y: Array,
    z: Array,
    g: Array,
    scaled: Array,
    Q: Array,
    columns: Array,
    small: Array,
    held: Array,
    keeps_sum: bool,
    x: Array,
    alpha: Array,
    B: Array,
    weight: float,
    with_b: bool,
) -> float:
    """One step on a row, in place, leaving b = f · g if asked to; returns the decrease it promises to first order.

    Entries that are `held` stay as they are, and so does the sum of the row if it is to be kept. `alpha` is empty for a
    Poisson likelihood.
    """
    k, count = len(f), len(c)
    gradient, d, lowest, slope = small[0], small[1], small[2], small[3]
    v, positive, chosen = small[4], columns[0], columns[1]
    # A row that is not longer than g is gathered once. Products of a row of several chunks are added up while it is
    # gathered for the gradient, for the entries that can surely move.
    short, kept_whole, n_sure, n_positive = count <= CHUNK, count <= g.shape[1], 0, 0
    for j in range(k):
        if f[j] > 0:
            positive[n_positive] = j
            n_positive += 1
            if not held[j]:
                chosen[n_sure] = j
                n_sure += 1
        gradient[j] = linear[j] + 2 * ridge[j] * f[j]
    gradient_of_common(B, weight, f, gradient)
    sure = chosen[:n_sure]
    Q[:n_sure, :n_sure] = 0
    d[:k] = 0
    for start in range(0, count, CHUNK):
        stop = min(start + CHUNK, count)
        at = start if kept_whole else 0
        gather(indices[start:stop], G, g, at)
        combine(g, f, positive[:n_positive], b[start:stop], at)
        pull = v[: stop - start]
        invert(c[start:stop], b[start:stop], floor, y[start:stop], pull)
        add_dots(g, pull, d[:k], at)
        if not short:
            _add_curvature(c[start:stop], y[start:stop], b[start:stop], alpha[start:stop], g, at, sure, scaled, v, Q)
    for j in range(k):
        gradient[j] -= d[j]
    # The slope at which an entry is worth its place.
    par = 0.0
    if keeps_sum:
        for j in range(k):
            par += f[j] * gradient[j]
    width = 0
    for j in range(k):
        if not held[j] and (f[j] > 0 or gradient[j] < par):
            chosen[width] = j
            gradient[width] = gradient[j]
            lowest[width] = -f[j]
            width += 1
    if width == 0:
        return 0.0
    active = chosen[:width]
    if short or width > n_sure:
        Q[:width, :width] = 0
        for start in range(0, count, CHUNK):
            stop = min(start + CHUNK, count)
            at = start if kept_whole else 0
            if not kept_whole:
                gather_some(indices[start:stop], G, active, g)
            _add_curvature(c[start:stop], y[start:stop], b[start:stop], alpha[start:stop], g, at, active, scaled, v, Q)
    add_common(B, weight, active, Q)
    for a in range(width):
        Q[a, a] += 2 * ridge[active[a]]
        for other in range(a):
            Q[other, a] = Q[a, other]
    if keeps_sum:
        exchange(Q, gradient, lowest, width, d, slope)
    else:
        solve_model(Q, gradient, lowest, width, d, slope, v)
    promised, kept, curved, shrunk = 0.0, energy_of_common(B, weight, active, d), 0.0, 0.0
    for a in range(width):
        promised -= gradient[a] * d[a]
        kept += ridge[active[a]] * d[a] * d[a]
        curved += d[a] * (slope[a] - gradient[a])  # the slope of the model has changed by Q d
        if d[a] < 0:
            shrunk = max(shrunk, -d[a] / f[active[a]])
    # As a sum of f_j g_pj, b nowhere shrinks by a larger share than the entry of f that shrinks most.
    falls = len(alpha) == 0 and _falls(promised, max(curved - 2 * kept, 0.0), kept, shrunk)
    if falls and not with_b:
        for a in range(width):
            f[active[a]] = max(f[active[a]] + d[a], 0)
        return promised
    for a in range(width):
        # From here on, at the place of its component.
        slope[active[a]] = d[a]
    bent, tau, spared, largest = 0.0, 0.0, 0.0, 0.0
    for start in range(0, count, CHUNK):
        stop = min(start + CHUNK, count)
        if not kept_whole:
            gather_some(indices[start:stop], G, active, g)
        combine(g, slope, active, z[start:stop], start if kept_whole else 0)
        if falls:
            continue
        curvature, shrinkage = along(c[start:stop], y[start:stop], z[start:stop])
        bent += curvature
        tau = max(tau, shrinkage)
        if len(alpha) > 0:
            less, growth = slack(c[start:stop], x[start:stop], alpha[start:stop], b[start:stop], z[start:stop])
            spared += less
            largest = max(largest, growth)
    length = b.dtype.type(1)
    if len(alpha) > 0:
        length = b.dtype.type(soft_length(promised, bent, spared, kept, tau, largest, MOST_OF_B))
    elif count and not falls:
        length = b.dtype.type(_step_length(promised, bent, kept, tau))
    for a in range(width):
        j = active[a]
        f[j] = max(f[j] + length * d[a], 0)
    _move(b, z, length, floor)
    return promised


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
    g, columns = np.empty((k, WIDTH), F.dtype), np.arange(k)
    b, turned, pull = np.empty(CHUNK, F.dtype), np.empty(CHUNK, F.dtype), np.empty(CHUNK, F.dtype)
    mantissa = np.empty(CHUNK, np.float64)
    bits = mantissa.view(np.int64)
    for i in range(len(F)):
        out[i] = 0
        logs[i] = 0
        for start in range(indptr[i], indptr[i + 1], CHUNK):
            stop = min(start + CHUNK, indptr[i + 1])
            y, c = b[: stop - start], counts[start:stop]
            gather(indices[start:stop], G, g)
            combine(g, F[i], columns, y)
            invert(c, y, floor, turned, pull[: stop - start])
            logs[i] += sum_of_logs(c, x[start:stop], y, mantissa, bits)
            for j in range(k):
                out[i, j] += dot(g[j, : len(y)], pull[: stop - start])


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
    b, y, z = np.empty(longest, F.dtype), np.empty(longest, F.dtype), np.empty(longest, F.dtype)
    chunks = min(-(-longest // CHUNK), max(1, KEPT_BYTES // (CHUNK * k * F.itemsize)))
    g = np.empty((k, chunks * CHUNK + WIDTH - CHUNK), F.dtype)
    scaled, Q = np.empty((k, WIDTH), F.dtype), np.empty((k, k), F.dtype)
    columns, small = np.empty((2, k), np.int64), np.empty((5, max(k, CHUNK)), F.dtype)
    mantissa, given = np.empty(longest, np.float64), np.empty(k, F.dtype)
    bits = mantissa.view(np.int64)
    alpha = np.empty(longest if dispersion.size > 0 else 0, F.dtype)
    for i in range(n):
        first, end = indptr[i], indptr[i + 1]
        own, c, count = indices[first:end], counts[first:end], end - first
        row = first_row + i
        f = F[row]
        given[:] = linear[row if len(linear) > 1 else 0]
        curvature = ridge[row if len(ridge) > 1 else 0]
        stays = held[row if len(held) > 1 else 0]
        if len(link_indptr) > 0:
            for p in range(link_indptr[row], link_indptr[row + 1]):
                other, weight = F[link_indices[p]], 2 * links[p]
                for j in range(k):
                    given[j] += weight * scale[j] * other[j]
            if groups[row] >= 0:
                for j in range(k):
                    given[j] -= 2 * scale[j] * group_strength * (group_sums[groups[row], j] - f[j])
                    group_sums[groups[row], j] -= f[j]
        mass = 0.0
        if tolerance > 0:
            for p in range(count):
                mass += c[p]
        for p in range(min(count, len(alpha))):
            alpha[p] = dispersion[row if len(dispersion) > 1 else 0, own[p] if dispersion.shape[1] > 1 else 0]
        for _ in range(max_steps):
            promised = _newton_step(
                f, own, c, G, given, curvature, floor,
                b[:count], y[:count], z[:count], g, scaled, Q, columns, small, stays, keeps_sum,
                x[first:end], alpha[: min(count, len(alpha))], B, weights[row if len(weights) > 1 else 0],
                len(logs) > 0,
            )  # fmt: skip
            if promised <= tolerance * mass:
                break
        if len(link_indptr) > 0 and groups[row] >= 0:
            for j in range(k):
                group_sums[groups[row], j] += f[j]
        if len(logs) > 0:
            logs[i] = sum_of_logs(c, x[first:end], b[:count], mantissa, bits)
