"""The one door to the data: X is touched only through a few products, norms and row blocks.

Everything above this module sees an :class:`Operand`. A new kind of storage (blocks in a file, blocks on workers) is a
new subclass; terms and solvers do not change.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from .types import Array, IntArray

Missing = Literal["nan", "unstored"] | None

# Big enough for efficient products, small enough that temporaries of a block's size never matter.
BLOCK_BYTES = 8 * 2**20


class Operand(ABC):
    """Non-negative data X, n samples × m features.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
        float32 or float64; factors are kept in the same.
    missing : {None, "nan", "unstored"}
        Which entries are unknown: none, those stored as NaN, or those not stored at all.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    missing: Missing = None

    @abstractmethod
    def dot(self, Ht: Array) -> Array:
        """X Hᵀ, given Hᵀ (m × k)."""

    @abstractmethod
    def t_dot(self, W: Array) -> Array:
        """Xᵀ W, given W (n × k)."""

    @abstractmethod
    def row_squared_norms(self) -> Array:
        """‖x_i‖² of every sample, in float64."""

    @abstractmethod
    def column_squared_norms(self) -> Array:
        """Squared norm of every feature over the samples, in float64."""

    @abstractmethod
    def mean(self) -> float:
        """Mean of the entries that are known."""

    @abstractmethod
    def row_blocks(self, bytes_per_row: int | None = None) -> Iterator[tuple[slice, Any]]:
        """Consecutive slices of rows with their data, dense or CSR, each of a bounded size.

        Parameters
        ----------
        bytes_per_row : int, optional
            What the caller needs per row of a block, if more than the row itself.
        """

    @abstractmethod
    def take(self, rows: Array) -> Operand:
        """The chosen rows, as an operand of their own."""

    @cached_property
    def squared_norm(self) -> float:
        """‖X‖²."""
        return float(self.row_squared_norms().sum())

    @property
    def array(self) -> Any:
        """The data as one in-memory array, for routines that need it whole."""
        raise TypeError(f"{type(self).__name__} holds no in-memory array; choose init='random' or 'nndsvda'.")


def _slices(n: int, bytes_per_row: int) -> Iterator[slice]:
    step = max(1, BLOCK_BYTES // max(1, bytes_per_row))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


class DenseOperand(Operand):
    """A two-dimensional array in any memory order, possibly a read-only memory map. Never copied."""

    def __init__(self, X: Array, missing: Missing = None):
        self._X = X
        self.shape = X.shape
        self.dtype = X.dtype
        self.missing = missing

    @property
    def array(self) -> Array:
        """The array itself."""
        return self._X

    def dot(self, Ht: Array) -> Array:
        """X Hᵀ."""
        return np.asarray(self._X @ Ht)

    def t_dot(self, W: Array) -> Array:
        """Xᵀ W."""
        return np.asarray(self._X.T @ W)

    def row_squared_norms(self) -> Array:
        """‖x_i‖²."""
        return np.einsum("ij,ij->i", self._X, self._X, dtype=np.float64, casting="safe")

    def column_squared_norms(self) -> Array:
        """Squared norms of the features."""
        return np.einsum("ij,ij->j", self._X, self._X, dtype=np.float64, casting="safe")

    def mean(self) -> float:
        """Mean of the known entries."""
        if self.missing is None:
            return float(self._X.mean(dtype=np.float64))
        total, count = 0.0, 0
        for _, block in self.row_blocks():
            total += float(np.nansum(block, dtype=np.float64))
            count += block.size - int(np.isnan(block).sum())
        return total / max(count, 1)

    def row_blocks(self, bytes_per_row: int | None = None) -> Iterator[tuple[slice, Array]]:
        """Views of consecutive rows."""
        per_row = max(bytes_per_row or 0, self.shape[1] * self.dtype.itemsize)
        for rows in _slices(self.shape[0], per_row):
            yield rows, self._X[rows]

    def take(self, rows: Array) -> DenseOperand:
        """The chosen rows (a copy)."""
        return DenseOperand(self._X[rows], self.missing)


class SparseOperand(Operand):
    """A CSR or CSC matrix or array, with 32- or 64-bit indices. Never made dense."""

    def __init__(self, X: Any, missing: Missing = None):
        self._X = X
        self.shape = X.shape
        self.dtype = X.dtype
        self.missing = missing

    @cached_property
    def csr(self) -> Any:
        """The data by rows; a copy only if it came by columns."""
        return self._X if self._X.format == "csr" else self._X.tocsr()

    @property
    def array(self) -> Any:
        """The sparse matrix itself."""
        return self._X

    def dot(self, Ht: Array) -> Array:
        """X Hᵀ."""
        return np.asarray(self._X @ Ht)

    def t_dot(self, W: Array) -> Array:
        """Xᵀ W."""
        return np.asarray(self._X.T @ W)

    def _squared_sums(self, axis: int) -> Array:
        squares = type(self._X)(
            (np.square(self._X.data, dtype=np.float64), self._X.indices, self._X.indptr), shape=self.shape
        )
        return np.asarray(squares.sum(axis=axis)).ravel()

    def row_squared_norms(self) -> Array:
        """‖x_i‖²."""
        return self._squared_sums(axis=1)

    def column_squared_norms(self) -> Array:
        """Squared norms of the features."""
        return self._squared_sums(axis=0)

    def mean(self) -> float:
        """Mean of the known entries: all, or those stored."""
        count = self._X.nnz if self.missing == "unstored" else self.shape[0] * self.shape[1]
        return float(self._X.data.sum(dtype=np.float64)) / max(count, 1)

    def row_blocks(self, bytes_per_row: int | None = None) -> Iterator[tuple[slice, Any]]:
        """Consecutive rows as CSR."""
        per_row = max(bytes_per_row or 0, 16 * self.csr.nnz // max(1, self.shape[0]))
        for rows in _slices(self.shape[0], per_row):
            yield rows, self.csr[rows]

    def take(self, rows: Array) -> SparseOperand:
        """The chosen rows (a copy)."""
        return SparseOperand(self.csr[rows], self.missing)


def as_operand(X: Any, missing: Missing = None) -> Operand:
    """Wrap validated data: a float array, or a CSR/CSC matrix, without copying it."""
    if sp.issparse(X):
        return SparseOperand(X, missing)
    return DenseOperand(X, missing)


def group_means(X: Operand, groups: IntArray, n_groups: int, weight: Array) -> Operand:
    """One row per group: the weighted mean of its samples.

    Parameters
    ----------
    X : Operand
    groups : ndarray of int, shape (n_samples,)
        Group of every sample, 0 … n_groups − 1.
    n_groups : int
    weight : ndarray of shape (n_samples,)
    """
    totals = np.bincount(groups, weights=weight, minlength=n_groups)
    # A group whose samples all weigh nothing still needs a row.
    counts = np.bincount(groups, minlength=n_groups)
    share = np.where(totals[groups] > 0, weight / np.where(totals > 0, totals, 1)[groups], 1 / counts[groups])
    n = X.shape[0]
    averaging = sp.csr_array((share.astype(X.dtype), (groups, np.arange(n))), shape=(n_groups, n))
    means = averaging @ X.array
    return as_operand(means if sp.issparse(means) else np.asarray(means), X.missing)
