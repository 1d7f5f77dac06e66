"""Data in memory: dense arrays and sparse matrices behind the one door."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .operand import CodeRows, Missing, Operand, entry_blocks, sum_in_order
from .scratch import Scratch
from .types import Array, IntArray, dot64

# From this many components on a transposed copy of a sparse X pays off: its rows need no partial sums of m × k.
LEAST_WIDTH = 8


class DenseOperand(Operand):
    """A two-dimensional array in any memory order, possibly a read-only memory map. Never copied."""

    def _bytes_per_row(self) -> int:
        return self.shape[1] * self.dtype.itemsize

    def _dot_rows(self, rows: slice, Ht: Array) -> Array:
        return np.asarray(self._X[rows] @ Ht)

    def _zero_sum(self, k: int, dtype: Any) -> Array:
        return np.zeros((self.shape[1], k), dtype, order="F")

    def _add_t_dot_rows(self, rows: slice, W: Array, out: Array) -> None:
        # Wᵀ X: with few components BLAS is a quarter faster in this order.
        transposed = out.T
        transposed += W.T @ self._X[rows]

    def _squared_errors(self, rows: slice, W: Array, Ht: Array) -> Array:
        residuals = self._X[rows] - W @ Ht.T
        return np.einsum("ij,ij->i", residuals, residuals)

    def row_squared_norms(self) -> Array:
        """‖x_i‖²."""
        return np.einsum("ij,ij->i", self._X, self._X, dtype=np.float64, casting="safe")

    def column_squared_norms(self) -> Array:
        """Squared norms of the features."""
        return np.einsum("ij,ij->j", self._X, self._X, dtype=np.float64, casting="safe")

    def mean(self) -> float:
        """Mean of the known entries."""
        if self.missing is None:
            if self.sample_weight is None:
                return float(self._X.mean(dtype=np.float64))
            return float(np.average(self._X.mean(axis=1, dtype=np.float64), weights=self.sample_weight))
        total, count = 0.0, 0.0
        for rows, block in self.row_blocks():
            weight = 1.0 if self.sample_weight is None else self.sample_weight[rows, None].astype(np.float64)
            total += float(np.nansum(block * weight, dtype=np.float64))
            count += float((~np.isnan(block) * weight).sum())
        return total / count if count else 0.0

    def smallest(self) -> float:
        """The smallest entry."""
        return float(self._X.min())

    def magnitude(self) -> Operand:
        """|X|, computed block by block whenever it is multiplied."""
        magnitude = DenseMagnitude(self._X)
        magnitude._workers = self._workers
        return magnitude

    def known(self) -> Operand:
        """Zeros for NaN, filled in block by block whenever it is multiplied."""
        known = DenseKnown(self._X, None, self.sample_weight)
        known._workers = self._workers
        return known

    def row_blocks(self, bytes_per_row: int | None = None) -> Iterator[tuple[slice, Array]]:
        """Views of consecutive rows."""
        for rows in entry_blocks(self.shape[0], max(bytes_per_row or 0, self._bytes_per_row())):
            yield rows, self._X[rows]

    def take(self, rows: Array) -> DenseOperand:
        """The chosen rows (a copy)."""
        return DenseOperand(self._X[rows], self.missing)


class DenseMagnitude(DenseOperand):
    """|X| of an array, only for products: it is never stored."""

    def _dot_rows(self, rows: slice, Ht: Array) -> Array:
        return np.asarray(np.abs(self._X[rows]) @ Ht)

    def _add_t_dot_rows(self, rows: slice, W: Array, out: Array) -> None:
        out += np.abs(self._X[rows]).T @ W


class DenseKnown(DenseOperand):
    """An array with zeros for NaN, only for products and norms: it is never stored."""

    def __init__(self, X: Any, missing: Missing = None, sample_weight: Array | None = None):
        super().__init__(X, missing, sample_weight)
        self._scratch = Scratch()

    def _zeroed(self, rows: slice) -> Array:
        from ..kernels.entries import zero_unknown

        x = self._X[rows]
        out = self._scratch.get("known", x.shape, x.dtype)
        zero_unknown(x, out)
        return out

    def _dot_rows(self, rows: slice, Ht: Array) -> Array:
        return np.asarray(self._zeroed(rows) @ Ht)

    def _add_t_dot_rows(self, rows: slice, W: Array, out: Array) -> None:
        transposed = out.T
        transposed += W.T @ self._zeroed(rows)

    def row_squared_norms(self) -> Array:
        """‖x_i‖² over the known entries."""
        norms = np.empty(self.shape[0])
        for rows in self._blocks(slice(0, self.shape[0])):
            known = self._zeroed(rows)
            norms[rows] = np.einsum("ij,ij->i", known, known, dtype=np.float64, casting="safe")
        return norms


class SparseOperand(Operand):
    """A `csr_array` with 32- or 64-bit indices. Never made dense."""

    @property
    def csr(self) -> Any:
        """The data by rows."""
        return self._X

    @cached_property
    def by_features(self) -> Any:
        """Xᵀ by rows, a copy."""
        return self._X.tocsc().T

    def t_dot(self, W: Array) -> Array:
        """Xᵀ W, given W (n × k)."""
        if W.shape[1] < LEAST_WIDTH:
            return super().t_dot(W)
        out = np.empty((self.shape[1], W.shape[1]), W.dtype)

        def fill(features: slice) -> None:
            self._dot_features(features, W, out[features])

        self.map_rows(fill, self.shape[1])
        return out

    def code(self, Ht: Array, code_rows: CodeRows, product: Array | None = None) -> tuple[Array, Array]:
        """One pass over the rows for the codes, and one over the features for what the components need."""
        if Ht.shape[1] < LEAST_WIDTH:
            return super().code(Ht, code_rows, product)
        n, k = self.shape[0], Ht.shape[1]
        codes = np.empty((n, k), Ht.dtype)

        def part(rows: slice) -> Array:
            gram = np.zeros((k, k), Ht.dtype)
            for block, W, weighted in self._coded_blocks(rows, Ht, code_rows, product):
                codes[block] = weighted
                gram += W.T @ weighted
            return gram

        gram = sum_in_order(self._workers.map(part, self._parts(k)))
        return self.t_dot(codes), gram

    def _bytes_per_row(self) -> int:
        return (self.dtype.itemsize + self.csr.indices.itemsize) * self.csr.nnz // max(1, self.shape[0])

    def _zero_sum(self, k: int, dtype: Any) -> Array:
        return np.zeros((self.shape[1], k), dtype)

    def _dot_rows(self, rows: slice, Ht: Array) -> Array:
        from ..kernels.sparse import dot_rows

        X = self.csr
        if len(Ht) != self.shape[1]:
            raise ValueError(f"The data have {self.shape[1]} features but the components {len(Ht)}.")
        out = np.empty((rows.stop - rows.start, Ht.shape[1]), Ht.dtype)
        dot_rows(X.indptr, X.indices, X.data, Ht, rows.start, rows.stop, out)
        return out

    def _add_t_dot_rows(self, rows: slice, W: Array, out: Array) -> None:
        from ..kernels.sparse import add_t_dot_rows

        X = self.csr
        add_t_dot_rows(X.indptr, X.indices, X.data, W, rows.start, rows.stop, out)

    def _dot_features(self, features: slice, W: Array, out: Array) -> None:
        """out = (Xᵀ W)[features]."""
        from ..kernels.sparse import dot_rows

        X = self.by_features
        dot_rows(X.indptr, X.indices, X.data, W, features.start, features.stop, out)

    def squared_error(self, W: Array, Ht: Array) -> float:
        """‖W H‖² and what the stored entries add to it, in float64: most of it cancels."""
        codes, parts = W.astype(np.float64), Ht.astype(np.float64)
        weighted = codes if self.sample_weight is None else self.sample_weight[:, None] * codes
        return max(dot64(weighted.T @ codes, parts.T @ parts) + super().squared_error(W, Ht), 0.0)

    def _squared_errors(self, rows: slice, W: Array, Ht: Array) -> Array:
        """‖x_i − w_i H‖² − ‖w_i H‖²."""
        from ..kernels.sparse import excess_of_rows

        X, out = self.csr, np.empty(len(W))
        W, Ht = np.ascontiguousarray(W), np.ascontiguousarray(Ht)
        excess_of_rows(X.indptr, X.indices, X.data, W, Ht, rows.start, rows.stop, out)
        return out

    def _squared_sums(self, axis: int) -> Array:
        squares = sp.csr_array(
            (np.square(self._X.data, dtype=np.float64), self._X.indices, self._X.indptr), shape=self.shape
        )
        return np.asarray(squares.sum(axis=axis))

    def row_squared_norms(self) -> Array:
        """‖x_i‖²."""
        return self._squared_sums(axis=1)

    def column_squared_norms(self) -> Array:
        """Squared norms of the features."""
        return self._squared_sums(axis=0)

    def mean(self) -> float:
        """Mean of the known entries: all, or those stored."""
        values = self._X.data
        weight: Any = 1.0
        weight_of_stored: Any = np.broadcast_to(1.0, values.shape)
        if self.sample_weight is not None:
            weight = self.sample_weight.astype(np.float64)
            weight_of_stored = np.repeat(weight, np.diff(self._X.indptr))
        if self.missing == "unstored":
            count = float(weight_of_stored.sum())
        else:
            count = float(np.broadcast_to(weight, self.shape[:1]).sum()) * self.shape[1]
        if self.missing == "nan":
            count -= float(weight_of_stored[np.isnan(values)].sum())
        return float(np.nansum(values * weight_of_stored, dtype=np.float64)) / count if count else 0.0

    def smallest(self) -> float:
        """The smallest entry; most are zero and not stored."""
        return float(self._X.data.min(initial=0.0))

    def magnitude(self) -> SparseOperand:
        """|X| with the same indices."""
        X = self.csr
        magnitude = SparseOperand(sp.csr_array((np.abs(X.data), X.indices, X.indptr), shape=X.shape))
        magnitude._workers = self._workers
        return magnitude

    def known(self) -> SparseOperand:
        """Zeros for NaN, with the same indices."""
        X, zero = self.csr, self.dtype.type(0)
        values = np.where(np.isnan(X.data), zero, X.data)
        known = SparseOperand(sp.csr_array((values, X.indices, X.indptr), shape=X.shape), None, self.sample_weight)
        known._workers = self._workers
        return known

    def row_blocks(self, bytes_per_row: int | None = None) -> Iterator[tuple[slice, Any]]:
        """Consecutive rows as CSR."""
        for rows in entry_blocks(self.shape[0], max(bytes_per_row or 0, self._bytes_per_row())):
            yield rows, self.csr[rows]

    def take(self, rows: Array) -> SparseOperand:
        """The chosen rows (a copy)."""
        return SparseOperand(self.csr[rows], self.missing)


def as_operand(X: Any, missing: Missing = None, sample_weight: Array | None = None) -> Operand:
    """Wrap validated data: a float array or a `csr_array`, without copying it; other sparse formats are converted."""
    if sp.issparse(X):
        return SparseOperand(sp.csr_array(X), missing, sample_weight)
    return DenseOperand(X, missing, sample_weight)


def group_means(X: Operand, groups: IntArray, n_groups: int, weight: Array) -> Operand:
    """One row per group: the weighted mean of its samples, with their weight.

    Parameters
    ----------
    X : Operand
    groups : ndarray of int, shape (n_samples,)
        Group of every sample, 0 … n_groups − 1.
    n_groups : int
    weight : ndarray of shape (n_samples,)
    """
    totals = np.bincount(groups, weights=weight, minlength=n_groups)
    # A group whose samples all have weight zero still needs a row.
    counts = np.bincount(groups, minlength=n_groups)
    share = np.where(totals[groups] > 0, weight / np.where(totals > 0, totals, 1)[groups], 1 / counts[groups])
    n = X.shape[0]
    averaging = sp.csr_array((share.astype(X.dtype), (groups, np.arange(n))), shape=(n_groups, n))
    means = averaging @ X.array
    return as_operand(means if sp.issparse(means) else np.asarray(means), X.missing, totals.astype(X.dtype))
