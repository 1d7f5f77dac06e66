"""The squared error ‖X − W H‖²."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..core.forms import Coupling, Quadratic
from ..core.operand import Operand
from ..core.rows import Diagonal
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.types import CODES, COMPONENTS, OTHER, Array, Factor, dot64
from .divergence import BoundDivergence


@dataclass(frozen=True, eq=False)
class Frobenius(Term):
    """Squared error Σ_ij v_ij (x_ij − (WH)_ij)², times the sample's weight.

    Parameters
    ----------
    weights : array or sparse matrix of shape (n_samples, n_features), optional
        Element weights v, non-negative; 0 hides an entry. Default: 1 for every entry that is not missing.
    """

    weights: Any = None

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """With every entry present it is a quadratic; otherwise it is treated entry by entry."""
        if X.missing is None and self.weights is None:
            return BoundFrobenius(sample_weight)
        return BoundDivergence(X, 2.0, sample_weight, self.weights)


class BoundFrobenius(BoundTerm):
    """Σ_i s_i ‖x_i − w_i H‖² in products: A = X Hᵀ, B = H Hᵀ for the codes; A = XᵀW, B = WᵀW for the components."""

    name = "fit"

    def __init__(self, sample_weight: Array | None = None):
        self._weight = sample_weight

    def _product(self, state: State, factor: Factor) -> Array:
        if self._weight is None:
            return state.product(factor)
        weight = self._weight[:, None]
        if factor == CODES:
            return weight * state.product(CODES)
        return state.recall("weighted product", CODES, lambda: state.X.t_dot(weight * state.W))

    def _gram(self, state: State, factor: Factor) -> Array:
        if self._weight is None or factor == COMPONENTS:
            return state.gram(factor)
        weight = self._weight[:, None]
        return state.recall("weighted gram", CODES, lambda: state.W.T @ (weight * state.W))

    def _squared_norm(self, state: State) -> float:
        if self._weight is None:
            return state.X.squared_norm
        return float(state.X.row_squared_norms() @ self._weight)

    def value(self, state: State) -> float:
        """‖X‖² − 2⟨XᵀW, Hᵀ⟩ + ⟨WᵀW, HHᵀ⟩, from whichever product is at hand."""
        name = "product" if self._weight is None else "weighted product"
        factor = COMPONENTS if state.knows(name, CODES) else CODES
        cross = dot64(self._product(state, factor), state[factor])
        energy = dot64(self._gram(state, CODES), self._gram(state, COMPONENTS))
        # Cancellation may leave a tiny negative number at an exact fit.
        return max(self._squared_norm(state) - 2 * cross + energy, 0.0)

    def quadratic(self, state: State, factor: Factor) -> Quadratic:
        """A = X·other, B = Gram matrix of the other factor."""
        weighted = factor == CODES and self._weight is not None
        rows = Diagonal(self._weight) if weighted and self._weight is not None else None
        return Quadratic(
            attract=self._product(state, factor),
            couplings=(Coupling(self._gram(state, OTHER[factor]), rows),),
        )

    def for_new(self, X_new: Operand, codes: Array) -> BoundTerm:
        """New samples count once each."""
        return BoundFrobenius()
