"""Known components as seeds: the first components stay near the directions of given ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.forms import Coupling, Quadratic
from ..core.operand import Operand
from ..core.rows import Diagonal
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.types import CODES, Array, Factor, column_norms
from ..core.units import Powers
from .penalties import L2, check_strength


@dataclass(frozen=True, eq=False)
class Seeds(Term):
    """strength · Σ_j ‖w_j‖² ‖h_j − (h_j·ŝ_j) ŝ_j‖²: what a component adds to W H beside the direction of its seed.

    ŝ_j is seed j at unit norm. The value depends on the product w_j h_jᵀ, not on how its scale is divided, and a
    component may be any multiple of its seed.

    Parameters
    ----------
    strength : float
        1 weighs what a component adds beside its seed like a squared residual of the same size.
    seeds : array of shape (n_seeds, n_features)
        Non-negative; seed j is for component j.
    """

    strength: float
    seeds: Any

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Check the seeds against the data."""
        strength = check_strength("The strength of Seeds", self.strength)
        return BoundSeeds(strength, check_seeds(self.seeds, X), sample_weight)

    def units(self, powers: Powers) -> Mapping[str, float]:
        """It grows with the square of X."""
        return {"strength": powers.objective - 2}


def check_seeds(seeds: Any, X: Operand) -> Array:
    """The directions of the seeds as columns of unit norm; refuses what does not fit the data."""
    S = np.array(seeds, np.float64, ndmin=2).T
    if S.ndim != 2 or S.shape[0] != X.shape[1]:
        raise ValueError(f"The seeds have shape {S.T.shape}; X has {X.shape[1]} features. They must agree.")
    if not np.isfinite(S).all() or (S < 0).any():
        raise ValueError("The seeds must be finite and not negative.")
    if not S.any(axis=0).all():
        raise ValueError("Some seeds are zero everywhere: they have no direction to stay near.")
    # Squares of very large or very small seeds are not numbers, those of their shares are.
    S = S / S.max(axis=0)
    return np.asfortranarray(S / column_norms(S), X.dtype)


class BoundSeeds(BoundTerm):
    """Quadratic in the codes; in the components −(h·ŝ)², which is concave, is replaced by its tangent.

    Attributes
    ----------
    directions : ndarray of shape (n_features, n_seeds)
        Columns of unit norm.
    """

    name = "seeds"
    scale_free = True
    from_residuals = True

    def __init__(self, strength: float, directions: Array, sample_weight: Array | None):
        self.strength = strength
        self.directions = directions
        self.sample_weight = sample_weight

    def value(self, state: State) -> float:
        """Σ_j of both squared norms."""
        return float(self._squares(state.W) @ self._beside(state.Ht))

    def quadratic(self, state: State, factor: Factor) -> Quadratic:
        """Every column of a factor is shrunk; that of a component also pulled along its seed."""
        if factor == CODES:
            rows = None if self.sample_weight is None else Diagonal(self.sample_weight)
            shrinkage = self.strength * self._beside(state.Ht)
            return Quadratic(couplings=(Coupling(shrinkage.astype(state.W.dtype), rows),))
        weights, Ht = self._squares(state.W).astype(state.Ht.dtype), state.Ht
        r = self.directions.shape[1]
        along = np.einsum("fj,fj->j", self.directions, Ht[:, :r])
        attract = np.zeros_like(Ht)
        attract[:, :r] = self.directions * (weights[:r] * along)
        return Quadratic(attract=attract, couplings=(Coupling(weights),))

    def _squares(self, W: Array) -> Array:
        """Strength · ‖w_j‖² of components with a seed, zero for others."""
        squares = np.zeros(W.shape[1])
        W = W[:, : self.directions.shape[1]]
        squares[: W.shape[1]] = self.strength * Diagonal(self._weights(W)).energy(W)
        return squares

    def _weights(self, W: Array) -> Array:
        return np.ones(len(W), W.dtype) if self.sample_weight is None else self.sample_weight

    def _beside(self, Ht: Array) -> Array:
        """‖h_j − (h_j·ŝ_j) ŝ_j‖² of components with a seed, from residuals: exact where it is small."""
        H = Ht[:, : self.directions.shape[1]].astype(np.float64)
        S = self.directions.astype(np.float64)
        beside = np.zeros(Ht.shape[1])
        beside[: H.shape[1]] = ((H - S * np.einsum("fj,fj->j", S, H)) ** 2).sum(axis=0)
        return beside

    def for_new(self, state: State) -> Term:
        """Codes of new samples are shrunk as those of the fit: by what their components have beside their seeds."""
        return L2(tuple(map(float, self.strength * self._beside(state.Ht))))
