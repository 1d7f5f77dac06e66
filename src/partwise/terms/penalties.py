"""ℓ1 and ℓ2 penalties on either factor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.forms import Coupling, Quadratic
from ..core.operand import Operand
from ..core.rows import Diagonal
from ..core.state import State
from ..core.term import BoundPenalty, BoundTerm, Term
from ..core.types import CODES, FACTORS, Array, Factor
from ..core.units import Powers


def check_strength(name: str, strength: float) -> float:
    """A strength must be a finite number, zero or more."""
    if not np.isfinite(strength) or strength < 0:
        raise ValueError(f"{name} is {strength!r}; it must be a finite number, zero or more.")
    return float(strength)


@dataclass(frozen=True)
class _Norm(Term):
    spreads = True

    strength: float | tuple[float, ...]
    factor: Factor = CODES

    def _check(self, X: Operand, sample_weight: Array | None) -> tuple[Array, Array | None]:
        """The strengths, and the weights of the factor's rows: samples count as often as in the fit."""
        if self.factor not in FACTORS:
            raise ValueError(f"factor={self.factor!r}; it must be 'codes' or 'components'.")
        name = f"The strength of {type(self).__name__}"
        given = self.strength if isinstance(self.strength, tuple) else (self.strength,)
        strengths = np.array([check_strength(name, strength) for strength in given])
        return strengths, sample_weight if self.factor == CODES else None

    @property
    def penalises(self) -> Factor:
        """Its factor."""
        return self.factor


@dataclass(frozen=True)
class L1(_Norm):
    """strength · Σ_ij |f_ij| on one factor: sparsity.

    Parameters
    ----------
    strength : float or tuple of float
        One for all components, or one for each.
    factor : {"codes", "components"}, default="codes"
    """

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Check the strength."""
        return BoundL1(*self._check(X, sample_weight), self.factor)

    def units(self, powers: Powers) -> Mapping[str, float]:
        """It grows with the factor."""
        return {"strength": powers.objective - getattr(powers, self.factor)}


@dataclass(frozen=True)
class L2(_Norm):
    """strength · Σ_ij f_ij² on one factor: shrinkage.

    Parameters
    ----------
    strength : float or tuple of float
        One for all components, or one for each.
    factor : {"codes", "components"}, default="codes"
    """

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Check the strength."""
        return BoundL2(*self._check(X, sample_weight), self.factor)

    def units(self, powers: Powers) -> Mapping[str, float]:
        """It grows with the factor's square."""
        return {"strength": powers.objective - 2 * getattr(powers, self.factor)}


class _BoundNorm(BoundPenalty):
    from_residuals = True

    def __init__(self, strengths: Array, row_weight: Array | None, factor: Factor):
        # One for all components, or one for each.
        self.strengths = strengths
        self.row_weight = row_weight
        self.factor = factor
        self.name = f"{type(self).__name__.removeprefix('Bound').lower()} {factor}"

    @property
    def _given(self) -> float | tuple[float, ...]:
        strengths = tuple(map(float, self.strengths))
        return strengths[0] if len(strengths) == 1 else strengths


class BoundL1(_BoundNorm):
    """Linear: A⁻ = strength / 2."""

    degree = 1

    def column_values(self, F: Array) -> Array:
        """strength_j · Σ_i f_ij."""
        if self.row_weight is None:
            return self.strengths * F.sum(axis=0, dtype=np.float64)
        return self.strengths * np.einsum("i,ij->j", self.row_weight, F, dtype=np.float64, casting="safe")

    def form(self, F: Array) -> Quadratic:
        """A constant push towards zero."""
        push = np.full((1, F.shape[1]), self.strengths / 2, F.dtype)
        return Quadratic(repel=push if self.row_weight is None else self.row_weight[:, None] * push)

    def for_new(self, state: State) -> Term | None:
        """The same penalty on new codes."""
        return L1(self._given) if self.factor == CODES else None


class BoundL2(_BoundNorm):
    """S = I (or the sample weights), B = diag(strengths)."""

    degree = 2

    def column_values(self, F: Array) -> Array:
        """strength_j · Σ_i f_ij²."""
        rows = Diagonal(np.ones(len(F), F.dtype) if self.row_weight is None else self.row_weight)
        return self.strengths * rows.energy(F)

    def form(self, F: Array) -> Quadratic:
        """A constant curvature."""
        rows = None if self.row_weight is None else Diagonal(self.row_weight)
        return Quadratic(couplings=(Coupling(np.full(F.shape[1], self.strengths, F.dtype), rows),))

    def for_new(self, state: State) -> Term | None:
        """The same penalty on new codes."""
        return L2(self._given) if self.factor == CODES else None
