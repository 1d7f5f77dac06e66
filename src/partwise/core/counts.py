"""The positive entries of X, by samples or by features: all that a Poisson likelihood needs individually."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .operand import BLOCK_BYTES
from .types import CODES, Array, Factor

# Lists of the positive entries are kept if these are at most this share of an array: both lists then take no more
# memory than the array itself, and rebuilding them for every sweep would cost as much as the steps.
MOST_KEPT = 1 / 3


class CountRows(NamedTuple):
    """Some rows in the layout of a CSR matrix.

    Attributes
    ----------
    rows : slice
    indptr : ndarray of int, one longer than the rows
        Where each row begins in the others.
    indices : ndarray of int
        Rows of the other factor.
    counts : ndarray
        The weight of the entry in the likelihood: its value times its weights. Zeros do no harm.
    values : ndarray
        The entry itself.
    """

    rows: slice
    indptr: Array
    indices: Array
    counts: Array
    values: Array

    @property
    def entries(self) -> tuple[Any, ...]:
        """Everything except the rows, always of the same types: loops are compiled for each combination of them."""
        return self.indptr.astype(np.int64, copy=False), self.indices, _read_only(self.counts), _read_only(self.values)


def _read_only(values: Array) -> Array:
    same = values.view()
    same.flags.writeable = False
    return same


class Counts(ABC):
    """Entries x_if with weights, seen along either factor."""

    @abstractmethod
    def blocks(self, factor: Factor, rows: slice) -> Iterator[CountRows]:
        """Rows of X for the codes, of Xᵀ for the components, in pieces."""

    @abstractmethod
    def total(self) -> float:
        """The sum of all counts."""


class SparseCounts(Counts):
    """Entries of a sparse matrix.

    Parameters
    ----------
    values : csr_array
        Non-negative entries, NaN where unknown.
    weights : ndarray of shape (nnz,), optional
        Weight of every stored entry.
    """

    def __init__(self, values: Any, weights: Array | None = None):
        unknown = np.isnan(values.data)
        if unknown.any():
            values = sp.csr_array((np.where(unknown, 0, values.data), values.indices, values.indptr), values.shape)
        self._values = values
        self._weights = weights

    @cached_property
    def _by_samples(self) -> tuple[Array, Array, Array, Array]:
        x = self._values
        return x.indptr, x.indices, x.data if self._weights is None else x.data * self._weights, x.data

    @cached_property
    def _by_features(self) -> tuple[Array, Array, Array, Array]:
        x = self._values.tocsc()
        if self._weights is None:
            return x.indptr, x.indices, x.data, x.data
        weighed = sp.csr_array((self._by_samples[2], self._values.indices, self._values.indptr), self._values.shape)
        return x.indptr, x.indices, weighed.tocsc().data, x.data

    def blocks(self, factor: Factor, rows: slice) -> Iterator[CountRows]:
        """Views: all the rows at once."""
        indptr, indices, counts, values = self._by_samples if factor == CODES else self._by_features
        yield CountRows(rows, indptr[rows.start : rows.stop + 1], indices, counts, values)

    def total(self) -> float:
        """The sum of all counts."""
        return float(self._by_samples[2].sum(dtype=np.float64))


class DenseCounts(Counts):
    """Entries of an array, most of them positive, listed block by block whenever they are needed.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Non-negative, NaN where unknown.
    weights : ndarray of the same shape, optional
    sample_weight : ndarray of shape (n_samples,), optional
    """

    def __init__(self, X: Array, weights: Array | None = None, sample_weight: Array | None = None):
        self._X = X
        self._weights = weights
        self._sample_weight = sample_weight

    def blocks(self, factor: Factor, rows: slice) -> Iterator[CountRows]:
        """Lists of the positive entries, each block as large as the cache."""
        step = max(1, BLOCK_BYTES // (self._X.itemsize * self._X.shape[1 if factor == CODES else 0]))
        for start in range(rows.start, rows.stop, step):
            yield self._listed(factor, slice(start, min(start + step, rows.stop)))

    def _listed(self, factor: Factor, rows: slice) -> CountRows:
        from ..kernels.sparse import list_positive

        x, weight = self._block(factor, rows)
        indptr, indices, values = list_positive(x, x.size)
        return CountRows(rows, indptr, indices, values if weight is None else values * weight[x > 0], values)

    def _block(self, factor: Factor, rows: slice) -> tuple[Array, Array | None]:
        place = (rows, slice(None)) if factor == CODES else (slice(None), rows)
        x, weight = self._X[place], None if self._weights is None else self._weights[place]
        if self._sample_weight is not None:
            own = self._sample_weight[place[0], None]
            weight = np.broadcast_to(own, x.shape) if weight is None else own * weight
        if factor == CODES:
            return x, weight
        return np.ascontiguousarray(x.T), None if weight is None else weight.T

    def total(self) -> float:
        """The sum of all counts."""
        n = self._X.shape[0]
        return sum(float(block.counts.sum(dtype=np.float64)) for block in self.blocks(CODES, slice(0, n)))


def counts_of(X: Array, weights: Array | None = None, sample_weight: Array | None = None) -> Counts:
    """Entries of an array, as lists that are kept if they are few; the parameters are those of `DenseCounts`."""
    from ..kernels.sparse import list_positive

    most = int(MOST_KEPT * X.size)
    indptr, indices, values = list_positive(X, most)
    if indptr[-1] > most:
        return DenseCounts(X, weights, sample_weight)
    listed = sp.csr_array((values, indices, indptr), shape=X.shape)
    at = None if sample_weight is None else np.repeat(sample_weight, np.diff(indptr))
    if weights is not None:
        own = np.concatenate([weights[rows][X[rows] > 0] for rows in _pieces(X)])
        at = own if at is None else own * at
    return SparseCounts(listed, at)


def _pieces(X: Array) -> Iterator[slice]:
    """Its rows in pieces as large as the cache."""
    step = max(1, BLOCK_BYTES // max(X.itemsize * X.shape[1], 1))
    return (slice(start, start + step) for start in range(0, len(X), step))
