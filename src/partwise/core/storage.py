"""Data in memory: dense arrays and sparse matrices behind the one door."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .held import HeldOperand
from .operand import Missing, Operand, entry_blocks
from .reading import StoredRows
from .scratch import Scratch, short_lived
from .spread_rows import ClusterRows
from .together import CodePass, coded_together, columns_of, results, wanting, zero_grams
from .types import COMPONENTS, Array, Factor, IntArray, dot64

# From this many components on a transposed copy of a sparse X pays off: its rows need no partial sums of m × k.
LEAST_WIDTH = 8


class DenseOperand(HeldOperand):
    """A two-dimensional array in any memory order, possibly a read-only memory map. Never copied."""

    def _bytes_per_row(self) -> int:
        return self.shape[1] * self.dtype.itemsize

    def _dot_rows(self, rows: slice, Ht: Array) -> Array:
        x = self._X[rows]
        return np.matmul(x, Ht, out=short_lived("product", (len(x), Ht.shape[1]), np.result_type(x, Ht)))

    def _zero_sum(self, k: int, dtype: Any) -> Array:
        return np.zeros((self.shape[1], k), dtype, order="F")

    def _add_t_dot_rows(self, rows: slice, W: Array, out: Array) -> None:
        # Wᵀ X: with few components BLAS is a quarter faster in this order.
        x, transposed = self._X[rows], out.T
        transposed += np.matmul(W.T, x, out=short_lived("share", transposed.shape, np.result_type(W, x)))

    def _squared_errors(self, rows: slice, W: Array, Ht: Array) -> Array:
        residuals = self._X[rows] - W @ Ht.T
        return np.einsum("ij,ij->i", residuals, residuals)

    @property
    def is_sparse(self) -> bool:
        """All entries are stored."""
        return False

    def _row_squares(self, rows: slice) -> Array:
        return np.einsum("ij,ij->i", self._X[rows], self._X[rows], dtype=np.float64, casting="safe")

    def _column_squares(self, rows: slice) -> Array:
        return np.einsum("ij,ij->j", self._X[rows], self._X[rows], dtype=np.float64, casting="safe")

    def _weighted_sums(self, rows: slice) -> tuple[float, float]:
        x, weight = self._X[rows], self.sample_weight
        if self.missing is not None:
            own = 1.0 if weight is None else weight[rows, None].astype(np.float64)
            return float(np.nansum(x * own, dtype=np.float64)), float((~np.isnan(x) * own).sum())
        if weight is None:
            return float(x.sum(dtype=np.float64)), float(x.size)
        own = weight[rows].astype(np.float64)
        return float(x.sum(axis=1, dtype=np.float64) @ own), float(own.sum()) * x.shape[1]

    def smallest(self) -> float:
        """The smallest entry."""
        return float(self._X.min())

    def magnitude(self) -> DenseOperand:
        """|X|, computed block by block whenever it is multiplied."""
        magnitude = DenseMagnitude(self._X)
        magnitude._workers = self._workers
        return magnitude

    def known(self) -> DenseOperand:
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

    def _row_squares(self, rows: slice) -> Array:
        known = self._zeroed(rows)
        return np.einsum("ij,ij->i", known, known, dtype=np.float64, casting="safe")


class SparseOperand(HeldOperand):
    """A `csr_array` with 32- or 64-bit indices. Never made dense."""

    # Wider factors no longer fit into the cache, where their rows are found in the order of the entries.
    best_columns = 80

    @cached_property
    def _wide(self) -> Scratch:
        """Memory for the factors of many fits: to get it anew for every sweep would take as long as to fill it."""
        return Scratch()

    @property
    def is_sparse(self) -> bool:
        """Most entries are not stored."""
        return True

    @property
    def csr(self) -> Any:
        """The data by rows."""
        return self._X

    @property
    def by_features(self) -> Any:
        """Xᵀ by rows, a copy."""
        return self.source._by_features

    @cached_property
    def _by_features(self) -> Any:
        return self._X.tocsc().T

    def t_dot(self, W: Array) -> Array:
        """Xᵀ W, given W (n × k)."""
        if W.shape[1] < LEAST_WIDTH:
            return super().t_dot(W)
        return self._t_dot_into(np.empty((self.shape[1], W.shape[1]), W.dtype), W)

    def _t_dot_into(self, out: Array, W: Array) -> Array:
        def fill(features: slice) -> None:
            self._dot_features(features, W, out[features])

        self.map_rows(fill, self.shape[1])
        return out

    def code_alike(self, passes: Sequence[CodePass]) -> list[tuple[Array, Array]]:
        """Products with the features of all fits are one: their sums are added in order, however many there are."""
        if passes[0].Ht.shape[1] < LEAST_WIDTH:
            return super().code_alike(passes)
        if len(passes) > 1:
            passes = [each if each.product is not None else each._replace(product=self.dot(each.Ht)) for each in passes]
        return self.code_together(passes)

    def dots_alike(self, factors: Sequence[Array], of: Factor) -> list[Array]:
        """Likewise."""
        in_order = of == COMPONENTS and factors[0].shape[1] >= LEAST_WIDTH
        return self.dots(factors, of) if in_order else super().dots_alike(factors, of)

    def code_together(self, passes: Sequence[CodePass]) -> list[tuple[Array, Array]]:
        """One pass over the rows for the codes of all fits, and one over the features for what the components need."""
        (n, m), k = self.shape, sum(each.Ht.shape[1] for each in passes)
        if k < LEAST_WIDTH:
            return super().code_together(passes)
        # What a single fit gets is not cut out of the memory of many: it must have its own.
        scratch = self._wide if len(passes) > 1 else Scratch()
        columns, Ht = columns_of([each.Ht for each in passes]), wanting(passes, scratch)
        stacked, total = scratch.get("codes", (n, k), self.dtype), scratch.get("pull", (m, k), self.dtype)

        def part(rows: slice) -> list[Array]:
            grams = zero_grams(passes)
            for block, codes in coded_together(self, rows, passes, Ht, grams):
                for place, W in zip(columns, codes, strict=True):
                    stacked[block, place] = W
            return grams

        # Those of one fit, whose sums are then the same whether there are others.
        grams = self._workers.map(part, self._parts(passes[0].Ht.shape[1]))
        return results(self._t_dot_into(total, stacked), grams, columns)

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
        from ..kernels.sparse import dot_rows_in_order

        X = self.by_features
        dot_rows_in_order(X.indptr, X.indices, X.data, W, features.start, features.stop, out)

    def add_t_dot_features(self, features: slice, W: Array, out: Array) -> None:
        """out[features] += (Xᵀ W)[features] without a transposed copy, to the bit as with one."""
        from ..kernels.sparse import add_t_dot_columns

        X = self.csr
        add_t_dot_columns(X.indptr, X.indices, X.data, W, features.start, features.stop, out)

    def squared_error(self, W: Array, Ht: Array) -> float:
        """‖W H‖² and what the stored entries add to it, in float64: most of it cancels."""
        return max(fitted_energy(W, Ht, self.sample_weight) + super().squared_error(W, Ht), 0.0)

    def _squared_errors(self, rows: slice, W: Array, Ht: Array) -> Array:
        """‖x_i − w_i H‖² − ‖w_i H‖²."""
        from ..kernels.sparse import excess_of_rows

        X, out = self.csr, np.empty(len(W))
        W, Ht = np.ascontiguousarray(W), np.ascontiguousarray(Ht)
        excess_of_rows(X.indptr, X.indices, X.data, W, Ht, rows.start, rows.stop, out)
        return out

    def _squares(self, rows: slice) -> Any:
        """x² of some rows."""
        X = self.csr
        begin, end = X.indptr[rows.start], X.indptr[rows.stop]
        squares = np.square(X.data[begin:end], dtype=np.float64)
        pointers = X.indptr[rows.start : rows.stop + 1] - begin
        return sp.csr_array((squares, X.indices[begin:end], pointers), shape=(rows.stop - rows.start, X.shape[1]))

    def _row_squares(self, rows: slice) -> Array:
        return np.asarray(self._squares(rows).sum(axis=1))

    def _column_squares(self, rows: slice) -> Array:
        return np.asarray(self._squares(rows).sum(axis=0))

    def _weighted_sums(self, rows: slice) -> tuple[float, float]:
        """All entries are known, or those stored."""
        pointers = self.csr.indptr[rows.start : rows.stop + 1]
        values = self.csr.data[pointers[0] : pointers[-1]]
        weight: Any = np.ones(rows.stop - rows.start)
        if self.sample_weight is not None:
            weight = self.sample_weight[rows].astype(np.float64)
        weight_of_stored = np.repeat(weight, np.diff(pointers))
        count = float((weight_of_stored if self.missing == "unstored" else weight * self.shape[1]).sum())
        if self.missing == "nan":
            count -= float(weight_of_stored[np.isnan(values)].sum())
        return float(np.nansum(values * weight_of_stored, dtype=np.float64)), count

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


def fitted_energy(W: Array, Ht: Array, weight: Array | None = None) -> float:
    """Σ_i s_i ‖w_i H‖² in float64."""
    k = W.shape[1]
    gram, parts = np.zeros((k, k)), Ht.astype(np.float64)
    for rows in entry_blocks(len(W), 16 * k):
        codes = W[rows].astype(np.float64)
        gram += (codes if weight is None else weight[rows, None] * codes).T @ codes
    return dot64(gram, parts.T @ parts)


def as_operand(X: Any, missing: Missing = None, sample_weight: Array | None = None) -> Operand:
    """Wrap validated data, without copying them: an array or sparse matrix, or rows that are read when needed."""
    if isinstance(X, ClusterRows):
        from .spread_operand import SpreadOperand

        return SpreadOperand(X, missing, sample_weight)
    if isinstance(X, StoredRows):
        from .stored import StoredOperand

        return StoredOperand(X, missing, sample_weight)
    return held_operand(X, missing, sample_weight)


def held_operand(X: Any, missing: Missing = None, sample_weight: Array | None = None) -> DenseOperand | SparseOperand:
    """Wrap data in memory: a float array or a `csr_array`; other sparse formats are converted."""
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
    if not X.in_memory:
        from .grouped import stored_group_means

        return stored_group_means(X, groups, n_groups, weight)
    share, totals = group_shares(groups, n_groups, weight)
    n = X.shape[0]
    averaging = sp.csr_array((share.astype(X.dtype), (groups, np.arange(n))), shape=(n_groups, n))
    means = averaging @ X.array
    return as_operand(means if sp.issparse(means) else np.asarray(means), X.missing, totals.astype(X.dtype))


def group_shares(groups: IntArray, n_groups: int, weight: Array) -> tuple[Array, Array]:
    """The share of every sample in the mean of its group, and the weight of every group."""
    totals = np.bincount(groups, weights=weight, minlength=n_groups)
    # A group whose samples all have weight zero still needs a row.
    counts = np.bincount(groups, minlength=n_groups)
    share = np.where(totals[groups] > 0, weight / np.where(totals > 0, totals, 1)[groups], 1 / counts[groups])
    return share, totals
