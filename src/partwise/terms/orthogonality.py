"""Codes with orthogonal columns of unit norm, by a penalty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.forms import Quadratic, Split
from ..core.operand import Operand
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.types import CODES, Array, Factor
from ..core.units import Powers
from .penalties import check_strength


@dataclass(frozen=True)
class Orthogonality(Term):
    """strength/2 · ‖WᵀW − I‖²: every sample should use one component, and all components should be used equally.

    It is a quartic of the codes. Its multiplicative step has the power ¼: with W̃ the present codes, the quartic part
    tr(WᵀW WᵀW) lies below Σ (W̃W̃ᵀW̃)_ij w_ij⁴ / w̃_ij³, and −‖W‖² below a logarithm.

    Parameters
    ----------
    strength : float
    """

    strength_name = "orthogonality"
    settles_scale = True

    strength: float

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Check the strength."""
        if sample_weight is not None:
            raise ValueError("Orthogonal codes count every sample once; give no sample_weight.")
        return BoundOrthogonality(check_strength("orthogonality", self.strength))

    def units(self, powers: Powers) -> Mapping[str, float]:
        """Codes of unit norm have no unit: the strength has that of the fit."""
        return {"strength": powers.objective}


class BoundOrthogonality(BoundTerm):
    """Gradient 2 strength · W (WᵀW − I)."""

    name = "orthogonality"
    couples_samples = True
    offers_quadratic = False
    steep = True

    def __init__(self, strength: float):
        self.orthogonality = strength

    def value(self, state: State) -> float:
        """From the Gram matrix of the codes."""
        apart = state.gram(CODES).astype(np.float64) - np.eye(state.W.shape[1])
        return self.orthogonality / 2 * float(np.sum(apart * apart))

    def quadratic(self, state: State, factor: Factor) -> Quadratic | None:
        """It has none."""
        raise NotImplementedError("The orthogonality penalty is a quartic of the codes.")

    def split(self, state: State, factor: Factor) -> Split | None:
        """2 strength · W WᵀW with the third power of the step, 2 strength · W with the power −1."""
        if factor != CODES:
            return None
        W = state.W
        twice = W.dtype.type(2 * self.orthogonality)
        return Split(up={3: twice * (W @ state.gram(CODES))}, down={-1: twice * W})

    def for_new(self, state: State) -> Term | None:
        """Orthogonality concerns all codes together, not a single new one."""
        return None
