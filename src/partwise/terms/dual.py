"""Terms for components made of samples, H = Pᵀ Φ (`core.dual`): the squared error, plain or robust, and similarity.

With K = Φ Φᵀ the squared error is a quadratic of each factor: for the codes A = K P, B = Pᵀ K P; for the coefficients
A = K W, B = WᵀW and S = K.

**Robust.** A residual E with few features, removed from the fit at a cost, leaves by Eq. 21 of Hou & Peng a loss that
grows linearly once the residual q_f of a feature is longer than γ::

    min_E ½‖Φ − E − W H‖² + γ Σ_f ‖e_f‖ = Σ_f ρ(‖q_f‖),   ρ(r) = r²/2 if r ≤ γ, else γ r − γ²/2

E is (1 − ω_f) q_f with ω_f = min(1, γ/‖q_f‖), and is never stored. As ρ is concave in r², it lies below the parabola of
curvature ω_f at the present residual: the quadratic of each factor is that of the squared error with features weighted
by ω. (Fixing E, as the paper does, also gives a majoriser, but one of curvature 1: for small γ nothing moves any more.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.dual import DualState, FeatureKernel
from ..core.forms import Coupling, Quadratic, Split
from ..core.operand import Operand
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.types import CODES, COMPONENTS, OTHER, Array, Factor, dot64
from ..core.units import Powers
from .frobenius import Frobenius
from .new_codes import BoundNewCodes
from .penalties import check_strength


def dual(state: State) -> DualState:
    """The state, which must have components made of samples."""
    if not isinstance(state, DualState):
        raise TypeError("This term is for components made of samples, H = PᵀX; the state has free components.")
    return state


@dataclass(frozen=True)
class DualFit(Term):
    """unit · ‖Φ − W Pᵀ Φ‖².

    Parameters
    ----------
    unit : float, default=1.0
    """

    dual = True

    unit: float = 1.0

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Nothing to prepare."""
        return BoundDualFit(self.unit)

    def scoring(self) -> Term:
        """The squared error of the features."""
        return Frobenius()

    def units(self, powers: Powers) -> Mapping[str, float]:
        """It has no parameter with a unit."""
        return {}


class BoundDualFit(BoundTerm):
    """All features count equally; only their kernel must be known."""

    name = "fit"
    scale_free = True

    def __init__(self, unit: float):
        self.unit = unit

    def value(self, state: State) -> float:
        """unit · (tr K − 2 tr(Wᵀ K P) + tr(WᵀW Pᵀ K P))."""
        state = dual(state)
        energy = dot64(state.gram(CODES), state.gram(COMPONENTS))
        trace = float(state.kernel.diagonal().sum())
        error = trace - 2 * state.cross() + energy
        if error < -1e3 * np.finfo(state.W.dtype).eps * (trace + energy):
            raise ValueError("The kernel is not positive semidefinite: it gives the fit a negative squared error.")
        return self.unit * max(error, 0.0)

    def quadratic(self, state: State, factor: Factor) -> Quadratic:
        """A = K · other; a kernel with entries of either sign may push as well as pull."""
        state = dual(state)
        unit = state.W.dtype.type(self.unit)
        pull = unit * state.product(factor)
        if factor == CODES:
            coupling = Coupling(unit * state.gram(COMPONENTS))
        else:
            coupling = Coupling(unit * state.gram(CODES), state.kernel)
        repel = np.maximum(-pull, 0) if state.kernel.signed else None
        return Quadratic(attract=np.maximum(pull, 0), repel=repel, couplings=(coupling,))

    def split(self, state: State, factor: Factor) -> Split | None:
        """A signed kernel is itself split, K = K⁺ − K⁻: net pulls would set entries to zero, where they would stay."""
        state = dual(state)
        if not state.kernel.signed:
            return super().split(state, factor)
        twice = state.W.dtype.type(2 * self.unit)
        attract, repel = _kernel_halves(state, OTHER[factor])
        split = Split(up={0: twice * repel}, down={0: twice * attract}, quadratic=True)
        if factor == CODES:
            P = state.P
            up, down = state.W @ (P.T @ attract), state.W @ (P.T @ repel)
        else:
            up, down = (half @ state.gram(CODES) for half in _kernel_halves(state, COMPONENTS))
        split.add("up", 1, twice * up)
        split.add("down", -1, twice * down)
        return split

    def for_new(self, state: State) -> Term:
        """The squared error with H fixed."""
        return FixedFit(self.unit, dual(state).gram(COMPONENTS))


def _kernel_halves(state: DualState, factor: Factor) -> tuple[Array, Array]:
    """K⁺ F and K⁻ F of one factor."""

    def halves() -> tuple[Array, Array]:
        F = state[factor]
        down = state.kernel.negative(F)
        return state.kernel.positive(F), np.zeros_like(F) if down is None else down

    return state.recall("kernel halves", factor, halves)


@dataclass(frozen=True)
class RobustDualFit(Term):
    """min over E of ½‖Φ − E − W Pᵀ Φ‖² + outlier_strength · Σ_f ‖e_f‖, e_f the features (columns) of E.

    Parameters
    ----------
    outlier_strength : float
        γ: how long the residual of a feature may be before it is down-weighted.
    """

    dual = True

    outlier_strength: float

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Compute the features' norms."""
        return BoundRobustDualFit(X, check_strength("outlier_strength", self.outlier_strength))

    def scoring(self) -> Term:
        """The squared error of the features."""
        return Frobenius()

    def units(self, powers: Powers) -> Mapping[str, float]:
        """The residual of a feature has that of the features."""
        return {"outlier_strength": powers.objective / 2}


class BoundRobustDualFit(BoundTerm):
    """Features are weighted by ω_f = min(1, γ/‖q_f‖) of the present residual."""

    name = "fit"
    scale_free = True

    def __init__(self, X: Operand, outlier_strength: float):
        self.outlier_strength = outlier_strength
        self._squares = X.column_squared_norms()

    def residuals(self, state: State) -> Array:
        """‖q_f‖ of every feature: ‖φ_f‖² − 2 ⟨(ΦᵀW)_f, h_f⟩ + h_fᵀ WᵀW h_f."""
        state = dual(state)

        def norms() -> Array:
            Ht, PhiW = _known(state.image(COMPONENTS)), _known(state.image(CODES))
            inside = np.einsum("ij,ij->i", Ht, Ht @ state.gram(CODES) - 2 * PhiW, dtype=np.float64, casting="safe")
            return np.sqrt(np.maximum(self._squares + inside, 0))

        return state.recall(("residuals", self), None, norms)

    def weights(self, state: State) -> Array:
        """ω."""
        return self.down_weight(self.residuals(state))

    def down_weight(self, residuals: Array) -> Array:
        """ω of features with these residuals."""
        limit = self.outlier_strength
        return np.divide(limit, residuals, out=np.ones_like(residuals), where=residuals > limit)

    def value(self, state: State) -> float:
        """Σ_f ρ(‖q_f‖)."""
        residuals, limit = self.residuals(state), self.outlier_strength
        capped = np.minimum(residuals, limit)
        return float(np.sum(capped * (residuals - capped / 2)))

    def quadratic(self, state: State, factor: Factor) -> Quadratic:
        """That of the squared error, with features weighted by ω."""
        state = dual(state)
        weights = self.weights(state)
        half = state.W.dtype.type(0.5)
        kernel = FeatureKernel(state.X, half * weights)
        if factor == COMPONENTS:
            pull = kernel.dot(state.W, state.image(CODES))
            return Quadratic(attract=pull, couplings=(Coupling(state.gram(CODES), kernel),))
        Ht = _known(state.image(COMPONENTS))
        gram = Ht.T @ ((half * weights).astype(Ht.dtype)[:, None] * Ht)
        return Quadratic(attract=kernel.dot(state.P, Ht), couplings=(Coupling(gram),))

    def for_new(self, state: State) -> Term:
        """The squared error with H and the features' weights fixed."""
        state = dual(state)
        weights = self.weights(state)
        Ht = _known(state.image(COMPONENTS))
        weighted = weights.astype(Ht.dtype)[:, None] * Ht
        return FixedFit(0.5, Ht.T @ weighted, weighted)


def _known(image: Array | None) -> Array:
    if image is None:
        raise TypeError("A robust fit weights features, but a kernel given by its entries has none.")
    return image


@dataclass(frozen=True)
class LocalSimilarity(Term):
    """strength · tr(Pᵀ D W), D_ij = ‖φ_i − φ_j‖²: a sample should not use components made of distant samples.

    (Hou & Peng, Eq. 4-6 with W = G, P = W.) With d_i = ‖φ_i‖², D F = d (1ᵀF) + 1 (dᵀF) − 2 K F; D is never formed.

    Parameters
    ----------
    strength : float
        λ in the paper.
    """

    dual = True

    strength: float

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Check the strength."""
        return BoundLocalSimilarity(check_strength("similarity_strength", self.strength))

    def units(self, powers: Powers) -> Mapping[str, float]:
        """Distances grow as the fit does."""
        return {}


class BoundLocalSimilarity(BoundTerm):
    """Linear in each factor: A⁻ = strength/2 · D · other."""

    name = "similarity"
    couples_samples = True
    scale_free = True

    def __init__(self, strength: float):
        self.strength = strength

    def value(self, state: State) -> float:
        """strength · ((dᵀP)(1ᵀW)ᵀ + (1ᵀP)(dᵀW)ᵀ − 2 tr(Wᵀ K P))."""
        state = dual(state)
        mass_W, moment_W = _sums(state, CODES)
        mass_P, moment_P = _sums(state, COMPONENTS)
        return self.strength * max(float(moment_P @ mass_W + mass_P @ moment_W) - 2 * state.cross(), 0.0)

    def quadratic(self, state: State, factor: Factor) -> Quadratic:
        """A push in proportion to the distances from the samples of the other factor."""
        state = dual(state)
        distances = _distances(state.kernel.diagonal(), *_sums(state, OTHER[factor]), state.product(factor))
        return Quadratic(repel=state.W.dtype.type(self.strength / 2) * distances)

    def for_new(self, state: State) -> Term:
        """Distances of new samples to those that the components are made of."""
        state = dual(state)
        mass, moment = _sums(state, COMPONENTS)
        image = state.image(COMPONENTS)
        norm = float(state.kernel.diagonal().mean()) if image is None else None
        return FixedSimilarity(self.strength, mass, moment, norm)


def _sums(state: DualState, factor: Factor) -> tuple[Array, Array]:
    """1ᵀF and dᵀF of one factor."""
    F = state[factor]
    return state.recall(
        "sums", factor, lambda: (F.sum(axis=0, dtype=np.float64), np.asarray(state.kernel.diagonal() @ F))
    )


def _distances(norms: Array, mass: Array, moment: Array, product: Array) -> Array:
    """Σ_t ‖φ_i − φ_t‖² f_tj from ‖φ_i‖², Σ_t f_tj, Σ_t ‖φ_t‖² f_tj and Σ_t ⟨φ_i, φ_t⟩ f_tj."""
    dtype = product.dtype
    distances = np.multiply.outer(norms.astype(dtype), mass.astype(dtype))
    distances += moment.astype(dtype) - 2 * product
    # Distances are not negative, but their rounding errors may be.
    return np.maximum(distances, 0, out=distances)


@dataclass(frozen=True, eq=False)
class FixedFit(Term):
    """unit · Σ_i ‖φ_i − w_i H‖² for new samples and fixed components, with weighted features, less the constant ‖φ‖².

    Parameters
    ----------
    unit : float
    gram : ndarray of shape (k, k)
        H diag(weights) Hᵀ.
    weighted : ndarray of shape (m, k), optional
        diag(weights) Hᵀ; None if every feature counts once.
    """

    dual = True

    unit: float
    gram: Array
    weighted: Array | None = None

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """A = X diag(weights) Hᵀ, B = H diag(weights) Hᵀ."""
        couplings = (Coupling(X.dtype.type(self.unit) * self.gram.astype(X.dtype)),)
        if self.weighted is None:
            form = Quadratic(data=self.unit, couplings=couplings)
        else:
            pull = X.dtype.type(self.unit) * X.dot(self.weighted.astype(X.dtype))
            form = Quadratic(attract=np.maximum(pull, 0), repel=np.maximum(-pull, 0), couplings=couplings)
        return BoundNewCodes(self, "fit", lambda state: form)


@dataclass(frozen=True, eq=False)
class FixedSimilarity(Term):
    """strength · Σ_ij w_ij Σ_t ‖φ_i − φ_t‖² p_tj for new samples i and training samples t.

    Parameters
    ----------
    strength : float
    mass, moment : ndarray of shape (k,)
        Σ_t p_tj and Σ_t ‖φ_t‖² p_tj.
    norm : float, optional
        ‖φ_i‖² of new samples where it cannot be computed.
    """

    dual = True

    strength: float
    mass: Array
    moment: Array
    norm: float | None = None

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """A⁻ = strength/2 · the distances."""
        norms = X.row_squared_norms() if self.norm is None else np.full(X.shape[0], self.norm)
        half = X.dtype.type(self.strength / 2)

        def form(state: State) -> Quadratic:
            return Quadratic(repel=half * _distances(norms, self.mass, self.moment, state.product(CODES)))

        return BoundNewCodes(self, "similarity", form)
