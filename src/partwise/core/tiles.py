"""Blocks of rows of X, or of Xᵀ, as dense arrays with their weights."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .scratch import Scratch
from .types import CODES, Array, Factor


class Tiles:
    """Entries with weights, seen along either factor. Only a block of rows is ever dense.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        NaN where unknown; unstored entries are zero.
    weights : ndarray of the same shape, optional
    sample_weight : ndarray of shape (n_samples,), optional
    complete : bool
        Whether no entry is unknown.
    """

    def __init__(self, X: Any, weights: Array | None, sample_weight: Array | None, complete: bool):
        self._X = X
        self._weights = weights
        self._sample_weight = sample_weight
        self._complete = complete
        self._scratch = Scratch()

    @cached_property
    def _by_features(self) -> Any:
        return self._X.T.tocsr() if sp.issparse(self._X) else self._X.T

    def tile(self, factor: Factor, rows: Any) -> tuple[Array, Array]:
        """Some rows, and the weights of their entries, of which there is one row if all rows have the same.

        An unknown entry has weight zero, and any value.
        """
        x = (self._X if factor == CODES else self._by_features)[rows]
        if sp.issparse(x):
            x = x.toarray()
        elif not x.flags.c_contiguous:
            x = self._copied(x)
        v = self._weights_of(factor, rows, x)
        if not self._complete:
            unknown = np.isnan(x)
            v = np.where(unknown, x.dtype.type(0), v)
            x = np.where(unknown, x.dtype.type(1), x)
        return x, np.ascontiguousarray(v)

    def _weights_of(self, factor: Factor, rows: Any, x: Array) -> Array:
        s, v = self._sample_weight, np.ones((1, x.shape[1]), x.dtype)
        if self._weights is not None:
            v = (self._weights if factor == CODES else self._weights.T)[rows].astype(x.dtype, copy=False)
        if s is None:
            return v
        return v * (s[rows, None] if factor == CODES else s).astype(x.dtype, copy=False)

    def _copied(self, x: Array) -> Array:
        """In rows, in memory that is reused."""
        out = self._scratch.get("x", x.shape, x.dtype)
        out[:] = x
        return out
