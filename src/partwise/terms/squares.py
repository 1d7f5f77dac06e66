"""The squared error where entries are missing or weighted: Σ_ij v_ij (x_ij − (WH)_ij)²."""

from __future__ import annotations

from functools import cached_property

from ..core.forms import RowSquares
from ..core.operand import Operand
from ..core.squares import Listed, Packed, Squares, TakenDown
from ..core.types import Array
from .divergence import BoundDivergence
from .entries import known_share

# Up to this share of missing entries, subtracting them from the common Gram matrix is faster.
FEW_MISSING = 0.25


class BoundSquares(BoundDivergence):
    """The divergence at β = 2, in which every row of a factor has its own Gram matrix."""

    offers_row_squares = True

    def __init__(self, X: Operand, sample_weight: Array | None = None, weights: object = None):
        super().__init__(X, 2.0, sample_weight, weights)

    def row_squares(self) -> RowSquares:
        """A quadratic of every row."""
        return RowSquares(self._squares, self._key)

    @cached_property
    def _squares(self) -> Squares:
        """The fastest way to the Gram matrices."""
        X, s, seen = self._X, self._sample_weight, self._observed
        if seen is not None:
            weighed = seen.weight is not None or s is not None
            return Listed(seen.with_data(seen.x), seen.combined(s) if weighed else None)
        if self._weights is None and (X.is_sparse or 1 - known_share(X) <= FEW_MISSING):
            return TakenDown(X, s)
        return Packed(X.array, self._weights, s)
