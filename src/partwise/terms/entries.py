"""Which entries of X count, and how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.operand import Operand
from ..core.types import Array


@dataclass(frozen=True)
class Observed:
    """The entries that count, in CSR order: their values and weights. Memory in proportion to what is observed."""

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
    if sp.issparse(weights):
        weights = sp.csr_array(weights)
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
    return weights


def observed_entries(X: Operand, weights: Any) -> Observed | None:
    """The sparse pattern of the entries that count; None if most of X does and blocks are the better way."""
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
    return None


def _nonzero(weights: Any, X: Operand) -> tuple[Any, Array]:
    """A copy of the weights without stored zeros, and the data at what is left."""
    weights = weights.copy()
    weights.eliminate_zeros()
    return weights, np.asarray(X.array[_rows_of(weights), weights.indices]).ravel()


def _rows_of(csr: Any) -> Array:
    return np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
