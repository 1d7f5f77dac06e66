"""One entry in every row of a factor, each row with the best one.

Every S that couples rows lies below a diagonal matrix (`solvers.gradient`), so each row i sees its own quadratic.
With a single entry f in column j that is c_ij f² − 2 f z_ij: the best column is the one with the largest
z_ij² / c_ij among those with z_ij > 0, and f = z_ij / c_ij. Where no rows are coupled the step is the exact minimum.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.forms import Coupling
from ..core.types import Array
from .gradient import row_curvature


def step_rows(F: Array, A: Array, couplings: Sequence[Coupling]) -> Array:
    """The best factor with one entry per row.

    Parameters
    ----------
    F : ndarray of shape (rows, k)
        The present one; it matters where rows are coupled.
    A : ndarray of shape (rows, k)
    couplings : sequence of Coupling
    """
    z, curvature = A.astype(np.float64), np.zeros(F.shape)
    for part in couplings:
        curvature += np.multiply.outer(row_curvature(part.rows, F), part.curvatures.astype(np.float64))
        if part.rows is not None:
            z += row_curvature(part.rows, F)[:, None] * (F @ part.full_gram) - part.dot(F)
    return best_entry(z, curvature).astype(F.dtype)


def best_entry(pull: Array, curvature: Array) -> Array:
    """The best factor with one entry per row, given each entry's curvature; a row that nothing attracts is empty."""
    pull = np.maximum(pull, 0)
    curved = curvature > 0
    lengths = np.divide(pull, curvature, out=np.zeros(pull.shape), where=curved)
    chosen = (pull * lengths).argmax(axis=1)
    rows = np.arange(len(pull))
    F = np.zeros_like(pull)
    F[rows, chosen] = lengths[rows, chosen]
    return F
