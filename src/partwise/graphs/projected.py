"""Samples on workers as neighbours are looked for among them: here, all of them if they are few, or projected."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.memory import check_fits
from ..core.operand import Operand
from ..core.storage import as_operand
from ..core.types import Array
from .cells import BASIS_ROWS, SEED, leading_vectors
from .pairs import HELD_BYTES, stored_row_bytes

# Samples are projected onto so many leading singular vectors. That is exact if they have no more features.
DIMENSIONS = 256
# More of them than this are projected, even if they would fit.
MOST_WHOLE = 20_000

UNPROJECTED = (
    "The {} samples are on workers, and have missing entries: more than {} of them can only be compared by their "
    "projections, which need every entry. Fill the gaps, or take a sample of the rows."
)


class Compared(NamedTuple):
    """Samples in memory by which others are compared.

    Attributes
    ----------
    samples : Operand
    basis : ndarray of shape (n_features, d) or None
        What they are multiplied by; None if they are as they were.
    """

    samples: Operand
    basis: Array | None


def compared(X: Operand) -> Compared:
    """The samples themselves, unless they are on workers; then their projections, if they are many.

    Parameters
    ----------
    X : Operand
        The samples whose neighbours are to be found.
    """
    if not X.spread:
        return Compared(X, None)
    if X.shape[0] <= MOST_WHOLE and stored_row_bytes(X) * X.shape[0] <= HELD_BYTES:
        return Compared(X.take(np.arange(X.shape[0])), None)
    if X.missing is not None:
        raise ValueError(UNPROJECTED.format(X.shape[0], MOST_WHOLE))
    n, width = X.shape[0], min(DIMENSIONS, X.shape[1])
    check_fits(2 * n * width * X.dtype.itemsize, f"A search for neighbours of {n} samples", "Give a graph.")
    rng = np.random.RandomState(SEED)
    rows = np.sort(rng.choice(n, min(n, BASIS_ROWS), replace=False))
    norms = np.sqrt(X.row_squared_norms())
    basis = leading_vectors(X.take(rows), np.where(norms > 0, norms, 1.0)[rows], width, rng)
    return Compared(as_operand(np.asarray(X.dot(basis))), basis)


def seen_along(X: Operand, basis: Any) -> Operand:
    """New samples as those with which they are compared.

    Parameters
    ----------
    X : Operand
        The new samples.
    basis : ndarray of shape (n_features, n_dimensions), optional
        What the others were projected on; None leaves the samples as they are.
    """
    return X if basis is None else as_operand(np.asarray(X.dot(basis.astype(X.dtype, copy=False))))
