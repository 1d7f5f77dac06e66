"""Robust losses of dense rows, and the trust they put in every entry, in one pass over them.

With e = (x − y)² / scale² the loss of an entry is ln(1 + min(e, limit)) by Cauchy; by Huber, e up to 1 and 2 √e − 1
beyond. The derivative with respect to e is the trust q: by Cauchy 1 / (1 + e), or 0 beyond the limit; by Huber
min(1, 1 / √e). An entry of x that is NaN is unknown: it costs nothing and is not trusted.
"""

from __future__ import annotations

import numpy as np

from ..core.types import Array
from .options import FAST, compiled

# Products of numbers below this are finite.
SAFE = 1e150
# So few numbers are not worth folding.
FEW = 8


@compiled(fastmath=FAST, nogil=True)
def _excesses(x: Array, y: Array, inverse: float, limit: float, out: Array) -> float:
    """out = min(e, limit), and its sum."""
    none, total = x.dtype.type(0), 0.0
    for j in range(len(x)):
        residual = (x[j] - y[j]) * inverse
        e = residual * residual
        e = limit if e > limit else e
        out[j] = e if e >= none else none
        total += out[j]
    return total


@compiled(fastmath=FAST, nogil=True)
def _fold(a: Array, b: Array) -> float:
    """a = (1 + a)(1 + b) − 1, which keeps the digits of small numbers, and the sum of it."""
    total = 0.0
    for j in range(len(a)):
        a[j] += b[j] + a[j] * b[j]
        total += a[j]
    return total


@compiled(nogil=True)
def _sum_of_logarithms(e: Array, total: float) -> float:
    """Σ ln(1 + e), given Σ e: few logarithms of products. It overwrites e."""
    left = len(e)
    # The sum is never below the largest number.
    while left > FEW and total < SAFE:
        half = (left + 1) // 2
        # With an odd number, one is folded with nothing, and is missing in this sum.
        total = _fold(e[: left - half], e[half:left]) + e[half - 1]
        left = half
    logarithms = 0.0
    for j in range(left):
        logarithms += np.log1p(e[j])
    return logarithms


@compiled(fastmath=FAST, nogil=True)
def _sum_of_huber(x: Array, y: Array, inverse: float) -> float:
    one, none, total = x.dtype.type(1), x.dtype.type(0), 0.0
    for j in range(len(x)):
        root = abs(x[j] - y[j]) * inverse
        value = root * root if root <= one else root + root - one
        total += np.float64(value if root >= none else none)
    return total


@compiled(nogil=True)
def sum_rows(x: Array, y: Array, scale: float, limit: float, huber: bool, values: Array) -> None:
    """The loss of every row, in units of scale².

    Parameters
    ----------
    x, y : ndarray of shape (rows, m)
        The data and the fit.
    scale, limit : scalar of the type of x
        The limit, which Huber's loss does not have, is below `SAFE`.
    huber : bool
        Whether the loss is Huber's, and not Cauchy's.
    values : ndarray of shape (rows,), float64
        Becomes the sums.
    """
    inverse = x.dtype.type(1) / scale
    excess = np.empty(0 if huber else x.shape[1])
    for i in range(len(x)):
        if huber:
            values[i] = _sum_of_huber(x[i], y[i], inverse)
        else:
            values[i] = _sum_of_logarithms(excess, _excesses(x[i], y[i], inverse, limit, excess))


@compiled(fastmath=FAST, nogil=True)
def _approach_huber(x: Array, y: Array, scale: float) -> None:
    """The fit moves towards the data by at most the scale."""
    none = x.dtype.type(0)
    for j in range(len(x)):
        residual = x[j] - y[j]
        step = scale if residual > scale else residual
        step = -scale if step < -scale else step
        y[j] += step if step == step else none


@compiled(fastmath=FAST, nogil=True)
def _approach_cauchy(x: Array, y: Array, inverse: float, limit: float) -> None:
    """The fit moves towards the data by q (x − y)."""
    one, none = x.dtype.type(1), x.dtype.type(0)
    for j in range(len(x)):
        residual = x[j] - y[j]
        e = (residual * inverse) * (residual * inverse)
        y[j] += residual / (one + e) if e <= limit else none


@compiled(nogil=True)
def impute_rows(x: Array, y: Array, scale: float, limit: float, huber: bool) -> None:
    """Replace the fit y by y + q (x − y).

    Parameters
    ----------
    x, y, scale, limit, huber
        As for `sum_rows`.
    """
    inverse = x.dtype.type(1) / scale
    for i in range(len(x)):
        if huber:
            _approach_huber(x[i], y[i], scale)
        else:
            _approach_cauchy(x[i], y[i], inverse, limit)


@compiled(fastmath=FAST, nogil=True)
def derive_rows(
    x: Array, v: Array, y: Array, scale: float, limit: float, huber: bool, slope: Array, curvature: Array
) -> None:
    """The slopes −2 v q (x − y) and the curvatures 2 v q y² of a squared error that lies above the loss.

    Parameters
    ----------
    x, y, scale, limit, huber
        As for `sum_rows`, without NaN.
    v : ndarray of shape (rows, m) or (1, m)
        Weights of the entries.
    slope, curvature : ndarray of shape (rows, m)
        Become the derivatives with respect to y, and with respect to its logarithm.
    """
    one, none = x.dtype.type(1), x.dtype.type(0)
    inverse = one / scale
    for i in range(len(x)):
        data, fit, own, first, second = x[i], y[i], v[i if len(v) > 1 else 0], slope[i], curvature[i]
        for j in range(len(data)):
            residual = data[j] - fit[j]
            e = (residual * inverse) * (residual * inverse)
            trust = one / np.sqrt(max(e, one)) if huber else one / (one + e)
            weight = own[j] * (trust + trust) if e <= limit else none
            first[j] = -weight * residual
            second[j] = weight * fit[j] * fit[j]


@compiled(fastmath=FAST, nogil=True)
def bend_rows(x: Array, v: Array, y: Array, scale: float, limit: float, huber: bool, out: Array) -> None:
    """The second derivatives of the loss itself, times y², with arguments as `derive_rows` has them."""
    one, none = x.dtype.type(1), x.dtype.type(0)
    inverse, farthest = one / scale, one if huber else limit
    for i in range(len(x)):
        data, fit, own, bent = x[i], y[i], v[i if len(v) > 1 else 0], out[i]
        for j in range(len(data)):
            residual = (data[j] - fit[j]) * inverse
            e = residual * residual
            share = one if huber else (one - e) / ((one + e) * (one + e))
            bent[j] = own[j] * (share + share) * fit[j] * fit[j] if e <= farthest else none


@compiled(nogil=True)
def measure_rows(x: Array, v: Array, y: Array, scale: float, limit: float, huber: bool, values: Array) -> None:
    """The loss of every row, in units of scale², with arguments as `derive_rows` has them."""
    one = x.dtype.type(1)
    inverse = one / scale
    for i in range(len(x)):
        data, fit, own, total = x[i], y[i], v[i if len(v) > 1 else 0], 0.0
        for j in range(len(data)):
            root = abs(data[j] - fit[j]) * inverse
            if huber:
                cost = np.float64(root * root if root <= one else root + root - one)
            else:
                cost = np.log1p(np.float64(min(root * root, limit)))
            total += np.float64(own[j]) * cost
        values[i] = total


@compiled(fastmath=FAST, nogil=True)
def weigh_rows(x: Array, y: Array, scale: float, limit: float, huber: bool, floor: float, down: Array) -> None:
    """q x and q y, for a fit y of at least `floor`.

    Parameters
    ----------
    x : ndarray of shape (rows, m)
    y : ndarray of shape (rows, m)
        The fit; it becomes q y.
    scale, limit, huber
        As for `sum_rows`.
    floor : scalar of the type of x
    down : ndarray of shape (rows, m)
        Becomes q x.
    """
    one, none = x.dtype.type(1), x.dtype.type(0)
    inverse = one / scale
    for i in range(len(x)):
        data, fit, weighted = x[i], y[i], down[i]
        for j in range(len(data)):
            near = max(fit[j], floor)
            residual = (data[j] - near) * inverse
            e = residual * residual
            trust = one / np.sqrt(max(e, one)) if huber else one / (one + e)
            trust = trust if e <= limit else none
            weighted[j] = trust * data[j] if trust > none else none
            fit[j] = trust * near
