"""The squared error ‖X − W H‖²."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..core.forms import Coupling, Quadratic
from ..core.operand import Operand
from ..core.rounding import is_resolved
from ..core.rows import Diagonal
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.types import CODES, COMPONENTS, OTHER, Array, Factor, IntArray, dot64
from ..core.units import Powers, no_function
from .squares import BoundSquares


@dataclass(frozen=True, eq=False)
class Frobenius(Term):
    """Squared error Σ_ij v_ij (x_ij − (WH)_ij)², times the sample's weight.

    Parameters
    ----------
    weights : array or sparse matrix of shape (n_samples, n_features), optional
        Element weights v, non-negative; 0 hides an entry. Default: 1 for every entry that is not missing.
    """

    compares = True
    spreads = True

    weights: Any = None

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """With every entry present all rows have one Gram matrix; otherwise each has its own."""
        if X.missing is None and self.weights is None:
            return BoundFrobenius()
        return BoundSquares(X, sample_weight, self.weights)

    def needs_entries(self, X: Operand) -> bool:
        """If some are missing or weighted."""
        return X.missing is not None or self.weights is not None

    def scoring(self) -> Term:
        """Itself: element weights belong to the training samples."""
        return Frobenius()

    @property
    def order(self) -> float:
        """It is a square."""
        return 2.0

    def units(self, powers: Powers) -> Mapping[str, float]:
        """It has no parameter with a unit."""
        no_function("weights", self.weights)
        return {}


class BoundFrobenius(BoundTerm):
    """Σ_i s_i ‖x_i − w_i H‖² in products: A = X Hᵀ, B = H Hᵀ for the codes; A = XᵀW, B = WᵀW for the components."""

    name = "fit"
    scale_free = True
    multiplies = True

    def value(self, state: State) -> float:
        """‖X‖² − 2⟨XᵀW, Hᵀ⟩ + ⟨WᵀW, HHᵀ⟩."""
        X = state.X
        value = X.squared_norm - 2 * state.cross() + dot64(state.gram(CODES), state.gram(COMPONENTS))
        if is_resolved(value, X.squared_norm, state.W.dtype):
            return value
        return state.recall("squared error", None, lambda: X.squared_error(state.W, state.Ht))

    def quadratic(self, state: State, factor: Factor) -> Quadratic:
        """A = X·other, B = Gram matrix of the other factor."""
        gram = state.gram(OTHER[factor])
        weight = state.X.sample_weight
        if factor == CODES and weight is not None:
            return Quadratic(data=weight, couplings=(Coupling(gram, Diagonal(weight)),))
        return Quadratic(data=1.0, couplings=(Coupling(gram),))

    def joined(self, groups: IntArray, n_groups: int) -> Term:
        """Σ_i ‖x_i − w H‖² over a group is its weight times ‖mean − w H‖², and a constant."""
        return Frobenius()

    def for_new(self, state: State) -> Term:
        """New samples count once each, with all entries that are not missing."""
        return Frobenius()
