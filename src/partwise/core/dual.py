"""Components made of samples: H = Pᵀ Φ, with coefficients P (n × k) in place of the second factor.

Φ holds the features of the samples: X itself, or a map of it. Everything then depends only on K = Φ Φᵀ, the kernel of
the samples, which is applied and never formed::

    ‖Φ − W Pᵀ Φ‖² = tr K − 2 tr(Wᵀ K P) + tr(WᵀW Pᵀ K P)

For the codes W that is the quadratic of any factorisation; for P it is one with S = K, a :class:`KernelMatrix`.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .operand import Operand
from .rows import RowMatrix
from .state import State
from .types import CODES, COMPONENTS, OTHER, Array, Factor, dot64


class KernelMatrix(RowMatrix):
    """K over the samples, symmetric and positive semidefinite.

    Attributes
    ----------
    operand : Operand
        The data it is computed from.
    signed : bool
        Whether K may have negative entries.
    """

    operand: Operand
    signed: bool = False

    def image(self, F: Array) -> Array | None:
        """Φᵀ F, if the features are known."""
        return None

    @abstractmethod
    def dot(self, F: Array, image: Array | None = None) -> Array:
        """K F, given Φᵀ F if it is known."""

    @abstractmethod
    def bound(self, F: Array) -> Array:
        """M F for some M ≥ |K|, entry by entry: the halves of K are (M + K) / 2 and (M − K) / 2."""

    def positive(self, F: Array) -> Array:
        """K⁺ F."""
        return np.maximum(self.bound(F) + self.dot(F), 0) / 2 if self.signed else self.dot(F)

    def negative(self, F: Array) -> Array | None:
        """K⁻ F."""
        return np.maximum(self.bound(F) - self.dot(F), 0) / 2 if self.signed else None


class FeatureKernel(KernelMatrix):
    """K = Φ diag(weights) Φᵀ.

    Where Φ has entries of either sign, K is split as that of Φ = Φ⁺ − Φ⁻: with |Φ| = Φ⁺ + Φ⁻, twice K⁺ is
    |Φ||Φ|ᵀ + ΦΦᵀ and twice K⁻ is |Φ||Φ|ᵀ − ΦΦᵀ.

    Parameters
    ----------
    features : Operand
        Φ, n × m.
    weights : ndarray of shape (m,), optional
        How much every feature counts, non-negative.
    signed : bool, default=False
        Whether Φ may have negative entries.
    """

    def __init__(self, features: Operand, weights: Array | None = None, signed: bool = False):
        self.operand = features
        self.signed = signed
        self._weights = None if weights is None else weights.astype(features.dtype)[:, None]

    @cached_property
    def _magnitude(self) -> Operand:
        return self.operand.magnitude()

    def image(self, F: Array) -> Array:
        """Φᵀ F."""
        return self.operand.t_dot(F)

    def dot(self, F: Array, image: Array | None = None) -> Array:
        """Φ diag(weights) Φᵀ F."""
        image = self.image(F) if image is None else image
        return self.operand.dot(image if self._weights is None else self._weights * image)

    def bound(self, F: Array) -> Array:
        """|Φ| diag(weights) |Φ|ᵀ F."""
        image = self._magnitude.t_dot(F)
        return self._magnitude.dot(image if self._weights is None else self._weights * image)

    @cached_property
    def _diagonal(self) -> Array:
        if self._weights is None:
            return self.operand.row_squared_norms()
        weights = self._weights[:, 0].astype(np.float64)
        return np.concatenate([_squares(x) @ weights for _, x in self.operand.row_blocks()])

    def diagonal(self) -> Array:
        """‖φ_i‖² of every sample, with weighted features."""
        return self._diagonal

    def energy(self, F: Array) -> Array:
        """‖Φᵀ f_j‖², with weighted features."""
        image = self.image(F)
        weighted = image if self._weights is None else self._weights * image
        return np.einsum("ij,ij->j", image, weighted, dtype=np.float64, casting="safe")


class GivenKernel(KernelMatrix):
    """A kernel given by its entries, dense or sparse. Its halves are those of its entries.

    Parameters
    ----------
    K : Operand
        n × n and symmetric.
    signed : bool, default=False
        Whether entries may be negative.
    """

    def __init__(self, K: Operand, signed: bool = False):
        self.operand = K
        self.signed = signed
        self._diagonal = np.asarray(K.array.diagonal(), np.float64)

    def dot(self, F: Array, image: Array | None = None) -> Array:
        """K F."""
        return self.operand.dot(F)

    @cached_property
    def _magnitude(self) -> Operand:
        return self.operand.magnitude()

    def bound(self, F: Array) -> Array:
        """|K| F."""
        return self._magnitude.dot(F)

    def diagonal(self) -> Array:
        """The kernel of every sample with itself."""
        return self._diagonal

    def energy(self, F: Array) -> Array:
        """f_jᵀ K f_j."""
        return np.einsum("ij,ij->j", F, self.dot(F), dtype=np.float64, casting="safe")


class DualState(State):
    """The pair (W, P) with the products derived from it; P replaces the Hᵀ of other states.

    Parameters
    ----------
    kernel : KernelMatrix
        K.
    W : ndarray of shape (n_samples, n_components)
        The codes.
    P : ndarray of shape (n_samples, n_components)
        How much of every sample is in every component.
    """

    __slots__ = ("kernel",)

    def __init__(self, kernel: KernelMatrix, W: Array, P: Array):
        super().__init__(kernel.operand, W, P)
        self.kernel = kernel

    @property
    def P(self) -> Array:
        """The coefficients."""
        return self.Ht

    def _with(self, W: Array, Ht: Array) -> DualState:
        return DualState(self.kernel, W, Ht)

    @property
    def components(self) -> Array:
        """H = Pᵀ Φ; Pᵀ if there are no features."""
        image = self.image(COMPONENTS)
        return (self.P if image is None else image).T

    def image(self, factor: Factor) -> Array | None:
        """Φᵀ F of one factor, if there are features: Hᵀ = Φᵀ P for the components, Φᵀ W for the codes."""
        return self.recall("image", factor, lambda: self.kernel.image(self[factor]))

    def metric(self, factor: Factor) -> RowMatrix | None:
        """Components are measured by their features: ‖h_j‖² = p_jᵀ K p_j."""
        return self.kernel if factor == COMPONENTS else None

    def norms(self, factor: Factor) -> Array:
        """‖w_j‖ of the codes; ‖h_j‖ of the components."""
        if factor == CODES:
            return super().norms(CODES)
        squares = self.recall("squared norms", COMPONENTS, lambda: self.kernel.energy(self.P))
        return np.sqrt(np.maximum(squares, 0))

    def product(self, factor: Factor) -> Array:
        """The data's pull on a factor: K P on the codes, K W on the coefficients."""
        other = OTHER[factor]
        return self.recall("product", other, lambda: self.kernel.dot(self[other], self.image(other)))

    def gram(self, factor: Factor) -> Array:
        """WᵀW of the codes; H Hᵀ = Pᵀ K P of the components."""
        if factor == CODES:
            return super().gram(CODES)

        def gram() -> Array:
            image = self.image(COMPONENTS)
            return self.P.T @ self.product(CODES) if image is None else image.T @ image

        return self.recall("gram", COMPONENTS, gram)

    def cross(self) -> float:
        """⟨Φ, W H⟩ = tr(Wᵀ K P)."""
        ours, theirs = self.image(CODES), self.image(COMPONENTS)
        if ours is None or theirs is None:
            return dot64(self.product(CODES), self.W)
        return dot64(ours, theirs)


def _squares(x: Any) -> Any:
    """Squared entries of some rows, in their own format."""
    return x.multiply(x) if sp.issparse(x) else np.square(np.asarray(x), dtype=np.float64)
