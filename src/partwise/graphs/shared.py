"""Nearest neighbours of samples with missing entries: by the features known in both samples.

Similarity over few features may be chance. So two samples are compared as if they shared two more features, on which
they have nothing in common: cosines become smaller by c / (c + 2), with c the number of shared features, and mean
squared differences include two as large as those of unrelated entries. On digits of which half is missing, three of
four neighbours are then of the same class, and two of three without it.

Everything comes from four products of the data, their squares and their masks, block by block.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from ..core.door import read_data
from ..core.types import Array
from .neighbors import Metric, clip_neighbors
from .samples import blocks_of

# Fewer shared features than this say nothing about a pair, nor do fewer than half of all features.
LEAST_SHARED = 5
# Dissimilar features that every pair is assumed to share.
UNLIKE = 2
# Distances, and entries of samples, in a block.
BLOCK_DISTANCES = 2**22


def shared_neighbors(
    X: Any,
    n_neighbors: int,
    metric: Metric = "cosine",
    *,
    missing: Literal["nan", "unstored"] | None = "nan",
    X_train: Any = None,
    missing_train: Literal["nan", "unstored"] | None = None,
) -> Any:
    """Link every sample to its nearest samples, by the features known in both.

    Two samples can be neighbours if they share at least five known features (half of the features, if there are fewer
    than ten). A sample that shares five with no other gets no links.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    n_neighbors : int
        Most neighbours of a sample.
    metric : {"cosine", "euclidean"}, default="cosine"
        Over the shared features: the cosine of the two samples, or the mean of their squared differences; the fewer
        there are, the less similarity counts.
    missing : {"nan", "unstored", None}, default="nan"
        Which entries of X are unknown.
    X_train : ndarray or csr_array of shape (n_train, n_features), optional
        Where to look for the neighbours; by default among the other samples.
    missing_train : {"nan", "unstored", None}, default=None
        Which entries of X_train are unknown.

    Returns
    -------
    links : csr_array of shape (n_samples, n_samples) or (n_samples, n_train)
        1.0 at (i, j) if j is among the nearest of i.
    """
    within = X_train is None
    X = read_data(X, allow_nan=missing == "nan")
    if not within:
        X_train = read_data(X_train, allow_nan=missing_train == "nan", name="X_train")
    known, train = _Known(X, missing), _Known(X if within else X_train, missing if within else missing_train)
    n, n_train = known.shape[0], train.shape[0]
    p = clip_neighbors(n_neighbors, n, n_train, within)
    least = min(LEAST_SHARED, max(1, known.shape[1] // 2))
    rows, columns = [np.empty(0, np.intp)], [np.empty(0, np.intp)]
    for block in blocks_of(n, max(1, BLOCK_DISTANCES // max(known.shape[1], n_train))) if p else ():
        distance = _distances(known, train, block, metric, least)
        if within:
            own = np.arange(block.start, block.stop)
            distance[own - block.start, own] = np.inf
        nearest = np.argpartition(distance, p - 1, axis=1)[:, :p]
        i, place = np.nonzero(np.isfinite(np.take_along_axis(distance, nearest, axis=1)))
        rows.append(i + block.start)
        columns.append(nearest[i, place])
    i, j = np.concatenate(rows), np.concatenate(columns)
    return sp.csr_array((np.ones(len(i)), (i, j)), shape=(n, n_train))


class _Known:
    """Samples with zeros for unknown entries, their squares, and which entries are known; float32, dense or CSR.

    Attributes
    ----------
    size : float
        The largest entry.
    mean_square : float
        Of the known entries.
    """

    def __init__(self, X: Any, missing: Literal["nan", "unstored"] | None):
        self._X = X
        self._missing = missing
        self.shape = X.shape
        values = X.data if sp.issparse(X) else X
        # Squares of numbers of any size stay in the range of float32.
        self.size = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
        count = values.size if missing == "unstored" else X.shape[0] * X.shape[1]
        count -= int(np.count_nonzero(np.isnan(values)))
        self.mean_square = float(np.nansum(np.square(values / self.size))) * self.size**2 / max(count, 1)

    def rows(self, block: slice, size: float) -> tuple[Any, Any, Any]:
        """Values over `size`, squares and masks of some rows."""
        x = self._X[block]
        if not sp.issparse(x):
            unknown = np.isnan(x)
            x = np.where(unknown, 0, x / size).astype(np.float32)
            return x, x * x, (~unknown).astype(np.float32)
        data, unknown = x.data / size, np.isnan(x.data)

        def stored(values: Array) -> Any:
            return sp.csr_array((values.astype(np.float32), x.indices, x.indptr), shape=x.shape)

        values = np.where(unknown, 0, data)
        mask = stored(~unknown)
        if self._missing != "unstored":
            # Unstored entries are known to be zero.
            mask = 1 - stored(unknown).toarray()
        return stored(values), stored(values**2), mask


def _distances(known: _Known, train: _Known, block: slice, metric: Metric, least: int) -> Array:
    """Squared distances of a block of samples from all training samples; infinite if too few features are shared."""
    n_train, size = train.shape[0], max(known.size, train.size)
    x, squares, mask = known.rows(block, size)
    out = np.empty((mask.shape[0], n_train))
    for part in blocks_of(n_train, max(1, BLOCK_DISTANCES // known.shape[1])):
        other, other_squares, other_mask = train.rows(part, size)
        dots, shared = _product(x, other), _product(mask, other_mask)
        own, theirs = _product(squares, other_mask), _product(mask, other_squares)
        usable = (shared >= least - 0.5) & (own > 0) & (theirs > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            if metric == "cosine":
                distance = 1 - dots / np.sqrt(own * theirs) * (shared / (shared + UNLIKE))
            else:
                unlike = UNLIKE * 2 * train.mean_square / size**2
                distance = (np.maximum(own - 2 * dots + theirs, 0) + unlike) / (shared + UNLIKE)
        out[:, part] = np.where(usable, distance, np.inf)
    return out


def _product(A: Any, B: Any) -> Array:
    """A Bᵀ as an array in float64."""
    product = A @ B.T
    return np.asarray(product.toarray() if sp.issparse(product) else product, np.float64)
