"""Dense data as their projections onto a few directions: products with them cost less."""

from __future__ import annotations

import numpy as np

from .storage import DenseOperand
from .types import Array


class ProjectedOperand(DenseOperand):
    """X V Vᵀ for orthonormal V, only for products, norms and errors: it is never stored.

    Parameters
    ----------
    X : DenseOperand
        Without missing entries.
    directions : ndarray of shape (n_features, width)
        V.
    """

    def __init__(self, X: DenseOperand, directions: Array):
        super().__init__(X.dot(directions), None, X.sample_weight)
        self.shape = X.shape
        self._directions = directions
        self._workers = X._workers

    def _bytes_per_row(self) -> int:
        return self._directions.shape[1] * self.dtype.itemsize

    def _dot_rows(self, rows: slice, Ht: Array) -> Array:
        return np.asarray(self._X[rows] @ (self._directions.T @ Ht))

    def _add_t_dot_rows(self, rows: slice, W: Array, out: Array) -> None:
        transposed = out.T
        transposed += (W.T @ self._X[rows]) @ self._directions.T

    def _squared_errors(self, rows: slice, W: Array, Ht: Array) -> Array:
        residuals = self._X[rows] @ self._directions.T - W @ Ht.T
        return np.einsum("ij,ij->i", residuals, residuals)
