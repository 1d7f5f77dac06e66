"""The squared error over factors with orthogonal columns of unit norm, as Ding et al. (2006) treat it.

The constraint FᵀF = I enters through its Lagrangian, with the multipliers that hold where the constraint does. The
gradient is then P − N with N the data's pull on the factor and P = F Fᵀ N. The iterates do not keep the constraint, so
steps by these halves need not lower the error, and at times they raise it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.forms import Quadratic, Split
from ..core.operand import Operand
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.tri import TriState
from ..core.types import CODES, COMPONENTS, Array, Factor, dot64
from ..core.units import Powers
from .frobenius import BoundFrobenius, Frobenius


class _SquaredError(Term):
    """New samples are scored by the squared error itself, which has no parameter."""

    def scoring(self) -> Term:
        """The squared error."""
        return Frobenius()

    @property
    def order(self) -> float:
        """It is a square."""
        return 2.0

    def units(self, powers: Powers) -> Mapping[str, float]:
        """It has no parameter."""
        return {}


@dataclass(frozen=True)
class OrthogonalFit(_SquaredError):
    """‖X − W H‖² over codes with WᵀW = I."""

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Every sample counts once."""
        _refuse_weights(sample_weight)
        return BoundOrthogonalFit()


class BoundOrthogonalFit(BoundFrobenius):
    """The components' part is that of the squared error."""

    offers_quadratic = False
    couples_samples = True

    def split(self, state: State, factor: Factor) -> Split | None:
        """For the codes the halves of the Lagrangian's gradient."""
        return orthogonal_split(state, CODES) if factor == CODES else super().split(state, factor)


@dataclass(frozen=True)
class TriFit(_SquaredError):
    """‖X − F S Gᵀ‖² over factors with FᵀF = I, GᵀG = I."""

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Every sample counts once."""
        _refuse_weights(sample_weight)
        return BoundTriFit()


class BoundTriFit(BoundTerm):
    """The same halves for both factors."""

    name = "fit"
    offers_quadratic = False
    couples_samples = True

    def value(self, state: State) -> float:
        """‖X‖² − 2⟨FᵀXG, S⟩ + ⟨FᵀF S, S GᵀG⟩."""
        state = tri(state)
        energy = dot64(state.gram(CODES) @ state.S, state.S @ state.gram(COMPONENTS))
        return max(state.X.squared_norm - 2 * dot64(state.blocks(), state.S) + energy, 0.0)

    def quadratic(self, state: State, factor: Factor) -> Quadratic | None:
        """It has none."""
        raise NotImplementedError("Orthogonal factors enter through a Lagrangian, which is not quadratic in them.")

    def split(self, state: State, factor: Factor) -> Split | None:
        """The halves of the Lagrangian's gradient."""
        return orthogonal_split(state, factor)

    def for_new(self, state: State) -> Term:
        """The squared error, with H = S Gᵀ fixed."""
        return Frobenius()


def orthogonal_split(state: State, factor: Factor) -> Split:
    """N = the data's pull, P = F FᵀN, up to the factor 2 that every gradient here has."""
    F, pull = state[factor], state.product(factor)
    return Split(up={1: 2 * (F @ (F.T @ pull))}, down={0: 2 * np.maximum(pull, 0)})


def tri(state: State) -> TriState:
    """The state, which must have three factors."""
    if not isinstance(state, TriState):
        raise TypeError("This term is for three factors, X ≈ F S Gᵀ; the state has two.")
    return state


def _refuse_weights(sample_weight: Array | None) -> None:
    if sample_weight is not None:
        raise ValueError("Orthogonal codes count every sample once; give no sample_weight.")
