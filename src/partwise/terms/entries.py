"""Which entries of X count, and how much."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.door import readable
from ..core.indices import canonical_csr
from ..core.operand import Missing, Operand
from ..core.storage import as_operand
from ..core.types import Array

# From this share of hidden entries on, a list of the others is smaller. Blocks are faster up to about a half
# (1500 × 600 entries, 5 to 50 components); with 3/4 hidden a list takes 1/2 to 1/5 of their time.
MOSTLY_HIDDEN = 0.75


@dataclass(frozen=True)
class Observed:
    """The entries that count, in CSR order: their values and weights. Memory is proportional to their number."""

    indptr: Array
    indices: Array
    shape: tuple[int, int]
    x: Array
    weight: Array | None = None

    def products(self, W: Array, Ht: Array) -> Array:
        """(W H)_ij at these entries."""
        from ..kernels.links import products_at

        return np.asarray(products_at(self.indptr, self.indices, W, Ht))

    def combined(self, sample_weight: Array | None) -> Any:
        """Element weights times sample weights."""
        weight = self.x.dtype.type(1) if self.weight is None else self.weight
        if sample_weight is None:
            return weight
        return weight * np.repeat(sample_weight, np.diff(self.indptr))

    def with_data(self, data: Any) -> Any:
        """Other values on the same pattern."""
        data = np.broadcast_to(data, self.x.shape)
        return sp.csr_array((data, self.indices, self.indptr), shape=self.shape)


def check_weights(weights: Any, X: Operand) -> Any:
    """Element weights as a dense array or a CSR array of X's shape, or None."""
    if weights is None:
        return None
    weights = readable(weights, "weights")
    if sp.issparse(weights):
        weights = canonical_csr(weights, "weights")
        values = weights.data
    else:
        weights = np.asarray(weights)
        values = weights
        if values.dtype.kind not in "bfiu":
            raise ValueError(f"Element weights must be numbers; they have dtype {values.dtype}.")
    if weights.shape != X.shape:
        raise ValueError(f"Element weights have shape {weights.shape}; X has shape {X.shape}. They must agree.")
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError("Element weights must be finite and non-negative; use 0 to hide an entry.")
    check_size_of_weights("weights", values, X.dtype)
    return weights


def check_size_of_weights(name: str, values: Array, dtype: Any) -> None:
    """Refuse weights whose largest is so large or so small that sums of weighted squares are no numbers."""
    limits, largest = np.finfo(dtype), float(np.max(values, initial=0))
    lowest, highest = float(limits.tiny) ** 0.5, float(limits.max) ** 0.5
    if largest and not lowest <= largest <= highest:
        raise ValueError(
            f"The largest of {name} is {largest:.3g}; in {limits.dtype} it must lie between {lowest:.0e} and "
            f"{highest:.0e}. Divide all of them by a power of ten."
        )


def observed_entries(X: Operand, weights: Any) -> Observed | None:
    """The sparse pattern of the entries that count; None if most of X counts and blocks are better."""
    if sp.issparse(weights):
        if X.missing == "unstored":
            csr = sp.csr_array(X.array)
            stored = sp.csr_array((np.ones(csr.nnz), csr.indices, csr.indptr), shape=csr.shape)
            weights = sp.csr_array(weights.multiply(stored))
        weights, x = _nonzero(weights, X)
        if np.isnan(x).any():
            weights.data[np.isnan(x)] = 0
            weights, x = _nonzero(weights, X)
        return Observed(weights.indptr, weights.indices, X.shape, x, weights.data.astype(X.dtype))
    if X.missing == "unstored":
        csr = sp.csr_array(X.array)
        at = None if weights is None else weights[_rows_of(csr), csr.indices].astype(X.dtype)
        return Observed(csr.indptr, csr.indices, X.shape, csr.data, at)
    if X.missing == "nan" and not X.is_sparse:
        return _few_known(X, weights)
    return None


def _few_known(X: Operand, weights: Array | None) -> Observed | None:
    """The known entries of a dense X, if most are unknown."""
    n_known = sum(int(np.count_nonzero(~np.isnan(x))) for _, x in X.row_blocks())
    if n_known > (1 - MOSTLY_HIDDEN) * X.shape[0] * X.shape[1]:
        return None
    dtype = np.int32 if max(n_known, X.shape[1]) <= np.iinfo(np.int32).max else np.int64
    indptr, indices, values = np.zeros(X.shape[0] + 1, dtype), np.empty(n_known, dtype), np.empty(n_known, X.dtype)
    at = None if weights is None else np.empty(n_known, X.dtype)
    for rows, x in X.row_blocks():
        i, j = np.nonzero(~np.isnan(x))
        begin = indptr[rows.start]
        indptr[rows.start + 1 : rows.stop + 1] = begin + np.cumsum(np.bincount(i, minlength=len(x)))
        part = slice(begin, indptr[rows.stop])
        indices[part], values[part] = j, x[i, j]
        if at is not None and weights is not None:
            at[part] = weights[rows][i, j]
    return Observed(indptr, indices, X.shape, values, at)


def _nonzero(weights: Any, X: Operand) -> tuple[Any, Array]:
    """A copy of the weights without stored zeros, and the data at the remaining entries."""
    weights = weights.copy()
    weights.eliminate_zeros()
    x = X.array[_rows_of(weights), weights.indices]
    # Without any entry scipy gives a sparse array.
    return weights, np.asarray(x.toarray() if sp.issparse(x) else x).ravel()


def _rows_of(csr: Any) -> Array:
    return np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))


def known_counts(X: Operand) -> tuple[Array, Array]:
    """How many entries of every sample, and of every feature, are known."""
    n, m = X.shape
    if X.missing is None:
        return np.full(n, m), np.full(m, n)
    found = X.over_rows(partial(_known_in, missing=X.missing))
    return np.concatenate([rows for rows, _ in found]), np.sum([columns for _, columns in found], axis=0)


def _known_in(x: Any, missing: Missing) -> tuple[Array, Array]:
    """The same for some rows."""
    if not sp.issparse(x):
        known = ~np.isnan(x)
        return known.sum(axis=1), known.sum(axis=0)
    marked = np.isnan(x.data)
    marks = sp.csr_array(
        (np.ones(x.nnz, np.intp) * (marked if missing == "nan" else ~marked), x.indices, x.indptr), shape=x.shape
    )
    rows, columns = np.asarray(marks.sum(axis=1)).ravel(), np.asarray(marks.sum(axis=0)).ravel()
    return (x.shape[1] - rows, x.shape[0] - columns) if missing == "nan" else (rows, columns)


def known_share(X: Operand) -> float:
    """The share of the entries of X that is known."""
    return 1.0 if X.missing is None else float(known_counts(X)[0].sum()) / (X.shape[0] * X.shape[1])


def restrict(X: Operand, weights: Any) -> tuple[Operand, Any]:
    """The data and its weights, with every entry of weight zero marked as missing.

    Hidden entries then cannot matter, not even for a start. If the weights are sparse, or X is, or most weights
    are zero, only entries that count are kept, as sparse arrays of the same pattern.
    """
    if not sp.issparse(weights):
        hidden = int(weights.size - np.count_nonzero(weights))
        if not hidden:
            return X, weights
        if not X.is_sparse and hidden <= MOSTLY_HIDDEN * weights.size:
            shown = np.where(weights > 0, X.array, X.dtype.type(np.nan))
            return as_operand(shown, "nan", X.sample_weight), weights
        weights = sp.csr_array(weights)
    seen = observed_entries(X, weights)
    assert seen is not None  # the weights are sparse
    data = sp.csr_array((seen.x, seen.indices, seen.indptr), shape=X.shape)
    return as_operand(data, "unstored", X.sample_weight), seen.with_data(seen.weight)
