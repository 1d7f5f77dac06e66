"""How far to trust objectives computed with rounding errors."""

from __future__ import annotations

from typing import Any

import numpy as np

FLOAT32 = np.dtype(np.float32)

# Relative noise of sums of float32 products.
NOISE = 5e-7


def is_resolved(value: float, whole: float, dtype: Any) -> bool:
    """Whether a squared error exceeds the rounding errors of the products from which it was computed.

    Parameters
    ----------
    value : float
        The squared error, as a difference of products.
    whole : float
        ‖X‖², the size of these products.
    dtype : dtype
    """
    return value >= (1e-3 if dtype == FLOAT32 else 1e-10) * whole


def noise(value: float, whole: float, dtype: Any) -> float:
    """By how much an objective may seem to rise although it does not. In float64 every rise counts.

    Parameters
    ----------
    value : float
        The objective. Beyond what products resolve its squared error comes from residuals.
    whole : float
        ‖X‖².
    dtype : dtype
    """
    if dtype != FLOAT32:
        return 0.0
    return NOISE * (max(value, whole) if is_resolved(value, whole, dtype) else value)


def negligible(dtype: Any) -> float:
    """The share of its first value below which an objective is only rounding errors of the factors."""
    return 1e-15 if dtype == FLOAT32 else 10 * float(np.finfo(np.float64).eps)


def resolution(dtype: Any) -> float:
    """The relative change of an objective below which factors of this type cannot tell one value from another."""
    return float(np.finfo(dtype).eps)
