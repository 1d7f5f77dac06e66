"""Counts that vary more than Poisson ones: the negative binomial distribution with mean y and variance y + α y².

Its loss, half the deviance, is x log(x / y) − (1 + αx) / α · log((1 + αx) / (1 + αy)). The first part is that of a
Poisson likelihood and convex; the second is concave in y, so it lies below its tangent, of slope (1 + αx) / (1 + αy). A
step that changes y by z changes the second part by no more than its tangent less

    α (1 + αx) z² / (1 + αy)² · r(s),   s = αz / (1 + αy),   r(s) = (s − log(1 + s)) / s²

and r falls in s. So a step on many entries, whose largest s is S, may count on r(S) for all of them.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.types import Array
from .options import FAST, compiled

# Below this |t| the closed form of r(t) loses more digits than a series.
SERIES = 1e-3
# Bisections for the length of a step; it need not be exact.
BISECTIONS = 20


@compiled(fastmath=FAST, nogil=True)
def _slopes(x: Array, v: Array, alpha: Array, y: Array) -> None:
    """y becomes v (1 + αx) / (1 + αy)."""
    for p in range(len(y)):
        y[p] = v[p] * (1 + alpha[p] * x[p]) / (1 + alpha[p] * y[p])


@compiled(nogil=True)
def slope_rows(x: Array, v: Array, alpha: Array, y: Array) -> None:
    """The slopes of the concave part, in place of y. Weights v have a row for every row of x, or one for all."""
    for i in range(len(y)):
        _slopes(x[i], v[i if len(v) > 1 else 0], alpha, y[i])


@compiled(fastmath=FAST, nogil=True)
def artanh_series(q: float) -> float:
    """artanh(s) / s as a power series in q = s², for s² ≤ 0.03."""
    series = 1 / 21.0
    series = series * q + 1 / 19.0
    series = series * q + 1 / 17.0
    series = series * q + 1 / 15.0
    series = series * q + 1 / 13.0
    series = series * q + 1 / 11.0
    series = series * q + 1 / 9.0
    series = series * q + 1 / 7.0
    series = series * q + 1 / 5.0
    series = series * q + 1 / 3.0
    return series * q + 1.0


@compiled(fastmath=FAST, nogil=True)
def _concave_part(x: Array, v: Array, alpha: Array, y: Array, mantissa: Array, bits: Array) -> float:
    """Σ v (1 + αx) / α · log((1 + αy) / (1 + αx)) in float64; `bits` are those of `mantissa`.

    Near one the logarithm comes from the difference y − x, so that nothing is lost where α is small, not even at zero.
    """
    count = len(y)
    for p in range(count):
        mantissa[p] = (1 + np.float64(alpha[p]) * y[p]) / (1 + np.float64(alpha[p]) * x[p])
    total = 0.0
    for p in range(count):
        # See `chunks.sum_of_logs`.
        shifted = bits[p] - np.int64(0x3FE6A09E667F3BCD)
        exponent = shifted >> np.int64(52)
        bits[p] -= exponent << np.int64(52)
        a = np.float64(alpha[p])
        near = (np.float64(y[p]) - x[p]) / (2 + a * (np.float64(x[p]) + y[p]))
        s = a * near if exponent == 0 else (mantissa[p] - 1) / (mantissa[p] + 1)
        log_ratio = 2 * s * artanh_series(s * s) + exponent * math.log(2.0)
        part = 2 * near * artanh_series(s * s) if exponent == 0 else log_ratio / a
        total += v[p] * (1 + a * x[p]) * part
    return total


@compiled(nogil=True)
def measure_rows(x: Array, v: Array, alpha: Array, y: Array, values: Array) -> None:
    """The concave part of the loss of every row."""
    mantissa = np.empty(y.shape[1], np.float64)
    bits = mantissa.view(np.int64)
    for i in range(len(y)):
        values[i] = _concave_part(x[i], v[i if len(v) > 1 else 0], alpha, y[i], mantissa, bits)


@compiled(fastmath=FAST, nogil=True)
def soften(alpha: Array, b: Array, t: int, size: int, v: Array) -> None:
    """v / (1 + αb) in chunk t of a row: curvatures of a Poisson likelihood become those of the loss where y = x.

    Nothing happens if there is no α.
    """
    width = b.shape[1]
    for p in range(size if len(alpha) > 0 else 0):
        v[p] /= 1 + alpha[t * width + p] * b[t, p]


@compiled(fastmath=FAST, nogil=True)
def slack(c: Array, x: Array, start: int, alpha: Array, b: Array, z: Array, t: int, size: int) -> tuple[float, float]:
    """Σ_p (c/x) α (1 + αx) z² / (1 + αb)², and the largest αz / (1 + αb), where a count is positive, in a chunk."""
    width = b.shape[1]
    total = largest = b.dtype.type(0)
    for p in range(size):
        own, count, value = alpha[t * width + p], c[start + np.uint64(p)], x[start + np.uint64(p)]
        share = z[t, p] / (1 + own * b[t, p])
        weight = count / value if count > 0 else count * 0
        total += weight * own * (1 + own * value) * share * share
        largest = max(largest, own * share if count > 0 else share * 0)
    return total, largest


@compiled(nogil=True)
def _remainder(t: float) -> float:
    """r(t) = (t − log(1 + t)) / t², for t > −1."""
    if abs(t) < SERIES:
        return 0.5 - t / 3 + t * t / 4
    return (t - math.log1p(t)) / (t * t)


@compiled(nogil=True)
def soft_length(D: float, C: float, slack: float, E: float, tau: float, S: float, longest: float) -> float:
    """How far to go along a step with first-order decrease D, curvatures C and E, that shrinks b by τ at most.

    The objective changes by no more than −αD + α² h(α) with h(α) = E + C r(−ατ) − slack · r(αS), which rises in α. The
    step is taken in full if that is not positive; otherwise α h(α) is at most half of D.
    """
    length = min(1.0, longest / tau) if tau > 0 else 1.0
    if length * (E + C * _remainder(-length * tau) - slack * _remainder(length * S)) <= D:
        return length
    low, high = 0.0, length
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if middle * (E + C * _remainder(-middle * tau) - slack * _remainder(middle * S)) <= 0.5 * D:
            low = middle
        else:
            high = middle
    return low
