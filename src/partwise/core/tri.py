"""Three factors: X ≈ F S Gᵀ, with clusters of samples in F, of features in G, and their links in S."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .operand import Operand
from .state import State
from .types import CODES, COMPONENTS, Array, Factor, column_norms


class TriState(State):
    """The triple (F, S, G) with the products derived from it; F replaces the codes, G the Hᵀ of other states.

    Parameters
    ----------
    X : Operand
    F : ndarray of shape (n_samples, n_row_clusters)
    G : ndarray of shape (n_features, n_column_clusters)
    S : ndarray of shape (n_row_clusters, n_column_clusters)
    """

    __slots__ = ("S",)

    def __init__(self, X: Operand, F: Array, G: Array, S: Array):
        super().__init__(X, F, G)
        self.S = S

    def _with(self, W: Array, Ht: Array) -> TriState:
        return TriState(self.X, W, Ht, self.S)

    def joined(self, S: Array) -> TriState:
        """The state with another S."""
        new = TriState(self.X, self.W, self.Ht, S)
        for factor in (CODES, COMPONENTS):
            new._memo[factor] = self._memo[factor]
        return new

    def normalised(self) -> TriState:
        """The same product with columns of F and G at unit norm, or zero, and the scale in S."""
        rows, columns = (np.where(norms > 0, norms, 1) for norms in map(column_norms, (self.W, self.Ht)))
        dtype = self.W.dtype
        S = (rows[:, None] * self.S * columns).astype(dtype)
        return TriState(self.X, self.W / rows.astype(dtype), self.Ht / columns.astype(dtype), S)

    def arrays(self) -> dict[str, Array]:
        """The three factors by name."""
        return {**super().arrays(), "S": self.S}

    def with_arrays(self, arrays: Mapping[str, Array]) -> TriState:
        """The same kind of state with other factors."""
        return TriState(self.X, arrays["W"], arrays["Ht"], arrays["S"])

    @property
    def components(self) -> Array:
        """H = S Gᵀ."""
        return self.S @ self.Ht.T

    def image(self, factor: Factor) -> Array:
        """The data multiplied by one factor: Xᵀ F for the codes, X G for the components."""
        if factor == CODES:
            return self.recall("image", CODES, lambda: self.X.t_dot(self.W))
        return self.recall("image", COMPONENTS, lambda: self.X.dot(self.Ht))

    def blocks(self) -> Array:
        """Fᵀ X G."""
        return self.recall("blocks", None, lambda: self.W.T @ self.image(COMPONENTS))

    def product(self, factor: Factor) -> Array:
        """The data's pull on a factor: X G Sᵀ on F, Xᵀ F S on G."""
        if factor == CODES:
            return self.recall(("product", CODES), None, lambda: self.image(COMPONENTS) @ self.S.T)
        return self.recall(("product", COMPONENTS), None, lambda: self.image(CODES) @ self.S)
