"""β-divergences between blocks of rows of X and of y = F Gᵀ: derivatives and values.

With q = y^(β−2), the derivative of d(x | y) with respect to y is q (y − x). Weights v have a row for every row of x, or
a single one for all.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.types import Array
from .chunks import sum_of_logs
from .options import FAST, compiled


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def _power(y: Array, exponent: float, out: Array) -> None:
    """out = y^exponent, by products and roots where they suffice: these are many times faster."""
    if exponent == -3:
        for p in range(len(y)):
            out[p] = 1 / (y[p] * y[p] * y[p])
    elif exponent == -2:
        for p in range(len(y)):
            out[p] = 1 / (y[p] * y[p])
    elif exponent == -1.5:
        for p in range(len(y)):
            out[p] = 1 / (y[p] * math.sqrt(y[p]))
    elif exponent == -1:
        for p in range(len(y)):
            out[p] = 1 / y[p]
    elif exponent == -0.5:
        for p in range(len(y)):
            out[p] = 1 / math.sqrt(y[p])
    elif exponent == 1:
        out[:] = y
    else:
        for p in range(len(y)):
            out[p] = y[p] ** exponent


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def _derive(x: Array, v: Array, y: Array, a: float, b: float, slope: Array, bent: Array) -> None:
    """slope = v q (y − x) and bent = v q y (a y + b x), given q in place of the slope."""
    for p in range(len(x)):
        q = v[p] * slope[p]
        slope[p] = q * (y[p] - x[p])
        bent[p] = q * y[p] * (a * y[p] + b * x[p])


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def _firm(v: Array, y: Array, a: float, q: Array, out: Array) -> None:
    """out = a v q y²."""
    for p in range(len(y)):
        out[p] = a * v[p] * q[p] * y[p] * y[p]


@compiled(nogil=True, error_model="numpy")
def derive(
    x: Array, v: Array, y: Array, beta: float, a: float, b: float, c: float, slope: Array, bent: Array, firm: Array
) -> None:
    """Slopes v q (y − x) and curvatures, v q y (a y + b x) and, unless `firm` is empty, c v q y²."""
    a, b, c = y.dtype.type(a), y.dtype.type(b), y.dtype.type(c)
    for i in range(len(x)):
        own = v[i if len(v) > 1 else 0]
        _power(y[i], y.dtype.type(beta - 2), slope[i])
        if len(firm) > 0:
            _firm(own, y[i], c, slope[i], firm[i])
        _derive(x[i], own, y[i], a, b, slope[i], bent[i])


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def _ratios(x: Array, v: Array, y: Array) -> float:
    """Σ v (x / y − 1)."""
    total = 0.0
    for p in range(len(x)):
        total += v[p] * (x[p] / y[p] - 1)
    return total


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def _excess(x: Array, v: Array, y: Array, counts: Array) -> float:
    """Σ v (y − x); counts = v x."""
    total = 0.0
    for p in range(len(x)):
        counts[p] = v[p] * x[p]
        total += v[p] * y[p] - counts[p]
    return total


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def _powers(x: Array, v: Array, y: Array, q: Array, beta: float) -> float:
    """Σ v q y (y / β − x / (β − 1))."""
    total = 0.0
    for p in range(len(x)):
        total += v[p] * (q[p] * y[p] * (y[p] / beta - x[p] / (beta - 1)))
    return total


@compiled(nogil=True, error_model="numpy")
def measure(x: Array, v: Array, y: Array, beta: float, values: Array) -> None:
    """Σ_p v d(x | y) of every row in float64; unless β is 0 or 1, without x^β / (β (β − 1)), which is constant."""
    m = x.shape[1]
    mantissa, spare = np.empty(m, np.float64), np.empty(m, x.dtype)
    bits = mantissa.view(np.int64)
    for i in range(len(x)):
        own = v[i if len(v) > 1 else 0]
        if beta == 0:
            values[i] = _ratios(x[i], own, y[i]) + sum_of_logs(own, x[i], 0, y, i, m, mantissa, bits)
        elif beta == 1:
            values[i] = _excess(x[i], own, y[i], spare)
            values[i] -= sum_of_logs(spare, x[i], 0, y, i, m, mantissa, bits)
        else:
            _power(y[i], y.dtype.type(beta - 2), spare)
            values[i] = _powers(x[i], own, y[i], spare, beta)
