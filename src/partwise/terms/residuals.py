"""The residuals of a fit: how large they are where nothing is wrong, and where something is."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.operand import Operand
from ..core.types import Array

# This many residuals are enough to find their scale.
RESIDUALS = 2**20
# The median of the absolute values of a standard normal variable.
NORMAL_MEDIAN = 0.6745
# In a nearly exact fit residuals say nothing about noise: the deviation is at least this share of the data's size.
LEAST_DEVIATION = 1e-3


def residual_deviation(X: Operand, W: Array, Ht: Array) -> float:
    """The standard deviation of the residuals of the positive entries, estimated from their median.

    Up to half of them may be outliers. Zeros of X are left out: in data that are mostly zero they would suggest that
    there is no noise. Samples are weighted. At most about a million residuals are used, those of evenly spaced samples
    of positive weight.

    Parameters
    ----------
    X : Operand
    W : ndarray of shape (n_samples, n_components)
    Ht : ndarray of shape (n_features, n_components)
    """
    n, m = X.shape
    counting = np.arange(n) if X.sample_weight is None else np.flatnonzero(X.sample_weight > 0)
    rows = counting[:: max(1, len(counting) * m // RESIDUALS)]
    sample = X.take(rows)
    weight = np.ones(len(rows)) if X.sample_weight is None else X.sample_weight[rows].astype(np.float64)
    parts, weights, squares = [], [], 0.0
    for block, x in sample.row_blocks(2 * m * X.dtype.itemsize):
        x = x.toarray() if sp.issparse(x) else x
        positive = x > 0
        parts.append(np.abs(x - W[rows[block]] @ Ht.T)[positive].astype(np.float64))
        weights.append(np.repeat(weight[block], positive.sum(axis=1)))
        squares += float(weight[block] @ np.nansum(np.square(x, dtype=np.float64), axis=1))
    residuals, counts = np.concatenate(parts), np.concatenate(weights)
    if not residuals.size:
        return 1.0
    least = LEAST_DEVIATION * np.sqrt(squares / counts.sum())
    return float(max(_median(residuals, counts) / NORMAL_MEDIAN, least))


def _median(values: Array, counts: Array) -> float:
    """The median of values, each repeated as often as its count says."""
    if (counts == counts[0]).all():
        return float(np.median(values))
    order = np.argsort(values)
    reached = np.cumsum(counts[order])
    middle = reached[-1] / 2
    # Half of an even number lies between two values.
    pair = [np.searchsorted(reached, middle, side) for side in ("left", "right")]
    return float(values[order[np.minimum(pair, len(order) - 1)]].mean())


def truncated_entries(X: Operand, W: Array, Ht: Array, limit: float) -> Any:
    """Which entries have a residual beyond the limit, as a sparse array of True; unknown ones are none of them."""
    H, (n, m) = np.ascontiguousarray(Ht.T), X.shape
    places, counts = [np.empty(0, np.intp)], np.zeros(n + 1, np.intp)
    for rows, x in X.row_blocks(8 * m * X.dtype.itemsize):
        residuals = W[rows] @ H
        np.subtract(residuals, x.toarray() if sp.issparse(x) else x, out=residuals)
        i, j = np.nonzero(np.abs(residuals, out=residuals) > limit)
        places.append(j)
        counts[rows.start + 1 : rows.stop + 1] = np.bincount(i, minlength=len(residuals))
    indices = np.concatenate(places)
    return sp.csr_array((np.ones(len(indices), bool), indices, np.cumsum(counts)), shape=(n, m))
