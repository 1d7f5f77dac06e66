"""Local coordinates: a sample is coded by components that lie close to it.

    strength · Σ_i s_i Σ_j w_ij ‖x_i − h_j‖²,   s_i the sample's weight, h_j a component

is linear in the codes and a separable quadratic in the components. Multiplied out, with c_i = ‖x_i‖² and d_j = ‖h_j‖²:

- codes: A⁺ = strength X Hᵀ, A⁻ = strength/2 (c_i + d_j);
- components: A⁺ = strength Xᵀ W, B = strength diag(1ᵀW).

**With the squared error** both factors stay convex quadratics, and N / P is the paper's rule.

**With the Kullback–Leibler divergence** (the case the paper leaves open), let P − N be its gradient. As a function of
the ratio r = new / old of an entry, the usual majoriser of the divergence has the derivative P − N / r times the old
entry. The penalty is separable and needs no majoriser; adding it gives

- codes: P + strength ‖x_i − h_j‖² − N / r = 0, so r = N / (P + strength ‖x_i − h_j‖²): far components fade;
- components: a r² + b r − N = 0 with a = 2 strength (1ᵀw_j) h_jf and b = P − 2 strength (Xᵀw_j)_f, whose positive root
  is r = (√(b² + 4 a N) − b) / 2a.

Each minimises a majoriser that touches the objective at r = 1, so neither can rise. A graph adds its own parts to a and
N. The forms below express this by the powers of r (`core.forms.Split`), and the multiplicative solver solves for r.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.forms import Coupling, Quadratic, Split
from ..core.operand import Operand
from ..core.rows import Diagonal
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.types import CODES, COMPONENTS, Array, Factor, dot64
from ..core.units import Powers
from .penalties import check_strength


@dataclass(frozen=True)
class LocalCoordinates(Term):
    """strength · Σ_ij w_ij ‖x_i − h_j‖²: codes are coordinates with respect to nearby components.

    (Chen, Zhang, Cai, Liu & He 2013, Eq. 2.) It pulls components towards the mean of the samples they code and makes
    distant ones expensive, so codes are sparse. Where entries of X are missing, distances use the known ones.

    Parameters
    ----------
    strength : float
        μ in the paper. It has no unit next to the squared error; next to the Kullback–Leibler divergence it has that
        of 1 / X.
    """

    strength_name = "coordinate_strength"
    spreads = True
    settles_scale = True

    strength: float

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Compute the samples' norms."""
        strength = check_strength("The strength of LocalCoordinates", self.strength)
        return BoundLocalCoordinates(X, strength) if X.missing is None else BoundKnownCoordinates(X, strength)

    def units(self, powers: Powers) -> Mapping[str, float]:
        """Codes have no unit, and distances are squared."""
        return {"strength": powers.objective - 2}


class _BoundCoordinates(BoundTerm):
    name = "local coordinates"
    anchored = True

    def counts_entries(self, factor: Factor) -> bool:
        """It counts the codes, each weighted by a distance."""
        return factor == CODES

    def __init__(self, strength: float):
        self.strength = strength

    def with_strength(self, strength: float) -> BoundTerm:
        """The same distances."""
        other = copy(self)
        other.strength = strength
        return other

    def for_new(self, state: State) -> Term:
        """New samples are coded by the components near them."""
        return LocalCoordinates(self.strength)


class BoundLocalCoordinates(_BoundCoordinates):
    """All entries are known: everything follows from products that the fit needs anyway."""

    def __init__(self, X: Operand, strength: float):
        super().__init__(strength)
        self._squares = X.row_squared_norms()
        self._column = X.placed(self._squares[:, None])

    def value(self, state: State) -> float:
        """strength · (Σ_i c_i Σ_j w_ij + Σ_j d_j Σ_i w_ij − 2⟨W, X Hᵀ⟩), with weighted samples."""
        weight = state.X.sample_weight
        codes = state.W.sum(axis=1, dtype=np.float64)
        if weight is not None:
            codes *= weight
        apart = codes @ self._squares + self._mass(state) @ _squared_norms(state.Ht) - 2 * state.cross()
        return self.strength * max(float(apart), 0.0)

    @staticmethod
    def _mass(state: State) -> Array:
        """Σ_i s_i w_ij of every component."""
        weight = state.X.sample_weight

        def mass() -> Array:
            if weight is None:
                return state.W.sum(axis=0, dtype=np.float64)
            return np.asarray(weight.astype(np.float64) @ state.W)

        return state.recall("mass", CODES, mass)

    def quadratic(self, state: State, factor: Factor) -> Quadratic:
        """A⁺ = strength · the data's pull; the rest as in the module's formulas."""
        dtype = state.W.dtype
        if factor == COMPONENTS:
            return Quadratic(
                data=self.strength, couplings=(Coupling((self.strength * self._mass(state)).astype(dtype)),)
            )
        weight = state.X.sample_weight
        push = (self.strength / 2 * (self._column + _squared_norms(state.Ht))).astype(dtype)
        if weight is None:
            return Quadratic(data=self.strength, repel=push)
        return Quadratic(data=dtype.type(self.strength) * weight, repel=weight[:, None] * push)


class BoundKnownCoordinates(_BoundCoordinates):
    """Some entries are unknown: strength · Σ_ij w_ij Σ_{f known} (x_if − h_jf)², in passes over blocks of rows."""

    def __init__(self, X: Operand, strength: float):
        super().__init__(strength)
        squares = ((x * x).sum(axis=1, dtype=np.float64) for _, x, _ in _known_blocks(X))
        self._squares = np.concatenate([np.asarray(part).ravel() for part in squares])

    def value(self, state: State) -> float:
        """As with all entries known, but each sum is over the known ones."""
        factor = COMPONENTS if state.knows(self._key, CODES) else CODES
        pull, known = self._products(state, factor)
        W = _weighted(state)
        F, partner = (W, W) if factor == CODES else (state.Ht, state.Ht**2)
        apart = W.sum(axis=1, dtype=np.float64) @ self._squares + dot64(known, partner) - 2 * dot64(pull, F)
        return self.strength * max(float(apart), 0.0)

    @property
    def _key(self) -> tuple[str, BoundTerm]:
        return "known products", self

    def _products(self, state: State, factor: Factor) -> tuple[Array, Array]:
        """X₀ Hᵀ and M (Hᵀ)² for the codes, X₀ᵀW and MᵀW for the components: X₀ the data, M the pattern of the known."""
        if factor == CODES:
            return state.recall(self._key, COMPONENTS, lambda: _dot(state.X, state.Ht, state.Ht**2))
        return state.recall(self._key, CODES, lambda: _t_dot(state.X, _weighted(state)))

    def quadratic(self, state: State, factor: Factor) -> Quadratic:
        """Every entry of the components has its own curvature: each column its own S, with a single one in B."""
        pull, push, known = self._parts(state, factor)
        if push is not None:
            return Quadratic(attract=pull, repel=push)
        columns = np.eye(known.shape[1], dtype=known.dtype)
        own = (Coupling(column, Diagonal(known[:, j])) for j, column in enumerate(columns))
        return Quadratic(attract=pull, couplings=tuple(own))

    def split(self, state: State, factor: Factor) -> Split:
        """The same without a product for every column."""
        pull, push, known = self._parts(state, factor)
        split = Split(down={0: 2 * pull}, quadratic=True)
        if push is None:
            split.add("up", 1, 2 * known * state.Ht)
        else:
            split.add("up", 0, 2 * push)
        return split

    def _parts(self, state: State, factor: Factor) -> tuple[Array, Array | None, Array]:
        """A⁺, A⁻ of the codes, and the curvatures of the components' entries."""
        pull, known = self._products(state, factor)
        scale = state.W.dtype.type(self.strength)
        if factor == COMPONENTS:
            return scale * pull, None, scale * known
        push = scale / 2 * (self._squares[:, None] + known).astype(state.W.dtype)
        pull = scale * pull
        weight = state.X.sample_weight
        if weight is not None:
            push, pull = weight[:, None] * push, weight[:, None] * pull
        return pull, push, known


def _squared_norms(F: Array) -> Array:
    """‖f_j‖² of every column, in float64."""
    return np.einsum("ij,ij->j", F, F, dtype=np.float64, casting="safe")


def _weighted(state: State) -> Array:
    weight = state.X.sample_weight
    return state.W if weight is None else weight[:, None] * state.W


def _known_blocks(X: Operand) -> Iterator[tuple[slice, Any, Any]]:
    """Rows with zeros for the unknown entries, and the pattern of the known ones."""
    for rows, x in X.row_blocks(2 * X.shape[1] * X.dtype.itemsize):
        if X.missing == "unstored":
            yield rows, x, sp.csr_array((np.ones_like(x.data), x.indices, x.indptr), shape=x.shape)
            continue
        full = x.toarray() if sp.issparse(x) else x
        unknown = np.isnan(full)
        yield rows, np.where(unknown, full.dtype.type(0), full), (~unknown).astype(full.dtype)


def _dot(X: Operand, A: Array, B: Array) -> tuple[Array, Array]:
    """X₀ A and M B."""
    parts = [(np.asarray(x @ A), np.asarray(known @ B)) for _, x, known in _known_blocks(X)]
    return np.concatenate([pull for pull, _ in parts]), np.concatenate([known for _, known in parts])


def _t_dot(X: Operand, A: Array) -> tuple[Array, Array]:
    """X₀ᵀ A and Mᵀ A."""
    pull, seen = np.zeros((X.shape[1], A.shape[1]), A.dtype), np.zeros((X.shape[1], A.shape[1]), A.dtype)
    for rows, x, known in _known_blocks(X):
        pull += x.T @ A[rows]
        seen += known.T @ A[rows]
    return pull, seen
