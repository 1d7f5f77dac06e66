"""Smoothness over the samples: strength · tr(Wᵀ S W)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.door import read_links
from ..core.forms import Coupling, Quadratic
from ..core.operand import Operand
from ..core.rows import Links, RowMatrix
from ..core.state import State
from ..core.term import BoundPenalty, BoundTerm, Term, Uncodable
from ..core.types import CODES, Array
from .penalties import check_strength

ONLY_TRAINING_SAMPLES = (
    "New samples cannot be coded: the matrix S of the smoothness term covers the training samples only. "
    "Use embedding_ for these, or a term that builds its graph from the data (NeighborGraph)."
)


@dataclass(frozen=True, eq=False)
class Smoothness(Term):
    """strength · tr(Wᵀ S W) for a symmetric positive semidefinite sparse S, entries of either sign.

    Parameters
    ----------
    matrix : sparse matrix of shape (n_samples, n_samples)
        S. Give edge weights to :class:`NeighborGraph`, which forms S from them.
    strength : float, default=1.0
    """

    matrix: Any
    strength: float = 1.0

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Check the properties of S that can be checked."""
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
    """A matrix S given by the user: watched, because only its diagonal could be checked beforehand."""

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

    def for_new(self, state: State) -> Term:
        """A given S says nothing about samples it does not contain."""
        return Uncodable(ONLY_TRAINING_SAMPLES)
