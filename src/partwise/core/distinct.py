"""How many rows differ by more than rounding."""

from __future__ import annotations

import numpy as np

from .types import Array

# Results computed from equal samples differ by rounding, which depends on the processor: by at most this power of the
# machine epsilon, relative to the largest entry.
ROUNDING = 0.75
# Rows compared at a time; in ordinary data the first of these already differ.
CHUNK = 256


def count_distinct(rows: Array, most: int) -> int:
    """How many of the rows are distinct, counted up to a limit.

    Parameters
    ----------
    rows : ndarray of shape (n, any)
    most : int
        Where to stop counting.
    """
    tolerance = np.finfo(rows.dtype).eps ** ROUNDING
    found: list[Array] = []
    for start in range(0, len(rows), CHUNK):
        left = rows[start : start + CHUNK]
        for one in found:
            left = _others(left, one, tolerance)
        while len(left):
            if len(found) == most:
                return most
            found.append(left[0])
            left = _others(left, left[0], tolerance)
    return len(found)


def _others(rows: Array, one: Array, tolerance: float) -> Array:
    """The rows that differ from one of them."""
    return np.asarray(rows[np.abs(rows - one).max(axis=1) > tolerance * np.abs(one).max()])
