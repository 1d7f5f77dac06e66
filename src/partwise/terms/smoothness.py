"""Smoothness over the samples: strength · tr(Wᵀ S W)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.door import read_links
from ..core.forms import Coupling, Quadratic
from ..core.operand import Operand
from ..core.rows import Diagonal, Links, RowMatrix
from ..core.term import BoundPenalty, BoundTerm, Term
from ..core.types import CODES, Array
from .penalties import check_strength


@dataclass(frozen=True, eq=False)
class Smoothness(Term):
    """strength · tr(Wᵀ S W) for a symmetric positive semidefinite sparse S, entries of either sign.

    Parameters
    ----------
    matrix : sparse matrix of shape (n_samples, n_samples)
        S. For edge weights, give them to :class:`NeighborGraph` and let it form S.
    strength : float, default=1.0
    """

    matrix: Any
    strength: float = 1.0

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Check that S can be what it must be."""
        strength = check_strength("The strength of Smoothness", self.strength)
        S = _check_matrix(self.matrix, X.shape[0])
        return BoundGivenSmoothness("smoothness", [Links.of_matrix(S, strength, X.dtype)])


def _check_matrix(S: Any, n: int) -> Any:
    S = read_links(S, "S")
    if S.shape != (n, n):
        raise ValueError(f"S has shape {S.shape}; for {n} samples it must be ({n}, {n}).")
    if not np.isfinite(S.data).all():
        raise ValueError("S holds NaN or infinity; every entry must be finite.")
    largest = float(np.abs(S.data).max(initial=0.0))
    if float(np.abs((S - S.T).data).max(initial=0.0)) > 1e-10 * largest:
        raise ValueError("S is not symmetric; give (S + S.T) / 2 if that is what you mean.")
    diagonal = S.diagonal()
    linked = np.asarray(abs(S).sum(axis=1)).ravel() > np.abs(diagonal)
    if (diagonal < 0).any() or (linked & (diagonal == 0)).any():
        row = int(np.flatnonzero((diagonal < 0) | (linked & (diagonal == 0)))[0])
        raise ValueError(
            f"S is not positive semidefinite: its diagonal is {diagonal[row]:g} at row {row}, so the curvature there "
            "is not positive. A graph Laplacian D − E of non-negative edge weights always works."
        )
    return S


class BoundSmoothness(BoundPenalty):
    """Σ over row matrices S_t of tr(Wᵀ S_t W), the strength inside S_t."""

    factor = CODES
    degree = 2
    couples_samples = True

    def __init__(self, name: str, matrices: list[RowMatrix]):
        self.name = name
        self.matrices = matrices

    def column_values(self, F: Array) -> Array:
        """w_jᵀ S w_j."""
        return np.maximum(np.sum([S.energy(F) for S in self.matrices], axis=0), 0.0)

    def form(self, F: Array) -> Quadratic:
        """One coupling per matrix."""
        ones = np.ones(F.shape[1], F.dtype)
        return Quadratic(couplings=tuple(Coupling(ones, S) for S in self.matrices))


class BoundGivenSmoothness(BoundSmoothness):
    """A matrix S that a user gave: watched, because only its diagonal could be checked beforehand."""

    def column_values(self, F: Array) -> Array:
        """w_jᵀ S w_j, which must not be negative by more than rounding."""
        (S,) = self.matrices
        precise = F.astype(np.float64)
        energy, down = S.energy(F), S.negative(precise)
        size = np.einsum("ij,ij->j", precise, S.positive(precise) + (0 if down is None else down))
        if (energy < -1e3 * np.finfo(F.dtype).eps * size).any():
            raise ValueError(
                "S is not positive semidefinite: wᵀ S w is negative for a column of the codes. "
                "Add to its diagonal, or use a graph Laplacian D − E of non-negative edge weights."
            )
        return np.maximum(energy, 0.0)

    def for_new(self, X_new: Operand, codes: Array) -> BoundTerm:
        """A given S says nothing about samples it does not contain."""
        raise ValueError(
            "New samples cannot be coded: the matrix S of the smoothness term covers the training samples only. "
            "Use embedding_ for these, or a term that builds its graph from the data (NeighborGraph)."
        )


class BoundPull(BoundTerm):
    """New samples linked to coded ones: Σ_i Σ_t e_it ‖w_i − w_t‖² with the training codes w_t fixed."""

    def __init__(self, name: str, links: Any, codes: Array):
        self.name = name
        self._target = np.asarray(links @ codes, codes.dtype)
        self._degrees = np.asarray(links.sum(axis=1)).ravel().astype(codes.dtype)
        squares = np.einsum("ij,ij->i", codes, codes, dtype=np.float64)
        self._constant = float(links.sum(axis=0) @ squares)

    def value(self, state: Any) -> float:
        """Σ_i d_i ‖w_i‖² − 2⟨w_i, Σ_t e_it w_t⟩ + Σ_it e_it ‖w_t‖²."""
        W = state.W
        own = float(Diagonal(self._degrees).energy(W).sum())
        return own - 2 * float(np.einsum("ij,ij->", W, self._target, dtype=np.float64)) + self._constant

    def quadratic(self, state: Any, factor: Any) -> Quadratic | None:
        """A⁺ = E W_train, S = diag(degrees)."""
        if factor != CODES:
            return None
        ones = np.ones(state.W.shape[1], state.W.dtype)
        return Quadratic(attract=self._target, couplings=(Coupling(ones, Diagonal(self._degrees)),))

    def for_new(self, X_new: Operand, codes: Array) -> BoundTerm:
        """It is one already."""
        raise ValueError("This term already codes new samples.")
