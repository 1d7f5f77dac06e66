"""The one door to the data: X is touched only through a few products, norms and row blocks.

Everything above this module sees an :class:`Operand`. A new kind of storage (blocks in a file, blocks on workers) is a
new subclass; terms and solvers do not change.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from .indices import narrow
from .threads import Workers
from .types import Array, IntArray

Missing = Literal["nan", "unstored"] | None

# A block of rows fits into the cache together with what is computed from it.
BLOCK_BYTES = 2**20
# Temporaries of whole passes that look at every entry may be larger.
ENTRIES_BYTES = 8 * 2**20
# Sums over the rows are made in parts and added in a fixed order, so that they do not depend on the number of threads.
MOST_PARTS, PARTS_BYTES = 16, 64 * 2**20
# Rows in blocks come in multiples of this, the width of the compiled kernels.
ROW_MULTIPLE = 64

# From this many components on a transposed copy of a sparse X pays: sums over its rows need no partial sums of m × k.
LEAST_WIDTH = 8

CodeRows = Callable[[slice, Array], Array]


class Operand(ABC):
    """Data X, n samples × m features; most methods ask for non-negative entries.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
        float32 or float64; factors are kept in the same.
    missing : {None, "nan", "unstored"}
        Which entries are unknown: none, those stored as NaN, or those not stored at all.
    sample_weight : ndarray of shape (n,), optional
        How often each sample counts.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]

    def __init__(self, X: Any, missing: Missing = None, sample_weight: Array | None = None):
        self._X = X
        self.shape = X.shape
        self.dtype = X.dtype
        self.missing: Missing = missing
        self.sample_weight = sample_weight
        self._workers = Workers()

    def at_work(self) -> AbstractContextManager[None]:
        """Use threads of our own for products while the context lasts, and one thread for BLAS."""
        return self._workers.open()

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
    def smallest(self) -> float:
        """The smallest entry of complete data, zeros that are not stored included."""

    @abstractmethod
    def magnitude(self) -> Operand:
        """|X|, entry by entry."""

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

    @abstractmethod
    def _bytes_per_row(self) -> int:
        """Size of a row as it is stored."""

    @abstractmethod
    def _zero_sum(self, k: int, dtype: Any) -> Array:
        """Zeros (m × k) in the memory order that `_add_t_dot_rows` likes best."""

    @abstractmethod
    def _dot_rows(self, rows: slice, Ht: Array) -> Array:
        """X[rows] Hᵀ."""

    @abstractmethod
    def _add_t_dot_rows(self, rows: slice, W: Array, out: Array) -> None:
        """out += X[rows]ᵀ W, W having one row per row of the slice."""

    def dot(self, Ht: Array) -> Array:
        """X Hᵀ, given Hᵀ (m × k)."""
        out = np.empty((self.shape[0], Ht.shape[1]), Ht.dtype)

        def fill(rows: slice) -> None:
            out[rows] = self._dot_rows(rows, Ht)

        self._workers.map(fill, self._blocks(slice(0, self.shape[0])))
        return out

    def t_dot(self, W: Array) -> Array:
        """Xᵀ W, given W (n × k)."""

        def part(rows: slice) -> Array:
            total = self._zero_sum(W.shape[1], W.dtype)
            for block in self._blocks(rows):
                self._add_t_dot_rows(block, W[block], total)
            return total

        return _sum_in_order(self._workers.map(part, self._parts(W.shape[1])))

    def code(self, Ht: Array, code_rows: CodeRows) -> tuple[Array, Array]:
        """One pass over the rows: code every block while it is in the cache, and collect what the components need.

        Parameters
        ----------
        Ht : ndarray of shape (m, k)
        code_rows : callable
            Given a slice of rows and X[rows] Hᵀ, returns the codes of these rows. Called from several threads.

        Returns
        -------
        XtW : ndarray of shape (m, k)
            Xᵀ W, with the sample weights.
        WtW : ndarray of shape (k, k)
            WᵀW, with the sample weights.
        """
        k = Ht.shape[1]

        def part(rows: slice) -> tuple[Array, Array]:
            product, gram = self._zero_sum(k, Ht.dtype), np.zeros((k, k), Ht.dtype)
            for block in self._blocks(rows):
                W = code_rows(block, self._dot_rows(block, Ht))
                weighted = W if self.sample_weight is None else self.sample_weight[block, None] * W
                self._add_t_dot_rows(block, weighted, product)
                gram += W.T @ weighted
            return product, gram

        parts = self._workers.map(part, self._parts(k))
        return _sum_in_order([product for product, _ in parts]), _sum_in_order([gram for _, gram in parts])

    def map_rows(self, function: Callable[[slice], None], n_rows: int) -> None:
        """Call a function on slices that cover `n_rows` rows of something, in threads."""
        step = _round_up(-(-n_rows // MOST_PARTS))
        self._workers.map(function, (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)))

    def _parts(self, k: int) -> list[slice]:
        """The rows in a few long slices, one partial sum each; they depend on the shapes alone."""
        n, m = self.shape
        count = int(np.clip(PARTS_BYTES // (m * k * self.dtype.itemsize), 2, MOST_PARTS))
        step = _round_up(-(-n // count))
        return [slice(start, min(start + step, n)) for start in range(0, n, step)]

    def _blocks(self, rows: slice) -> Iterator[slice]:
        """A slice of rows in pieces that fit into the cache."""
        step = _round_up(BLOCK_BYTES // max(1, self._bytes_per_row()))
        for start in range(rows.start, rows.stop, step):
            yield slice(start, min(start + step, rows.stop))

    @cached_property
    def squared_norm(self) -> float:
        """Σ_i s_i ‖x_i‖²."""
        norms = self.row_squared_norms()
        return float(norms.sum() if self.sample_weight is None else norms @ self.sample_weight)

    @property
    def array(self) -> Any:
        """The data as one in-memory array, for routines that need it whole."""
        return self._X

    @property
    def narrow_array(self) -> Any:
        """The same with indices of 32 bits, if there are any: scikit-learn's k-means takes no others."""
        return narrow(self._X, "k-means") if sp.issparse(self._X) else self._X


def _round_up(n: int) -> int:
    return max(1, -(-n // ROW_MULTIPLE)) * ROW_MULTIPLE


def _sum_in_order(parts: list[Array]) -> Array:
    total = parts[0]
    for part in parts[1:]:
        total += part
    return np.ascontiguousarray(total)


def _entry_blocks(n: int, bytes_per_row: int) -> Iterator[slice]:
    step = max(1, ENTRIES_BYTES // max(1, bytes_per_row))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


class DenseOperand(Operand):
    """A two-dimensional array in any memory order, possibly a read-only memory map. Never copied."""

    def _bytes_per_row(self) -> int:
        return self.shape[1] * self.dtype.itemsize

    def _dot_rows(self, rows: slice, Ht: Array) -> Array:
        return np.asarray(self._X[rows] @ Ht)

    def _zero_sum(self, k: int, dtype: Any) -> Array:
        return np.zeros((self.shape[1], k), dtype, order="F")

    def _add_t_dot_rows(self, rows: slice, W: Array, out: Array) -> None:
        # Wᵀ X: with few components BLAS is a quarter faster this way round.
        transposed = out.T
        transposed += W.T @ self._X[rows]

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

    def smallest(self) -> float:
        """The smallest entry."""
        return float(self._X.min())

    def magnitude(self) -> Operand:
        """|X|, made block by block whenever it is multiplied."""
        magnitude = DenseMagnitude(self._X)
        magnitude._workers = self._workers
        return magnitude

    def row_blocks(self, bytes_per_row: int | None = None) -> Iterator[tuple[slice, Array]]:
        """Views of consecutive rows."""
        for rows in _entry_blocks(self.shape[0], max(bytes_per_row or 0, self._bytes_per_row())):
            yield rows, self._X[rows]

    def take(self, rows: Array) -> DenseOperand:
        """The chosen rows (a copy)."""
        return DenseOperand(self._X[rows], self.missing)


class DenseMagnitude(DenseOperand):
    """|X| of an array, for products alone: it is never stored."""

    def _dot_rows(self, rows: slice, Ht: Array) -> Array:
        return np.asarray(np.abs(self._X[rows]) @ Ht)

    def _add_t_dot_rows(self, rows: slice, W: Array, out: Array) -> None:
        out += np.abs(self._X[rows]).T @ W


class SparseOperand(Operand):
    """A CSR or CSC matrix or array, with 32- or 64-bit indices. Never made dense."""

    @cached_property
    def csr(self) -> Any:
        """The data by rows; a copy only if it came by columns."""
        return self._X if self._X.format == "csr" else self._X.tocsr()

    @cached_property
    def by_features(self) -> Any:
        """Xᵀ by rows: a copy, unless X came by columns."""
        return self._X.tocsc().T

    def t_dot(self, W: Array) -> Array:
        """Xᵀ W, given W (n × k)."""
        if W.shape[1] < LEAST_WIDTH:
            return super().t_dot(W)
        out = np.empty((self.shape[1], W.shape[1]), W.dtype)

        def fill(features: slice) -> None:
            _dot_stored(self.by_features, features, W, out[features])

        self.map_rows(fill, self.shape[1])
        return out

    def code(self, Ht: Array, code_rows: CodeRows) -> tuple[Array, Array]:
        """One pass over the rows for the codes, and one over the features for what the components need."""
        if Ht.shape[1] < LEAST_WIDTH:
            return super().code(Ht, code_rows)
        n, k = self.shape[0], Ht.shape[1]
        weighted = np.empty((n, k), Ht.dtype)

        def part(rows: slice) -> Array:
            gram = np.zeros((k, k), Ht.dtype)
            for block in self._blocks(rows):
                W = code_rows(block, self._dot_rows(block, Ht))
                weighted[block] = W if self.sample_weight is None else self.sample_weight[block, None] * W
                gram += W.T @ weighted[block]
            return gram

        gram = _sum_in_order(self._workers.map(part, self._parts(k)))
        return self.t_dot(weighted), gram

    def _bytes_per_row(self) -> int:
        return (self.dtype.itemsize + self.csr.indices.itemsize) * self.csr.nnz // max(1, self.shape[0])

    def _zero_sum(self, k: int, dtype: Any) -> Array:
        return np.zeros((self.shape[1], k), dtype)

    def _dot_rows(self, rows: slice, Ht: Array) -> Array:
        from ..kernels.sparse import dot_rows

        X = self.csr
        if len(Ht) != self.shape[1]:
            raise ValueError(f"Data of {self.shape[1]} features meet components of {len(Ht)}.")
        out = np.empty((rows.stop - rows.start, Ht.shape[1]), Ht.dtype)
        dot_rows(X.indptr, X.indices, X.data, Ht, rows.start, rows.stop, out)
        return out

    def _add_t_dot_rows(self, rows: slice, W: Array, out: Array) -> None:
        from ..kernels.sparse import add_t_dot_rows

        X = self.csr
        add_t_dot_rows(X.indptr, X.indices, X.data, W, rows.start, rows.stop, out)

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
        unknown = int(np.isnan(self._X.data).sum()) if self.missing == "nan" else 0
        return float(np.nansum(self._X.data, dtype=np.float64)) / max(count - unknown, 1)

    def smallest(self) -> float:
        """The smallest entry; most are zero and not stored."""
        return float(self._X.data.min(initial=0.0))

    def magnitude(self) -> SparseOperand:
        """|X| with the same indices."""
        X = self.csr
        magnitude = SparseOperand(type(X)((np.abs(X.data), X.indices, X.indptr), shape=X.shape))
        magnitude._workers = self._workers
        return magnitude

    def row_blocks(self, bytes_per_row: int | None = None) -> Iterator[tuple[slice, Any]]:
        """Consecutive rows as CSR."""
        for rows in _entry_blocks(self.shape[0], max(bytes_per_row or 0, self._bytes_per_row())):
            yield rows, self.csr[rows]

    def take(self, rows: Array) -> SparseOperand:
        """The chosen rows (a copy)."""
        return SparseOperand(self.csr[rows], self.missing)


def _dot_stored(X: Any, rows: slice, F: Array, out: Array) -> None:
    """out = X[rows] F for a matrix stored by rows."""
    from ..kernels.sparse import dot_rows

    dot_rows(X.indptr, X.indices, X.data, F, rows.start, rows.stop, out)


def as_operand(X: Any, missing: Missing = None, sample_weight: Array | None = None) -> Operand:
    """Wrap validated data: a float array, or a CSR/CSC matrix, without copying it."""
    kind = SparseOperand if sp.issparse(X) else DenseOperand
    return kind(X, missing, sample_weight)


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
    # A group whose samples all weigh nothing still needs a row.
    counts = np.bincount(groups, minlength=n_groups)
    share = np.where(totals[groups] > 0, weight / np.where(totals > 0, totals, 1)[groups], 1 / counts[groups])
    n = X.shape[0]
    averaging = sp.csr_array((share.astype(X.dtype), (groups, np.arange(n))), shape=(n_groups, n))
    means = averaging @ X.array
    return as_operand(means if sp.issparse(means) else np.asarray(means), X.missing, totals.astype(X.dtype))
