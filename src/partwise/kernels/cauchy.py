"""The truncated Cauchy loss of dense rows, and the weights it gives their entries, in one pass over them."""

from __future__ import annotations

import numpy as np
from numba import njit

from ..core.types import Array
from .options import FAST

# Products of this many entries run side by side in vector registers.
LANES = 8
# A product beyond this is replaced by its logarithm; a single entry may be as large again.
LARGE = 1e100


@njit(cache=True, fastmath=FAST, nogil=True)
def _sum_of_logarithms(excess: Array, lanes: Array) -> float:
    """Σ ln(1 + e): few logarithms of products Π(1 + e) − 1, which keep the digits of the smallest e."""
    total, m = 0.0, len(excess)
    lanes[:] = 0
    for j in range(0, m - LANES + 1, LANES):
        largest = 0.0
        for lane in range(LANES):
            e = np.float64(excess[j + lane])
            lanes[lane] += e + lanes[lane] * e
            largest = max(largest, lanes[lane])
        if largest > LARGE:
            for lane in range(LANES):
                total += np.log1p(lanes[lane])
            lanes[:] = 0
    for lane in range(LANES):
        total += np.log1p(lanes[lane])
    for j in range(m - m % LANES, m):
        total += np.log1p(np.float64(excess[j]))
    return total


@njit(cache=True, fastmath=FAST, nogil=True)
def sum_rows(x: Array, y: Array, scale: float, limit: float, values: Array) -> None:
    """Σ_j ln(1 + min(e, limit)) of every row, e = (x − y)² / scale².

    Parameters
    ----------
    x, y : ndarray of shape (rows, m)
        The data and the fit.
    scale, limit : scalar of the type of x
        The limit is at most LARGE.
    values : ndarray of shape (rows,), float64
        Becomes the sums.
    """
    excess, lanes = np.empty(x.shape[1], x.dtype), np.empty(LANES)
    for i in range(len(x)):
        data, fit = x[i], y[i]
        for j in range(len(data)):
            residual = (data[j] - fit[j]) / scale
            excess[j] = min(residual * residual, limit)
        values[i] = _sum_of_logarithms(excess, lanes)


@njit(cache=True, fastmath=FAST, nogil=True)
def impute_rows(x: Array, y: Array, scale: float, limit: float) -> None:
    """Replace the fit y by y + q (x − y), with q = 1 / (1 + e), e = (x − y)² / scale², or 0 where e > limit.

    Parameters
    ----------
    x, y, scale, limit
        As for `sum_rows`.
    """
    one, none = x.dtype.type(1), x.dtype.type(0)
    for i in range(len(x)):
        data, fit = x[i], y[i]
        for j in range(len(data)):
            residual = data[j] - fit[j]
            e = (residual / scale) * (residual / scale)
            fit[j] += residual / (one + e) if e <= limit else none


@njit(cache=True, fastmath=FAST, nogil=True)
def weigh_rows(x: Array, y: Array, scale: float, limit: float, floor: float, down: Array) -> None:
    """q x and q y, with the q of `impute_rows` for a fit y of at least `floor`.

    Parameters
    ----------
    x : ndarray of shape (rows, m)
    y : ndarray of shape (rows, m)
        The fit; it becomes q y.
    scale, limit, floor : scalar of the type of x
    down : ndarray of shape (rows, m)
        Becomes q x.
    """
    one, none = x.dtype.type(1), x.dtype.type(0)
    for i in range(len(x)):
        data, fit, weighted = x[i], y[i], down[i]
        for j in range(len(data)):
            near = max(fit[j], floor)
            residual = (data[j] - near) / scale
            e = residual * residual
            trust = one / (one + e) if e <= limit else none
            weighted[j] = trust * data[j]
            fit[j] = trust * near
